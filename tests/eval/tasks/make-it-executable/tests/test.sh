# Run in the folder that holds the files: 0 is passed, 1 is failed.
test -x run || { echo "run is not executable"; exit 1; }
test "$(./run 2>/dev/null)" = up || { echo "it does not print up"; exit 1; }
