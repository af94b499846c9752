# Run in the folder that holds the files: 0 is passed, 1 is failed.
test "$(ls parts | tr "\n" " ")" = "frame wheel " || { echo "parts/ holds: $(ls parts | tr "\n" " ")"; exit 1; }
test "$(cat parts/wheel list.txt | tr "\n" " ")" = "w wheel frame " || { echo "something else was changed"; exit 1; }
