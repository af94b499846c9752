total=0
for each in "$@"; do
  total=$each
done
echo "$total"
