#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A graph in a file, and on a stripe, is searched through a tier; what its fast level has got is in the file afterwards.
# Usage: tier.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

"$grapnel" gen kron --scale 11 --undirected g.gng >/dev/null
bytes=$(wc -c <g.gng)
half=$(((bytes / 2 / 65536 + 1) * 65536))
truncate -s $((2 * half)) part
truncate -s "$half" part.0
truncate -s "$half" part.1

# Through a fast level that is smaller than the graph, and through one that is larger.
for fast in host:64K host:16M; do
  for slow in file:part stripe:file:part.0,file:part.1; do
    "$grapnel" store write "tier:$fast,$slow" --file g.gng --overwrite
    "$grapnel" store read "$slow" --bytes "$bytes" | cmp g.gng -
    "$grapnel" store read "tier:$fast,$slow" --bytes "$bytes" | cmp g.gng -
    "$grapnel" bfs g.gng --source 0 --store "tier:ro,$fast,$slow" --cache 64K --verify >said
    "$grapnel" pagerank g.gng --store "tier:$fast,$slow" --cache 64K --warp-width 32 --verify >said
  done
done
"$grapnel" bfs g.gng --source 0 --store "tier:line=16K,host:1M,file:part" --page 16K --cache 256K --verify >said

# Where kernels write.
"$grapnel" cache-bench --store tier:host:2M,host:8M --data 8M --cache 1M --repeat 1 >said
"$grapnel" store info tier:host:1M,file:part >said
grep -q 'member 1 .*in use.*host:1M' said
grep -q 'member 2 .*in use.*file:part' said
"$grapnel" store info "tier:host:4000000T?memory=device,file:part" >said
grep -q 'member 1 .*not there.*smaller size' said

refused 'line of the tier' 'line=65536' "$grapnel" bfs g.gng --source 0 --store tier:host:1M,file:part --page 64K
refused 'one level' 'tier:FAST,SLOW' "$grapnel" store read tier:file:part
refused 'begins empty' 'part.0' "$grapnel" store read tier:host:./part.0,file:part
refused 'the slow store' 'no-such-file' "$grapnel" store read tier:host:1M,file:no-such-file
