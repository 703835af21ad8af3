/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simt/wait.h - waiting, time, the block together, and copies.
 */
#ifndef GRAPNEL_SIMT_WAIT_H
#define GRAPNEL_SIMT_WAIT_H

#include <string.h>

#include <grapnel/simt/base.h>
#include <grapnel/simt/warp.h>

#ifdef __cplusplus
extern "C" {
#endif

void simt__relax(void);
uint64_t simt__clock_ns(void);
void simt__block_sync(void);
void simt__copy(void *to, const void *from, size_t bytes);
void simt__warp_copy(uint32_t mask, void *to, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif

/*
 * simt_relax - this thread waits for another: let others run, then return.
 * Belongs into every loop that polls memory. On cpu it switches to another fiber, so that thousands of
 * waiting threads overlap on one OS thread; on a host thread it yields the processor. Orders nothing.
 */
SIMT_FN void simt_relax(void)
{
#if SIMT_ON_CUDA
	__nanosleep(20);
#else
	simt__relax();
#endif
}

/*
 * simt_clock_ns - a clock in nanoseconds that never goes back; resolution 1 us or better. The same clock on
 * all threads of a machine. Under a checking schedule it counts steps, so that runs can be repeated.
 */
SIMT_FN uint64_t simt_clock_ns(void)
{
#if SIMT_ON_CUDA
	uint64_t now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	return now;
#else
	return simt__clock_ns();
#endif
}

/*
 * simt_block_sync - barrier of the block.
 *   pre:   every thread of the block that has not ended calls it, none from divergent code
 *   post:  accesses before it are visible to the block behind it
 */
SIMT_FN void simt_block_sync(void)
{
#if SIMT_ON_CUDA
	__syncthreads();
#else
	simt__block_sync();
#endif
}

/* simt_shared - the block's shared memory: grid.shared_bytes of it, 16-byte aligned, not initialised. */
SIMT_FN void *simt_shared(void)
{
#if SIMT_ON_CUDA
	extern __shared__ __align__(16) unsigned char simt__shared[];

	return simt__shared;
#else
	return simt__self->shared;
#endif
}

/*
 * simt_copy - collective: the lanes of mask copy one run of bytes together.
 * @mask   the calling lanes, as for a collective; all pass the same to, from and bytes
 * @to, @from  16-byte aligned, not overlapping; device memory or host memory that the device reaches
 * @bytes  a multiple of 16
 * Accesses of the lanes before it are ordered before the copy, and behind it every lane of mask sees the
 * copy; publish it to others with a release. The source is read past caches that could be stale (a
 * controller may have written it), so an acquire before the call suffices.
 */
SIMT_FN void simt_copy(uint32_t mask, void *to, const void *from, size_t bytes)
{
#if SIMT_ON_CUDA
	const size_t step = 16 * (size_t)simt_popcount(mask);
	const char *source = (const char *)from;
	char *target = (char *)to;
	size_t at = 16 * (size_t)simt_rank(mask);

	__syncwarp(mask);
	/* Eight loads in flight a lane: a 4 KiB page is one round trip for a full warp. */
	for (; at + 7 * step < bytes; at += 8 * step) {
		uint4 v[8];

#pragma unroll
		for (int k = 0; k < 8; k++)
			asm volatile("ld.relaxed.sys.v4.u32 {%0,%1,%2,%3}, [%4];"
				     : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w)
				     : "l"(source + at + k * step));
#pragma unroll
		for (int k = 0; k < 8; k++)
			*(uint4 *)(target + at + k * step) = v[k];
	}
	for (; at < bytes; at += step) {
		uint4 v;

		asm volatile("ld.relaxed.sys.v4.u32 {%0,%1,%2,%3}, [%4];"
			     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(source + at));
		*(uint4 *)(target + at) = v;
	}
	__syncwarp(mask);
#else
	if (mask & (mask - 1))
		simt__warp_copy(mask, to, from, bytes);
	else
		simt__copy(to, from, bytes);
#endif
}

#endif
