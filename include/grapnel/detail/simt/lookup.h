/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/simt/lookup.h - accesses to a table that other threads change, and to the data it leads to. They
 * cost less than acquires.
 *
 * The contracts are those of detail/simt/atomic.h, with these further orders:
 *
 *   fenced       relaxed; the thread passes a fence before it relies on the value. From the fence on it is an
 *                acquire, and one fence serves many accesses
 *   leading      an acquire for accesses whose address or execution depends on the value. On cuda it is
 *                relaxed: a GPU begins such an access only when it has the value, and the cache that the
 *                whole device shares serves both. PTX does not promise this order (docs/memory-model.md)
 *   after_fence  relaxed; the thread has passed a fence since the last access that it publishes. So it is a
 *                release, and one fence serves many accesses
 */
#ifndef GRAPNEL_SIMT_LOOKUP_H
#define GRAPNEL_SIMT_LOOKUP_H

#include <grapnel/detail/simt/atomic.h>
#include <grapnel/detail/simt/base.h>
#include <grapnel/detail/simt/reduce.h>

#if SIMT_ON_CUDA
/*
 * The L2 cache policy "evict this line first". On sm_90 it is the constant that the compiler makes of the
 * instruction below. The result of the instruction itself would be kept in a pair of registers and copied to
 * another pair for each load.
 */
SIMT_FN uint64_t simt__go_first(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
	return 0x12f0000000000000ull;
#else
	uint64_t policy;

	asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
	return policy;
#endif
}
#endif

/*
 * simt_global - the same pointer, with the promise that it points to global memory: plain accesses need not
 * test whether the address is shared or local memory.
 */
SIMT_FN const void *simt_global(const void *p)
{
#if SIMT_ON_CUDA
	__builtin_assume(__isGlobal(p));
#endif
	return p;
}

/*
 * Load two adjacent words by one instruction of a GPU. p is 16-byte aligned. Each word is loaded atomically,
 * but not both together.
 */
SIMT_FN void simt_load_two_relaxed_sys_u64(const uint64_t *p, uint64_t *first, uint64_t *second)
{
#if SIMT_ON_CUDA
	asm volatile("ld.relaxed.sys.global.v2.u64 {%0,%1}, [%2];"
	             : "=l"(*first), "=l"(*second)
	             : "l"(p)
	             : "memory");
#else
	*first = simt_load_relaxed_dev_u64(p);
	*second = simt_load_relaxed_dev_u64(p + 1);
#endif
}

/* Store two adjacent words by one instruction of a GPU. p is 16-byte aligned. Orders nothing. */
SIMT_FN void simt_store_two_u64(uint64_t *p, uint64_t first, uint64_t second)
{
#if SIMT_ON_CUDA
	asm volatile("st.global.v2.u64 [%0], {%1,%2};" : : "l"(p), "l"(first), "l"(second) : "memory");
#else
	p[0] = first;
	p[1] = second;
#endif
}

SIMT_FN uint32_t simt_cas_fenced_dev_u32(uint32_t *p, uint32_t expected, uint32_t desired)
{
	const uint32_t old = simt_cas_relaxed_dev_u32(p, expected, desired);

#ifdef __SANITIZE_THREAD__
	if (old == expected)
		simt__read_before_fence(p);
#endif
	return old;
}

SIMT_FN uint64_t simt_cas_fenced_dev_u64(uint64_t *p, uint64_t expected, uint64_t desired)
{
	const uint64_t old = simt_cas_relaxed_dev_u64(p, expected, desired);

#ifdef __SANITIZE_THREAD__
	if (old == expected)
		simt__read_before_fence(p);
#endif
	return old;
}

/*
 * On cpu the after_fence functions are releases themselves: the thread sanitizer does not understand fences.
 */
SIMT_FN uint64_t simt_xor_after_fence_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	return simt_xor_relaxed_dev_u64(p, value);
#else
	return simt_xor_acq_rel_dev_u64(p, value);
#endif
}

SIMT_FN void simt_reduce_or_after_fence_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	simt_reduce_or_relaxed_dev_u64(p, value);
#else
	simt_or_acq_rel_dev_u64(p, value);
#endif
}

SIMT_FN uint64_t simt_load_leading_dev_u64(const uint64_t *p)
{
#if SIMT_ON_CUDA
	return simt_load_relaxed_dev_u64(p);
#else
	return simt_load_acquire_dev_u64(p);
#endif
}

/*
 * simt_store_after_fence_once_dev_u64, simt_add_after_fence_once_dev_u64 - for a word that is probably not
 * needed again soon, as in a large table with random look-ups. Its line leaves the device's cache first.
 * Otherwise it would evict the table by which the device translates addresses of host memory.
 */
SIMT_FN void simt_store_after_fence_once_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	asm volatile("st.relaxed.gpu.global.L2::cache_hint.u64 [%0], %1, %2;"
	             :
	             : "l"(p), "l"(value), "l"(simt__go_first())
	             : "memory");
