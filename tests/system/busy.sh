#!/bin/sh
# No test may depend on how busy the machine is: run tests of a build again and again beside loops that use all processors. It is part of
# no check. By hand, after ./run check:
#
#   sh tests/system/busy.sh [TIMES [LOOPS [CTEST-OPTION...]]]   five times, four loops, the tests of build/release that are not slow
#
# BUILD=build/asan, say, takes another build. Exit status: 0, 1 (a test failed; its name and what it said stand above), 2 (usage).
set -eu
unset CDPATH
cd -- "$(dirname -- "$0")/../.."
times=${1:-5}
loops=${2:-4}
case $times$loops in
  *[!0-9]*) echo 'Usage: busy.sh [TIMES [LOOPS [CTEST-OPTION...]]]' >&2; exit 2 ;;
esac
[ $# -lt 1 ] || shift
[ $# -lt 1 ] || shift
[ $# -gt 0 ] || set -- -LE slow
build=${BUILD:-build/release}
[ -e "$build/CTestTestfile.cmake" ] || { echo "busy.sh: there are no tests in $build: call ./run check first" >&2; exit 2; }

running=
stop() {
  for process in $running; do kill "$process" 2>/dev/null || true; done
  wait
}
trap stop EXIT
trap 'exit 1' INT TERM HUP
k=0
while [ "$k" -lt "$loops" ]; do
  (while kill -0 $$ 2>/dev/null; do :; done) & # they end even where this script is killed
  running="$running $!"
  k=$((k + 1))
done

bad=0
k=0
while [ "$k" -lt "$times" ]; do
  k=$((k + 1))
  # A shell heeds a signal while it waits, not while it runs a command.
  ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$(getconf _NPROCESSORS_ONLN)" "$@" >"$build/busy.log" 2>&1 &
  tests=$!
  running="$running $tests"
  wait "$tests" || {
    bad=$((bad + 1))
    cat "$build/busy.log"
  }
  running=${running% "$tests"}
  echo "busy.sh: $k of $times, $bad of them with failures, beside $loops loops: $(grep 'tests passed' "$build/busy.log")"
done
[ "$bad" -eq 0 ]
