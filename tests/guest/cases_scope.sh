# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# grapnel scope on a machine with two nodes of memory, each with a processor.

nodes_listed() {
  grapnel scope --list --filter '^memory/[a-z]*-nodes' >/tmp/list
  cat /tmp/list
  [ "$(grep -c '^memory/[a-z]*-nodes' /tmp/list)" -eq 4 ] && ! grep -q skipped /tmp/list
}

# measured ROW FROM TO SIZES - of a row between two nodes each of so many sizes was measured.
measured() {
  grep "^$1/.*/from:$2/to:$3," /tmp/nodes.csv >/tmp/cells
  cat /tmp/cells
  [ "$(grep -c ',measured,' /tmp/cells)" -eq "$4" ] && [ "$(wc -l </tmp/cells)" -eq "$4" ]
}

case_nodes() {
  step "the system shows two nodes" [ -d /sys/devices/system/node/node1 ]
  step "the four rows between nodes are not skipped" nodes_listed
  step "they are measured, and what they moved is right" \
    grapnel scope --deadline 800 --filter '^memory/[a-z]*-nodes/bytes:(65536|67108864)/' --csv /tmp/nodes.csv --json /tmp/nodes.json
  for from in 0 1; do
    for to in 0 1; do
      for row in copy read write; do
        step "memory/$row-nodes, from node $from to node $to" measured "memory/$row-nodes" $from $to 2
      done
      step "memory/latency-nodes, from node $from to node $to" measured memory/latency-nodes $from $to 1
    done
  done
  step "the report has the distances of the nodes" grep -q '"distances": *"10 21"' /tmp/nodes.json
}
