sed -i 's/hallo/greet/g' greet.sh main.sh
