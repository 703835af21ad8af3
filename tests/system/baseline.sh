#!/bin/sh
# Every job by every --baseline equals its --verify, and what the job itself gives. Reports say which it was. What contradicts a
# baseline is refused. Usage: baseline.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

"$grapnel" gen kron --scale 9 --undirected kron.gng >/dev/null
awk 'BEGIN { for (v = 0; v < 900; v++) print v, (v * 7 + 1) % 900, v % 13 + 1 }' >ring.wel
"$grapnel" convert ring.wel ring.gng >/dev/null
awk 'BEGIN { for (v = 0; v < 40; v++) print v, (v * 3 + 1) % 40 }' >small.el
echo '# 4000,0,d' >edgeless.el
"$grapnel" gen taxis --rows 5000 taxis.gnt >/dev/null
head -c 48000 /dev/zero | tr '\0' '?' >matrix.bin # 0x3f3f3f3f is 0.747

runs=0
# by BASELINE JOB OPTION... - one run, checked; its report names the baseline.
by() {
  baseline=$1
  shift
  if ! "$grapnel" "$@" --baseline "$baseline" --verify --json report.json >said 2>&1 || ! grep -q '^  verified ' said ||
    ! grep -q "^  baseline  *$baseline;" said || ! grep -q "\"baseline\": \"$baseline\"" report.json ||
    ! grep -qE '"load_seconds": [0-9]' report.json || ! grep -q '"mode": "direct"' report.json; then
    echo "grapnel $* --baseline $baseline:"
    cat said
    exit 1
  fi
  runs=$((runs + 1))
}

# alike BASELINE JOB OPTION... - and what it writes is what the job itself writes.
alike() {
  by "$@" --out theirs.bin
  shift
  "$grapnel" "$@" --out ours.bin >said
  cmp ours.bin theirs.bin
}

for baseline in incore zerocopy managed; do
  for graph in $(few "kron.gng edgeless.el" "kron.gng ring.gng ring.wel small.el edgeless.el"); do
    alike "$baseline" bfs "$graph" --source 0 --warp-width 8
    alike "$baseline" cc "$graph"
    alike "$baseline" sssp "$graph" --source 1
    by "$baseline" pagerank "$graph" --warp-width 32
    [ "$graph" = edgeless.el ] || by "$baseline" bc "$graph" --sources 3
  done
  by "$baseline" tc kron.gng --order always
  by "$baseline" tc kron.gng --order never
  by "$baseline" tc ring.wel --undirected
  by "$baseline" query taxis.gnt --where 'distance >= 3' --sum total --group-by vendor
  alike "$baseline" sort --count 30001 --type u64 --keys skewed --memory 64K --warp-width 8
done

for baseline in incore zerocopy managed tiled; do
  for width in $(few 32 "1 32"); do
    alike "$baseline" add --data 1M --warp-width "$width"
    alike "$baseline" add --data 36K --warp-width "$width"
    for size in '70 --columns 300' '1 --columns 5' '2 --columns 2' '33 --columns 4100'; do
      # shellcheck disable=SC2086 # words of a command
      alike "$baseline" stencil --rows $size --steps 3 --warp-width "$width"
    done
    for job in mvt atax bicg; do
      by "$baseline" "$job" --rows 77 --columns 8195 --warp-width "$width"
      by "$baseline" "$job" --rows 333 --columns 12 --warp-width "$width"
      by "$baseline" "$job" --rows 1 --columns 9000 --warp-width "$width"
      by "$baseline" "$job" --rows 3001 --columns 1 --warp-width "$width"
      by "$baseline" "$job" matrix.bin --rows 80 --columns 150 --warp-width "$width" --passes 2
    done
  done
done
echo "$runs runs agree"
[ "$runs" -ge "$(few 126 255)" ]

# On cpu the input of managed is the mapped file; that of the others is in memory when the time begins.
for job in 'bfs kron.gng --source 0' 'mvt matrix.bin --rows 80 --columns 150' 'query taxis.gnt --sum total'; do
  # shellcheck disable=SC2086 # words of a command
  {
    "$grapnel" $job --baseline managed | grep -q '^  path .*file mapped read-only' || { echo "$job: no mapping"; exit 1; }
    if "$grapnel" $job --baseline incore | grep -q '^  path .*mapped'; then
      echo "$job: a mapping"
      exit 1
    fi
    "$grapnel" $job --json - >report.json
  }
  grep -q '"baseline": null' report.json
  grep -q '"load_seconds": null' report.json
done

# ---- what is refused ----
# refuses WORDS JOB OPTION... - a usage error that says the words.
refuses() {
  words=$1
  shift
  status=0
  "$grapnel" "$@" >out 2>err || status=$?
  if [ "$status" -ne 2 ] || ! grep -qE -e "$words" err || [ -s out ]; then
    echo "grapnel $*: exit status $status (wanted 2), said \"$(cat err)\" (wanted \"$words\")"
    exit 1
  fi
}
for job in 'bfs kron.gng --source 0' 'add --data 1M' 'query taxis.gnt --sum total'; do
  for option in '--store host' '--cache 1M' '--page 4K' '--policy clock' '--deadline 100' '--mode direct'; do
    # shellcheck disable=SC2086 # words of a command
    {
      refuses "baseline incore .*leave ${option% *} out" $job --baseline incore $option
      refuses "baseline managed .*leave ${option% *} out" $job $option --baseline managed
    }
  done
  # shellcheck disable=SC2086
  refuses 'baseline fast: give incore, zerocopy' $job --baseline fast
done
for job in 'bfs kron.gng --source 0' 'tc kron.gng' 'query taxis.gnt --sum total' 'sort --count 9'; do
  # shellcheck disable=SC2086
  refuses 'baseline tiled is for add, mvt' $job --baseline tiled
done
refuses 'svg is for --mode paged' bfs kron.gng --source 0 --baseline incore --svg out.svg
refuses 'explain is for --mode auto' cc kron.gng --baseline incore --explain
refuses 'unrecognized option.*baseline' pagerank kron.gng --nodes 2 --baseline incore
