#!/bin/sh
# Shell scripts hold nothing that shellcheck objects to. Usage: scripts.sh SOURCE-FOLDER
set -u
cd -- "$1" || exit 1
command -v shellcheck >/dev/null 2>&1 || exit 77
shellcheck run .ci/run || exit 1
find tests apps bench tools cmake \( -name '*.sh' -o -name '*.bash' \) -exec shellcheck {} +
