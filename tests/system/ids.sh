#!/bin/sh
# Graph files with ids of 64 bits: written by gen and convert, the same graph as with 32, and every job has the same result over
# both. What cannot have such ids, and what has too many vertices, is refused. Usage: ids.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

"$grapnel" gen kron --scale 10 --degree 8 --undirected narrow.gng >/dev/null
"$grapnel" gen kron --scale 10 --degree 8 --undirected --ids 64 wide.gng >/dev/null
"$grapnel" convert wide.gng back.gng >/dev/null
cmp narrow.gng back.gng
"$grapnel" convert narrow.gng wider.gng --ids 64 >/dev/null
cmp wide.gng wider.gng
# Kernels make the same bytes, in one part and in many; of another format, through the host's memory.
for memory in '' '--memory 100K'; do
  # shellcheck disable=SC2086 # several options
  "$grapnel" gen kron --scale 10 --degree 8 --undirected --ids 64 --machine cpu $memory made.gng >/dev/null
  cmp wide.gng made.gng
done
"$grapnel" gen kron --scale 10 --degree 8 --undirected --ids 64 --machine cpu made.bel >/dev/null
[ "$(od -A n -t u4 -j 8 -N 4 wide.gng | tr -d ' ')" = 2 ]
[ "$(od -A n -t u4 -j 8 -N 4 narrow.gng | tr -d ' ')" = 1 ]
# EMOGI's files have 64 bits: they become one of such ids, and are made of one.
"$grapnel" convert wide.gng emogi.bel --ids 64 >/dev/null
"$grapnel" convert emogi.bel again.gng --ids 64 >/dev/null
"$grapnel" convert again.gng again.bel >/dev/null
cmp emogi.bel.dst again.bel.dst
cmp emogi.bel.dst made.bel.dst

runs=0
# same JOB OPTION... - over both files the same bytes, however they are reached.
same() {
  job=$1
  shift
  "$grapnel" "$job" narrow.gng "$@" --out want.bin >/dev/null
  for way in '--warp-width 1 --page 512 --cache 8K' '--warp-width 32 --page 512 --cache 8K' '--store host --mode direct' \
    '--store host --mode auto' '--warp-width 32 --state host'; do
    # shellcheck disable=SC2086 # several options
    if ! "$grapnel" "$job" wide.gng "$@" $way --verify --out got.bin >said 2>&1 || ! cmp want.bin got.bin; then
      echo "$job wide.gng $* $way:"
      cat said
      exit 1
    fi
    runs=$((runs + 1))
  done
}
same cc --algorithm afforest
same cc --algorithm sv
same bfs --source 1 --algorithm top-down
same bfs --source 1 --algorithm direction-optimising
same sssp --source 1 --most 20
same pagerank --iterations 3
for way in '--warp-width 1' '--warp-width 32 --store host' '--store host --mode auto'; do
  # shellcheck disable=SC2086 # several options
  for job in 'bc --source 1' tc; do
    "$grapnel" ${job%% *} wide.gng ${job#"${job%% *}"} $way --verify | grep -q '^  verified' || { echo "$job $way"; exit 1; }
    runs=$((runs + 1))
  done
done
echo "$runs runs agree"
[ "$runs" -ge 36 ]
"$grapnel" cc wide.gng --json - | grep -q '"id_bits": 64'
"$grapnel" cc narrow.gng --json - | grep -q '"id_bits": 32'

refusals '' ''
refuses 2 'ids 48: give 32 or 64' convert narrow.gng out.gng --ids 48
refuses 2 'out.bcsr cannot have such ids' convert narrow.gng out.bcsr --ids 64
refuses 2 'out.bel cannot have such ids' convert narrow.gng out.bel --ids 32
refuses 2 'are for graphs' gen taxis --rows 10 out.gnt --ids 64
refuses 2 'are for graphs' gen taxis --rows 10 out.gnt --degree 4
for left in out.*; do
  [ ! -e "$left" ] || { echo "$left is there"; exit 1; }
done

# le8 NUMBER - its 8 bytes, the least first.
le8() {
  number=$1
  for _ in 1 2 3 4 5 6 7 8; do
    # shellcheck disable=SC2059 # the format is the byte
    printf "\\$(printf '%03o' $((number & 255)))"
    number=$((number >> 8))
  done
}
# patch PLACE - standard input over the bytes of many.gng from there on.
patch() { dd of=many.gng bs=1 seek="$1" conv=notrunc 2>/dev/null; }
# 2^32 vertices in a sparse file, where there are such files: gzip knows the checksum of the header.
echo '# 4000,0,d' >edgeless.el
"$grapnel" convert edgeless.el edgeless.gng --ids 64 >/dev/null
head -c 4096 edgeless.gng >many.gng
le8 $((1 << 32)) | patch 32
le8 $(((1 << 35) + 8)) | patch 56
for place in 72 96 120; do le8 $(((1 << 35) + 8192)) | patch $place; done
printf '\0\0\0\0' | patch 128
gzip -c many.gng | tail -c 8 | head -c 4 | patch 128
if truncate -s $(((1 << 35) + 8192)) many.gng 2>/dev/null; then
  for job in cc 'bfs --source 0' 'sssp --source 0' pagerank bc tc; do
    # shellcheck disable=SC2086 # several options
    refuses 1 'many.gng: the file has 4294967296 vertices, but jobs number vertices by 32 bits' $job many.gng --trust
  done
  refuses 1 '2\^32 - 1' convert many.gng out.gng
fi
