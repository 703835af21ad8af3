#!/bin/sh
# One job over data that is larger than its cache, on a machine, compared with its reference. Exit status 77 where the machine is not
# there. Usage: jobs.sh GRAPNEL SCRATCH-FOLDER MACHINE JOB
set -eu
grapnel=$1
machine=$3
job=$4
scale=16
rm -rf "$2"
mkdir -p "$2"
cd "$2"

if "$grapnel" doctor | grep -q "machine $machine  *no:"; then exit 77; fi

# verified OPTION... - a run, whose result must equal the reference's.
verified() {
  "$grapnel" "$job" "$@" --machine "$machine" --verify --json report.json
  grep -q '"verified": true' report.json
}

# everywhere OPTION... - paged with the default page, with small and large pages, and direct.
everywhere() {
  verified "$@" --store host
  verified "$@" --store host --page 512
  verified "$@" --store host --page 64K --cache 8M
  verified "$@" --store host --mode direct
  for baseline in incore zerocopy managed; do
    verified "$@" --baseline "$baseline"
  done
}

# graphs OPTION... - over graphs with skewed and even degrees, and a path; from a file too.
graphs() {
  "$grapnel" gen kron --scale "$scale" --undirected kron.gng
  "$grapnel" gen urand --scale 15 --degree 8 --undirected urand.gng
  awk 'BEGIN { for (v = 0; v < 3000; v++) print v, v + 1 }' >path.el
  "$grapnel" convert path.el path.gng --undirected
  for graph in kron urand path; do
    everywhere "$graph.gng" "$@"
  done
  verified kron.gng "$@" --store host --mode auto
  verified kron.gng "$@" --store file
}

# wide_ids OPTION... - a file with ids of 64 bits.
wide_ids() {
  "$grapnel" convert kron.gng wide.gng --ids 64
  verified wide.gng "$@" --store host
  verified wide.gng "$@" --store host --mode direct
  verified wide.gng "$@" --store host --mode auto
}

# by_chunks OPTION... - launches divided by chunks of edges; the longest list is too short for --layout auto to choose that.
by_chunks() {
  for way in '' '--page 512' '--mode direct' '--mode auto' '--state host'; do
    # shellcheck disable=SC2086 # several options
    verified kron.gng "$@" --store host $way --layout balanced --chunk 512
    grep -q '"used": "balanced"' report.json
  done
  verified kron.gng "$@" --store file --layout balanced
  verified kron.gng "$@" --baseline zerocopy --layout balanced
}

# far_state OPTION... - what the job knows of each vertex is far too: it fits its cache, it does not (one eighth does), it is in a file.
far_state() {
  for graph in kron urand path; do
    verified "$graph.gng" "$@" --store host --state host --state-cache 16M
    verified "$graph.gng" "$@" --store host --state host --state-page 512
  done
  verified kron.gng "$@" --store host --state file
}

case $job in
  bfs)
    graphs --source 1
    graphs --source 1 --algorithm direction-optimising
    far_state --source 1 --algorithm top-down
    far_state --source 1 --algorithm direction-optimising
    wide_ids --source 1
    ;;
  cc)
    graphs --algorithm afforest
    graphs --algorithm sv
    far_state --algorithm afforest
    far_state --algorithm sv
    by_chunks --algorithm afforest
    by_chunks --algorithm sv
    wide_ids
    ;;
  pagerank)
    graphs --algorithm pull
    graphs --algorithm push
    far_state --algorithm pull
    far_state --algorithm push
    by_chunks --algorithm pull
    by_chunks --algorithm push
    wide_ids
    ;;
  sssp)
    graphs --source 1 --most 255
    far_state --source 1 --most 255
    wide_ids --source 1 --most 255
    ;;
  bc)
    graphs --source 1 --source 7
    far_state --source 1 --source 7
    wide_ids --source 1
    ;;
  tc)
    scale=13 # the reference takes seconds for each run of 16
    graphs
    wide_ids
    ;;
  mvt | atax | bicg)
    everywhere --rows 1500 --columns 5000
    everywhere --rows 1500 --columns 5000 --passes 2
    verified --rows 1500 --columns 5000 --baseline tiled
    ;;
  stencil)
    everywhere --rows 1500 --columns 2100 --steps 5
    verified --rows 1500 --columns 2100 --steps 5 --baseline tiled
    ;;
  add)
    everywhere --data 64M
    verified --data 64M --baseline tiled
    ;;
  sort)
    for keys in uniform skewed equal; do
      everywhere --count 3000001 --keys "$keys" --memory 8M
      everywhere --count 1000001 --keys "$keys" --memory 4M --type f64
    done
    ;;
  query)
    "$grapnel" gen taxis --rows 3000000 taxis.gnt
    everywhere taxis.gnt --where 'distance >= 30' --sum total,tolls --avg 'total / distance' --max fare --group-by vendor
    verified taxis.gnt --where 'seconds > 9000' --count vendor --min total --store file
    ;;
  *)
    echo "jobs.sh: no job $job" >&2
    exit 2
    ;;
esac
