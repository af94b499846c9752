# Run in the folder that holds the files: 0 is passed, 1 is failed.
test "$(tr "\n" " " < people.csv)" = "name,age Bo,9 Di,21 Ada,36 Cy,104 " || { echo "the order is another"; exit 1; }
