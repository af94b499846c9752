#!/bin/sh
# Stands for Node in a sandbox where some of its libraries lie outside the system's folders.
LD_LIBRARY_PATH=/opt/hlvm/lib exec /opt/hlvm/lib/node "$@"
