#!/bin/sh
# grapnel bc equals its --verify, whatever the width of a warp, the store and the room in the cache, and scores that follow from a
# graph's shape. What it refuses it names, and then nothing is written. Usage: bc.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

awk 'BEGIN { for (v = 0; v < 200; v++) print v, v + 1 }' >path.el
awk 'BEGIN { for (v = 1; v <= 3000; v++) { print 0, v; print v, 0 } }' >star.el
echo '# 1,0,d' >single.el
echo '# 4000,0,d' >edgeless.el
for name in path star single edgeless; do
  "$grapnel" convert "$name.el" "$name.gng" >/dev/null
done
"$grapnel" gen kron --scale 8 --undirected kron.gng >/dev/null
"$grapnel" gen urand --scale 9 --degree 4 urand.gng >/dev/null

runs=0
# scores OPTION... - one run, checked.
scores() {
  if ! "$grapnel" bc --out scores.bin --verify "$@" >said 2>&1; then
    echo "bc $*:"
    cat said
    exit 1
  fi
  runs=$((runs + 1))
}

for graph in $(few "star kron" "path star single edgeless kron urand"); do
  for width in 1 32; do
    scores "$graph.gng" --source 0 --store file --warp-width "$width" --page 512 --cache 2K
  done
  scores "$graph.gng" --source 0 --store host --warp-width 8 --cache 64K --policy fifo --threads 4
  scores "$graph.gng" --source 0 --store host --mode direct
  scores "$graph.gng" --source 0 --store host --mode auto --warp-width 32
done
scores kron.gng
scores urand.gng --sources 7 --seed 5 --warp-width 32
scores kron.gng --source 1 --source 2 --source 1
scores path.el --undirected --store file
echo "$runs runs agree"
[ "$runs" -ge "$(few 14 34)" ]

# What is written: of a star, from its hub, 1 for the hub and 0 for all others, four bytes each.
scores star.gng --source 0
[ "$(od -A n -v -t u1 -w4 scores.bin | sort | uniq -c | tr -s ' ' | tr '\n' ';')" = \
  ' 3000 0 0 0 0; 1 0 0 128 63;' ] || { echo '--out does not hold the scores'; exit 1; }
"$grapnel" bc kron.gng --json - --verify >report.json
has report.json '"schema": "grapnel-bc-1"' '"machine"' '"graph"' '"sources"' '"seed": 1' '"largest"' '"levels"' '"seconds"' \
  '"edges_traversed"' '"mode": "paged"' '"cache"' '"fetched_bytes"' '"needed_bytes"' '"verified": true'
"$grapnel" bc kron.gng --source 3 --json - | grep -q '"seed": null'
"$grapnel" bc kron.gng --svg bc.svg --verify >said
[ "$(tail -n 1 bc.svg)" = '</svg>' ] && grep -q 'Betweenness centrality: .*every score verified' bc.svg
grep -q '^  verified  .*reference' said

# ---- what is refused ----
refusals bc kept.bin
refuses 2 'no graph given'
refuses 2 'sources' kron.gng --sources 0
refuses 2 'leave either out' kron.gng --source 1 --seed 3
refuses 2 'svg is for --mode paged' kron.gng --mode direct --svg out.svg
refuses 1 'source 256 is not a vertex' kron.gng --source 256
refuses 1 'no vertex has an edge' edgeless.gng
: >empty.el
refuses 1 'the graph has no vertex to begin at' empty.el
refuses 1 'bc: .*missing.gng' missing.gng
refuses_cut kron.gng
[ ! -e out.svg ]
