#!/bin/sh
# The applications on many nodes: each is verified once, says its figures and digests, and refuses what it cannot work on; and the
# model of messages on many nodes. Inputs of every kind: spread.sh. Usage: spread_says.sh GRAPNEL SCRATCH-FOLDER MPIEXEC (or '')
set -eu
grapnel=$1
mpiexec=$3
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

awk 'BEGIN { for (v = 0; v < 400; v++) print v, v + 1 }' >path.el
awk 'BEGIN { for (v = 1; v <= 900; v++) print 0, v }' >star.el
"$grapnel" gen kron --scale 10 --undirected kron.gng >/dev/null
awk 'BEGIN { x = 7; print ">read"
  for (k = 0; k < 90; k++) {
    x = (x * 1103515245 + 12345) % 2147483648
    printf "%s", substr("ACGT", 1 + int(x / 65536) % 4, 1)
  }
  print "" }' >reads.fa

for app in 'pagerank kron.gng --iterations 3 --verify' 'sssp kron.gng --verify' 'color kron.gng --verify' \
  'kmeans --points 500 --verify' 'mer reads.fa --verify' 'gups --table 4K'; do
  # shellcheck disable=SC2086 # a subcommand and its options
  "$grapnel" $app --nodes 4 --columns 2 --warp-width 8 --json - | grep -q '"verified": true' || fail "$app: not verified"
done

# The model says the same twice, and of all its messages where they went.
"$grapnel" net-model --nodes 100 --updates 20000 --link 12.5 --compress --json model1.json
"$grapnel" net-model --nodes 100 --updates 20000 --link 12.5 --compress --json model2.json | grep -q '100 nodes in 10 columns'
cmp model1.json model2.json

# The same without --verify says nothing of it; the figures of table 5 are there.
"$grapnel" pagerank kron.gng --nodes 2 --json - >out.json
head -n 1 out.json | grep -q '^{'
for member in sent packets mean_packet message_bytes packet_log2_bytes occupancy wire_over_messages idle_share waited_ms \
  edges_per_second sum_is_one; do
  grep -q "\"$member\":" out.json || { echo "--json lacks $member"; exit 1; }
done
if grep -q verified out.json; then
  echo 'it says verified without --verify'
  exit 1
fi

# What vertices have got has one digest, whatever the number of nodes and the form.
for app in 'pagerank kron.gng --iterations 3' 'sssp kron.gng --source 1' 'color kron.gng'; do
  # shellcheck disable=SC2086 # a subcommand and its options
  for way in '--nodes 1' '--nodes 3' '--nodes 4 --form coalesced'; do
    "$grapnel" $app $way --json - | grep '"digest"'
  done | sort -u >digests
  [ "$(wc -l <digests)" = 1 ] || { echo "$app: digests differ"; exit 1; }
done
"$grapnel" sssp kron.gng --source 2 --nodes 1 --json - | grep '"digest"' >other
"$grapnel" sssp kron.gng --source 1 --nodes 1 --json - | grep '"digest"' >one
if cmp -s one other; then
  echo 'lengths from two sources have the same digest'
  exit 1
fi

# --out is the same whatever the number of nodes, and that of the form over a store; kron17.gng is more than one part of its words.
"$grapnel" gen kron --scale "$(few 11 17)" --degree 4 --undirected kron17.gng >/dev/null
for app in 'pagerank --iterations 3' 'sssp --source 1' color; do
  tool=${app%% *}
  for nodes in 1 3 8; do
    # shellcheck disable=SC2086 # a subcommand and its options
    "$grapnel" $app kron17.gng --nodes "$nodes" --out "$tool.$nodes" >/dev/null
  done
  cmp "$tool.1" "$tool.3"
  cmp "$tool.1" "$tool.8"
  [ "$(wc -c <"$tool.1")" -eq $((4 << $(few 11 17))) ] || fail "$tool: --out has not 4 bytes a vertex"
done
"$grapnel" sssp --source 1 kron17.gng --out sssp.store >/dev/null
cmp sssp.1 sssp.store
"$grapnel" pagerank --iterations 3 --tolerance 0 kron17.gng --out pagerank.store >/dev/null
cmp pagerank.1 pagerank.store
if [ -n "$mpiexec" ]; then
  # more processes than processors, also for root; other MPIs than Open MPI do not mind
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
  timeout 120 "$mpiexec" -n 3 "$grapnel" sssp --source 1 kron17.gng --out sssp.mpi >ranks || fail "under $mpiexec: $(cat ranks)"
  cmp sssp.1 sssp.mpi
fi

refusals '' ''
printf '0 1 2147483647\n1 2 2147483647\n2 3 2147483647\n' >long.wel
refuses 1 'long.bin: nothing was written: of 2 vertices the length is 4294967294 or more, which is not held;' sssp long.wel --nodes 2 --out long.bin
[ ! -e long.bin ] || fail 'lengths that do not fit were written'
for tool in pagerank sssp color; do
  refuses 1 'nofolder/r.bin: creating the file failed' "$tool" path.el --nodes 2 --out nofolder/r.bin
  refuses 2 'GRAPH' "$tool" --nodes 2
  refuses 2 'one GRAPH' "$tool" path.el star.el --nodes 2
  refuses 1 'missing.el' "$tool" missing.el --nodes 2
  refuses 1 'nofolder/r.json: creating the file failed' "$tool" path.el --nodes 2 --json nofolder/r.json
  refuses 2 'nodes' "$tool" path.el --nodes 0
  refuses 2 'nodes' "$tool" path.el --nodes=
  refuses 2 'warp' "$tool" path.el --nodes 2 --warp-width 3
  refuses 1 'pigeon' "$tool" path.el --nodes 2 --transport pigeon
  refuses 1 'columns' "$tool" path.el --nodes 2 --columns 3
  refuses 1 'nowhere' "$tool" path.el --nodes 2 --json nowhere/out.json
done
echo '# 0,0,d' >nothing.el
refuses 1 'vert' pagerank nothing.el --nodes 2
refuses 1 'vertices' sssp path.el --source 401 --nodes 2
printf '0 1 -3\n' >less.wel
refuses 1 'less than 0' sssp less.wel --nodes 2
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '2 2 1' '1 2 0.5' >real.mtx
refuses 1 'real numbers' sssp real.mtx --nodes 2
printf '0 1 0.5\n' >real.wel
refuses 1 'line 1.*32-bit integer' sssp real.wel --nodes 2
refuses 2 'clusters' kmeans --points 3 --clusters 4
refuses 2 'dimensions' kmeans --dimensions 17
refuses 2 'kmer' mer reads.fa -k 20
refuses 2 'table' mer reads.fa --table 100
refuses 1 'table.*full' mer reads.fa --table 8
refuses 1 'line 1' mer path.el
refuses 2 'power of two' gups --table 3K
refuses 2 'combined' gups --form pigeon
refuses 2 'nodes' net-model --nodes 1
refuses 2 'update-ns' net-model --update-ns 0
refuses 1 'columns' net-model --nodes 4 --columns 5
