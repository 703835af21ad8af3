#!/bin/sh
# Every function of shmem.h has its second name, in pshmem.h and in the library: the first is weak, the second is not. The library
# uses no weak name of another source. Usage: names.sh INCLUDE-FOLDER LIBRARY SCRATCH-FOLDER COMPILER...
set -eu
include=$1
library=$2
scratch=$3
shift 3
mkdir -p "$scratch"
LC_ALL=C
export LC_ALL
status=0

echo '#include <pshmem.h>' | "$@" -E -P -I "$include" -x c - >"$scratch/header"
sed 's/__typeof__([a-z0-9_]*)//g' "$scratch/header" |
  grep -oE '\b(_*sh[a-z0-9_]+|start_pes|_my_pe|_num_pes)\(' | tr -d '(' | sort -u >"$scratch/declared"
grep -oE '__typeof__\([a-z0-9_]+\) [a-z0-9_]+' "$scratch/header" | sed 's/__typeof__(\(.*\)) \(.*\)/\1 \2/' |
  awk '$2 == "p" $1 { print $1 }' | sort -u >"$scratch/named"
[ "$(wc -l <"$scratch/declared")" -gt 1000 ] || { echo 'few functions found: the search is broken'; exit 1; }
diff "$scratch/declared" "$scratch/named" || { echo 'pshmem.h has not the functions of shmem.h (<: declared, >: named)'; status=1; }

nm -g "$library" >"$scratch/symbols"
awk '$2 == "W" { print $3 }' "$scratch/symbols" | sort -u | comm -23 "$scratch/declared" - >"$scratch/first"
awk '$2 == "T" && $3 ~ /^p/ { print substr($3, 2) }' "$scratch/symbols" | sort -u | comm -23 "$scratch/declared" - >"$scratch/second"
awk '$1 == "U" { print $2 }' "$scratch/symbols" | sort -u | comm -12 "$scratch/declared" - >"$scratch/called"
for list in first second called; do
  [ ! -s "$scratch/$list" ] || { status=1; echo "$list:" && cat "$scratch/$list"; }
done
[ "$status" = 0 ] || echo 'first: not weak in the library; second: without second name there; called: by the first name'
exit "$status"
