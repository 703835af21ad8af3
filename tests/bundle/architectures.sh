#!/bin/sh
# A file of device code compiles without a warning for the first GPU of each major number from sm_80 up that this nvcc knows, which is
# what a build without CMAKE_CUDA_ARCHITECTURES has code for. It is optimised little: the assembler shall see it, nobody runs it.
# Usage: architectures.sh SOURCE-FOLDER FILE SCRATCH-FOLDER [LAUNCHER...] NVCC
set -eu
source=$1
file=$2
scratch=$3
shift 3
for nvcc in "$@"; do :; done # the last
mkdir -p "$scratch"
numbers=$("$nvcc" --list-gpu-code | sed -n 's/^sm_\([0-9]*\)$/\1/p' | sort -n | awk '$1 >= 80 && !seen[int($1 / 10)]++')
[ -n "$numbers" ] || { echo "$nvcc knows no GPU from sm_80 up"; exit 1; }
fast='-O3 -Xcicc -O1 -Xptxas -O0'
! "$nvcc" --help | grep -q -e --Ofast-compile || fast='--Ofast-compile=mid -Xptxas -suppress-stack-size-warning' # a quarter of the time, from CUDA 12.9

for number in $numbers; do
  set -- "$@" -gencode "arch=compute_$number,code=sm_$number"
done
# An object, for which a launcher that keeps what was compiled (ccache) has no need to call nvcc.
# shellcheck disable=SC2086 # several options
"$@" $fast -std=c++17 -Werror=all-warnings -I"$source/include" -I"$source/src" -I"$source" -D_GNU_SOURCE -x cu \
  -c "$source/$file" -o "$scratch/$(basename "$file").o" || {
  echo "$file does not compile for each of: $(echo "$numbers" | paste -sd " " -)"
  exit 1
}
