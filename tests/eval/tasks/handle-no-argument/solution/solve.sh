cat > hello.sh <<'END'
if [ $# -eq 0 ]; then
  echo "usage: hello.sh NAME" >&2
  exit 2
fi
echo "Hello, $1"
END
