#!/bin/sh
# The kernels of the examples keep what they use in registers: of each form of access one.
# Usage: registers.sh SOURCE-FOLDER SCRATCH-FOLDER LAUNCHER... NVCC
# The launchers are those of the build: cmake/keep_ptxas.sh is one. nvcc optimises device code as -O3 does, unless it is told otherwise.
set -eu
source=$1
scratch=$2
shift 2
rm -rf "$scratch"
mkdir -p "$scratch"
for file in "$source"/examples/*.c; do
  case $file in */02_read_file.c) continue ;; esac # it reads as 01 does
  "$@" -std=c++17 -gencode arch=compute_90,code=sm_90 -I"$source/include" -x cu -c "$file" -o "$scratch/$(basename "$file").o"
done
sh "$source/cmake/kernel_table.sh" "$scratch"
