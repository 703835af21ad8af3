/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move.cu - kernels that move bytes over links. The grid of reads and writes is Comm|Scope's (section 3.3):
 * 256 blocks of 256 threads, consecutive threads at consecutive words.
 */
#include <grapnel/simt.h>

#include "scope/cuda/read.h"
#include "scope/cuda/transfer.h"
#include "scope/pattern.h"

namespace {

enum { BLOCKS = 256, THREADS = 256, COPY_THREADS = 512 };

__device__ unsigned long long halves(uint64_t word)
{
	return (word & 0xffffffffu) + (word >> 32);
}

template <typename unit>
__global__ void __launch_bounds__(THREADS) read_all(const unit *from, uint64_t units, unsigned long long *sum)
{
	scope_read_all(from, units, sum);
}

__global__ void __launch_bounds__(THREADS) expect(uint64_t words, uint64_t seed, unsigned long long *sum)
{
	unsigned long long mine = 0;

	for (uint64_t i = simt_global_thread(); i < words; i += simt_global_threads())
		mine += halves(scope_pattern(seed, i));
	scope_add_up(mine, sum);
}

__global__ void __launch_bounds__(THREADS) write_4(uint32_t *to, uint64_t words, uint64_t seed)
{
	for (uint64_t i = simt_global_thread(); i < words; i += simt_global_threads())
		to[i] = (uint32_t)(scope_pattern(seed, i / 2) >> (i % 2 * 32));
}

__global__ void __launch_bounds__(THREADS) write_16(ulonglong2 *to, uint64_t units, uint64_t seed)
{
	for (uint64_t i = simt_global_thread(); i < units; i += simt_global_threads())
		to[i] = make_ulonglong2(scope_pattern(seed, 2 * i), scope_pattern(seed, 2 * i + 1));
}

/* The same, into other memory. */
__global__ void __launch_bounds__(COPY_THREADS) copy_16(uint4 *to, const uint4 *from, uint64_t units)
{
	const uint64_t step = simt_global_threads();
	uint64_t i = simt_global_thread();

	for (; i + (SCOPE_AT_ONCE - 1) * step < units; i += SCOPE_AT_ONCE * step) {
		uint4 v[SCOPE_AT_ONCE];

#pragma unroll
		for (int k = 0; k < SCOPE_AT_ONCE; k++)
			v[k] = __ldcs(from + i + k * step);
#pragma unroll
		for (int k = 0; k < SCOPE_AT_ONCE; k++)
			__stcs(to + i + k * step, v[k]);
	}
	for (; i < units; i += step)
		__stcs(to + i, __ldcs(from + i));
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
	return scope_cuda_load(e, read_all<uint32_t>, read_all<uint4>, expect, write_4, write_16, copy_16);
}

int scope_move_copy(void *to, const void *from, uint64_t bytes, uint32_t processors, cudaStream_t s,
                    struct gn_error *e)
{
	const uint64_t units = bytes / 16;

	copy_16<<<scope_blocks_for(units, COPY_THREADS, processors * 2u), COPY_THREADS, 0, s>>>(
	    (uint4 *)to, (const uint4 *)from, units);
	return scope_cuda_launched("copy kernel", e);
}

int scope_move_read(const void *from, uint64_t bytes, uint32_t width, unsigned long long *sum, cudaStream_t s,
                    struct gn_error *e)
{
	const uint32_t blocks = scope_blocks_for(bytes / width, THREADS, BLOCKS);

	if (width == 4)
		read_all<uint32_t><<<blocks, THREADS, 0, s>>>((const uint32_t *)from, bytes / 4, sum);
	else
		read_all<uint4><<<blocks, THREADS, 0, s>>>((const uint4 *)from, bytes / 16, sum);
	return scope_cuda_launched("read kernel", e);
}

int scope_move_write(void *to, uint64_t bytes, uint64_t seed, uint32_t width, cudaStream_t s,
                     struct gn_error *e)
{
	const uint32_t blocks = scope_blocks_for(bytes / width, THREADS, BLOCKS);

	if (width == 4)
		write_4<<<blocks, THREADS, 0, s>>>((uint32_t *)to, bytes / 4, seed);
	else
		write_16<<<blocks, THREADS, 0, s>>>((ulonglong2 *)to, bytes / 16, seed);
	return scope_cuda_launched("write kernel", e);
}

int scope_move_expected(uint64_t bytes, uint64_t seed, unsigned long long *sum, cudaStream_t s,
                        struct gn_error *e)
{
	expect<<<scope_blocks_for(bytes / 8, THREADS, 4 * BLOCKS), THREADS, 0, s>>>(bytes / 8, seed, sum);
	return scope_cuda_launched("expected sum", e);
}

int scope_peer(uint32_t a, uint32_t b, bool on, struct gn_error *e)
{
	const int rc = a == b ? 0 : access_from(a, b, on, e);

	return rc || a == b ? rc : access_from(b, a, on, e);
}
