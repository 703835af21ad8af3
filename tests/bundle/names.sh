#!/bin/sh
# Only simt names CUDA's intrinsics, compiler atomics or assembly. Usage: names.sh SOURCE-FOLDER
set -u
cd -- "$1" || exit 1
words='__CUDACC__|__CUDA_ARCH__|__global__|__device__|__shared__|threadIdx|blockIdx|blockDim|gridDim|__sync(threads|warp)'
words="$words|__(shfl|ballot|match|activemask|popc|ffs|ldg|nanosleep)[a-z_]*\\(|atomic(Add|CAS|Exch|Or|And|Min|Max)"
words="$words|__atomic_[a-z]+|__sync_[a-z]+|__c11_atomic|_Atomic|stdatomic\\.h|\\basm\\b|__asm"
if grep -rnE --include='*.[ch]' --include='*.hpp' --include='*.cu' "$words" include src apps sim tools python \
  | grep -vE '^(include/grapnel/simt\.h|include/grapnel/detail/simt/|src/simt/)'; then
  echo 'these names belong into include/grapnel/detail/simt/ or src/simt/: use the simt_ functions'
  exit 1
fi
