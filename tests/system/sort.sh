#!/bin/sh
# grapnel sort equals sort(1), whatever the store, the memory and the room in the cache. Usage: sort.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"
LC_ALL=C
export LC_ALL

# right OPTION... - one run, checked.
right() {
  if ! "$grapnel" sort --verify --out out.bin "$@" >said 2>&1 || ! grep -q '^  verified  .*all keys' said; then
    echo "sort $*:"
    cat said
    exit 1
  fi
}

# ---- a file of keys, sorted by sort(1) ----
"$grapnel" sort --count 1 >/dev/null # it runs without --verify and --out
head -c 40000 "$grapnel" >keys.bin
for type in 'u32 u4' 'i64 d8'; do
  od -An -v -w"${type#* ?}" -t "${type#* }" keys.bin | sort -n >want
  for how in '' '--memory 8K --page 512' '--store file --memory 16K --page 512 --cache 16K --warp-width 8' \
    '--mode direct --memory 8K --warp-width 32'; do
    # shellcheck disable=SC2086 # options and their values
    right --data keys.bin --type "${type% *}" $how
    od -An -v -w"${type#* ?}" -t "${type#* }" out.bin >got
    cmp got want
  done
done

# ---- generated keys: the same in every way ----
for keys in uniform skewed sorted reversed equal; do
  right --count 20011 --type f32 --keys $keys
  cp out.bin first.bin
  right --count 20011 --type f32 --keys $keys --memory 16K --page 512 --cache 16K --policy fifo --threads 4
  cmp out.bin first.bin
  right --count 20011 --type f32 --keys $keys --memory 20000 --store file --warp-width 8 --page 1K --cache 32K
  cmp out.bin first.bin
done

"$grapnel" sort --count 250000 --memory 256K --cache 128K --json report.json --verify >/dev/null
moved=$(sed -n 's/.*"moved_bytes": \([0-9]*\).*/\1/p' report.json)
if [ "$moved" -gt $((4000000 * 12 / 10)) ]; then
  echo "$moved bytes are moved, of 4000000"
  exit 1
fi
has report.json '"schema": "grapnel-sort-1"' '"machine"' '"count": 250000' '"type": "u32"' '"bytes": 1000000' \
  '"kind": "uniform"' '"memory_bytes": 262144' '"runs": 8' '"buckets"' '"sort_seconds"' '"needed_bytes": 4000000' '"seconds"' \
  '"verified": true'
"$grapnel" sort --count 1000 --json - >report.json
grep -q '"needed_bytes": 8000' report.json || { echo 'keys that fit do not move once'; cat report.json; exit 1; }
[ -z "$(find . -name 'grapnel-*')" ] || { echo 'a temporary file is left'; exit 1; }

# ---- what is refused ----
refusals sort kept.bin
head -c 39999 keys.bin >ragged.bin
: >empty.bin
refuses 2 'no keys; give' --type u64
refuses 2 'count 0: give' --count 0
refuses 2 'keys odd: give uniform' --count 4 --keys odd
refuses 2 'type u16: give u32' --count 4 --type u16
refuses 2 'for generated keys' --data keys.bin --count 4
refuses 2 'for generated keys' --data keys.bin --keys equal
refuses 2 'memory 0: give' --count 4 --memory 0
refuses 2 'direct needs --store host' --count 4 --store file --mode direct
refuses 2 'Too many arguments' --count 4 keys.bin
refuses 1 '39999 bytes, .* u32 keys' --data ragged.bin
refuses 1 'empty.bin: is empty; give' --data empty.bin
refuses 1 'missing.bin: No such file' --data missing.bin
refuses 1 'is not a file' --data .
refuses 1 'that is too few: give 16384 bytes' --count 1000000 --memory 4K --page 512
refuses 1 'sort: 1 bytes of the .* hold 0 of 1000 keys' --count 1000 --memory 1
refuses 1 'nosuch' --count 4 --machine nosuch
