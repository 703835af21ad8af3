/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope/cuda/read.h - a grid reads memory and adds up what it read: the loop that is measured over links and
 * in the GPU's own memory.
 */
#ifndef SCOPE_CUDA_READ_H
#define SCOPE_CUDA_READ_H

#include <grapnel/simt.h>

enum { SCOPE_AT_ONCE = 4 };

__device__ __forceinline__ unsigned long long scope_words_of(uint32_t v)
{
	return v;
}

__device__ __forceinline__ unsigned long long scope_words_of(uint4 v)
{
	return (unsigned long long)v.x + v.y + v.z + v.w;
}

/* One addition for each warp. Without a use of the values the compiler would remove the loads. */
__device__ __forceinline__ void scope_add_up(unsigned long long mine, unsigned long long *sum)
{
	for (int k = 16; k; k /= 2)
		mine += simt_shfl_u64(0xffffffffu, mine, (simt_lane() + k) % 32);
	if (simt_lane() == 0)
		simt_add_relaxed_dev_u64((uint64_t *)sum, mine);
}

/* All loads of a round before the first is used: a load over a link takes a microsecond. */
template <typename unit>
__device__ __forceinline__ void scope_read_all(const unit *from, uint64_t units, unsigned long long *sum)
{
	const uint64_t step = simt_global_threads();
	unsigned long long mine = 0;
	uint64_t i = simt_global_thread();

	for (; i + (SCOPE_AT_ONCE - 1) * step < units; i += SCOPE_AT_ONCE * step) {
		unit v[SCOPE_AT_ONCE];

#pragma unroll
		for (int k = 0; k < SCOPE_AT_ONCE; k++)
			v[k] = __ldcs(from + i + k * step);
#pragma unroll
		for (int k = 0; k < SCOPE_AT_ONCE; k++)
			mine += scope_words_of(v[k]);
	}
	for (; i < units; i += step)
		mine += scope_words_of(__ldcs(from + i));
	scope_add_up(mine, sum);
}

inline uint32_t scope_blocks_for(uint64_t work, uint64_t of_a_block, uint64_t most)
{
	const uint64_t all = (work + of_a_block - 1) / of_a_block;

	return (uint32_t)(all < most ? all : most);
}

#endif
