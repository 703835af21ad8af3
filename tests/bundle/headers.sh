#!/bin/sh
# Every header of a folder compiles alone and twice. Usage: headers.sh INCLUDE-FOLDER SCRATCH-FILE PATTERN NOT-THOSE COMPILER...
# NOT-THOSE is a pattern of paths that are left out, or none.
set -u
include=$1
scratch=$2
pattern=$3
without=$4
shift 4
status=0
for header in $(cd "$include" && find . -name "$pattern" ! -path "$without" | sed 's|^\./||' | sort); do
  printf '#include <%s>\n#include <%s>\nextern int alone;\n' "$header" "$header" >"$scratch"
  "$@" -I "$include" "$scratch" || {
    echo "does not compile alone: $header"
    status=1
  }
done
rm -f "$scratch"
exit "$status"
