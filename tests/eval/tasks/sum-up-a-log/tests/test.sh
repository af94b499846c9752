# Run in the folder that holds the files: 0 is passed, 1 is failed.
printf '/other\n/slow\n' | cmp -s - slow.txt || { echo "slow.txt is another"; exit 1; }
