#!/bin/sh
# Google Benchmark's compare.py reads two reports: the row that became slower by a ninth is, and no other.
# Usage: scope_compare_py.sh SCOPE_FILES SCRATCH-FOLDER
set -eu
compare=/usr/share/benchmark/compare.py
[ -e "$compare" ] || { echo "no $compare (package libbenchmark-tools)"; exit 77; }
python=
for one in python3 /usr/bin/python3; do
  if "$one" -c 'import scipy' 2>/dev/null; then python=$one; fi
done
[ -n "$python" ] || { echo 'no python3 that has scipy'; exit 77; }
rm -rf "$2"
mkdir -p "$2"
"$1" "$2"
cd "$2"
"$python" "$compare" --no-color benchmarks a.json b.json >compared
slower=$(sed -n 's|^zero-copy/host-read[^ ]*_median  *+\([0-9.]*\) .*|\1|p' compared)
[ -n "$slower" ] || { cat compared; echo 'zero-copy/host-read has no median in it'; exit 1; }
for change in $slower; do
  case $change in 0.1[012]*) ;; *) echo "zero-copy/host-read: +$change, not +0.11"; exit 1 ;; esac
done
# name, change of the time: a tenth of the others is more than their noise.
sed -n 's|^\([^ ]*\)_median  *\([-+][0-9.]*\) .*|\1 \2|p' compared | grep -v '^zero-copy/host-read' >others
awk '$2 > 0.05 || $2 < -0.05 { print; bad = 1 } END { exit bad || NR < 3 }' others
echo "$(wc -l <others) other rows are as they were"
