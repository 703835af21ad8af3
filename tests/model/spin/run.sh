#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Check a model with Spin, then that Spin refuses every mutant of it.
#
#   run.sh MODEL WORK_DIR   (MODEL: nvmeq, page or parts)
#
# Exit status: 0, 1 (an error in the model, or a mutant that nobody noticed), 77 (Spin is not installed).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
model=$1
work=$2
cc=${CC:-cc}

command -v spin >/dev/null || { echo "spin is not installed: apt install spin"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cp "$here/$model.pml" .

# compile OPTION...: the verifier, through the launcher of which CMake is told in the same way, if any: it takes most of the time.
compile() {
	# shellcheck disable=SC2086 # no word or one
	${CMAKE_C_COMPILER_LAUNCHER:-} "$cc" -w -O$optimise -DCOLLAPSE -DMEMLIM=2000 "$@" -c -o pan.o pan.c && "$cc" -o pan pan.o
}

# verify safety|liveness DEFINE...: builds and runs the verifier; its report lands in `log`.
# Safety: assertions, and that everybody ends unless he waits at an `end` label. Liveness: the model's ltl, fairly.
verify() {
	mode=$1
	shift
	spin "$@" -a "$model.pml" >spin.log 2>&1 || { cat spin.log >&2; return 2; }
	case $mode in
	safety) compile -DSAFETY -DNOCLAIM && timeout 300 ./pan -m$depth -w$slots >log 2>&1 ;;
	liveness) compile -DNFAIR=6 && timeout 300 ./pan -a -f -m$depth -w$slots >log 2>&1 ;;
	esac
}

# holds MODE DEFINE...; holds_at_length: the same with more than a million states, where optimising takes less time than it saves.
holds() {
	optimise=0
	checked "$@"
}

holds_at_length() {
	optimise=1
	checked "$@"
}

checked() {
	depth=2000000 slots=24
	verify "$@"
	if ! grep -q 'errors: 0' log || grep -q -e 'Search not completed' -e 'max search depth too small' log; then
		echo "$model: does not hold: $*" >&2
		cat log >&2
		[ ! -f "$model.pml.trail" ] || { shift; spin "$@" -t -p "$model.pml" | tail -n 80 >&2; }
		exit 1
	fi
	echo "$model holds: $* ($(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' log) states)"
}

# refused MODE DEFINE... Soon found, so time goes into compiling, and into making room for states.
refused() {
	optimise=0 depth=200000 slots=20
	verify "$@"
	if grep -q 'errors: 0' log || ! grep -q 'errors: 1' log; then
		echo "$model: a mutant survives: $*" >&2
		exit 1
	fi
	echo "$model refuses: $*"
}

case $model in
nvmeq)
	holds safety -DPATIENCE=2
	holds safety -DUSERS=3 -DOPS=1 -DPATIENCE=2 -DIDLE=2
	holds safety -DDEPTH=4 -DOPS=1 -DPATIENCE=2 -DIDLE=2 -DDUPS=2
	holds safety -DDEPTH=4 -DPATIENCE=0 -DIDLE=0 -DDUPS=0
	holds_at_length safety -DDEPTH=4 -DUSERS=3 -DOPS=1 -DPATIENCE=0 -DIDLE=0 -DDUPS=0
	holds liveness -DOPS=1
	for mutant in NO_PHASE NO_GENERATION NO_REAP_LOCK FREE_EARLY ALL_SLOTS NO_LOCK REAP_NO_FENCE TAIL_NO_FENCE TAIL_FENCE_FIRST \
		LATE_FORGOTTEN; do
		refused safety -D$mutant
	done
	for mutant in FIRST_ONLY GAP_PASSED; do
		refused safety -D$mutant -DDEPTH=4 -DPATIENCE=0
	done
	refused safety -DWAIT_NO_RING -DDEPTH=4 -DOPS=1 -DPATIENCE=0
	refused safety -DBEGIN_NO_RING -DDEPTH=4 -DOPS=1 -DPATIENCE=2
	;;
page)
	holds_at_length safety
	holds_at_length safety -DFRAMES=2
	holds_at_length safety -DTHREADS=3 -DOPS=1
	holds_at_length safety -DTHREADS=3 -DOPS=1 -DFRAMES=2
	holds liveness -DOPS=1
	for mutant in EVICT_PINNED NO_SECOND_LOOK SAME_VERSION NO_WRITE_BACK FORGET_FAILURE FLUSH_FORGETS TWO_LOADERS \
		HIT_WHILE_BUSY CLEAN_STAYS; do
		refused safety -D$mutant
	done
	refused liveness -DWAIT_FOR_PINNED -DOPS=1
	;;
parts)
	holds safety
	holds_at_length safety -DTHREADS=3 -DOPS=1
	holds liveness -DOPS=1
	for mutant in CLAIM_NOT_LOOKED_AT TWO_LOADERS VALID_BEFORE_BYTES FILL_VALID_BEFORE_BYTES VALID_TOO_EARLY \
		SECTOR_NOT_LOOKED_AT NO_SECOND_LOOK SAME_VERSION FAILED_FILL_COUNTS FAILED_FILL_STAYS NO_RESET SHOWN_EARLY \
		UNPIN_EARLY EVICT_PINNED PIN_BUSY COVER_IGNORES_MOTION COVER_CLEAN NO_DIRTY_SECTOR MOTION_WRITTEN \
		ONE_SECTOR_WRITTEN FORGET_FAILURE FLUSH_FORGETS FLUSH_CLEANS_PINNED; do
		refused safety -D$mutant
	done
	;;
*)
	echo "usage: run.sh nvmeq|page|parts WORK_DIR" >&2
	exit 2
	;;
esac
