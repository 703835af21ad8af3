/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simt/atomic.h - memory accesses whose names carry order and scope.
 *
 *   order  relaxed   indivisible, orders nothing else
 *          acquire   later accesses of this thread stay behind it
 *          release   earlier accesses of this thread stay before it
 *          acq_rel   both (read-modify-write)
 *   scope  dev       seen by every thread of the same machine
 *          sys       seen by the host, other devices and controllers too
 *
 * The cpu machine has one scope. Read-modify-write functions return the value before; simt/reduce.h has those that do not.
 * Addresses are naturally aligned, and on cuda lead to global memory (of a device or the host), never to a block's shared
 * memory or a thread's own: an access that may lead anywhere asks each time where, and always waits for an answer. Callable
 * by kernel threads and by host threads. Sources: C11 section 7.17, PTX ISA "Memory Consistency Model".
 */
#ifndef GRAPNEL_SIMT_ATOMIC_H
#define GRAPNEL_SIMT_ATOMIC_H

#include <grapnel/simt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The thread sanitizer does not understand fences. Programs compiled for it say which word a relaxed access has read
 * whose acquire is a fence, and when this thread passes one.
 */
void simt__read_before_fence(const void *word);
void simt__fence_passed(void);

#ifdef __cplusplus
}
#endif

/* Loads. */
SIMT_FN uint8_t simt_load_relaxed_dev_u8(const uint8_t *p)
{
#if SIMT_ON_CUDA
	uint32_t value;

	asm volatile("ld.relaxed.gpu.global.u8 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
	return (uint8_t)value;
#else
	SIMT__POINT();
	return __atomic_load_n(p, __ATOMIC_RELAXED);
#endif
}

SIMT_FN uint16_t simt_load_relaxed_dev_u16(const uint16_t *p)
{
#if SIMT_ON_CUDA
	uint16_t value;

	asm volatile("ld.relaxed.gpu.global.u16 %0, [%1];" : "=h"(value) : "l"(p) : "memory");
	return value;
#else
	SIMT__POINT();
	return __atomic_load_n(p, __ATOMIC_RELAXED);
#endif
}

SIMT_FN uint32_t simt_load_relaxed_dev_u32(const uint32_t *p)
{
#if SIMT_ON_CUDA
	uint32_t value;

	asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
	return value;
#else
	SIMT__POINT();
	return __atomic_load_n(p, __ATOMIC_RELAXED);
#endif
}

SIMT_FN uint64_t simt_load_relaxed_dev_u64(const uint64_t *p)
{
#if SIMT_ON_CUDA
	uint64_t value;

	asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
	return value;
#else
	SIMT__POINT();
	return __atomic_load_n(p, __ATOMIC_RELAXED);
#endif
}

SIMT_FN uint32_t simt_load_relaxed_sys_u32(const uint32_t *p)
{
#if SIMT_ON_CUDA
	uint32_t value;

	asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
	return value;
#else
	return simt_load_relaxed_dev_u32(p); /* one machine */
#endif
}

SIMT_FN uint64_t simt_load_relaxed_sys_u64(const uint64_t *p)
{
#if SIMT_ON_CUDA
	uint64_t value;

	asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
	return value;
#else
	return simt_load_relaxed_dev_u64(p); /* one machine */
#endif
}

SIMT_FN uint8_t simt_load_acquire_dev_u8(const uint8_t *p)
{
#if SIMT_ON_CUDA
	uint32_t value;

	asm volatile("ld.acquire.gpu.global.u8 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
	return (uint8_t)value;
#else
	SIMT__POINT();
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#endif
}

SIMT_FN uint16_t simt_load_acquire_dev_u16(const uint16_t *p)
{
#if SIMT_ON_CUDA
	uint16_t value;

	asm volatile("ld.acquire.gpu.global.u16 %0, [%1];" : "=h"(value) : "l"(p) : "memory");
	return value;
#else
	SIMT__POINT();
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#endif
}

SIMT_FN uint32_t simt_load_acquire_dev_u32(const uint32_t *p)
{
#if SIMT_ON_CUDA
	uint32_t value;

	asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
	return value;
#else
	SIMT__POINT();
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#endif
}

SIMT_FN uint64_t simt_load_acquire_dev_u64(const uint64_t *p)
{
#if SIMT_ON_CUDA
	uint64_t value;

	asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
	return value;
#else
	SIMT__POINT();
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#endif
}

SIMT_FN uint16_t simt_load_acquire_sys_u16(const uint16_t *p)
{
#if SIMT_ON_CUDA
	uint16_t value;

	asm volatile("ld.acquire.sys.global.u16 %0, [%1];" : "=h"(value) : "l"(p) : "memory");
	return value;
#else
	SIMT__POINT();
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#endif
}

SIMT_FN uint32_t simt_load_acquire_sys_u32(const uint32_t *p)
{
#if SIMT_ON_CUDA
	uint32_t value;

	asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
	return value;
#else
	SIMT__POINT();
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#endif
}

SIMT_FN uint64_t simt_load_acquire_sys_u64(const uint64_t *p)
{
#if SIMT_ON_CUDA
	uint64_t value;

	asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
	return value;
#else
	SIMT__POINT();
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#endif
}

/* Stores. */
SIMT_FN void simt_store_relaxed_dev_u8(uint8_t *p, uint8_t value)
{
#if SIMT_ON_CUDA
	asm volatile("st.relaxed.gpu.global.u8 [%0], %1;" : : "l"(p), "r"((uint32_t)value) : "memory");
#else
	SIMT__POINT();
	__atomic_store_n(p, value, __ATOMIC_RELAXED);
#endif
}

SIMT_FN void simt_store_relaxed_dev_u16(uint16_t *p, uint16_t value)
{
#if SIMT_ON_CUDA
	asm volatile("st.relaxed.gpu.global.u16 [%0], %1;" : : "l"(p), "h"(value) : "memory");
#else
	SIMT__POINT();
	__atomic_store_n(p, value, __ATOMIC_RELAXED);
#endif
}

SIMT_FN void simt_store_relaxed_dev_u32(uint32_t *p, uint32_t value)
{
#if SIMT_ON_CUDA
	asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(p), "r"(value) : "memory");
#else
	SIMT__POINT();
	__atomic_store_n(p, value, __ATOMIC_RELAXED);
#endif
}

SIMT_FN void simt_store_relaxed_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(p), "l"(value) : "memory");
#else
	SIMT__POINT();
	__atomic_store_n(p, value, __ATOMIC_RELAXED);
