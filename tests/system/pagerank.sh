#!/bin/sh
# grapnel pagerank equals its --verify, pulled and pushed, and gives the same bytes whatever the width of a warp, the store and the room in
# the cache. What it refuses it names, and then nothing is written. Usage: pagerank.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

awk 'BEGIN { for (v = 0; v < 1000; v++) print v, v + 1 }' >path.el
awk 'BEGIN { for (v = 1; v <= 2500; v++) print 0, v }' >star.el
awk 'BEGIN { for (v = 0; v < 300; v++) { print v, v; print v, (v + 2) % 300 } }' >two.el
echo '# 1,0,d' >single.el
echo '# 4000,0,d' >edgeless.el
for name in path star two single edgeless; do
  "$grapnel" convert "$name.el" "$name.gng" >/dev/null
done
"$grapnel" convert star.el spokes.gng --undirected >/dev/null
"$grapnel" gen kron --scale 8 --undirected kron.gng >/dev/null
"$grapnel" gen urand --scale 9 --degree 6 urand.gng >/dev/null

runs=0
# ranks GRAPH ALGORITHM OPTION... - a run, checked, and compared with the one before of this graph, if any.
ranks() {
  input=$1
  algorithm=$2
  shift 2
  if ! "$grapnel" pagerank "$input" --algorithm "$algorithm" --out ranks.bin --verify "$@" >said 2>&1; then
    echo "pagerank $input --algorithm $algorithm $*:"
    cat said
    exit 1
  fi
  [ ! -e first.bin ] || cmp ranks.bin first.bin
  mv ranks.bin first.bin
  runs=$((runs + 1))
}

for graph in $(few "star kron" "path star spokes two single edgeless kron urand"); do
  rm -f first.bin
  algorithms=push
  case $graph in spokes | kron) algorithms='push pull' ;; esac
  for algorithm in $algorithms; do
    for width in 1 32; do
      ranks "$graph.gng" "$algorithm" --store file --warp-width "$width" --page 512 --cache 16K
    done
    ranks "$graph.gng" "$algorithm" --store host --warp-width 8 --cache 64K --policy fifo --threads 4
    ranks "$graph.gng" "$algorithm" --store host --mode direct
    ranks "$graph.gng" "$algorithm" --store host --mode auto --warp-width 32
  done
done
rm first.bin
ranks star.el pull --undirected --store file
ranks spokes.gng push
echo "$runs runs agree"
[ "$runs" -ge "$(few 17 50)" ]

# A tolerance ends the iterations, and GAP's rule holds; without one they go on to the limit.
"$grapnel" pagerank kron.gng --tolerance 1e-9 --iterations 1000 --json few.json --verify >/dev/null
grep -q '"converged": true' few.json && ! grep -q '"iterations": 1000' few.json
"$grapnel" pagerank kron.gng --tolerance 0 --iterations 30 --json all.json --verify >/dev/null
grep -q '"converged": false' all.json && grep -q '"iterations": 30' all.json
"$grapnel" pagerank --help | grep -q -e '--store=' && "$grapnel" pagerank --nodes 2 --help | grep -q -e '--columns='

# What is written: an f32 a vertex. Every vertex of a graph without edges has the same rank.
"$grapnel" pagerank edgeless.gng --out edgeless.bin >/dev/null
[ "$(od -A n -v -t x4 -w4 edgeless.bin | sort | uniq -c | tr -s ' ')" = ' 4000 3983126f' ] || { echo '--out does not hold 1/4000'; exit 1; }
"$grapnel" pagerank kron.gng --json - --verify >report.json
has report.json '"schema": "grapnel-pagerank-store-1"' '"machine"' '"graph"' '"algorithm": "pull"' '"both_directions": true' \
  '"iterations"' '"tolerance"' '"converged": true' '"moved"' '"distance"' '"bound"' '"error"' '"seconds"' '"edges_traversed"' \
  '"mode": "paged"' '"cache"' '"fetched_bytes"' '"needed_bytes"' '"verified": true'
"$grapnel" pagerank urand.gng --json - | grep -q '"algorithm": "push"'
"$grapnel" pagerank kron.gng --svg pagerank.svg --verify >said
[ "$(tail -n 1 pagerank.svg)" = '</svg>' ] && grep -q 'PageRank: .*the ranks verified' pagerank.svg
grep -q '^  verified  .*reference' said
"$grapnel" pagerank kron.gng --mode auto --store host --explain | grep -q '^auto: '

# ---- what is refused ----
refusals pagerank kept.bin
refuses 2 'no graph given'
refuses 2 'too many arguments' kron.gng two.gng
for tolerance in -1 nan inf 1x ''; do
  refuses 2 '0 or more' kron.gng --tolerance "$tolerance"
done
refuses 2 'iterations' kron.gng --iterations 0
refuses 2 'give pull or push' kron.gng --algorithm best
refuses 2 'direct needs --store host' kron.gng --store file --mode direct
refuses 1 'pull: urand.gng does not say .*push' urand.gng --algorithm pull
refuses 1 'pagerank: .*missing.gng' missing.gng
echo '# 0,0,d' >nothing.el
refuses 1 'no vertex' nothing.el
refuses_cut kron.gng
