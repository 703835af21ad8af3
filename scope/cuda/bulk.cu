/* SPDX-License-Identifier: Apache-2.0 */
#include <grapnel/simt.h>

#include "simt/bulk.h"
#include "scope/cuda/bulk.h"
#include "scope/cuda/read.h"
#include "scope/pattern.h"

namespace {

enum {
	LOAD = 8192, /* bytes that one cp.async.bulk moves */
	STAGES = 4,
	BULK_BLOCKS = 6, /* of a processor: their buffers take 193 of its 227 KiB of shared memory */
	THREADS = 512,
	LOCAL_BLOCKS = 4 /* of a processor: all threads that it has room for */
};

/* ---- copies through shared memory ---- */

struct piece {
	uint64_t at;
	uint32_t bytes;
};

/* The block's i-th load. */
__device__ __forceinline__ piece piece_of(uint64_t i, uint64_t bytes)
{
	const uint64_t at = (simt_block() + i * simt_blocks()) * LOAD;

	return piece{at, (uint32_t)(bytes - at < LOAD ? bytes - at : (uint64_t)LOAD)};
}

__device__ __forceinline__ void load_piece(const char *from, uint64_t bytes, uint64_t i, uint32_t buffers,
                                           uint32_t barriers)
{
	const piece p = piece_of(i, bytes);
	const uint32_t stage = (uint32_t)(i % STAGES);

	bulk_load(buffers + stage * LOAD, from + p.at, p.bytes, barriers + 8 * stage);
}

/* One thread a block; it only gives orders. A stage is filled again when the store behind has read it. */
__global__ void __launch_bounds__(32) copy_bulk(char *to, const char *from, uint64_t bytes)
{
	extern __shared__ __align__(128) char buffer[];
	const uint32_t buffers = (uint32_t)__cvta_generic_to_shared(buffer),
	               barriers = buffers + STAGES * LOAD;
	const uint64_t all = (bytes + LOAD - 1) / LOAD;
	const uint64_t mine =
	    simt_block() < all ? (all - simt_block() + simt_blocks() - 1) / simt_blocks() : 0;

	if (simt_thread())
		return;
	for (uint32_t s = 0; s < STAGES; s++)
		bulk_barrier_init(barriers + 8 * s);
	bulk_barriers_ready();
	for (uint64_t i = 0; i < STAGES && i < mine; i++)
		load_piece(from, bytes, i, buffers, barriers);
	for (uint64_t i = 0; i < mine; i++) {
		const piece p = piece_of(i, bytes);
		const uint32_t stage = (uint32_t)(i % STAGES);

		bulk_wait(barriers + 8 * stage, (uint32_t)(i / STAGES & 1));
		bulk_store(to + p.at, buffers + stage * LOAD, p.bytes);
		bulk_stores_read();
		if (i && i - 1 + STAGES < mine)
			load_piece(from, bytes, i - 1 + STAGES, buffers, barriers);
	}
	bulk_stores_done();
}

/* ---- the GPU's own memory ---- */

__global__ void __launch_bounds__(THREADS)
    read_local(const uint4 *from, uint64_t units, unsigned long long *sum)
{
	scope_read_all(from, units, sum);
}

__global__ void __launch_bounds__(THREADS) write_local(ulonglong2 *to, uint64_t units, uint64_t seed)
{
	const uint64_t step = simt_global_threads();

	for (uint64_t i = simt_global_thread(); i < units; i += step)
		__stcs(to + i, make_ulonglong2(scope_pattern(seed, 2 * i), scope_pattern(seed, 2 * i + 1)));
}

} // namespace

int scope_bulk_load(struct gn_error *e)
{
	return scope_cuda_load(e, copy_bulk, read_local, write_local);
}

int scope_bulk_copy(void *to, const void *from, uint64_t bytes, uint32_t processors, cudaStream_t s,
                    struct gn_error *e)
{
	copy_bulk<<<scope_blocks_for(bytes, LOAD, processors * (uint64_t)BULK_BLOCKS), 32, STAGES *(LOAD + 8),
	            s>>>((char *)to, (const char *)from, bytes);
	return scope_cuda_launched("bulk copy kernel", e);
}

int scope_local_read(const void *from, uint64_t bytes, uint32_t processors, unsigned long long *sum,
                     cudaStream_t s, struct gn_error *e)
{
	const uint32_t blocks = scope_blocks_for(bytes / 16, THREADS, processors * (uint64_t)LOCAL_BLOCKS);

	read_local<<<blocks, THREADS, 0, s>>>((const uint4 *)from, bytes / 16, sum);
	return scope_cuda_launched("read kernel", e);
}

int scope_local_write(void *to, uint64_t bytes, uint64_t seed, uint32_t processors, cudaStream_t s,
                      struct gn_error *e)
{
	const uint32_t blocks = scope_blocks_for(bytes / 16, THREADS, processors * (uint64_t)LOCAL_BLOCKS);

	write_local<<<blocks, THREADS, 0, s>>>((ulonglong2 *)to, bytes / 16, seed);
	return scope_cuda_launched("write kernel", e);
}
