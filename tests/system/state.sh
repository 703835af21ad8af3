#!/bin/sh
# Jobs over a graph whose state of vertices is in a store, behind a cache that is smaller than it: their results are those of the same
# job with its state on the machine, for narrow and wide warps. Usage: state.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

"$grapnel" gen kron --scale 10 --degree 8 --undirected kron.gng >/dev/null
"$grapnel" gen urand --scale 10 --degree 3 directed.gng >/dev/null
awk 'BEGIN { for (v = 0; v < 1200; v++) print 0, v + 1 }' >star.el
"$grapnel" convert star.el star.gng --undirected >/dev/null

runs=0
# same CACHE JOB GRAPH OPTION... - with a cache of this size: the same bytes, whatever holds the state; and the report says that it did not fit its cache.
same() {
  cache=$1
  job=$2
  input=$3
  shift 3
  "$grapnel" "$job" "$input" "$@" --out want.bin >/dev/null
  for width in 1 32; do
    for state in $(few file "host file"); do
      if ! "$grapnel" "$job" "$input" "$@" --warp-width "$width" --state "$state" --state-page 512 --state-cache "$cache" --out got.bin --verify --json got.json >said 2>&1 ||
        ! cmp want.bin got.bin; then
        echo "$job $input $* --warp-width $width --state $state:"
        cat said
        exit 1
      fi
      runs=$((runs + 1))
    done
  done
  tr -d ' \n' <got.json >line.json
  grep -q '"state":{"store":"file","bytes":[0-9]*,"cache":{"bytes":[0-9]*,"page_bytes":512,.*"evicted_pages":[1-9]' line.json ||
    { echo "--json of $job does not say where the state was"; cat got.json; exit 1; }
}

for algorithm in afforest sv; do
  same 2K cc kron.gng --algorithm $algorithm
  same 2K cc directed.gng --algorithm $algorithm
done
same 2K cc star.gng
for algorithm in top-down direction-optimising; do
  same 2K bfs kron.gng --source 1 --algorithm $algorithm
  same 2K bfs star.gng --source 7 --algorithm $algorithm
done
same 2K bfs directed.gng --source 1
same 8K sssp kron.gng --source 1 --most 20 --delta 20
same 16K pagerank kron.gng --algorithm pull --iterations 2
same 16K pagerank directed.gng --mode direct --store host --iterations 2
echo "$runs runs agree"
[ "$runs" -ge "$(few 24 48)" ]

# Scores are sums of real numbers, in any order: verified, not compared byte by byte.
for width in 1 32; do
  for state in host file; do
    "$grapnel" bc kron.gng --source 1 --source 7 --warp-width $width --state $state --state-page 512 --state-cache 24K --verify >said
    grep -q "^  state  .* $state; a cache of" said
    grep -q '^  verified' said
  done
done

# Several searches keep the place; each begins anew.
"$grapnel" bfs kron.gng --sources 3 --state host --state-page 512 --state-cache 2K --verify >said
grep -q '^  verified' said
"$grapnel" bfs kron.gng --source 1 --json - | grep -q '"state": null'
for left in grapnel-state*; do
  [ ! -e "$left" ] || { echo "$left was left behind"; exit 1; }
done

# ---- what is refused ----
refusals '' ''
refuses 2 'state disk: give device, host or file' cc kron.gng --state disk
refuses 2 'give one of these too' cc kron.gng --state-cache 1M
refuses 2 'leave --state out' cc kron.gng --state host --baseline incore
refuses 2 'state' tc kron.gng --state host
refuses 1 '^grapnel cc: --state-cache: cache: 1024 bytes .*at least 16384 bytes' cc kron.gng --state host --state-page 4096 --state-cache 1K
TMPDIR=$PWD/missing refuses 1 'missing.*set TMPDIR to a folder' cc kron.gng --state file
