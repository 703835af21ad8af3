#!/bin/sh
# The shared library shows what its map lists, and the map lists what the headers name of what the static library has.
# Usage: symbols.sh SOURCE-FOLDER STATIC-LIBRARY SHARED-LIBRARY SCRATCH-FOLDER
set -eu
source=$1
static=$2
shared=$3
rm -rf "$4"
mkdir -p "$4"
cd "$4"
LC_ALL=C
export LC_ALL

sed -n 's/^    \([A-Za-z_][A-Za-z_0-9]*\);$/\1/p' "$source/src/grapnel.map" | sort >map
nm -D --defined-only "$shared" | awk 'NF == 3 && $2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >shown
nm -g --defined-only "$static" | awk 'NF == 3 { print $3 }' | sort -u >defined
find "$source/include/grapnel" -type f -exec cat {} + | grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u >named
comm -12 defined named >public

bad=0
# same FILE FILE WORDS - the second has what the first has.
same() {
  if ! diff "$1" "$2" >differ; then
    echo "$3"
    cat differ
    bad=1
  fi
}
same public map 'src/grapnel.map does not list what the headers name (<: named, >: listed):'
same map shown 'libgrapnel.so does not show what src/grapnel.map lists (<: listed, >: shown):'
[ -s shown ] || { echo 'nothing is shown'; bad=1; }
exit "$bad"
