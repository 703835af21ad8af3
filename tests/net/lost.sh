#!/bin/sh
# Processes that are lost: all others end in time and say whom they miss, and one that exits ends the whole
# program. Usage: lost.sh openmpi|mpich CASES-PROGRAM LOST-PROGRAM SCRATCH-FOLDER
set -u
implementation=$1
cases=$2
lost=$3
scratch=$4
launch() {
  LAUNCH_SECONDS=60 sh "$(dirname "$0")/launch.sh" "$implementation" 3 "$@"
}

# ends_in_failure WHAT PROGRAM [ARGUMENT...] - and before the time is up.
ends_in_failure() {
  what=$1
  shift
  status=0
  launch "$@" || status=$?
  [ "$status" -ne 77 ] || exit 77
  if [ "$status" -eq 0 ] || [ "$status" -eq 124 ]; then
    echo "$what: exit status $status, not a failure in time"
    exit 1
  fi
}

# survivors HOW - nodes 0 and 2 say within the time-out that node 1 is missing.
survivors() {
  rm -rf "$scratch"
  mkdir -p "$scratch"
  launch "$lost" "$1" "$scratch"
  if [ ! -e "$scratch/0" ] || [ ! -e "$scratch/2" ]; then
    echo "node 1 was lost ($1), and of the others only these heard of it:" "$scratch"/*
    exit 1
  fi
}

ends_in_failure "a process that exits" "$cases" fail
survivors stop
ends_in_failure "a killed process" "$lost" kill "$scratch"
# The launchers end all when one is killed. Open MPI's can be asked not to.
if [ "$implementation" = openmpi ]; then
  export LAUNCH_OPTIONS=--enable-recovery
  survivors kill
fi