#else
	simt_store_release_dev_u64(p, value);
#endif
}

SIMT_FN void simt_add_after_fence_once_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	asm volatile("red.relaxed.gpu.global.add.L2::cache_hint.u64 [%0], %1, %2;"
	             :
	             : "l"(p), "l"(value), "l"(simt__go_first())
	             : "memory");
#else
	simt_add_release_dev_u64(p, value);
#endif
}

SIMT_FN uint64_t simt_cas_leading_dev_u64(uint64_t *p, uint64_t expected, uint64_t desired)
{
#if SIMT_ON_CUDA
	return simt_cas_relaxed_dev_u64(p, expected, desired);
#else
	return simt_cas_acquire_dev_u64(p, expected, desired);
#endif
}

SIMT_FN uint64_t simt_or_leading_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	return simt_or_relaxed_dev_u64(p, value);
#else
	return simt_or_acq_rel_dev_u64(p, value);
#endif
}

/* A fence of device scope: every access before it is ordered before every store behind it. */
SIMT_FN void simt_fence_release_dev(void)
{
#if SIMT_ON_CUDA && __CUDA_ARCH__ >= 900
	asm volatile("fence.release.gpu;" : : : "memory");
#else
	simt_fence_acq_rel_dev();
#endif
}

/*
 * simt_load_old_u64 - a word of a table as it was at some time since the kernel began: it may come from the
 * processor's own cache, which stores of other processors do not change. For a thread that loads the word
 * again by simt_load_behind_dev_u64. If many threads load one word, the device's cache would serve them one
 * after the other.
 */
SIMT_FN uint64_t simt_load_old_u64(const uint64_t *p)
{
#if SIMT_ON_CUDA
	uint64_t value;

	asm volatile("ld.relaxed.cta.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
	return value;
#else
	return simt_load_acquire_dev_u64(p);
#endif
}

/*
 * simt_load_once_dev_T - a load of data that is probably not read again soon. Its line leaves the device's
 * cache first, so that data read at random do not evict the tables that lead to them. The order is leading
 * (on cpu an acquire load). simt_load_behind_dev_u64 with the loaded value is ordered behind this load.
 */
SIMT_FN uint8_t simt_load_once_dev_u8(const uint8_t *p)
{
#if SIMT_ON_CUDA
	uint32_t value;

	asm volatile("ld.relaxed.gpu.global.L2::cache_hint.u8 %0, [%1], %2;"
	             : "=r"(value)
	             : "l"(p), "l"(simt__go_first())
	             : "memory");
	return (uint8_t)value;
#else
	return simt_load_acquire_dev_u8(p);
#endif
}

SIMT_FN uint16_t simt_load_once_dev_u16(const uint16_t *p)
{
#if SIMT_ON_CUDA
	uint16_t value;

	asm volatile("ld.relaxed.gpu.global.L2::cache_hint.u16 %0, [%1], %2;"
	             : "=h"(value)
	             : "l"(p), "l"(simt__go_first())
	             : "memory");
	return value;
#else
	return simt_load_acquire_dev_u16(p);
#endif
}

SIMT_FN uint32_t simt_load_once_dev_u32(const uint32_t *p)
{
#if SIMT_ON_CUDA
	uint32_t value;

	asm volatile("ld.relaxed.gpu.global.L2::cache_hint.u32 %0, [%1], %2;"
	             : "=r"(value)
	             : "l"(p), "l"(simt__go_first())
	             : "memory");
	return value;
#else
	return simt_load_acquire_dev_u32(p);
#endif
}

SIMT_FN uint64_t simt_load_once_dev_u64(const uint64_t *p)
{
#if SIMT_ON_CUDA
	uint64_t value;

	asm volatile("ld.relaxed.gpu.global.L2::cache_hint.u64 %0, [%1], %2;"
	             : "=l"(value)
	             : "l"(p), "l"(simt__go_first())
	             : "memory");
	return value;
#else
	return simt_load_acquire_dev_u64(p);
#endif
}

/*
 * simt_load_behind_dev_u64 - a relaxed load of a word of a table, ordered behind loads of data by
 * simt_load_once_dev_T.
 * @value  the loaded data; of several loads all values, combined by |
 * @zero   0, loaded from memory: the compiler must not know that it is 0
 * On cuda the address depends on the value. A GPU begins a load only when it has the address, and the cache
 * that the whole device shares serves all these loads. So this load is served after those of the data, at the
 * cost of one instruction; a fence would wait for all other accesses in flight. PTX does not promise this
 * order (docs/memory-model.md). On cpu the loads of the data are acquires.
 */
SIMT_FN uint64_t simt_load_behind_dev_u64(const uint64_t *p, uint64_t value, uint64_t zero)
{
#if SIMT_ON_CUDA
	return simt_load_relaxed_dev_u64((const uint64_t *)((uintptr_t)p | (uintptr_t)(value & zero)));
#else
	(void)value;
	(void)zero;
	return simt_load_relaxed_dev_u64(p);
#endif
}

#endif
