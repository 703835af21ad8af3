#!/bin/sh
# The kernels of the examples keep what they use in registers. Usage: registers.sh SOURCE-FOLDER SCRATCH-FOLDER NVCC
set -eu
rm -rf "$2"
mkdir -p "$2"
for file in "$1"/examples/*.c; do
  sh "$1/cmake/keep_ptxas.sh" "$3" -O3 -std=c++17 -arch=sm_90 -I"$1/include" -x cu -cubin "$file" -o "$2/$(basename "$file").o"
done
sh "$1/cmake/kernel_table.sh" "$2"
