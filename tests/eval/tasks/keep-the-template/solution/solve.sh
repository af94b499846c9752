sed 's/{name}/Ada \& Bo/g' template.txt > letter.txt
