echo done >> notes.txt
