/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bulk.h - kernels beside those of move.cu: copies by cp.async.bulk, and reads and writes of the GPU's own
 * memory with as many threads as it has room for. move.cu keeps the grid of the paper.
 */
#ifndef GN_SCOPE_CUDA_BULK_H
#define GN_SCOPE_CUDA_BULK_H

#include "scope/cuda/support.h"

/* scope_bulk_load - onto the current GPU: every kernel of this file. */
int scope_bulk_load(struct gn_error *e);

/*
 * Launched on the stream's GPU, not waited for. Addresses and sizes are multiples of 16. scope_bulk_copy
 * needs compute capability 9.0: below it the kernel traps. sum: += every 32-bit word that was read. What is
 * written is the pattern of the seed.
 */
int scope_bulk_copy(void *to, const void *from, uint64_t bytes, uint32_t processors, cudaStream_t s,
                    struct gn_error *e);
int scope_local_read(const void *from, uint64_t bytes, uint32_t processors, unsigned long long *sum,
                     cudaStream_t s, struct gn_error *e);
int scope_local_write(void *to, uint64_t bytes, uint64_t seed, uint32_t processors, cudaStream_t s,
                      struct gn_error *e);

#endif
