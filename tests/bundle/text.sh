#!/bin/sh
# Sources are plain: ASCII, no white space at the end of a line, a last line that ends. Usage: text.sh SOURCE-FOLDER
set -u
cd -- "$1" || exit 1
status=0
for file in $(find include src apps sim tools tests examples bench cmake python -name '*.[ch]' -o -name '*.hpp' -o -name '*.cu' \
  -o -name '*.sh' -o -name '*.bash' -o -name '*.cmake' -o -name CMakeLists.txt) $(find debian -maxdepth 1 -type f) run; do
  if LC_ALL=C grep -nE '[[:space:]]$' "$file"; then
    echo "$file: white space at the end of a line"
    status=1
  fi
  if LC_ALL=C tr -d '\11\12\40-\176' <"$file" | grep -q .; then
    echo "$file: not plain ASCII"
    status=1
  fi
  [ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || {
    echo "$file: the last line does not end"
    status=1
  }
done
exit "$status"
