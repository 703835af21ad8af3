#!/bin/sh
# Device code compiles for every GPU from sm_80 up that this nvcc knows, without a warning: what arrays, the batches of rows, the
# messages and the bulk copies are made of, which is where the architectures differ. It is optimised little: the assembler shall
# see it, nobody runs it. Usage: architectures.sh SOURCE-FOLDER SCRATCH-FOLDER NVCC
set -eu
source=$1
scratch=$2
nvcc=$3
rm -rf "$scratch"
mkdir -p "$scratch"
numbers=$("$nvcc" --list-gpu-code | sed -n 's/^sm_\([0-9]*\)$/\1/p' | awk '$1 >= 80')
[ -n "$numbers" ] || { echo "$nvcc knows no GPU from sm_80 up"; exit 1; }

set --
for number in $numbers; do
  set -- "$@" -gencode "arch=compute_$number,code=sm_$number"
done
status=0
for file in examples/01_read_host.c src/array/gather_kernels.c src/net/device_kernels.c scope/device/pieces.cu; do
  "$nvcc" -O3 -Xcicc -O1 -Xptxas -O0 -std=c++17 -Werror=all-warnings "$@" -I"$source/include" -I"$source/src" -I"$source" \
    -D_GNU_SOURCE -x cu -c "$source/$file" -o "$scratch/$(basename "$file").o" || {
    echo "$file does not compile for each of: $(echo "$numbers" | paste -sd " " -)"
    status=1
  }
done
exit "$status"
