#!/bin/sh
# How the scripts that test the command begin: they set grapnel and read this file, with GRAPNEL SCRATCH-FOLDER as their first
# arguments. Then they are in the folder, which is empty, and what the command keeps in files without a name is there too.
# shellcheck disable=SC2154 # grapnel
rm -rf "$2"
mkdir -p "$2"
cd "$2" || exit 1
TMPDIR=$PWD
export TMPDIR

# fail WORDS... - say what is wrong, and end.
fail() {
  echo "$*"
  exit 1
}

# few FEW ALL - FEW where few cases are asked for (tests/unit/unit.h), as by the quick check, else ALL.
few() {
  if [ -n "${GN_TEST_FEW:-}" ]; then echo "$1"; else echo "$2"; fi
}

# ---- what is refused: call refusals, then refuses ----

# refusals JOB FILE - of a job of grapnel, or of any ('') of which the command is given; with --out FILE, or without it ('').
refusals() {
  refused_job=$1
  refused_out=$2
  [ -z "$refused_out" ] || echo keep >"$refused_out"
}

# refuses STATUS WORDS OPTION... - it ends with this status, says the words, and leaves --out as it was.
refuses() {
  want=$1
  words=$2
  shift 2
  [ -z "$refused_job" ] || set -- "$refused_job" "$@"
  [ -z "$refused_out" ] || set -- "$@" --out "$refused_out"
  status=0
  "$grapnel" "$@" >out 2>err || status=$?
  if [ "$status" -ne "$want" ] || ! grep -qE -e "$words" err || [ -s out ] ||
    { [ -n "$refused_out" ] && [ "$(cat "$refused_out")" != keep ]; }; then
    echo "grapnel $*: exit status $status (wanted $want), said \"$(cat err)\" (wanted \"$words\")"
    exit 1
  fi
}

# refused PATTERN... COMMAND - the command fails, and its message says each of two things.
refused() {
  one=$1
  two=$2
  shift 2
  if "$@" >said 2>&1; then
    echo "$*: did not fail"
    exit 1
  fi
  if ! grep -q -- "$one" said || ! grep -q -- "$two" said; then
    echo "$*: does not say \"$one\" and \"$two\":"
    cat said
    exit 1
  fi
}

# refuses_cut FILE - it refuses a graph file without its last byte, and half of one, which it is told to trust.
refuses_cut() {
  size=$(wc -c <"$1")
  for store in file host; do
    head -c $((size - 1)) "$1" >short.gng
    refuses 1 'short.gng.*truncated' short.gng --store "$store"
    head -c $((size / 2)) "$1" >half.gng
    refuses 1 'half.gng.*truncated' half.gng --store "$store" --trust
  done
}

# ---- what is reported ----

# has FILE MEMBER... - a report has them all.
has() {
  report=$1
  shift
  for member in "$@"; do
    grep -q -e "$member" "$report" || fail "$report lacks $member: $(cat "$report")"
  done
}
