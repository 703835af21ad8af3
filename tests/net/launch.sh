#!/bin/sh
# Start a program under an MPI launcher, on any machine, for a limited time; exit status 77 if there is no such launcher.
# Usage: launch.sh openmpi|mpich PROCESSES PROGRAM [ARGUMENT...]
set -u
implementation=$1
processes=$2
shift 2

# Debian names the launcher of each, so that both can be there.
launcher=mpirun
if command -v "mpirun.$implementation" >/dev/null 2>&1; then
  launcher=mpirun.$implementation
fi
case $implementation in
  openmpi) maker='OpenRTE|Open MPI' ;;
  mpich) maker=HYDRA ;;
  *) exit 2 ;;
esac
"$launcher" --version 2>&1 | grep -qE "$maker" || {
  echo "no launcher of $implementation here"
  exit 77
}

# More processes than cores, also for root. Net's own loop lets others run while it waits; if Open MPI does so too, at
# every look, a turn of the loop takes several time slices.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=0
# shellcheck disable=SC2086 # options are words
exec timeout -k 5 "${LAUNCH_SECONDS:-240}" "$launcher" ${LAUNCH_OPTIONS-} -n "$processes" "$@"
