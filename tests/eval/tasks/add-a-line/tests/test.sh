# Run in the folder that holds the files: 0 is passed, 1 is failed.
printf 'first\nsecond\ndone\n' | cmp -s - notes.txt || { echo "notes.txt is not its two lines and done"; exit 1; }
