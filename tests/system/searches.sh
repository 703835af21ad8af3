#!/bin/sh
# grapnel bfs and sssp with --sources: which vertices are drawn, what is reported of each search and of all, that the cache is kept
# between them, and what is refused. Usage: searches.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

# A ring, so that every search reads all; each tenth vertex has three edges, the one five behind it two.
awk 'BEGIN { n = 1000
  for (v = 0; v < n; v++) {
    print v, (v + 1) % n
    if (v % 5 == 0) print v, (v + 7) % n
    if (v % 10 == 0) print v, (v + 13) % n } }' >ring.el
"$grapnel" convert ring.el ring.gng >/dev/null
"$grapnel" gen kron --scale 9 --undirected kron.gng >/dev/null
awk 'BEGIN { for (v = 0; v < 50; v++) { print v, v + 1; print v, v + 2 } }' >few.el

# sources REPORT - of its searches, in their order.
sources() {
  sed -n 's/^   "source": \([0-9]*\),$/\1/p' "$1"
}
# each REPORT MEMBER - the numbers that its searches have.
each() {
  sed -n "s/^    *\"$2\": \([0-9.e+-]*\),*\$/\1/p" "$1"
}
# all REPORT MEMBER - the number of all searches together; of a member that searches have too.
all() {
  sed -n "s/^ \{1,2\}\"$2\": \([0-9.e+-]*\),*\$/\1/p" "$1"
}
# near WHAT A B
near() {
  awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; exit !(a != "" && b > 0 && d * d <= 1e-12 * b * b) }' || fail "$1: $2 instead of $3"
}

