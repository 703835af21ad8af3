/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bulk.h - cp.async.bulk: one thread starts the copy of a piece into shared memory, waits on a barrier until
 * it is there, and starts the copy to its target. Pieces are multiples of 16 bytes at 16-byte aligned
 * addresses. These functions need compute capability 9.0; compiled for less they trap.
 *
 * Sources: PTX ISA, cp.async.bulk and mbarrier.
 */
#ifndef GN_SIMT_BULK_H
#define GN_SIMT_BULK_H

#include <stdint.h>

/* The host launches no kernel that calls these functions on a GPU of lower compute capability. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define BULK_ASM(...) asm volatile(__VA_ARGS__)
#else
#define BULK_ASM(...) __trap()
#endif

/* Addresses of shared memory are those of __cvta_generic_to_shared. */
static __device__ __forceinline__ void bulk_barrier_init(uint32_t barrier)
{
	BULK_ASM("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

/* bulk_barriers_ready - call once after all bulk_barrier_init: later copies see the barriers. */
static __device__ __forceinline__ void bulk_barriers_ready(void)
{
	BULK_ASM("fence.proxy.async.shared::cta;" ::: "memory");
}

/* bulk_load - start to load a piece; the barrier's phase completes when all bytes are there. */
static __device__ __forceinline__ void bulk_load(uint32_t to, const char *from, uint32_t bytes,
                                                 uint32_t barrier)
{
	BULK_ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
	         : "memory");
	BULK_ASM(
	    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
	        to),
	    "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
	    : "memory");
}

/* bulk_store - start to store a piece, as a group of its own. */
static __device__ __forceinline__ void bulk_store(char *to, uint32_t from, uint32_t bytes)
{
	BULK_ASM(
	    "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\tcp.async.bulk.commit_group;" ::
	        "l"(__cvta_generic_to_global(to)),
	    "r"(from), "r"(bytes)
	    : "memory");
}

/*
 * bulk_stores_read - wait until all stores but the last have read their pieces; the room of these pieces may
 * then be filled again.
 */
static __device__ __forceinline__ void bulk_stores_read(void)
{
	BULK_ASM("cp.async.bulk.wait_group.read 1;" ::: "memory");
}

/* bulk_stores_done - wait until all stores are complete. */
static __device__ __forceinline__ void bulk_stores_done(void)
{
	BULK_ASM("cp.async.bulk.wait_group 0;" ::: "memory");
}

/* bulk_wait - wait until the barrier's phase of this parity is complete. */
static __device__ __forceinline__ void bulk_wait(uint32_t barrier, uint32_t phase)
{
	uint32_t done = 0;

	while (!done)
		BULK_ASM("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
		         "selp.u32 %0, 1, 0, p;\n\t}"
		         : "=r"(done)
		         : "r"(barrier), "r"(phase)
		         : "memory");
}

#undef BULK_ASM
#endif
