#!/bin/sh
# The grapnel command refuses what it must: exit status 1 or 2, a message that names the thing, and nothing written over.
# Usage: command.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"
refusals '' ''
bad=0

"$grapnel" gen kron --scale 8 good.gng >/dev/null
size=$(wc -c <good.gng)
bytes() { # FILE OFFSET OCTAL...: overwrite
  file=$1
  offset=$2
  shift 2
  # shellcheck disable=SC2059 # the octal escapes are the format
  printf "$*" | dd of="$file" bs=1 seek="$offset" conv=notrunc 2>/dev/null
}

# ---- usage: exit status 2 ----
refuses 2 'no subcommand'
refuses 2 'unknown subcommand' dance
refuses 2 'no graph given' bfs
refuses 2 'source' bfs good.gng
refuses 2 'source' bfs good.gng --source x
refuses 2 'page' bfs good.gng --source 0 --page 1000
refuses 2 'mode best: give paged, direct or auto' bfs good.gng --source 0 --mode best
refuses 2 'page is for --mode paged' bfs good.gng --source 0 --mode auto --page 4K
refuses 2 'explain is for --mode auto' bfs good.gng --source 0 --explain
refuses 2 'direct needs --store host' bfs good.gng --source 0 --mode direct --store file
refuses 2 'algorithm best: give top-down or direction-optimising' bfs good.gng --source 0 --algorithm best
refuses 1 'direction-optimising: good.gng does not say .*convert --undirected' bfs good.gng --source 0 \
  --algorithm direction-optimising
refuses 2 'page' bfs good.gng --source 0 --page 4M
refuses 2 'page' bfs good.gng --source 0 --page 256
refuses 2 'cache' bfs good.gng --source 0 --cache 12Q
refuses 2 'warp' bfs good.gng --source 0 --warp-width 3
refuses 2 'policy' bfs good.gng --source 0 --policy lru
refuses 2 'store tape: give host, file, or the URI of .* tier: store' bfs good.gng --source 0 --store tape
refuses 1 '\.: reading failed: Is a directory; give' store write 'file:new.bin?create=4K' --file . --overwrite
refuses 2 'svg is for --mode paged' bfs good.gng --source 0 --mode direct --svg out.svg
refuses 2 'direct' bfs good.gng --source 0 --store file --mode direct
refuses 2 'scale' gen kron out.gng
refuses 2 'scale' gen kron --scale 99 out.gng
refuses 2 'generator' gen ring --scale 4 out.gng
refuses 2 'memory is for --machine' gen kron --scale 4 --memory 1G out.gng
refuses 2 'memory 12Q' gen kron --scale 4 --machine cpu --memory 12Q out.gng
refuses 2 'for graphs' gen taxis --rows 5 --machine cpu out.gnt

# ---- what cannot be done: exit status 1 ----
refuses 1 'source|vertex|vertices' bfs good.gng --source 256
refuses 1 'set|cache' bfs good.gng --source 0 --cache 4K
refuses 1 'nosuch' bfs good.gng --source 0 --machine nosuch
refuses 1 'cuda' bfs good.gng --source 0 --machine cuda:63
refuses 1 'missing.gng' bfs missing.gng --source 0
mkdir folder.gng
refuses 1 'folder.gng.*directory' bfs folder.gng --source 0
mkfifo fifo.gng
refuses 1 'fifo.gng' bfs fifo.gng --source 0
for store in file host; do
  head -c $((size - 1)) good.gng >short.gng
  refuses 1 'short.gng.*truncated' bfs short.gng --source 0 --store "$store"
  { cat good.gng; echo; } >long.gng
  refuses 1 'long.gng.*oversized' bfs long.gng --source 0 --store "$store"
  cp good.gng sum.gng
  bytes sum.gng 8192 '\377'
  refuses 1 'sum.gng' bfs sum.gng --source 0 --store "$store"
  cp good.gng magic.gng
  bytes magic.gng 0 'NOTGRAPH'
  refuses 1 'magic.gng' bfs magic.gng --source 0 --store "$store"
  cp good.gng huge.gng
  bytes huge.gng 40 '\377\377\377\377\377\377\377\377'
  refuses 1 'huge.gng' bfs huge.gng --source 0 --store "$store"
done
printf '0 1\nhello\n' >words.el
refuses 1 'words.el.*line 2' bfs words.el --source 0
printf '0 99999999999\n' >far.el
refuses 1 'far.el.*line 1' bfs far.el --source 0
if [ "$(id -u)" -ne 0 ]; then
  cp good.gng secret.gng
  chmod 0 secret.gng
  refuses 1 'secret.gng' bfs secret.gng --source 0
fi

# ---- nothing is written over by what fails ----
cp good.gng kept.gng
refuses 1 'words.el' convert words.el kept.gng
cmp good.gng kept.gng || bad=1
echo keep >depths.bin
refuses 1 'source|vertex|vertices' bfs good.gng --source 256 --out depths.bin
[ "$(cat depths.bin)" = keep ] || { echo 'a run that failed wrote over --out'; bad=1; }
[ ! -e /dev/full ] || refuses 1 'full|space' convert good.gng /dev/full
refuses 1 'nowhere' gen kron --scale 4 nowhere/out.gng
refuses 1 'nosuch' gen kron --scale 4 --machine nosuch kept.gng
refuses 1 'allow more' gen kron --scale 8 --machine cpu --memory 1K kept.gng
cmp good.gng kept.gng || bad=1
refuses 2 'not written' convert good.gng out.mtx
refuses 1 'no weights' convert good.gng out.bwcsr
[ ! -e out.bwcsr ] || { echo 'convert left a file that it could not write'; bad=1; }

