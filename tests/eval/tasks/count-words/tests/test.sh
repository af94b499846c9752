# Run in the folder that holds the files: 0 is passed, 1 is failed.
printf "a b\nc\n" > other.txt
test "$(sh count.sh text.txt 2>/dev/null)" = 9 || { echo "text.txt has 9 words"; exit 1; }
test "$(sh count.sh other.txt 2>/dev/null)" = 3 || { echo "another file has 3 words"; exit 1; }
