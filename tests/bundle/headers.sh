#!/bin/sh
# Every header of a folder compiles alone and twice. Usage: headers.sh INCLUDE-FOLDER SCRATCH-FILE PATTERN NOT-THOSE [LAUNCHER...] COMPILER...
# NOT-THOSE is a pattern of paths that are left out, or none. An object is made, though nobody wants one: for less a launcher that keeps
# what was compiled (ccache) calls the compiler every time.
set -u
include=$1
scratch=$2
pattern=$3
without=$4
shift 4
status=0
for header in $(cd "$include" && find . -name "$pattern" ! -path "$without" | sed 's|^\./||' | sort); do
  printf '#include <%s>\n#include <%s>\nextern int alone;\n' "$header" "$header" >"$scratch"
  "$@" -I "$include" -c "$scratch" -o "$scratch.o" || {
    echo "does not compile alone: $header"
    status=1
  }
done
rm -f "$scratch" "$scratch".o*
exit "$status"
