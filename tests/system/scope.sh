#!/bin/sh
# grapnel scope as users have it: rows are listed, measured and reported; what cannot be is said, and the rest goes on.
# Usage: scope.sh GRAPNEL SCRATCH-FOLDER MPIEXEC, which is empty where there are no rows of MPI
set -eu
grapnel=$1
mpiexec=$3
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

# refuses STATUS WORDS OPTION... - it ends with this status, and its message holds the words.
refuses() {
  want=$1
  words=$2
  shift 2
  status=0
  timeout 60 "$grapnel" scope "$@" >out 2>err || status=$?
  [ "$status" -eq "$want" ] || fail "grapnel scope $*: exit status $status, wanted $want: $(cat err)"
  grep -qE -e "$words" err || fail "grapnel scope $*: said \"$(cat err)\", wanted \"$words\""
}

# ---- the list ----
"$grapnel" scope --list >list
for row in memory/copy memory/read memory/write memory/latency cores/ping-pong file/pread-direct file/uring; do
  grep -q "^$row " list || fail "--list lacks $row"
done
[ -z "$mpiexec" ] || grep -A1 '^mpi/latency' list | grep -q 'skipped: .*mpirun' || fail 'it is not said what mpi/latency needs'
"$grapnel" scope --list --full --filter '^memory/copy/' | grep -q '^memory/copy ' || fail '--list with --filter'

# ---- a run, in all forms ----
few='^memory/(copy|latency)/bytes:(4096|65536)(/threads:1)?$|^file/pread/bytes:4096$'
"$grapnel" scope --quick --filter "$few" --json a.json --csv a.csv --markdown a.md --html a.html >table || fail "a run: $(cat table)"
grep -q '^5 cells to measure in 2 to 8 rounds: up to 105 s' table || fail "the plan is not said before: $(cat table)"
grep -q '"rounds": \[[0-9]*, [0-9]*' a.json || fail 'no cell was measured in two rounds'
grep -q '^5 measured, 0 skipped, 0 failed' table || fail "not five cells: $(cat table)"
[ "$(wc -l <a.csv)" -eq 6 ] || fail 'a.csv has not a line a cell'
grep -q '"name": "memory/latency/bytes:4096"' a.json || fail 'a cell is not in a.json'
for word in context date host_name host_tick_seconds kernel virtual_machine iommu gpu_links benchmarks; do
  grep -q "\"$word\":" a.json || fail "a.json lacks $word"
done
grep -q '^| bytes | copy (GB/s) |' a.md || fail 'a.md has no table of copies'
grep -q '<svg' a.html || fail 'a.html has no drawing'
"$grapnel" scope --quick --filter '^memory/latency/bytes:4096$' --csv - >b.csv
[ "$(wc -l <b.csv)" -eq 2 ] || fail 'standard output holds more than the form that was asked for'
"$grapnel" scope compare a.json a.json >same || fail "a report differs from itself: $(cat same)"

# ---- little time: cells are left out, and the report says so ----
"$grapnel" scope --full --time 1 --filter '^memory/write/' >short || fail '--time'
grep -q 'the time for all was over' short || fail '--time 1 was enough for --full'

# ---- what cannot be done ----
refuses 2 'nosuchrow matches no cell' --filter nosuchrow
refuses 2 'regular expression' --filter 'a('
refuses 2 'the folder does not exist' --dir nowhere
refuses 2 'unexpected argument' memory
refuses 2 'time 0' --time 0
refuses 2 'rounds 0' --rounds 0
refuses 2 'rounds 9' --rounds 9
refuses 1 'nowhere' --json nowhere/a.json
sed 's/"scope_version": [0-9]*/"scope_version": 999/' a.json >other.json
refuses 2 'version' compare a.json other.json
# a cell that fails is marked, the others are measured
refuses 1 '1 cells failed' --quick --dir /proc --filter '^memory/latency/bytes:4096$|^file/pread/bytes:4096$' --json failed.json
grep -q '^1 measured, 0 skipped, 1 failed' out || fail "one of two should have failed: $(cat out)"
grep -q 'FAILED: no file can be made in /proc' out || fail 'it is not said why'

# ---- processes ----
if [ -n "$mpiexec" ]; then
  # more processes than processors, also for root; other MPIs than Open MPI do not mind
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
  timeout 120 "$mpiexec" -n 3 "$grapnel" scope --quick --filter '^mpi/.*bytes:(8|2048)/' >ranks || fail "under $mpiexec: $(cat ranks)"
  grep -q '^12 measured, 0 skipped, 0 failed' ranks || fail "not twelve cells: $(cat ranks)"
fi
