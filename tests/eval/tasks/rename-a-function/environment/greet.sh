hallo() {
  echo "Hello, $1"
}