#endif
}

SIMT_FN void simt_store_relaxed_sys_u32(uint32_t *p, uint32_t value)
{
#if SIMT_ON_CUDA
	asm volatile("st.relaxed.sys.global.u32 [%0], %1;" : : "l"(p), "r"(value) : "memory");
#else
	SIMT__POINT();
	__atomic_store_n(p, value, __ATOMIC_RELAXED);
#endif
}

SIMT_FN void simt_store_relaxed_sys_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	asm volatile("st.relaxed.sys.global.u64 [%0], %1;" : : "l"(p), "l"(value) : "memory");
#else
	SIMT__POINT();
	__atomic_store_n(p, value, __ATOMIC_RELAXED);
#endif
}

SIMT_FN void simt_store_release_dev_u32(uint32_t *p, uint32_t value)
{
#if SIMT_ON_CUDA
	asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(p), "r"(value) : "memory");
#else
	SIMT__POINT();
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
#endif
}

SIMT_FN void simt_store_release_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	asm volatile("st.release.gpu.global.u64 [%0], %1;" : : "l"(p), "l"(value) : "memory");
#else
	SIMT__POINT();
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
#endif
}

SIMT_FN void simt_store_release_sys_u16(uint16_t *p, uint16_t value)
{
#if SIMT_ON_CUDA
	asm volatile("st.release.sys.global.u16 [%0], %1;" : : "l"(p), "h"(value) : "memory");
#else
	SIMT__POINT();
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
#endif
}

SIMT_FN void simt_store_release_sys_u32(uint32_t *p, uint32_t value)
{
#if SIMT_ON_CUDA
	asm volatile("st.release.sys.global.u32 [%0], %1;" : : "l"(p), "r"(value) : "memory");
#else
	SIMT__POINT();
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
#endif
}

SIMT_FN void simt_store_release_sys_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	asm volatile("st.release.sys.global.u64 [%0], %1;" : : "l"(p), "l"(value) : "memory");
#else
	SIMT__POINT();
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
#endif
}

