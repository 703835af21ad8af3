#!/bin/sh
# The README shows code that is compiled: each of its C blocks stands in a file of examples/, line by line, in
# order and without a gap. Usage: excerpt.sh SOURCE-FOLDER
set -u
cd -- "$1" || exit 1
awk '
  FNR == 1 { part++ }
  part == 1 && /^```c$/ { inside = 1; block++; lines[block] = 0; next }
  part == 1 && /^```/ { inside = 0; next }
  part == 1 && inside { text[block, ++lines[block]] = $0; next }
  part > 1 { source[part] = source[part] $0 "\n" }
  END {
    if (!block) { print "README.md: no C block found"; exit 1 }
    for (b = 1; b <= block; b++) {
      want = ""
      for (k = 1; k <= lines[b]; k++) want = want text[b, k] "\n"
      found = 0
      for (p in source) if (index(source[p], want)) found = 1
      if (!found) { print "README.md: C block " b " is in no file of examples/:\n" want; bad = 1 }
    }
    exit bad
  }' README.md examples/*.c
