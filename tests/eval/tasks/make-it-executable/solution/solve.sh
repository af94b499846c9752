chmod +x run
