sed -i 's/total=\$each/total=$((total + each))/' sum.sh
