#!/bin/sh
# Includes point downwards only: error < simt < queue < store < cache < array, slots, net < shmem, open. Usage: layers.sh SOURCE-FOLDER
set -u
cd -- "$1" || exit 1
find include/grapnel src -name '*.[ch]' -o -name '*.cu' -o -name '*.hpp' | sort | xargs grep -HE '^[[:space:]]*#[[:space:]]*include' |
  awk '
    # The layer of a public header (grapnel/...) or of a folder of src/; 0 for what is not the library'"'"'s.
    function layer(path) {
      sub(/^(include\/grapnel|grapnel|src)\/(detail\/)?/, "", path)
      if (path ~ /^(grapnel\.hp?p?|grapnel\.h)$/) return 9
      if (path ~ /^open\./) return 8
      if (path ~ /^(error|version|plain)\./) return 1
      if (path ~ /^(simt[.\/]|(explore|trace|change)\.)/) return 2
      if (path ~ /^(queue\/|ring\.h|nvmeq?\.h)/) return 3
      if (path ~ /^store[.\/]/) return 4
      if (path ~ /^cache[.\/]/) return 5
      if (path ~ /^((array|slots|net)[.\/]|(auto|gather)\.h)/) return 6
      if (path ~ /^shmem\//) return 7
      return 0
    }
    {
      file = $0; sub(/:.*/, "", file)
      if (!match($0, /[<"][^">]*[">]/)) next
      name = substr($0, RSTART + 1, RLENGTH - 2)
      if ($0 ~ /"/ && file ~ /^src\//) next # a neighbour in the same folder
      if (name !~ /^grapnel\// && name !~ /^(simt|queue|store|cache|array|slots|net|shmem)\//) next
      seen++
      if (!layer(name) || !layer(file)) { print file ": " name ": in no layer"; bad = 1 }
      else if (layer(name) > layer(file)) { print file ": includes " name " of a higher layer"; bad = 1 }
    }
    END { if (seen < 40) { print "only " seen " includes seen: the search is broken"; bad = 1 } exit bad }'
