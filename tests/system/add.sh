#!/bin/sh
# grapnel add: all words of C are in the store behind it, whatever the store and the room in the cache. Usage: add.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

# right OPTION... - one run, checked; C is the same as that of all others.
right() {
  if ! "$grapnel" add --data 1M --verify --out out.bin "$@" >said 2>&1 || ! grep -q '^  verified  .*every word' said; then
    echo "add $*:"
    cat said
    exit 1
  fi
  [ -e first.bin ] || cp out.bin first.bin
  cmp out.bin first.bin
}

right
for width in 1 8 32; do
  right --warp-width "$width" --cache 64K --policy fifo
  right --warp-width "$width" --page 512 --cache 16K --threads 4
  right --warp-width "$width" --store file --cache 128K --page 8K
  right --warp-width "$width" --mode direct
done
[ "$(wc -c <first.bin)" -eq 1048576 ]
# Word 0 is 0 + (0xffffffff * 2654435761 ^ 0xffffffff), modulo 2^32, and twice the seed.
"$grapnel" add --data 4K --seed 0 --out zero.bin >/dev/null
"$grapnel" add --data 4K --seed 9 --out nine.bin >/dev/null
zero=$(od -A n -v -t u4 -N 4 zero.bin)
nine=$(od -A n -v -t u4 -N 4 nine.bin)
[ $(((zero + 18) % 4294967296)) -eq "$((nine))" ]
[ $(((4294967296 - 2654435761) ^ 4294967295)) -eq "$((zero))" ]

# A word that is fetched or written is moved once: C is not fetched.
"$grapnel" add --data 4M --json report.json --verify >/dev/null
moved=$(sed -n 's/.*"moved_bytes": \([0-9]*\).*/\1/p' report.json)
if [ "$moved" -lt 12582912 ] || [ "$moved" -gt 13800000 ]; then
  echo "$moved bytes are moved, of 12582912"
  exit 1
fi
has report.json '"schema": "grapnel-add-1"' '"machine"' '"array_bytes": 4194304' '"data_bytes": 12582912' \
  '"needed_bytes": 12582912' '"seconds"' '"bytes_per_second"' '"written_bytes": 4194304' '"verified": true'
[ -z "$(find . -name 'grapnel-*')" ] || { echo 'a temporary file is left'; exit 1; }

# ---- what is refused ----
refusals add kept.bin
refuses 2 'data 5000: give a multiple of a page of 4096 bytes' --data 5000
refuses 2 'data 0: give a size' --data 0
refuses 2 '[Tt]oo many arguments' --data 4K more
refuses 2 'direct needs --store host' --store file --mode direct
refuses 1 'nosuch' --machine nosuch
TMPDIR=/nonexistent refuses 1 'set TMPDIR' --store file
