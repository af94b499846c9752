{ head -n 1 people.csv; tail -n +2 people.csv | sort -t, -k2,2n; } > sorted && mv sorted people.csv