/* Compare and swap: stores desired if *p equals expected; returns the value found. */
SIMT_FN uint32_t simt_cas_relaxed_dev_u32(uint32_t *p, uint32_t expected, uint32_t desired)
{
#if SIMT_ON_CUDA
	uint32_t old;

	asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;"
		     : "=r"(old) : "l"(p), "r"(expected), "r"(desired) : "memory");
	return old;
#else
	SIMT__POINT();
	__atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return expected;
#endif
}

SIMT_FN uint64_t simt_cas_relaxed_dev_u64(uint64_t *p, uint64_t expected, uint64_t desired)
{
#if SIMT_ON_CUDA
	uint64_t old;

	asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
		     : "=l"(old) : "l"(p), "l"(expected), "l"(desired) : "memory");
	return old;
#else
	SIMT__POINT();
	__atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return expected;
#endif
}

SIMT_FN uint32_t simt_cas_acquire_dev_u32(uint32_t *p, uint32_t expected, uint32_t desired)
{
#if SIMT_ON_CUDA
	uint32_t old;

	asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], %2, %3;"
		     : "=r"(old) : "l"(p), "r"(expected), "r"(desired) : "memory");
	return old;
#else
	SIMT__POINT();
	__atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
	return expected;
#endif
}

SIMT_FN uint64_t simt_cas_acquire_dev_u64(uint64_t *p, uint64_t expected, uint64_t desired)
{
#if SIMT_ON_CUDA
	uint64_t old;

	asm volatile("atom.acquire.gpu.global.cas.b64 %0, [%1], %2, %3;"
		     : "=l"(old) : "l"(p), "l"(expected), "l"(desired) : "memory");
	return old;
#else
	SIMT__POINT();
	__atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
	return expected;
#endif
}

SIMT_FN uint32_t simt_cas_acq_rel_dev_u32(uint32_t *p, uint32_t expected, uint32_t desired)
{
#if SIMT_ON_CUDA
	uint32_t old;

	asm volatile("atom.acq_rel.gpu.global.cas.b32 %0, [%1], %2, %3;"
		     : "=r"(old) : "l"(p), "r"(expected), "r"(desired) : "memory");
	return old;
#else
	SIMT__POINT();
	__atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	return expected;
#endif
}

SIMT_FN uint64_t simt_cas_acq_rel_dev_u64(uint64_t *p, uint64_t expected, uint64_t desired)
{
#if SIMT_ON_CUDA
	uint64_t old;

	asm volatile("atom.acq_rel.gpu.global.cas.b64 %0, [%1], %2, %3;"
		     : "=l"(old) : "l"(p), "l"(expected), "l"(desired) : "memory");
	return old;
#else
	SIMT__POINT();
	__atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	return expected;
#endif
}

SIMT_FN uint32_t simt_cas_relaxed_sys_u32(uint32_t *p, uint32_t expected, uint32_t value)
{
#if SIMT_ON_CUDA
	uint32_t old;

	asm volatile("atom.relaxed.sys.global.cas.b32 %0, [%1], %2, %3;"
		     : "=r"(old) : "l"(p), "r"(expected), "r"(value) : "memory");
	return old;
#else
	SIMT__POINT();
	__atomic_compare_exchange_n(p, &expected, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return expected;
#endif
}

SIMT_FN uint64_t simt_cas_relaxed_sys_u64(uint64_t *p, uint64_t expected, uint64_t value)
{
#if SIMT_ON_CUDA
	uint64_t old;

	asm volatile("atom.relaxed.sys.global.cas.b64 %0, [%1], %2, %3;"
		     : "=l"(old) : "l"(p), "l"(expected), "l"(value) : "memory");
	return old;
#else
	SIMT__POINT();
	__atomic_compare_exchange_n(p, &expected, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return expected;
#endif
}

/* Fetch-and-operate. */
SIMT_FN uint32_t simt_add_relaxed_dev_u32(uint32_t *p, uint32_t value)
{
#if SIMT_ON_CUDA
	uint32_t old;

	asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(value) : "memory");
	return old;
#else
	SIMT__POINT();
	return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
#endif
}

SIMT_FN uint64_t simt_add_relaxed_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	uint64_t old;

	asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(value) : "memory");
	return old;
#else
	SIMT__POINT();
	return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
#endif
}

