# Run in the folder that holds the files: 0 is passed, 1 is failed.
message=$(sh hello.sh 2>&1 >/dev/null)
test $? = 2 || { echo "the exit code is not 2"; exit 1; }
test "$message" = "usage: hello.sh NAME" || { echo "the message is another"; exit 1; }
test "$(sh hello.sh Ada 2>/dev/null)" = "Hello, Ada" || { echo "it greets no more"; exit 1; }
