#!/bin/sh
# The exit status of a whole program is that of the PE that ended it. Usage: life.sh openmpi|mpich PROGRAM SCRATCH-FILE
set -u
implementation=$1
program=$2
said=$3
folder=$(dirname "$0")
status=0

# ends WITH WORDS [ARGUMENT...] - an exit status, and what must have been said.
ends() {
  with=$1
  words=$2
  shift 2
  LAUNCH_SECONDS=60 sh "$folder/../net/launch.sh" "$implementation" 3 "$program" "$@" >"$said" 2>&1
  code=$?
  [ "$code" -eq 77 ] && exit 77
  [ "$code" -eq "$with" ] || { echo "$*: exit status $code instead of $with"; cat "$said"; status=1; }
  [ -z "$words" ] || grep -q "$words" "$said" || { echo "$*: did not say $words"; cat "$said"; status=1; }
}

ends 0 '' global 0
ends 7 '' global 7
ends 0 '' exit 0
ends 3 '' exit 3
ends 1 'PE 2: put with PE 0: GN_ERANGE' stray
"$program" global 5
[ $? -eq 5 ] || { echo "alone: another exit status than 5"; status=1; }
exit "$status"