for job in bfs sssp; do
  # ---- what is drawn ----
  "$grapnel" $job ring.gng --sources 32 --verify --store file --page 512 --cache 8K --json report.json >said
  sources report.json >drawn
  if [ "$(sort -u drawn | wc -l)" -ne 32 ] || grep -qv '0$' drawn; then
    fail "$job: drawn were $(cat drawn)"
  fi
  sed -n '/^ "sources": \[$/,/^ \]/s/^  \([0-9]*\),*$/\1/p' report.json | cmp - drawn
  for way in '--seed 1' '--store host --mode direct' '--store host --mode auto' '--baseline managed'; do
    # shellcheck disable=SC2086 # words of options
    "$grapnel" $job ring.gng --sources 8 $way --verify --json report8.json >/dev/null
    [ "$(sources report8.json)" = "$(head -n 8 drawn)" ] || fail "$job $way: other sources"
  done
  "$grapnel" $job ring.el --sources 8 --json - | sources /dev/stdin >drawn8
  head -n 8 drawn | cmp - drawn8
  "$grapnel" $job ring.gng --sources 8 --seed 2 --json - | sources /dev/stdin >drawn8
  ! head -n 8 drawn | cmp -s - drawn8 || fail "$job: --seed 2 draws what --seed 1 draws"
  "$grapnel" $job ring.gng --sources 150 --json - | sources /dev/stdin >drawn150
  if [ "$(wc -l <drawn150)" -ne 150 ] || [ "$(sort -u drawn150 | wc -l)" -ne 100 ]; then
    fail "$job: 150 of 100 are $(cat drawn150)"
  fi

  # ---- what is reported ----
  each report.json seconds >seconds.txt
  each report.json edges_traversed >edges.txt
  [ "$(wc -l <seconds.txt)" -eq 32 ] || fail "$job: $(wc -l <seconds.txt) times"
  near "$job: seconds" "$(all report.json seconds)" "$(awk '{ s += $1 } END { printf "%.12g", s / NR }' seconds.txt)"
  near "$job: mean" "$(all report.json mean)" "$(all report.json seconds)"
  near "$job: least" "$(all report.json least)" "$(sort -g seconds.txt | head -n 1)"
  near "$job: most" "$(all report.json most)" "$(sort -g seconds.txt | tail -n 1)"
  near "$job: first" "$(all report.json first)" "$(head -n 1 seconds.txt)"
  near "$job: others" "$(all report.json others)" "$(awk 'NR > 1 { s += $1 } END { printf "%.12g", s / 31 }' seconds.txt)"
  near "$job: teps" "$(all report.json teps)" "$(awk 'NR == FNR { s += $1; next } { e += $1 } END { printf "%.12g", e / s }' seconds.txt edges.txt)"
  for member in edges_traversed needed_bytes hits misses fetched_pages fetched_bytes evicted_pages reads read_bytes; do
    [ "$(each report.json $member | wc -l)" -eq 32 ] || fail "$job: searches lack $member"
    near "$job: $member" "$(all report.json $member)" "$(each report.json $member | awk '{ s += $1 } END { printf "%.12g", s }')"
  done
  [ "$(grep -c '^   "reached": 1000,$' report.json)" -eq 32 ] || fail "$job: not all are reached"
  grep -q '^ "verified": true' report.json || fail "$job: not verified"
  grep -q '^  time  .* s (mean of the searches)$' said || fail "$job: $(cat said)"
  grep -qE '^  searches  .*32: [0-9.]+ s to [0-9.]+ s; the first [0-9.]+ s, the mean of the others [0-9.]+ s$' said || fail "$(cat said)"
  [ "$(grep -cE '^ +[0-9]+ +[0-9]+0 +1000 +[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+$' said)" -eq 32 ] || fail "$(cat said)"
  "$grapnel" $job ring.gng --sources 1 --out one.bin --json one.json >/dev/null # the result of one search can be written
  [ "$(wc -c <one.bin)" -eq 4000 ] || fail "$job: --out of one search"
  grep -q '^  "others": null' one.json || fail "$job: others of one search"
  "$grapnel" $job ring.gng --source 0 --json - | grep -q '^ "source": 0,' || fail "$job: --source"

  # ---- what is kept: the second search finds all pages in a cache that has room for them ----
  for store in file host; do
    "$grapnel" $job ring.gng --sources 3 --store $store --page 512 --cache 1M --json report.json >/dev/null
    each report.json fetched_pages >fetched
    [ "$(head -n 1 fetched)" -gt 8 ] || fail "$job $store: the first search fetched $(head -n 1 fetched) pages"
    [ "$(tail -n 2 fetched)" = '0
0' ] || fail "$job $store: searches fetched $(cat fetched)"
  done

  # ---- with other options ----
  for baseline in incore zerocopy managed; do
    "$grapnel" $job kron.gng --sources 3 --baseline $baseline --verify --json report.json >said
    [ "$(sources report.json | wc -l)" -eq 3 ] || fail "$job $baseline: $(cat said)"
    [ "$(grep -c '"counters": null' report.json)" -eq 4 ] || fail "$job $baseline: counters"
  done
  "$grapnel" $job kron.gng --sources 2 --store host --mode auto --explain --verify >said
  grep -q '^auto: [0-9]* launches' said || fail "$job: $(cat said)"
  "$grapnel" $job kron.gng --sources 2 --svg searches.svg >/dev/null
  grep -q ', 2 searches: [0-9]* edges' searches.svg || fail "$job: the drawing does not say how many searches"
done

# ---- what is refused ----
# refuses STATUS WORDS OPTION... - it ends with this status, says the words and nothing else, and leaves --json as it was.
echo keep >kept.json
refuses() {
  want=$1
  words=$2
  shift 2
  for job in bfs sssp; do
    status=0
    "$grapnel" $job "$@" --json kept.json >out 2>err || status=$?
    if [ "$status" -ne "$want" ] || ! grep -qE -e "$words" err || [ "$(cat kept.json)" != keep ] || [ -s out ]; then
      fail "grapnel $job $*: exit status $status (wanted $want), said \"$(cat err)\" (wanted \"$words\")"
    fi
  done
}
refuses 1 'sources 3: no vertex of few.el has more than 2 edges.*--source' few.el --sources 3
for count in 0 1025 -1 x; do
  refuses 2 'sources .*1 to 1024' ring.gng --sources=$count
done
refuses 2 'sources draws vertices, but --source gives one' ring.gng --sources 2 --source 0
refuses 2 'out takes the result of one search, but --sources 2' ring.gng --sources 2 --out all.bin
refuses 2 'seed says which vertices --sources draws' ring.gng --source 0 --seed 2
[ ! -e all.bin ] || fail '--out was written'
cp kron.gng bad.gng # no neighbour is a vertex
size=$(wc -c <bad.gng)
awk -v n=$((size - 12288)) 'BEGIN { for (k = 0; k < n; k++) printf "x" }' | dd of=bad.gng bs=4096 seek=3 conv=notrunc 2>/dev/null
refuses 1 'search 1 of 2, from vertex [0-9]*: .*neighbour' bad.gng --sources 2 --trust
