/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/simt/lookup.h - accesses that look something up in a table that others change, and what they find:
 * cheaper than acquires.
 *
 * The same promises as in detail/simt/atomic.h, and one more order:
 *
 *   fenced   relaxed, by a thread that passes a fence before it relies on what it found: an acquire from
 *            there on, and one fence for many
 *   leading  an acquire for accesses whose address or whose execution depends on what was found: relaxed on
 *            cuda, where a processor begins such an access when it has what it depends on, and all are served
 *            by the cache that the whole device shares. PTX promises that order to nobody
 *            (docs/memory-model.md)
 *   after_fence  relaxed, by a thread that has passed a fence since the last access that it publishes: a
 *            release, and one fence for many
 */
#ifndef GRAPNEL_SIMT_LOOKUP_H
#define GRAPNEL_SIMT_LOOKUP_H

#include <grapnel/detail/simt/atomic.h>
#include <grapnel/detail/simt/base.h>
#include <grapnel/detail/simt/reduce.h>

#if SIMT_ON_CUDA
/*
 * For the L2 cache: let this line go before others. A constant, not an access: on sm_90 the one that the
 * compiler makes of the instruction below. As the result of an instruction it would be kept in a pair of
 * registers, and moved to another pair for each load.
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
 * simt_global - the same pointer, with the promise that it leads to global memory: plain accesses by it need
 * not ask whether to shared or local.
 */
SIMT_FN const void *simt_global(const void *p)
{
#if SIMT_ON_CUDA
	__builtin_assume(__isGlobal(p));
#endif
	return p;
}

/*
 * Two neighbouring words by one instruction of a GPU, 16-byte aligned; each is whole, but not both together.
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

/* On cpu these are the release itself: the thread sanitizer does not understand fences. */
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
 * simt_store_release_once_dev_u64, simt_add_after_fence_once_dev_u64 - of a word that is likely not soon
 * needed again, as those of a large table are that is looked up at random: its line leaves the device's cache
 * first. What it would push out there is the table by which the device translates addresses of host memory.
 */
SIMT_FN void simt_store_release_once_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	asm volatile("st.release.gpu.global.L2::cache_hint.u64 [%0], %1, %2;"
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

/* Every access before the fence is ordered before every store behind it; of the device. */
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
 * processor's own cache, which nobody else's store changes. For who looks again, by simt_load_behind_dev_u64:
 * many threads look at one word, and the device's cache serves one of them at a time.
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
 * simt_load_once_dev_T - data that is likely not soon read again: what it brings into the device's cache
 * leaves that first, so that data read at random do not push out the tables that lead to them. Behind it in
 * order: what the value is passed to by simt_load_behind_dev_u64. Leading, too. (On cpu an acquire load.)
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
 * simt_load_behind_dev_u64 - a word of a table, relaxed, after data that simt_load_once_dev_T has loaded.
 * @value  what was loaded; of several loads all of it, put together by |
 * @zero   0, from memory: the compiler must not know that it is
 * On cuda the address depends on the value: a processor begins no load whose address it has not got, and all
 * of these are served by the one cache that the whole device shares. So this one is served later, at the cost
 * of one instruction; a fence would wait for whatever else is under way. PTX promises such an order to nobody
 * (docs/memory-model.md). On cpu the loads of the data are acquires.
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
