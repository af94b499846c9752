# Run in the folder that holds the files: 0 is passed, 1 is failed.
for given in "2 3=5" "1 2 3 4=10" "7=7" "=0"; do
  test "$(sh sum.sh ${given%%=*} 2>/dev/null)" = "${given##*=}" || { echo "sum.sh ${given%%=*} is wrong"; exit 1; }
done
