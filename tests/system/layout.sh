#!/bin/sh
# Jobs whose launches are divided by chunks of edges (--layout balanced): their results are those of the same job by vertices, for
# narrow and wide warps, ids of 32 and 64 bits, and every place of graph and state. auto chooses by the longest list. Usage:
# layout.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

"$grapnel" gen kron --scale 10 --degree 8 --undirected kron.gng >/dev/null
"$grapnel" gen kron --scale 10 --degree 8 --undirected --ids 64 wide.gng >/dev/null
awk 'BEGIN { for (v = 0; v < 9000; v++) print 4000, v }' >star.el
"$grapnel" convert star.el star.gng --undirected >/dev/null
awk 'BEGIN { for (v = 0; v < 5000; v++) print v, v + 1 }' >path.el
awk 'BEGIN { for (v = 0; v < 3600; v++) { if (v % 60 < 59) print v, v + 1; if (v < 3540) print v, v + 60 } }' >grid.el
for graph in path grid; do "$grapnel" convert $graph.el $graph.gng --undirected >/dev/null; done

runs=0
# same GRAPH JOB OPTION... - the same bytes by vertices and by chunks, and the report says that it was by chunks.
same() {
  input=$1
  job=$2
  shift 2
  "$grapnel" "$job" "$input" "$@" --layout csr --out want.bin >/dev/null
  for way in '--warp-width 1 --page 512 --cache 16K --chunk 512' '--warp-width 32 --store host --mode auto' \
    '--warp-width 8 --state host --chunk 2K' '--baseline zerocopy --chunk 64K'; do
    # shellcheck disable=SC2086 # several options
    if ! "$grapnel" "$job" "$input" "$@" $way --layout balanced --verify --out got.bin --json got.json >said 2>&1 || ! cmp want.bin got.bin; then
      echo "$job $input $* $way:"
      cat said
      exit 1
    fi
    tr -d ' \n' <got.json | grep -q '"layout":{"asked":"balanced","used":"balanced","chunk_bytes":[0-9]*,"chunks":[1-9]' ||
      { echo "--json of $job $way does not say the layout"; cat got.json; exit 1; }
    runs=$((runs + 1))
  done
}
for graph in $(few "kron.gng" "kron.gng wide.gng star.gng path.gng"); do
  same "$graph" cc --algorithm sv
done
same kron.gng cc --algorithm afforest
for graph in $(few "star.gng" "kron.gng wide.gng star.gng grid.gng"); do
  same "$graph" bfs --source 1 --algorithm top-down
  same "$graph" sssp --source 1 --most 20 --delta 1000
done
same kron.gng bfs --source 1 --algorithm direction-optimising
for graph in $(few "wide.gng" "kron.gng wide.gng star.gng"); do
  same "$graph" pagerank --iterations 2
done
same star.el pagerank --iterations 2 --algorithm push
echo "$runs runs agree"
[ "$runs" -ge "$(few 28 72)" ]

# Scores are sums of real numbers, in any order: they are verified, not compared byte by byte. As many edges are read.
for graph in $(few "kron.gng" "kron.gng wide.gng star.gng"); do
  "$grapnel" bc "$graph" --source 1 --source 7 --json want.json >/dev/null
  for way in '--warp-width 1 --page 512 --cache 16K --chunk 512' '--warp-width 32 --store host --mode auto' \
    '--warp-width 8 --state host --chunk 2K' '--baseline zerocopy --chunk 64K'; do
    # shellcheck disable=SC2086 # several options
    "$grapnel" bc "$graph" --source 1 --source 7 $way --layout balanced --verify --json got.json >said
    grep -q '^  layout  *balanced' said || fail "bc $graph $way: $(cat said)"
    for member in levels edges_traversed; do
      [ "$(grep "^ \"$member\"" got.json)" = "$(grep "^ \"$member\"" want.json)" ] || fail "bc $graph $way: other $member: $(cat got.json)"
    done
  done
done

# used GRAPH LAYOUT WORDS OPTION... - what the table says of the layout.
used() {
  input=$1
  layout=$2
  words=$3
  shift 3
  "$grapnel" cc "$input" --layout "$layout" "$@" --verify >said
  grep -q "^  layout  *$words" said || { echo "$input --layout $layout $*: not \"$words\""; cat said; exit 1; }
}
used star.gng auto 'balanced: 141 chunks of 512 bytes, 568 bytes of start vertices' --chunk 512
used star.gng auto 'csr: the longest list has 9000 edges, less than 16 chunks'
used path.gng auto 'csr: the longest list has 2 edges' --chunk 512
used star.gng balanced 'balanced: 18 chunks of 4096 bytes, 76 bytes'
used wide.gng balanced 'balanced: [0-9]* chunks of 4096 bytes'
# many vertices without edges between two others; behind all edges they do no harm
printf '0 1\n20000 1\n' >gap.el
printf '# 30000,2,d\n0 1\n1 0\n' >behind.el
used gap.el balanced 'csr: 20001 vertices begin in one chunk'
used behind.el balanced 'balanced: 1 chunks'
"$grapnel" sssp behind.el --source 0 --layout balanced --delta 1e9 --verify >/dev/null
printf '# 10,0,d\n' >edgeless.el
used edgeless.el balanced 'csr: there are no edges'
# jobs whose passes read all edges choose by themselves; the others are csr, and then nothing is said
chosen() {
  words=$1
  shift
  "$grapnel" "$@" --verify >said
  grep -q "^  layout  *$words" said || { echo "$*: not \"$words\""; cat said; exit 1; }
}
chosen 'balanced: 141 chunks' cc star.gng --algorithm sv --chunk 512
chosen 'csr: the longest list has 2 edges' cc path.gng --algorithm sv
chosen 'balanced: 141 chunks' pagerank star.gng --chunk 512 --iterations 2
for run in 'cc star.gng' 'cc star.gng --algorithm sv --layout csr' 'pagerank star.gng --layout csr --iterations 2' 'bfs star.gng --source 1'; do
  # shellcheck disable=SC2086 # a command line
  "$grapnel" $run --verify >said
  if grep -q layout said; then echo "$run: a layout that was not asked for is reported"; exit 1; fi
done
# several searches have the list once
"$grapnel" bfs kron.gng --sources 3 --layout balanced --verify | grep -q '^  layout  *balanced'

refusals '' ''
refuses 2 'csr, balanced or auto' cc kron.gng --layout even
refuses 2 'give a power of two from 512 to 64K' cc kron.gng --layout balanced --chunk 3K
refuses 2 'give a power of two from 512 to 64K' cc kron.gng --layout balanced --chunk 128K
for job in 'bfs --source 1' cc 'cc --algorithm afforest'; do
  # shellcheck disable=SC2086 # a command line
  refuses 2 '--chunk is for --layout balanced.*give one of them too' $job kron.gng --chunk 1K
done
refuses 2 'leave it out' pagerank kron.gng --layout csr --chunk 1K
refuses 2 'unrecognized option' tc kron.gng --layout balanced
# offsets that decrease, in a file that is not checked
cp kron.gng bad.gng
printf '\377\377\377\377\377' | dd of=bad.gng bs=1 seek=4128 conv=notrunc 2>/dev/null
refuses 1 'bad.gng: the offsets of vertex' cc bad.gng --trust --layout balanced
