echo 7443 > answer.txt
