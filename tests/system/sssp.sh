#!/bin/sh
# grapnel sssp equals its --verify, and lengths that follow from a graph's shape, whatever the width of a step or a warp, the store and
# the room in the cache. What it refuses it names, and then nothing is written. Usage: sssp.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

awk 'BEGIN { for (v = 0; v < 1000; v++) print v, v + 1, v % 7 }' >path.wel
awk 'BEGIN { for (v = 1; v <= 2500; v++) print 0, v, v % 90 }' >star.wel
awk 'BEGIN { n = 30
  for (y = 0; y < n; y++) for (x = 0; x < n; x++) {
    if (x + 1 < n) print y * n + x, y * n + x + 1, 1 + (x * y) % 7
    if (y + 1 < n) print y * n + x, y * n + n + x, (x + y) % 5 } }' >grid.wel
awk 'BEGIN { n = 30; print "%%MatrixMarket matrix coordinate real symmetric"; print 900, 900, 2 * n * (n - 1)
  for (y = 0; y < n; y++) for (x = 0; x < n; x++) {
    if (x + 1 < n) print y * n + x + 2, y * n + x + 1, 0.1 + (x * y) % 7
    if (y + 1 < n) print y * n + n + x + 1, y * n + x + 1, (x + y) % 5 / 3 } }' >real.mtx
awk 'BEGIN { for (v = 0; v < 300; v++) { print v, v, 1; print v, (v + 2) % 300, 2 } }' >two.wel
echo '# 1,0,d' >single.el
echo '# 4000,0,d' >edgeless.el
for name in path.wel star.wel grid.wel real.mtx two.wel single.el edgeless.el; do
  "$grapnel" convert "$name" "${name%.*}.gng" >/dev/null
done
"$grapnel" gen kron --scale 8 --undirected kron.gng >/dev/null
"$grapnel" gen urand --scale 9 --degree 6 urand.gng >/dev/null

runs=0
# lengths GRAPH OPTION... - a run, checked, for several widths of a step.
lengths() {
  input=$1
  shift
  for delta in 1 30 1e9 chosen; do
    width="--delta $delta"
    [ "$delta" = chosen ] && width=
    # shellcheck disable=SC2086 # two words, or none
    if ! "$grapnel" sssp "$input" $width --out "$delta.bin" --verify "$@" >said 2>&1; then
      echo "sssp $input $width $*:"
      cat said
      exit 1
    fi
    cmp "$delta.bin" 1.bin
    runs=$((runs + 1))
  done
}

for graph in $(few "grid kron" "path star grid real two single edgeless kron urand"); do
  for width in 1 32; do
    lengths "$graph.gng" --store file --warp-width "$width" --page 512 --cache 16K
  done
  lengths "$graph.gng" --store host --warp-width 8 --cache 64K --policy fifo --threads 4
  lengths "$graph.gng" --store host --mode direct
  lengths "$graph.gng" --store host --mode auto --warp-width 32
done
for store in file host; do
  lengths grid.wel --undirected --source 899 --store "$store"
  lengths real.mtx --source 450 --store "$store"
done
echo "$runs runs agree"
[ "$runs" -ge "$(few 50 100)" ]

# The form that sends messages draws the same weights and finds the same lengths.
far() { sed -n 's/.*"reached": \([0-9]*\).*/\1/p' "$1"; }
"$grapnel" sssp urand.gng --source 5 --most 9 --json store.json --verify >/dev/null
"$grapnel" sssp urand.gng --source 5 --most 9 --nodes 3 --json net.json --verify >/dev/null
if [ -z "$(far net.json)" ] || [ "$(far store.json)" != "$(far net.json)" ]; then
  echo 'the forms differ'
  exit 1
fi
"$grapnel" sssp urand.gng --help | grep -q -e '--store=' && "$grapnel" sssp --nodes 2 --help | grep -q -e '--columns='

