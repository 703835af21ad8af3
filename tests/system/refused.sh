#!/bin/sh
# For scripts that ask grapnel for what it refuses: they set grapnel, read this file before they go to another folder, and call
# refusals, then refuses.
# shellcheck disable=SC2154 # grapnel

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
