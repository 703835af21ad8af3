/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/simt/wait.h - pauses, prefetches, the clock, the block's barrier and its shared memory.
 */
#ifndef GRAPNEL_SIMT_WAIT_H
#define GRAPNEL_SIMT_WAIT_H

#include <grapnel/detail/simt/base.h>
#include <grapnel/detail/simt/warp.h>

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

void simt__relax(void);
uint64_t simt__clock_ns(void);
void simt__block_sync(void);
/*
 * The number of the machine's present round: in a round every thread that waits has a turn. On a checking
 * schedule a round is a number of steps. A host thread counts its calls.
 */
uint32_t simt__round(void);

#ifdef __cplusplus
}
#endif
#endif

SIMT_FN void simt_relax(void)
{
#if SIMT_ON_CUDA
	__nanosleep(20);
#else
	simt__relax();
#endif
}

SIMT_FN void simt_backoff(uint32_t rounds, uint32_t doublings)
{
#if SIMT_ON_CUDA
	__nanosleep(20u << (rounds < doublings ? rounds : doublings));
#else
	(void)rounds;
	(void)doublings;
	simt__relax();
#endif
}

/*
 * simt_prefetch - prefetch a line that this thread will soon change. A GPU does nothing: its other threads
 * run while this one waits. Any address may be given. Orders nothing. simt_prefetch_read - the same for a
 * line that this thread will read.
 */
SIMT_FN void simt_prefetch(const void *memory)
{
#if SIMT_ON_CUDA
	(void)memory;
#else
	__builtin_prefetch(memory, 1);
	__asm__ volatile(
	    ""
	    :
	    : "r"(memory)); /* otherwise GCC takes functions that only prefetch for pure and removes them */
#endif
}

SIMT_FN void simt_prefetch_read(const void *memory)
{
#if SIMT_ON_CUDA
	(void)memory;
#else
	__builtin_prefetch(memory, 0);
	__asm__ volatile("" : : "r"(memory));
#endif
}

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

SIMT_FN void simt_block_sync(void)
{
#if SIMT_ON_CUDA
	__syncthreads();
#else
	simt__block_sync();
#endif
}

SIMT_FN void *simt_shared(void)
{
#if SIMT_ON_CUDA
	extern __shared__ __align__(16) unsigned char simt__shared[];

	return simt__shared;
#else
	return simt__self->shared;
#endif
}

#endif
