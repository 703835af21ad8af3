#!/bin/sh
# grapnel sweep: points, their runs and the drawing, for every job; runs that fail are said and the others are kept; what contradicts
# a sweep is refused, and then nothing is written. Usage: sweep.sh GRAPNEL SCRATCH-FOLDER PYTHON JUDGE MEMORY
# MEMORY: 1 if the process takes as much address space as its data needs, so that a limit to it can be set.
set -eu
grapnel=$1
python=$3
judge=$4
memory=$5
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

"$grapnel" gen kron --scale 9 --undirected kron.gng >/dev/null
"$grapnel" gen taxis --rows 20000 taxis.gnt >/dev/null

# ---- what is measured ----
"$grapnel" sweep --repeat 2 --pressure 2,4 --verify --json sweep.json --svg sweep.svg bfs --page 512 --source 0 -- kron.gng >said 2>err ||
  fail "bfs: $(cat err)"
"$python" "$judge" sweep.json sweep.svg 2 1 2 4
grep -q '^  job  .* bfs --page 512 --source 0 -- kron.gng$' said || fail "$(cat said)"
for pressure in 1 2 4; do
  grep -qE "^  $pressure +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+\$" said || fail "$(cat said)"
done
[ ! -s err ] || fail "said on stderr: $(cat err)"

# Every job reports what is read here, and takes the options that are added.
while read -r job; do
  # shellcheck disable=SC2086
  "$grapnel" sweep --repeat 1 --pressure 2 --verify --json - $job >sweep.json 2>err || fail "$job: $(cat err)"
  "$python" "$judge" sweep.json '' 1 1 2
done <<'END'
bfs kron.gng --source 0 --page 512
cc kron.gng --page 512
sssp kron.gng --source 0 --page 512
bfs kron.gng --sources 3 --page 512
sssp kron.gng --sources=3 --seed 2 --page 512 --store host
pagerank kron.gng --page 512
bc kron.gng --source 0 --page 512 --store host
tc kron.gng --page 512
add --data 64K --page 512
mvt --rows 100 --columns 200 --page 512
atax --rows 100 --columns 200 --page 512
bicg --rows 100 --columns 200 --page 512 --store file
stencil --rows 100 --columns 200 --page 512
sort --count 20000 --page 512
query taxis.gnt --sum total,tolls --group-by vendor
END

# A job that has the baseline is measured with it; of one that has not it is left out.
"$grapnel" sweep --repeat 1 --pressure 1 --baseline incore,tiled --json sweep.json add --data 1M >said
"$python" "$judge" sweep.json '' 1 1 incore tiled
"$grapnel" sweep --repeat 1 --pressure 1 --baseline incore,tiled --json sweep.json cc kron.gng --page 512 >said
"$python" "$judge" sweep.json '' 1 1 incore tiled:out

# The seconds of a run with several searches are their mean.
"$grapnel" sweep --repeat 1 --pressure 1 --baseline incore,zerocopy,managed --json sweep.json bfs kron.gng --sources 3 --page 512 --store file >said
"$python" "$judge" sweep.json '' 1 1 incore zerocopy managed

# What would have too few pages is left out, and said.
"$grapnel" sweep --repeat 1 --pressure 1,100 --json sweep.json add --data 64K --page 512 >said
grep -q '^  100 *left out: the cache would have less than 16 pages of 512 bytes' said || fail "$(cat said)"
"$python" "$judge" sweep.json '' 1 1 100:out
[ -z "$(find . -name 'grapnel-*')" ] || fail 'a temporary file is left'

# ---- runs that fail ----
# A graph that says to have every edge in both directions, and has not: a search looks from the wrong end.
awk 'BEGIN { print 0, 1; for (v = 2; v <= 20000; v++) print 1, v }' >star.el
"$grapnel" convert star.el star.gng >/dev/null
"$python" - <<'END'
import zlib
data = bytearray(open("star.gng", "rb").read())
data[20] |= 1
data[128:132] = bytes(4)
data[128:132] = zlib.crc32(bytes(data[:4096])).to_bytes(4, "little")
open("lie.gng", "wb").write(data)
END
status=0
"$grapnel" sweep --repeat 2 --pressure 2 --verify --json sweep.json --svg sweep.svg bfs lie.gng --source 0 >said 2>err || status=$?
[ "$status" -eq 1 ] || fail "a wrong result: exit status $status"
grep -q '^grapnel bfs: .*depth' err || fail "the message of the job is missing: $(cat err)"
grep -q '^grapnel sweep: the run of bfs with --cache [0-9]* failed with exit status 1$' err || fail "$(cat err)"
grep -q '^  2  *failed with exit status 1 after 0 runs' said || fail "$(cat said)"
"$python" "$judge" sweep.json sweep.svg 2 1:failed 2:failed

# The cache of all data does not fit: the other points are there.
if [ "$memory" = 1 ]; then
  job='add --data 64M --page 2M --threads 1'
  room=256000
  # shellcheck disable=SC2086,SC3045 # words of a job; every shell here has it
  until (ulimit -v $room && exec "$grapnel" $job --cache 32M) >/dev/null 2>&1; do
    room=$((room + 64000))
    [ "$room" -lt 4000000 ] || fail "$job needs more than 4 GB of addresses"
  done
  status=0
  # shellcheck disable=SC2086,SC3045 # words of a job; every shell here has it
  (ulimit -v $room && exec "$grapnel" sweep --repeat 2 --pressure 6 --json sweep.json $job) >said 2>err || status=$?
  [ "$status" -eq 1 ] || fail "too little memory: exit status $status, $(cat err)"
  grep -q '^grapnel add: .*cannot allocate' err || fail "$(cat err)"
  "$python" "$judge" sweep.json '' 2 1:failed 6
fi

# ---- what is refused ----
echo keep >kept.json
echo keep >kept.svg
# refuses STATUS WORDS ARGUMENT... - it ends with this status, says the words, and leaves both files as they were.
refuses() {
  want=$1
  words=$2
  shift 2
  status=0
  "$grapnel" sweep --json kept.json --svg kept.svg "$@" >out 2>err || status=$?
  if [ "$status" -ne "$want" ] || ! grep -qE -e "$words" err || [ "$(cat kept.json kept.svg)" != "keep
keep" ] || [ -s out ]; then
    fail "grapnel sweep $*: exit status $status (wanted $want), said \"$(cat err)\" (wanted \"$words\")"
  fi
}
refuses 2 'no job given'
refuses 2 'JOB dance: give bfs, cc' dance
refuses 2 'JOB scope: give' scope --quick
refuses 2 'pressure 4,2: give' --pressure 4,2 add
refuses 2 'baseline best: give incore' --baseline best add
refuses 2 'repeat 0: give' --repeat 0 add
refuses 2 '--cache=1M is not for the job' add --data 1M --cache=1M
refuses 2 '--json is not for the job' add --json x.json
refuses 2 '--ou is not for the job.*leave it out' add --ou x.bin
refuses 2 '--svg is not for the job.*before the job' bfs kron.gng --source 0 --svg x.svg
refuses 2 '--baseline=incore is not for the job' add --baseline=incore
refuses 2 '^grapnel bfs: no --source given' bfs kron.gng
refuses 1 '^grapnel bfs: missing.gng' bfs missing.gng --source 0
refuses 1 'reports no cache' add --data 1M --mode direct
refuses 1 'ended without a report' add --help
refuses 1 'less than 16 pages of 4096' add --data 16K
refuses 1 '/nonexistent/x' --json /nonexistent/x add --data 1M
