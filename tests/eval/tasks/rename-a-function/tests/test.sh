# Run in the folder that holds the files: 0 is passed, 1 is failed.
! grep -q hallo greet.sh main.sh || { echo "hallo is still there"; exit 1; }
test "$(sh main.sh 2>/dev/null)" = "Hello, World" || { echo "main.sh says something else"; exit 1; }
