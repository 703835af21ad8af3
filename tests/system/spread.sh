#!/bin/sh
# The applications on many nodes agree with their references on inputs of every kind, whatever the number of nodes, the
# way of messages, the size of packets and the width of a warp. What else they say: spread_says.sh.
# Usage: spread.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

awk 'BEGIN { for (v = 0; v < 400; v++) print v, v + 1 }' >path.el
awk 'BEGIN { for (v = 1; v <= 900; v++) print 0, v }' >star.el
awk 'BEGIN { n = 30
  for (y = 0; y < n; y++) for (x = 0; x < n; x++) {
    if (x + 1 < n) print y * n + x, y * n + x + 1, 1 + (x * y) % 7
    if (y + 1 < n) print y * n + x, y * n + n + x, (x + y) % 5 } }' >grid.wel
awk 'BEGIN { for (v = 0; v < 100; v++) { print v, v; print v, (v + 1) % 100; print v, v } }' >loops.el
echo '# 1,0,d' >single.el
echo '# 50,0,d' >edgeless.el
"$grapnel" gen kron --scale 10 --undirected kron.gng >/dev/null
"$grapnel" gen urand --scale 10 --degree 5 urand.gng >/dev/null
awk 'BEGIN { x = 7
  for (r = 0; r < 200; r++) {
    printf ">read %d\n", r
    for (k = 0; k < 90; k++) {
      if (k % 30 == 0) x = (r % 40) * 31 + k + 1
      x = (x * 1103515245 + 12345) % 2147483648
      printf "%s", k == r % 400 ? "N" : substr("ACGT", 1 + int(x / 65536) % 4, 1)
    }
    print "" } }' >reads.fa
gzip -kf reads.fa

runs=0
# run SUBCOMMAND OPTION... - it goes well, and what it found is right.
run() {
  if "$grapnel" "$@" --json out.json >said 2>&1 && grep -q '"verified": true' out.json; then
    runs=$((runs + 1))
  else
    echo "grapnel $*:"
    cat said
    exit 1
  fi
}

# everywhere SUBCOMMAND OPTION... - on nodes of several numbers, one way and two, with narrow and wide warps.
everywhere() {
  run "$@" --nodes 1
  run "$@" --nodes 2 --warp-width 32
  run "$@" --nodes 4 --columns 2 --packet 256
  run "$@" --nodes 8 --columns 1 --warp-width 8
  run "$@" --nodes 8 --columns 3 --warp-width 32
}

for graph in path.el star.el grid.wel loops.el single.el edgeless.el kron.gng urand.gng; do
  everywhere pagerank "$graph" --verify --iterations 5
  everywhere sssp "$graph" --verify
  everywhere color "$graph" --verify
done
run sssp star.el -u --source 900 --most 1 --nodes 3 --verify
everywhere kmeans --points 2000 --verify
run kmeans --points 40 --clusters 40 --dimensions 16 --nodes 3 --seed 5 --verify
everywhere mer reads.fa.gz --verify
run mer reads.fa -k 31 --nodes 3 --verify
for op in xor inc; do
  everywhere gups --table 32K --op "$op"
  run gups --table 4K --op "$op" --hold 1024
done
for way in form=coprocessor form=coalesced form=message-per-lane route=direct; do
  run pagerank urand.gng --nodes 2 --verify --iterations 2 "--$way"
  run sssp grid.wel --verify "--$way" --nodes 3
  run color kron.gng --verify "--$way" --nodes 4 --columns 2
  run kmeans --points 2000 --verify "--$way"
  run mer reads.fa --verify "--$way" --nodes 3 --warp-width 32
  run gups --table 4K "--$way" --nodes 4 --columns 2
done
# Sorted and applied by kernels, as on a GPU.
"$grapnel" gen urand --scale 8 --degree 5 small.gng >/dev/null
head -n 80 reads.fa >few.fa
for app in 'pagerank small.gng --iterations 2' 'sssp small.gng' 'color small.gng' 'kmeans --points 500' 'mer few.fa'; do
  # shellcheck disable=SC2086 # a subcommand and its options
  run $app --verify --sort kernel --nodes 2 --warp-width 4
done
run gups --table 4K --sort kernel --nodes 3
run gups --table 4K --sort kernel --nodes 2 --hold 1024 --threads 1
echo "$runs runs agree"
