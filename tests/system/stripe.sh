#!/bin/sh
# A graph file is written onto a stripe of files, read back, and searched there; what does not fit is refused with what to do.
# Usage: stripe.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

"$grapnel" gen kron --scale 11 --undirected g.gng >/dev/null
bytes=$(wc -c <g.gng)
for count in 1 2 3 8; do
  list=unit=8K
  k=0
  while [ $k -lt $count ]; do
    truncate -s $(((bytes / count / 8192 + 1) * 8192)) "part$count.$k"
    list="$list,file:part$count.$k"
    k=$((k + 1))
  done
  "$grapnel" store write "stripe:$list" --file g.gng --overwrite
  "$grapnel" store read "stripe:$list" --bytes "$bytes" --file back
  cmp g.gng back
  "$grapnel" bfs g.gng --source 0 --store "stripe:$list" --cache 64K --verify >said
  [ "$count" = 3 ] && three=$list
done
"$grapnel" bfs g.gng --source 0 --store "stripe:$three" --cache 256K --page 8K --warp-width 32 --verify >said
"$grapnel" pagerank g.gng --store "stripe:$three" --cache 64K --verify >said

# The second unit of the file is the first of the second member.
dd if=g.gng bs=8192 skip=1 count=1 of=want 2>/dev/null
dd if=part3.1 bs=8192 count=1 of=got 2>/dev/null
cmp want got

# Members in another order, and another unit, have the same first page.
refused 'same order' 'unit=' "$grapnel" bfs g.gng --source 0 --store stripe:unit=8K,file:part3.0,file:part3.2,file:part3.1
refused 'same order' 'unit=' "$grapnel" bfs g.gng --source 0 --store stripe:unit=4K,file:part3.0,file:part3.1,file:part3.2

# A file is not emptied for a store that is not there, nor a member for the store that it is a part of.
refused 'no-such-file' 'check the path' "$grapnel" store read file:no-such-file --file back
refused 'in this file' 'another' "$grapnel" store read "stripe:$three" --file part3.1
refused 'in this file' 'another' "$grapnel" store write "stripe:$three" --file part3.1 --overwrite
cmp g.gng back
"$grapnel" store read "stripe:$three" --bytes "$bytes" | cmp g.gng -

# Another graph is not there; --overwrite copies it.
"$grapnel" gen urand --scale 10 --degree 8 other.gng >/dev/null
refused 'does not have the bytes' 'grapnel store write' "$grapnel" bfs other.gng --source 0 --store "stripe:$three"
awk 'BEGIN { for (v = 0; v < 500; v++) print v, (v * 7 + 1) % 500 }' >ring.el
refused 'without --overwrite' 'gng' "$grapnel" bfs ring.el --source 0 --store "stripe:$three"
"$grapnel" bfs ring.el --source 0 --store "stripe:$three" --overwrite --verify >said
"$grapnel" bfs other.gng --source 0 --store "stripe:$three" --overwrite --verify >said
"$grapnel" bfs other.gng --source 0 --store "stripe:$three" --verify >said

refused 'unit of the stripe' 'unit=65536' "$grapnel" bfs other.gng --source 0 --store "stripe:$three" --page 64K
refused 'give --overwrite' 'destroys' "$grapnel" store write "stripe:$three" --file g.gng
refused 'nothing was written' 'do not fit' "$grapnel" store write "stripe:unit=8K,file:part8.0,file:part8.1" --file g.gng --overwrite
refused 'are not there' 'bytes' "$grapnel" store read "stripe:$three" --bytes 1G --file back
refused 'member 2 of 2' 'no-such-file' "$grapnel" store read stripe:file:part3.0,file:no-such-file
refused 'make all members equal' 'truncate -s' "$grapnel" store read "stripe:file:part3.0,file:part1.0"
refused 'same file' 'once' "$grapnel" store read "stripe:file:part3.0,file:part3.0"
refused 'no store given' 'stripe:' "$grapnel" store read
refused 'neither' 'file:PATH' "$grapnel" store read stripe:part3.0,file:part3.1
