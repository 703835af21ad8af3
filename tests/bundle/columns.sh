#!/bin/sh
# No line of C, C++ or CUDA has more than 110 columns; a tab goes to the next multiple of 8. Usage: columns.sh SOURCE-FOLDER
set -u
cd -- "$1" || exit 1
files=$(find include src apps bench examples scope sim tests tools -type f \
  \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cc' -o -name '*.hpp' \) | sort)
[ "$(echo "$files" | wc -l)" -gt 100 ] || { echo 'few files found: the search is broken'; exit 1; }
command -v expand >/dev/null || { echo 'no expand'; exit 1; }
for file in $files; do
  expand "$file" | awk -v file="$file" 'length > 110 { print file ":" NR ": " length " columns" }'
done | awk '{ print; bad = 1 } END { exit bad }' || {
  echo 'break these lines; clang-format -i --lines=FROM:TO FILE does it as .clang-format says'
  exit 1
}