SIMT_FN uint32_t simt_add_relaxed_sys_u32(uint32_t *p, uint32_t value)
{
#if SIMT_ON_CUDA
	uint32_t old;

	asm volatile("atom.relaxed.sys.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(value) : "memory");
	return old;
#else
	SIMT__POINT();
	return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
#endif
}

SIMT_FN uint64_t simt_add_relaxed_sys_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	uint64_t old;

	asm volatile("atom.relaxed.sys.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(value) : "memory");
	return old;
#else
	SIMT__POINT();
	return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
#endif
}

/* Adds without returning what was there: the caller need not wait for the answer. */
SIMT_FN void simt_add_release_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	asm volatile("red.release.gpu.global.add.u64 [%0], %1;" : : "l"(p), "l"(value) : "memory");
#else
	SIMT__POINT();
	__atomic_fetch_add(p, value, __ATOMIC_RELEASE);
#endif
}

SIMT_FN uint32_t simt_add_acq_rel_dev_u32(uint32_t *p, uint32_t value)
{
#if SIMT_ON_CUDA
	uint32_t old;

	asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(value) : "memory");
	return old;
#else
	SIMT__POINT();
	return __atomic_fetch_add(p, value, __ATOMIC_ACQ_REL);
#endif
}

SIMT_FN uint64_t simt_add_acq_rel_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	uint64_t old;

	asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(value) : "memory");
	return old;
#else
	SIMT__POINT();
	return __atomic_fetch_add(p, value, __ATOMIC_ACQ_REL);
#endif
}

SIMT_FN uint64_t simt_or_acq_rel_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	uint64_t old;

	asm volatile("atom.acq_rel.gpu.global.or.b64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(value) : "memory");
	return old;
#else
	SIMT__POINT();
	return __atomic_fetch_or(p, value, __ATOMIC_ACQ_REL);
#endif
}

SIMT_FN uint64_t simt_and_acq_rel_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	uint64_t old;

	asm volatile("atom.acq_rel.gpu.global.and.b64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(value) : "memory");
	return old;
#else
	SIMT__POINT();
	return __atomic_fetch_and(p, value, __ATOMIC_ACQ_REL);
#endif
}

SIMT_FN uint64_t simt_xor_relaxed_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	uint64_t old;

	asm volatile("atom.relaxed.gpu.global.xor.b64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(value) : "memory");
	return old;
#else
	SIMT__POINT();
	return __atomic_fetch_xor(p, value, __ATOMIC_RELAXED);
#endif
}

SIMT_FN uint64_t simt_xor_relaxed_sys_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	uint64_t old;

	asm volatile("atom.relaxed.sys.global.xor.b64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(value) : "memory");
	return old;
#else
	SIMT__POINT();
	return __atomic_fetch_xor(p, value, __ATOMIC_RELAXED);
#endif
}

SIMT_FN uint64_t simt_xor_acq_rel_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	uint64_t old;

	asm volatile("atom.acq_rel.gpu.global.xor.b64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(value) : "memory");
	return old;
#else
	SIMT__POINT();
	return __atomic_fetch_xor(p, value, __ATOMIC_ACQ_REL);
#endif
}

SIMT_FN uint32_t simt_min_relaxed_dev_u32(uint32_t *p, uint32_t value)
{
#if SIMT_ON_CUDA
	uint32_t old;

	asm volatile("atom.relaxed.gpu.global.min.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(value) : "memory");
	return old;
#else
	uint32_t old = __atomic_load_n(p, __ATOMIC_RELAXED);

	SIMT__POINT();
	while (value < old &&
	       !__atomic_compare_exchange_n(p, &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return old;
#endif
}

/*
 * Fences: every access of this thread before the fence is ordered before every one behind it, for the
 * threads of the scope.
 */
SIMT_FN void simt_fence_acq_rel_dev(void)
{
#if SIMT_ON_CUDA
	asm volatile("fence.acq_rel.gpu;" : : : "memory");
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wtsan"
	__atomic_thread_fence(__ATOMIC_ACQ_REL);
#pragma GCC diagnostic pop
#ifdef __SANITIZE_THREAD__
	simt__fence_passed();
#endif
#endif
}

SIMT_FN void simt_fence_acq_rel_sys(void)
{
#if SIMT_ON_CUDA
	asm volatile("fence.acq_rel.sys;" : : : "memory");
#else
	simt_fence_acq_rel_dev();
#endif
}

#endif
