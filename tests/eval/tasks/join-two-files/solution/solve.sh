awk 'NR == FNR { town[$1] = $2; next } $1 in town { print $2 " lives in " town[$1] }' towns.txt names.txt > joined.txt