# The longest way that is held, in both forms; spread_says.sh has one that is not.
printf '0 1 2147483647\n1 2 2147483646\n' >longest.wel
"$grapnel" sssp longest.wel --out store.bin --verify >said
grep -q 'the farthest at 4294967293$' said || fail "not all digits: $(cat said)"
"$grapnel" sssp longest.wel --nodes 2 --out net.bin --verify >/dev/null
cmp store.bin net.bin

# What is written: four bytes a vertex, a number or none; infinity of real numbers.
printf '0 1 3\n1 2 700\n' >three.wel
"$grapnel" sssp three.wel --source 1 --out three.bin >/dev/null
[ "$(od -A n -v -t x4 three.bin)" = ' ffffffff 00000000 000002bc' ] || { echo '--out does not hold the lengths'; exit 1; }
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 3 1' '2 3 0.5' >half.mtx
"$grapnel" sssp half.mtx --source 1 --out half.bin --verify >/dev/null
[ "$(od -A n -v -t x4 half.bin)" = ' 7f800000 00000000 3f000000' ] || { echo '--out does not hold f32'; exit 1; }
"$grapnel" sssp grid.gng --json - --verify >report.json
has report.json '"schema": "grapnel-sssp-store-1"' '"machine"' '"graph"' '"source": 0' '"weights": "i32"' '"delta"' \
  '"reached": 900' '"buckets"' '"launches"' '"farthest": 71' '"seconds"' '"edges_traversed"' '"mode": "paged"' '"cache"' \
  '"fetched_bytes"' '"needed_bytes": 21128' '"verified": true'
"$grapnel" sssp kron.gng --json - | grep -q '"weights": "drawn"'
"$grapnel" sssp real.gng --json - | grep -q '"weights": "f32"'
"$grapnel" sssp grid.gng --svg sssp.svg --verify >said
[ "$(tail -n 1 sssp.svg)" = '</svg>' ] && grep -q 'Shortest paths: .*every length verified' sssp.svg
grep -q '^  verified  .*reference' said
"$grapnel" sssp kron.gng --mode auto --store host --explain | grep -q '^auto: '

# ---- what is refused ----
refusals sssp kept.bin
refuses 2 'no graph given'
refuses 2 'too many arguments' kron.gng two.gng
for delta in 0 -1 nan inf 1e39 1e300 1x ''; do
  refuses 2 'above 0 and at most 3.4e38' kron.gng --delta "$delta"
done
refuses 2 'most' kron.gng --most 0
refuses 2 'mode best' kron.gng --mode best
refuses 2 'direct needs --store host' kron.gng --store file --mode direct
refuses 1 'weights are whole numbers; give 1 or more' kron.gng --delta 0.5
refuses 1 'source 256.*256 vertices' kron.gng --source 256
refuses 1 'sssp: .*missing.gng' missing.gng
printf '0 1 5\n1 2 -3\n' >less.wel
refuses 1 'vertex 1 has a weight that is less than 0' less.wel
printf '0 1 2147483647\n1 2 2147483647\n2 3 9\n' >long.wel
refuses 1 'vertex 2 has the length 4294967294 or more, which is not held' long.wel
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 3 2' '1 2 3e38' '2 3 3e38' >long.mtx
refuses 1 'vertex 2 has the length .* or more' long.mtx
for bits in '\000\000\300\177' '\000\000\200\177' '\000\000\000\277'; do # not a number, infinity, -0.5; in the last four bytes of a file
  "$grapnel" convert half.mtx bad.gng >/dev/null
  at=$(od -A d -v -t x4 -w4 bad.gng | sed -n 's/^0*\([0-9]*\) 3f000000$/\1/p' | tail -n 1)
  # shellcheck disable=SC2059 # the bytes are the format
  printf "$bits" | dd of=bad.gng bs=1 seek="$at" conv=notrunc 2>/dev/null
  refuses 1 'bad.gng.*(checksum|damaged)' bad.gng --source 1
  refuses 1 'vertex 1 has a weight' bad.gng --source 1 --trust
done
refuses_cut grid.gng
