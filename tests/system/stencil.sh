#!/bin/sh
# grapnel stencil equals plain loops, whatever the store and the room in the cache. Usage: stencil.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

# right OPTION... - one run, checked.
right() {
  if ! "$grapnel" stencil --verify --out out.bin "$@" >said 2>&1 || ! grep -q '^  verified  .*every point' said; then
    echo "stencil $*:"
    cat said
    exit 1
  fi
}

for size in '--rows 1 --columns 1' '--rows 3 --columns 5000 --steps 3' '--rows 700 --columns 3' '--rows 100 --columns 333 --steps 5'; do
  # shellcheck disable=SC2086 # options and their values
  {
    right $size
    cp out.bin first.bin
    right $size --store file --warp-width 32 --page 512 --cache 64K
    cmp out.bin first.bin
    right $size --warp-width 8 --cache 64K --policy fifo --threads 4
    cmp out.bin first.bin
    right $size --mode direct --warp-width 32
    cmp out.bin first.bin
  }
done
[ "$(wc -c <out.bin)" -eq $((100 * 333 * 4)) ]

"$grapnel" stencil --rows 512 --columns 1024 --steps 2 --json report.json --verify >/dev/null
moved=$(sed -n 's/.*"moved_bytes": \([0-9]*\).*/\1/p' report.json)
if [ "$moved" -gt $((8388608 * 13 / 10)) ]; then
  echo "$moved bytes are moved, of 8388608"
  exit 1
fi
has report.json '"schema": "grapnel-stencil-1"' '"machine"' '"rows": 512' '"columns": 1024' '"bytes": 2097152' '"steps": 2' \
  '"needed_bytes": 8388608' '"seconds"' '"written_bytes"' '"verified": true'
[ -z "$(find . -name 'grapnel-*')" ] || { echo 'a temporary file is left'; exit 1; }

# ---- what is refused ----
refusals stencil kept.bin
refuses 2 'no size given' --rows 4
refuses 2 'rows 0: give' --rows 0 --columns 4
refuses 2 'steps 0: give' --rows 4 --columns 4 --steps 0
refuses 2 'at most 2.56 points' --rows 100000000000000 --columns 100000000000000
refuses 2 'direct needs --store host' --rows 4 --columns 4 --store file --mode direct
refuses 1 'nosuch' --rows 4 --columns 4 --machine nosuch
