#!/bin/sh
# grapnel bfs equals GraphBLAS (and its own --verify) on graphs of every kind, whatever the width of a warp, the size of a
# page and the room in the cache, and whoever chooses them. Usage: bfs.sh GRAPNEL GRAPHBLAS_BFS SCRATCH-FOLDER; GRAPHBLAS_BFS is
# empty where there is no GraphBLAS.
set -eu
grapnel=$1
oracle=$2
[ -n "$oracle" ] || { echo 'no GraphBLAS here'; exit 77; }
rm -rf "$3"
mkdir -p "$3"
cd "$3"

awk 'BEGIN { for (v = 0; v < 2000; v++) print v, v + 1 }' >path.el
awk 'BEGIN { for (v = 1; v <= 5000; v++) print 0, v }' >star.el
awk 'BEGIN { n = 60
  for (y = 0; y < n; y++) for (x = 0; x < n; x++) {
    if (x + 1 < n) print y * n + x, y * n + x + 1
    if (y + 1 < n) print y * n + x, y * n + n + x } }' >grid.el
awk 'BEGIN { print "# 3000,1500,d"; for (v = 0; v < 1500; v++) print v, (v * 7 + 1) % 1500 }' >disconnected.el
awk 'BEGIN { for (v = 0; v < 300; v++) { print v, v; print v, (v + 1) % 300; print v, v } }' >loops.el
echo '# 1,0,d' >single.el
echo '# 4000,0,d' >edgeless.el
for name in path star grid disconnected loops single edgeless; do
  "$grapnel" convert "$name.el" "$name.gng" >/dev/null
done
"$grapnel" convert star.el spokes.gng --undirected >/dev/null
"$grapnel" gen kron --scale 12 --undirected kron.gng >/dev/null
"$grapnel" gen urand --scale 12 --degree 8 urand.gng >/dev/null

runs=0
# search GRAPH SOURCE OPTION... - one run, checked twice.
search() {
  graph=$1
  source=$2
  shift 2
  if "$grapnel" bfs "$graph.gng" --source "$source" --out depths.bin --verify "$@" >said 2>&1 &&
    "$oracle" "$graph.gng" "$source" depths.bin 2>>said; then
    runs=$((runs + 1))
  else
    echo "bfs $graph.gng --source $source $*:"
    cat said
    exit 1
  fi
}

for graph in path star spokes grid disconnected loops single edgeless kron urand; do
  # Each width with each page and with each room (one set, which is four frames; sixteen sets; all of it), each page with each
  # room: a Latin square, in a third of the searches that all three together would be.
  while read -r page widths caches; do
    for cache in $caches; do
      search "$graph" 0 --store file --warp-width "${widths%%,*}" --page "$page" --cache "$cache"
      widths=${widths#*,}
    done
  done <<'TEXT'
512 1,8,32 2K 8K 4M
4K 8,32,1 16K 64K 4M
64K 32,1,8 256K 1M 16M
TEXT
  search "$graph" 0 --store host --mode direct
  search "$graph" 0 --store host --cache 64K --policy fifo --warp-width 32
  search "$graph" 0 --store host --cache 64K --policy random
  search "$graph" 0 --store host --cache 64K --threads 4
  search "$graph" 0 --store peer:1 --cache 64K
  search "$graph" 0 --store 'peer:0+1?unit=2M' --mode direct
  search "$graph" 0 --store file --cache 64K --cache-on 0+1
  for width in 1 32; do
    search "$graph" 0 --store host --mode auto --warp-width "$width"
    search "$graph" 0 --store file --mode auto --cache 256K --warp-width "$width"
  done
done
search disconnected 2999 --store file --cache 64K
search kron 4095 --store file --cache 64K

# Either algorithm, where every edge is there in both directions.
for graph in spokes kron; do
  for algorithm in top-down direction-optimising; do
    for width in 1 32; do
      search "$graph" 0 --store file --algorithm "$algorithm" --warp-width "$width" --page 512 --cache 32K
    done
    search "$graph" 0 --store host --mode direct --algorithm "$algorithm"
    search "$graph" 0 --store host --mode auto --algorithm "$algorithm" --warp-width 32
  done
done
search grid 0 --algorithm top-down

# What was chosen is said, on paper and as JSON; without edges there is nothing to choose.
"$grapnel" bfs kron.gng --source 0 --store host --mode auto --explain --json auto.json >said
for words in '^  edges  .*launches looked at' '^auto: [0-9]+ launches' '^  chosen: '; do
  grep -qE "$words" said || { cat said; exit 1; }
done
for words in '"mode": "auto"' '"explain": "auto: '; do
  grep -q "$words" auto.json || { cat auto.json; exit 1; }
done
"$grapnel" bfs edgeless.gng --source 0 --mode auto --json - | grep -q '"auto": null'
"$grapnel" bfs kron.gng --source 0 --json - | grep -q '"auto": null'

# The default follows the graph; steps are said on request; bottom-up reads fewer edges.
"$grapnel" bfs kron.gng --source 0 --algorithm top-down --json down.json --steps >said
grep -q '^  algorithm  .*top-down: [0-9]* top-down$' said
"$grapnel" bfs kron.gng --source 0 --json best.json --steps >said
grep -q '^  algorithm  .*direction-optimising: .* bottom-up' said
grep -qE '^ +2  bottom-up +[0-9]+ +[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+$' said || { cat said; exit 1; }
for words in '"algorithm": "direction-optimising"' '"both_directions": true' '"direction": "bottom-up"' '"fetched_pages": [0-9]'; do
  grep -q "$words" best.json || { cat best.json; exit 1; }
done
# number FILE MEMBER - its first value.
number() {
  sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" "$1" | head -n 1
}
[ $((4 * $(number best.json edges_traversed))) -lt "$(number down.json edges_traversed)" ]
"$grapnel" bfs grid.gng --source 0 --json - | grep -q '"algorithm": "top-down"'
"$grapnel" bfs grid.gng --source 0 --json - | grep -q '"steps": null'
echo "$runs searches agree"
[ "$runs" -ge 185 ]
