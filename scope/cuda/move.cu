/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move.cu - kernels that move bytes over links. The grid of reads and writes is Comm|Scope's (section 3.3):
 * 256 blocks of 256 threads, consecutive threads at consecutive words.
 */
#include <grapnel/simt.h>

#include "scope/cuda/transfer.h"
#include "scope/pattern.h"

namespace {

enum { BLOCKS = 256, THREADS = 256, COPY_THREADS = 512, AT_ONCE = 4 };

__device__ uint64_t thread_index()
{
	return simt_global_thread();
}

__device__ uint64_t thread_count()
{
	return simt_global_threads();
}

__device__ unsigned long long halves(uint64_t word)
{
	return (word & 0xffffffffu) + (word >> 32);
}

/* One addition a warp: what was read must arrive somewhere, or the compiler drops the loads. */
__device__ void add_up(unsigned long long mine, unsigned long long *sum)
{
	for (int k = 16; k; k /= 2)
		mine += simt_shfl_u64(0xffffffffu, mine, (simt_lane() + k) % 32);
	if (simt_lane() == 0)
		simt_add_relaxed_dev_u64((uint64_t *)sum, mine);
}

__device__ unsigned long long words_of(uint32_t v)
{
	return v;
}

__device__ unsigned long long words_of(uint4 v)
{
	return (unsigned long long)v.x + v.y + v.z + v.w;
}

/* All loads of a round before the first is used: a load over a link takes a microsecond. */
template <typename unit>
__global__ void __launch_bounds__(THREADS) read_all(const unit *from, uint64_t units, unsigned long long *sum)
{
	const uint64_t step = thread_count();
	unsigned long long mine = 0;
	uint64_t i = thread_index();

	for (; i + (AT_ONCE - 1) * step < units; i += AT_ONCE * step) {
		unit v[AT_ONCE];

#pragma unroll
		for (int k = 0; k < AT_ONCE; k++)
			v[k] = __ldcs(from + i + k * step);
#pragma unroll
		for (int k = 0; k < AT_ONCE; k++)
			mine += words_of(v[k]);
	}
	for (; i < units; i += step)
		mine += words_of(__ldcs(from + i));
	add_up(mine, sum);
}

__global__ void __launch_bounds__(THREADS) expect(uint64_t words, uint64_t seed, unsigned long long *sum)
{
	unsigned long long mine = 0;

	for (uint64_t i = thread_index(); i < words; i += thread_count())
		mine += halves(scope_pattern(seed, i));
	add_up(mine, sum);
}

__global__ void __launch_bounds__(THREADS) write_4(uint32_t *to, uint64_t words, uint64_t seed)
{
	for (uint64_t i = thread_index(); i < words; i += thread_count())
		to[i] = (uint32_t)(scope_pattern(seed, i / 2) >> (i % 2 * 32));
}

__global__ void __launch_bounds__(THREADS) write_16(ulonglong2 *to, uint64_t units, uint64_t seed)
{
	for (uint64_t i = thread_index(); i < units; i += thread_count())
		to[i] = make_ulonglong2(scope_pattern(seed, 2 * i), scope_pattern(seed, 2 * i + 1));
}

/* The same, into other memory. */
__global__ void __launch_bounds__(COPY_THREADS) copy_16(uint4 *to, const uint4 *from, uint64_t units)
{
	const uint64_t step = thread_count();
	uint64_t i = thread_index();

	for (; i + (AT_ONCE - 1) * step < units; i += AT_ONCE * step) {
		uint4 v[AT_ONCE];

#pragma unroll
		for (int k = 0; k < AT_ONCE; k++)
			v[k] = __ldcs(from + i + k * step);
#pragma unroll
		for (int k = 0; k < AT_ONCE; k++)
			__stcs(to + i + k * step, v[k]);
	}
	for (; i < units; i += step)
		__stcs(to + i, __ldcs(from + i));
}

uint32_t blocks_for(uint64_t units, uint32_t threads, uint64_t most)
{
	const uint64_t all = (units + threads - 1) / threads;

	return (uint32_t)(all < most ? all : most);
}

int access_from(uint32_t from, uint32_t to, bool on, struct gn_error *e)
{
	int rc = scope_cuda_check(cudaSetDevice((int)from), "GPU", e);

	if (rc)
		return rc;
	const cudaError_t c =
	    on ? cudaDeviceEnablePeerAccess((int)to, 0) : cudaDeviceDisablePeerAccess((int)to);

	if (c == cudaErrorPeerAccessAlreadyEnabled || c == cudaErrorPeerAccessNotEnabled) {
		(void)cudaGetLastError();
		return 0;
	}
	return scope_cuda_check(c, on ? "peer access on" : "peer access off", e);
}

} // namespace

int scope_move_load(struct gn_error *e)
{
	const void *const all[] = {(const void *)read_all<uint32_t>,
	                           (const void *)read_all<uint4>,
	                           (const void *)expect,
	                           (const void *)write_4,
	                           (const void *)write_16,
	                           (const void *)copy_16};
	int rc = 0;

	for (const void *k : all)
		rc = rc ? rc : scope_cuda_load(k, e);
	return rc;
}

int scope_move_copy(void *to, const void *from, uint64_t bytes, uint32_t processors, cudaStream_t s,
                    struct gn_error *e)
{
	const uint64_t units = bytes / 16;

	copy_16<<<blocks_for(units, COPY_THREADS, processors * 2u), COPY_THREADS, 0, s>>>(
	    (uint4 *)to, (const uint4 *)from, units);
	return scope_cuda_launched("copy kernel", e);
}

int scope_move_read(const void *from, uint64_t bytes, uint32_t width, unsigned long long *sum, cudaStream_t s,
                    struct gn_error *e)
{
	const uint32_t blocks = blocks_for(bytes / width, THREADS, BLOCKS);

	if (width == 4)
		read_all<uint32_t><<<blocks, THREADS, 0, s>>>((const uint32_t *)from, bytes / 4, sum);
	else
		read_all<uint4><<<blocks, THREADS, 0, s>>>((const uint4 *)from, bytes / 16, sum);
	return scope_cuda_launched("read kernel", e);
}

int scope_move_write(void *to, uint64_t bytes, uint64_t seed, uint32_t width, cudaStream_t s,
                     struct gn_error *e)
{
	const uint32_t blocks = blocks_for(bytes / width, THREADS, BLOCKS);

	if (width == 4)
		write_4<<<blocks, THREADS, 0, s>>>((uint32_t *)to, bytes / 4, seed);
	else
		write_16<<<blocks, THREADS, 0, s>>>((ulonglong2 *)to, bytes / 16, seed);
	return scope_cuda_launched("write kernel", e);
}

int scope_move_expected(uint64_t bytes, uint64_t seed, unsigned long long *sum, cudaStream_t s,
                        struct gn_error *e)
{
	expect<<<blocks_for(bytes / 8, THREADS, 4 * BLOCKS), THREADS, 0, s>>>(bytes / 8, seed, sum);
	return scope_cuda_launched("expected sum", e);
}

int scope_peer(uint32_t a, uint32_t b, bool on, struct gn_error *e)
{
	const int rc = a == b ? 0 : access_from(a, b, on, e);

	return rc || a == b ? rc : access_from(b, a, on, e);
}
