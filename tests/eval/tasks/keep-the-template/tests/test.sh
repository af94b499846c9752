# Run in the folder that holds the files: 0 is passed, 1 is failed.
printf 'Dear Ada & Bo,\n\nwelcome, Ada & Bo!\n' | cmp -s - letter.txt || { echo "letter.txt is another"; exit 1; }
grep -q "{name}" template.txt || { echo "the template was changed"; exit 1; }
