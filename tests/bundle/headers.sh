#!/bin/sh
# Every public header compiles alone and twice. Usage: headers.sh INCLUDE-FOLDER SCRATCH-FILE PATTERN COMPILER...
set -u
include=$1
scratch=$2
pattern=$3
shift 3
status=0
for header in $(cd "$include" && find . -name "$pattern" | sed 's|^\./||' | sort); do
  printf '#include <%s>\n#include <%s>\nextern int alone;\n' "$header" "$header" >"$scratch"
  "$@" -I "$include" "$scratch" || {
    echo "does not compile alone: $header"
    status=1
  }
done
rm -f "$scratch"
exit "$status"