# ---- kernels generate the same graph as the host ----
for kind in 'kron --undirected' 'urand --keep'; do
  # shellcheck disable=SC2086 # a generator and its option
  "$grapnel" gen $kind --scale 10 --seed 5 host.gng >/dev/null
  # shellcheck disable=SC2086
  "$grapnel" gen $kind --scale 10 --seed 5 --machine cpu --memory 128K machine.gng >/dev/null
  cmp host.gng machine.gng || bad=1
done
"$grapnel" gen urand --keep --scale 10 --seed 5 --machine cpu machine.bcsr >/dev/null
"$grapnel" convert machine.bcsr machine.gng >/dev/null && cmp host.gng machine.gng || bad=1

# ---- other formats hold the same graph ----
printf '0 1 5\n2 1 7\n1 3 9\n' >weights.wel
"$grapnel" convert weights.wel weights.gng >/dev/null
for format in bel bwcsr; do
  "$grapnel" convert weights.wel "other.$format" >/dev/null && "$grapnel" convert "other.$format" back.gng >/dev/null
  cmp weights.gng back.gng || bad=1
done
refuses 1 'other.bel.col.*already' convert weights.wel other.bel
"$grapnel" convert weights.wel other.bcsr | grep -q 'left out' || { echo 'no word of the weights'; bad=1; }
"$grapnel" convert good.gng other.bcsr >/dev/null && "$grapnel" convert other.bcsr back.gng >/dev/null
cmp good.gng back.gng || bad=1
"$grapnel" bfs other.bel --source 0 --verify >/dev/null || bad=1
rm other.bel.dst
refuses 1 'other.bel.dst' bfs other.bel --source 0

# ---- a path of any bytes is in a report as UTF-8 ----
odd=$(printf 'odd\351')
cp good.gng "$odd.gng"
head -c 512 good.gng >"$odd.bin"
printf '>a\nACGTACGTACGTACGTACGTACGTACGTACGTACGTACGT\n' >"$odd.fa"
"$grapnel" gen kron --scale 6 "$odd.bel" >/dev/null
# says_path COMMAND... - it ends well, and its report is JSON that has the path, escaped
says_path() {
  if ! "$grapnel" "$@" --json odd.json >out 2>err || ! grep -qF '"odd\\xe9' odd.json; then
    echo "grapnel $*: its report lacks the path: $(cat err)"
    bad=1
  fi
}
says_path bfs "$odd.gng" --source 1
says_path color "$odd.bel" --nodes 2
says_path mer "$odd.fa" --nodes 2
says_path mvt "$odd.bin" --rows 8 --columns 16
says_path sim run bfs --input "$odd.bel"
mkdir "$odd"
"$grapnel" doctor --json --path "$odd" | grep -qF '"path": "odd\\xe9"' || { echo 'doctor lacks its path'; bad=1; }

"$grapnel" --help | grep -q 'doctor' || { echo 'no help'; bad=1; }
"$grapnel" doctor >out || { echo 'doctor failed'; bad=1; }
"$grapnel" bfs good.gng --source 0 --json - >json.out
for member in schema machine graph seconds edges_traversed counters hits misses fetched_bytes written_pages evicted_bytes \
  needed_bytes path verified; do
  grep -q "\"$member\":" json.out || { echo "--json lacks $member"; bad=1; }
done

# The drawing is one closed element, and says what the table says.
"$grapnel" gen kron --scale 14 --undirected drawn.gng >/dev/null
"$grapnel" bfs drawn.gng --source 0 --cache 128K --verify --svg bfs.svg >table.out
if command -v xmllint >/dev/null 2>&1; then
  xmllint --noout bfs.svg || { echo 'the drawing is not well-formed'; bad=1; }
else
  echo 'left out: whether the drawing of grapnel bfs is well-formed (needs xmllint)'
fi
head -n 1 bfs.svg | grep -q '^<svg ' || { echo 'the drawing does not begin with <svg'; bad=1; }
[ "$(tail -n 1 bfs.svg)" = '</svg>' ] || { echo 'the drawing does not end'; bad=1; }
[ "$(grep -c 'class="bar"' bfs.svg)" -eq 4 ] || { echo 'the drawing has not four bars'; bad=1; }
for pattern in '.*pages fetched .*(\(.* MiB\)).*' '.*hit rate *\(.*\)' '.*cache  *\(.* MiB\) in .*' '.*verified *\(every depth\).*'; do
  said=$(sed -n "s/^$pattern$/\1/p" table.out)
  if [ -z "$said" ] || ! grep -qF "$said" bfs.svg; then
    echo "the drawing does not say \"$said\" ($pattern)"
    bad=1
  fi
done
refuses 1 'nowhere' bfs good.gng --source 0 --svg nowhere/bfs.svg
exit "$bad"
