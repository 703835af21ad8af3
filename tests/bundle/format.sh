#!/bin/sh
# All C, C++ and CUDA is as clang-format makes it by .clang-format, and no line has more than 110 columns (comments and
# macros may defeat clang-format); a tab goes to the next multiple of 8. Usage: format.sh SOURCE-FOLDER
# Other versions of clang-format break some lines in another way: there only the columns are checked.
set -u
version=14
cd -- "$1" || exit 1
files=$(find include src apps bench examples scope sim tests tools python -type f \
  \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cc' -o -name '*.hpp' \) | sort)
[ "$(echo "$files" | wc -l)" -gt 100 ] || { echo 'few files found: the search is broken'; exit 1; }
command -v expand >/dev/null || { echo 'no expand'; exit 1; }
status=0
for file in $files; do
  expand "$file" | awk -v file="$file" 'length > 110 { print file ":" NR ": " length " columns" }'
done | awk '{ print; bad = 1 } END { exit bad }' || status=1

for format in clang-format-$version clang-format; do
  if "$format" --version 2>/dev/null | grep -q " version $version\."; then
    # shellcheck disable=SC2086 # a list of names without spaces
    "$format" --dry-run --Werror $files || status=1
    [ $status -eq 0 ] || echo 'clang-format -i FILE puts it right'
    exit $status
  fi
done
[ $status -eq 0 ] || exit $status
echo "no clang-format $version: only the columns were checked"
exit 77
