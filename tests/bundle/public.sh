#!/bin/sh
# The functions of the public headers are those of public.txt, each used outside the library or kept for a reason that it says.
# Usage: public.sh SOURCE-FOLDER SCRATCH-FOLDER
set -eu
source=$1
rm -rf "$2"
mkdir -p "$2"
scratch=$(cd "$2" && pwd)
cd -- "$source"
LC_ALL=C
export LC_ALL

# Declarations begin at the start of a line; names with two underscores are the library's own.
for header in include/grapnel/*.h; do
  awk '{ line = $0
         while (match(line, /\/\*[^*]*\*\//)) line = substr(line, 1, RSTART - 1) substr(line, RSTART + RLENGTH)
         if (inside) { if (line ~ /\*\//) inside = 0; next }
         if (line ~ /\/\*/) { if (line !~ /\*\//) inside = 1; next }
         print line }' "$header"
done | grep -E '^[A-Za-z]' | grep -vE '^typedef' | sed 's/=.*//' | grep -oE '(gn|simt)_[a-z0-9][a-z0-9_]*\(' |
  grep -v '__' | tr -d '(' | sort -u >"$scratch/declared"
sed -n 's/^\([a-z0-9_]*\)\( = .*\)\{0,1\}$/\1/p' tests/bundle/public.txt | grep . | sort >"$scratch/listed"
sed -n 's/^\([a-z0-9_]*\) = ..*$/\1/p' tests/bundle/public.txt | sort >"$scratch/kept"
find examples apps tools scope bench sim README.md docs/tutorial.md -type f -exec cat {} + |
  grep -aoE '(gn|simt)_[a-z0-9_]+' | sort -u >"$scratch/used"

status=0
diff "$scratch/declared" "$scratch/listed" >"$scratch/differ" || {
  echo 'tests/bundle/public.txt does not list what the public headers declare (<: declared, >: listed):'
  cat "$scratch/differ"
  status=1
}
comm -23 "$scratch/listed" "$scratch/kept" | comm -23 - "$scratch/used" >"$scratch/unused"
if [ -s "$scratch/unused" ]; then
  echo 'nothing outside the library uses these, and tests/bundle/public.txt gives no reason to keep them:'
  cat "$scratch/unused"
  status=1
fi
comm -12 "$scratch/kept" "$scratch/used" >"$scratch/stale"
if [ -s "$scratch/stale" ]; then
  echo 'these are used, so tests/bundle/public.txt needs no reason for them:'
  cat "$scratch/stale"
  status=1
fi
[ "$(wc -l <"$scratch/declared")" -gt 100 ] || { echo 'few functions found: the search is broken'; status=1; }
exit "$status"
