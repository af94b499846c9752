. ./greet.sh
hallo World
