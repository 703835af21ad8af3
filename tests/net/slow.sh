#!/bin/sh
# A receiver that takes nothing for a while (mpi_slow.c). Usage: slow.sh openmpi|mpich PROGRAM FILE
set -u
rm -f "$3"
exec sh "$(dirname "$0")/launch.sh" "$1" 2 "$2" "$3"
