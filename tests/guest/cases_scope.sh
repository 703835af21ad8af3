# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# grapnel scope on machines that there are none of here: two nodes of memory, each with a processor; reserved huge pages.

nodes_listed() {
  grapnel scope --list --filter '^memory/[a-z]*-nodes' >/tmp/list
  cat /tmp/list
  [ "$(grep -c '^memory/[a-z]*-nodes' /tmp/list)" -eq 4 ] && ! grep -q skipped /tmp/list
}

# measured CELLS NUMBER - the cells whose names match this in /tmp/cells.csv are so many, and all were measured.
measured() {
  grep -E "^$1," /tmp/cells.csv >/tmp/cells
  cat /tmp/cells
  [ "$(grep -c ',measured,' /tmp/cells)" -eq "$2" ] && [ "$(wc -l </tmp/cells)" -eq "$2" ]
}

case_nodes() {
  step "the system shows two nodes" [ -d /sys/devices/system/node/node1 ]
  step "the four rows between nodes are not skipped" nodes_listed
  step "they are measured, and what they moved is right" \
    grapnel scope --quick --time 600 --rounds 2 --deadline 800 --filter '^memory/((copy|read|write)-nodes/bytes:1048576|latency-nodes/bytes:67108864)/' --csv /tmp/cells.csv --json /tmp/nodes.json
  for from in 0 1; do
    for to in 0 1; do
      for row in copy read write; do
        step "memory/$row-nodes, from node $from to node $to" measured "memory/$row-nodes/.*/from:$from/to:$to" 1
      done
      step "memory/latency-nodes, from node $from to node $to" measured "memory/latency-nodes/.*/from:$from/to:$to" 1
    done
  done
  step "the report has the distances of the nodes" grep -q '"distances": *"10 21"' /tmp/nodes.json
}

reserve() {
  echo "$1" >/proc/sys/vm/nr_hugepages
  grep -q "^HugePages_Free: *$1\$" /proc/meminfo
}

case_huge() {
  filter='^memory/(copy|latency)-huge/bytes:(2097152|33554432|67108864)$'
  step "without reserved pages the rows are skipped, with the reason" \
    says "no huge pages are free; the administrator reserves them" grapnel scope --list --filter '^memory/copy-huge'
  step "reserve 80 huge pages" reserve 80
  step "rows of reserved huge pages are measured, and what they moved is right" \
    grapnel scope --rounds 2 --deadline 800 --filter "$filter" --csv /tmp/cells.csv
  step "copies of 2 and 32 MiB, and of 64" measured 'memory/copy-huge/bytes:[0-9]+' 3
  step "a chase through 64 MiB" measured 'memory/latency-huge/bytes:67108864' 1
  step "give most of them back" reserve 8
  step "what no longer fits is skipped, and the rest is measured" \
    grapnel scope --rounds 2 --deadline 800 --filter '^memory/copy-huge/bytes:(2097152|33554432)$' --csv /tmp/cells.csv
  step "copies of 2 MiB" measured 'memory/copy-huge/bytes:2097152' 1
  step "none of 32 MiB, with the reason" grep -q '^memory/copy-huge/bytes:33554432,.*,skipped,.*huge-page memory' /tmp/cells.csv
}
