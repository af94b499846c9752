# Run in the folder that holds the files: 0 is passed, 1 is failed.
printf 'Ada lives in Oslo\nBo lives in Rome\n' | cmp -s - joined.txt || { echo "joined.txt is another"; exit 1; }
