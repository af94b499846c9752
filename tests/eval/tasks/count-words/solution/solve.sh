cat > count.sh <<'END'
awk '{ words += NF } END { print words + 0 }' "$1"
END
