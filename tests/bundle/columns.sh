#!/bin/sh
# No line of C, C++ or CUDA has more than 110 columns; a tab goes to the next multiple of 8. Usage: columns.sh SOURCE-FOLDER
set -u
cd -- "$1" || exit 1
find include src apps bench examples scope sim tests tools -type f \
  \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cc' -o -name '*.hpp' \) | sort | while IFS= read -r file; do
  expand "$file" | awk -v file="$file" 'length > 110 { print file ":" NR ": " length " columns" }'
done | awk '{ print; bad = 1 } END { exit bad }' || {
  echo 'break these lines; clang-format -i --lines=FROM:TO FILE does it as .clang-format says'
  exit 1
}
