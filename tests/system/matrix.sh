#!/bin/sh
# grapnel mvt, atax and bicg equal their --verify, and products that are known, whatever the width of a warp, the store, the room in
# the cache and the number of passes. What they refuse they name, and then nothing is written. Usage: matrix.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

runs=0
# right JOB OPTION... - one run, checked.
right() {
  if ! "$grapnel" "$@" --verify --out out.bin >said 2>&1 || ! grep -q '^  verified  .*bound of the reference' said; then
    echo "$*:"
    cat said
    exit 1
  fi
  runs=$((runs + 1))
}

for job in mvt atax bicg; do
  for shape in $(few "1x1 77x8195" "1x1 1x9000 3001x1 77x8195 333x127"); do
    size="--rows ${shape%x*} --columns ${shape#*x}"
    # shellcheck disable=SC2086 # two options and their values
    {
      right "$job" $size
      right "$job" $size --store file --warp-width 32 --page 512 --cache 8K
      right "$job" $size --warp-width 8 --cache 64K --policy fifo --threads 4 --passes 2
      right "$job" $size --mode direct --warp-width 32
    }
  done
done
echo "$runs runs agree"
[ "$runs" -ge "$(few 24 60)" ]

# One pass and two, and another machine's order, give almost the same; the same run twice gives the same bytes.
right mvt --rows 500 --columns 700 --seed 5 --store file
cp out.bin first.bin
right mvt --rows 500 --columns 700 --seed 5 --store file
cmp first.bin out.bin
right mvt --rows 500 --columns 700 --seed 6
if cmp -s first.bin out.bin; then
  echo 'another --seed gives the same'
  exit 1
fi
[ "$(wc -c <out.bin)" -eq $((4 * 1200)) ]

# A matrix of a file: of ones (0x3f800000), so that all elements of A^T (A x) are the same, and of q = A p.
ones() {
  awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "\\0000\\0000\\0200\\0077" }'
}
printf '%b' "$(ones 1200)" >ones.bin
for store in host file; do
  right atax ones.bin --rows 40 --columns 30 --store "$store"
  [ "$(od -A n -v -t f4 -w4 out.bin | sort -u | wc -l)" -eq 1 ]
  [ "$(wc -c <out.bin)" -eq 120 ]
  right bicg ones.bin --rows 40 --columns 30 --store "$store"
  [ "$(od -A n -v -t f4 -w4 out.bin | sort -u | wc -l)" -eq 2 ]
  cp out.bin "$store.bin"
done
cmp host.bin file.bin
cp ones.bin 'odd?%name.bin'
right mvt 'odd?%name.bin' --rows 30 --columns 40 --store file

# Of 1e30 (0x7149f2ca), with both signs: A x fits a float, A^T (A x) does not, and nothing is known of what comes out. What is not
# compared is counted.
awk 'BEGIN { for (i = 0; i < 1200; i++) printf "\\0312\\0362\\0111\\0%s", i * i % 7 < 3 ? "161" : "361" }' >large.txt
printf '%b' "$(cat large.txt)" >large.bin
right atax large.bin --rows 40 --columns 30
grep -q '^  verified  .*0 elements are within .*reference; 30 may overflow, and are not compared' said
right bicg large.bin --rows 40 --columns 30
grep -q '^  verified  .*every element is within' said
"$grapnel" atax large.bin --rows 40 --columns 30 --json - --verify | grep -q '"unchecked": 30'
"$grapnel" atax large.bin --rows 40 --columns 30 --json - | grep -q '"unchecked": null'

# The bytes: one pass moves the matrix about once, two twice.
moved() {
  "$grapnel" "$@" --rows 512 --columns 4096 --cache 2M --json - | sed -n 's/.*"moved_bytes": \([0-9]*\).*/\1/p'
}
needed=$((512 * 4096 * 4))
for job in mvt atax bicg; do
  one=$(moved "$job" --passes 1)
  two=$(moved "$job" --passes 2)
  if [ "$one" -lt "$needed" ] || [ "$one" -gt $((needed * 11 / 10)) ] || [ "$two" -lt $((needed * 17 / 10)) ]; then
    echo "$job: one pass moves $one bytes of $needed, two move $two"
    exit 1
  fi
done
"$grapnel" mvt --rows 512 --columns 4096 --mode direct --json - | grep -q '"moved_bytes": null' # nobody counts loads

"$grapnel" bicg --rows 200 --columns 300 --json - --verify >report.json
has report.json '"schema": "grapnel-bicg-1"' '"machine"' '"matrix"' '"path": null' '"rows": 200' '"columns": 300' \
  '"bytes": 240000' '"passes": 1' '"seconds"' '"bytes_per_second"' '"needed_bytes": 240000' '"moved_bytes"' '"mode": "paged"' \
  '"cache"' '"fetched_bytes"' '"verified": true' '"unchecked": 0'
[ -z "$(find . -name 'grapnel-*')" ] || { echo 'a temporary file is left'; exit 1; }

# A name that reads as a size is a name: 4 KiB of ones, not of fresh memory.
head -c 4096 ones.bin >4K
cp 4K plain4.bin
for file in 4K plain4.bin; do
  "$grapnel" mvt "$file" --rows 32 --columns 32 --seed 1 --out "$file.out" >said
done
cmp 4K.out plain4.bin.out || { echo 'a matrix file named 4K is not read'; exit 1; }

# ---- what is refused ----
refusals '' kept.bin
refuses 2 'no size given' mvt
refuses 2 'no size given' mvt ones.bin --rows 40
refuses 2 'rows 0: give a whole number from 1' mvt --rows 0 --columns 4
refuses 2 'columns 0: give' atax --rows 4 --columns 0
refuses 2 'columns -3: give' atax --rows 4 --columns -3
refuses 2 'at most 2.58 elements' bicg --rows 100000000000000 --columns 100000000000000
refuses 2 'passes 3' bicg --rows 4 --columns 4 --passes 3
refuses 2 'too many arguments' bicg ones.bin said --rows 4 --columns 4
refuses 2 'mode best' mvt --rows 4 --columns 4 --mode best
refuses 2 'direct needs --store host' mvt --rows 4 --columns 4 --store file --mode direct
refuses 1 'mvt: .*missing.bin' mvt missing.bin --rows 4 --columns 4
refuses 1 'ones.bin: has 4800 bytes, but a matrix of this size has 4920' mvt ones.bin --rows 41 --columns 30
refuses 1 'nofolder/r.json: creating the file failed' mvt --rows 4 --columns 4 --json nofolder/r.json
refuses 1 'nosuch' mvt --rows 4 --columns 4 --machine nosuch
refuses 1 'larger cache, or two passes' atax --rows 40 --columns 9000 --cache 64K --passes 1
refuses 1 'there is none; take two passes' atax --rows 40 --columns 30 --mode direct --passes 1
