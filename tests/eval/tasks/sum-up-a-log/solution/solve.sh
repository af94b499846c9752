awk '{ sub(/ms$/, "", $3); if ($3 + 0 > 1000) print $2 }' access.log | sort -u > slow.txt
