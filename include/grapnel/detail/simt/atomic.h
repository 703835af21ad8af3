/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/simt/atomic.h - memory accesses whose names carry order and scope (simt.h explains both). Only the
 * functions that are used exist; one line below adds another. Read-modify-write functions return the value
 * before; detail/simt/reduce.h has those that return nothing.
 *
 * On cuda a pointer of scope dev or sys must point to global memory. A generic access would test the kind of
 * memory each time, and would always wait for an answer.
 */
#ifndef GRAPNEL_SIMT_ATOMIC_H
#define GRAPNEL_SIMT_ATOMIC_H

#include <grapnel/detail/simt/base.h>

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

/*
 * The thread sanitizer does not understand fences. Programs compiled for it report each word that a relaxed
 * access has read and a later fence acquires (simt__read_before_fence), and each fence that this thread
 * passes (simt__fence_passed).
 */
void simt__read_before_fence(const void *word);
void simt__fence_passed(void);

#ifdef __cplusplus
}
#endif
#endif

/*
 * Each function is a PTX instruction, and on cpu a compiler builtin. The lines below give the end of its
 * name. reg: the constraint letter of a PTX register of the type; wide: the C type of this register
 */
#if SIMT_ON_CUDA
#define SIMT__LOAD(name, type, wide, reg, ptx, order)                                      \
	SIMT_FN type simt_load_##name(const type *p)                                       \
	{                                                                                  \
		wide value;                                                                \
                                                                                           \
		asm volatile("ld." ptx " %0, [%1];" : "=" reg(value) : "l"(p) : "memory"); \
		return (type)value;                                                        \
	}
#define SIMT__STORE(name, type, wide, reg, ptx, order)                                        \
	SIMT_FN void simt_store_##name(type *p, type value)                                   \
	{                                                                                     \
		asm volatile("st." ptx " [%0], %1;" : : "l"(p), reg((wide)value) : "memory"); \
	}
#define SIMT__CAS(name, type, reg, ptx, order, failed)                     \
	SIMT_FN type simt_cas_##name(type *p, type expected, type desired) \
	{                                                                  \
		type old;                                                  \
                                                                           \
		asm volatile("atom." ptx " %0, [%1], %2, %3;"              \
		             : "=" reg(old)                                \
		             : "l"(p), reg(expected), reg(desired)         \
		             : "memory");                                  \
		return old;                                                \
	}
#define SIMT__FETCH(name, type, reg, ptx, builtin, order)                                                  \
	SIMT_FN type simt_##name(type *p, type value)                                                      \
	{                                                                                                  \
		type old;                                                                                  \
                                                                                                           \
		asm volatile("atom." ptx " %0, [%1], %2;" : "=" reg(old) : "l"(p), reg(value) : "memory"); \
		return old;                                                                                \
	}
#else
#define SIMT__LOAD(name, type, wide, reg, ptx, order) \
	SIMT_FN type simt_load_##name(const type *p)  \
	{                                             \
		SIMT__POINT();                        \
		return __atomic_load_n(p, order);     \
	}
#define SIMT__STORE(name, type, wide, reg, ptx, order)      \
	SIMT_FN void simt_store_##name(type *p, type value) \
	{                                                   \
		SIMT__POINT();                              \
		__atomic_store_n(p, value, order);          \
	}
#define SIMT__CAS(name, type, reg, ptx, order, failed)                                \
	SIMT_FN type simt_cas_##name(type *p, type expected, type desired)            \
	{                                                                             \
		SIMT__POINT();                                                        \
		__atomic_compare_exchange_n(p, &expected, desired, 0, order, failed); \
		return expected;                                                      \
	}
#define SIMT__FETCH(name, type, reg, ptx, builtin, order) \
	SIMT_FN type simt_##name(type *p, type value)     \
	{                                                 \
		SIMT__POINT();                            \
		return builtin(p, value, order);          \
	}

/* GCC has no builtin for an atomic minimum. */
SIMT_FN uint32_t simt__fetch_min_u32(uint32_t *p, uint32_t value, int order)
{
	uint32_t old = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (value < old && !__atomic_compare_exchange_n(p, &old, value, 1, order, __ATOMIC_RELAXED))
		;
	return old;
}
#endif

/* Loads: T simt_load_ORDER_SCOPE_T(const T *p). */
SIMT__LOAD(relaxed_dev_u8, uint8_t, uint32_t, "r", "relaxed.gpu.global.u8", __ATOMIC_RELAXED)
SIMT__LOAD(relaxed_dev_u16, uint16_t, uint16_t, "h", "relaxed.gpu.global.u16", __ATOMIC_RELAXED)
SIMT__LOAD(relaxed_dev_u32, uint32_t, uint32_t, "r", "relaxed.gpu.global.u32", __ATOMIC_RELAXED)
SIMT__LOAD(relaxed_dev_u64, uint64_t, uint64_t, "l", "relaxed.gpu.global.u64", __ATOMIC_RELAXED)
SIMT__LOAD(relaxed_sys_u32, uint32_t, uint32_t, "r", "relaxed.sys.global.u32", __ATOMIC_RELAXED)
SIMT__LOAD(relaxed_sys_u64, uint64_t, uint64_t, "l", "relaxed.sys.global.u64", __ATOMIC_RELAXED)
SIMT__LOAD(acquire_dev_u8, uint8_t, uint32_t, "r", "acquire.gpu.global.u8", __ATOMIC_ACQUIRE)
SIMT__LOAD(acquire_dev_u16, uint16_t, uint16_t, "h", "acquire.gpu.global.u16", __ATOMIC_ACQUIRE)
SIMT__LOAD(acquire_dev_u32, uint32_t, uint32_t, "r", "acquire.gpu.global.u32", __ATOMIC_ACQUIRE)
SIMT__LOAD(acquire_dev_u64, uint64_t, uint64_t, "l", "acquire.gpu.global.u64", __ATOMIC_ACQUIRE)
SIMT__LOAD(acquire_sys_u16, uint16_t, uint16_t, "h", "acquire.sys.global.u16", __ATOMIC_ACQUIRE)
SIMT__LOAD(acquire_sys_u32, uint32_t, uint32_t, "r", "acquire.sys.global.u32", __ATOMIC_ACQUIRE)
SIMT__LOAD(acquire_sys_u64, uint64_t, uint64_t, "l", "acquire.sys.global.u64", __ATOMIC_ACQUIRE)

/* Stores: void simt_store_ORDER_SCOPE_T(T *p, T value). */
SIMT__STORE(relaxed_dev_u8, uint8_t, uint32_t, "r", "relaxed.gpu.global.u8", __ATOMIC_RELAXED)
SIMT__STORE(relaxed_dev_u16, uint16_t, uint16_t, "h", "relaxed.gpu.global.u16", __ATOMIC_RELAXED)
SIMT__STORE(relaxed_dev_u32, uint32_t, uint32_t, "r", "relaxed.gpu.global.u32", __ATOMIC_RELAXED)
SIMT__STORE(relaxed_dev_u64, uint64_t, uint64_t, "l", "relaxed.gpu.global.u64", __ATOMIC_RELAXED)
SIMT__STORE(relaxed_sys_u32, uint32_t, uint32_t, "r", "relaxed.sys.global.u32", __ATOMIC_RELAXED)
SIMT__STORE(relaxed_sys_u64, uint64_t, uint64_t, "l", "relaxed.sys.global.u64", __ATOMIC_RELAXED)
SIMT__STORE(release_dev_u32, uint32_t, uint32_t, "r", "release.gpu.global.u32", __ATOMIC_RELEASE)
SIMT__STORE(release_dev_u64, uint64_t, uint64_t, "l", "release.gpu.global.u64", __ATOMIC_RELEASE)
SIMT__STORE(release_sys_u16, uint16_t, uint16_t, "h", "release.sys.global.u16", __ATOMIC_RELEASE)
SIMT__STORE(release_sys_u32, uint32_t, uint32_t, "r", "release.sys.global.u32", __ATOMIC_RELEASE)
SIMT__STORE(release_sys_u64, uint64_t, uint64_t, "l", "release.sys.global.u64", __ATOMIC_RELEASE)

/*
 * Compare and swap: T simt_cas_ORDER_SCOPE_T(T *p, T expected, T desired): stores desired if *p equals
 * expected; returns what was found.
 */
SIMT__CAS(relaxed_dev_u32, uint32_t, "r", "relaxed.gpu.global.cas.b32", __ATOMIC_RELAXED, __ATOMIC_RELAXED)
SIMT__CAS(relaxed_dev_u64, uint64_t, "l", "relaxed.gpu.global.cas.b64", __ATOMIC_RELAXED, __ATOMIC_RELAXED)
SIMT__CAS(acquire_dev_u32, uint32_t, "r", "acquire.gpu.global.cas.b32", __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)
SIMT__CAS(acquire_dev_u64, uint64_t, "l", "acquire.gpu.global.cas.b64", __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)
SIMT__CAS(acq_rel_dev_u32, uint32_t, "r", "acq_rel.gpu.global.cas.b32", __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
SIMT__CAS(acq_rel_dev_u64, uint64_t, "l", "acq_rel.gpu.global.cas.b64", __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
SIMT__CAS(relaxed_sys_u32, uint32_t, "r", "relaxed.sys.global.cas.b32", __ATOMIC_RELAXED, __ATOMIC_RELAXED)
SIMT__CAS(relaxed_sys_u64, uint64_t, "l", "relaxed.sys.global.cas.b64", __ATOMIC_RELAXED, __ATOMIC_RELAXED)

/* Fetch and operate: T simt_OP_ORDER_SCOPE_T(T *p, T value). */
SIMT__FETCH(add_relaxed_dev_u32, uint32_t, "r", "relaxed.gpu.global.add.u32", __atomic_fetch_add,
            __ATOMIC_RELAXED)
SIMT__FETCH(add_relaxed_dev_u64, uint64_t, "l", "relaxed.gpu.global.add.u64", __atomic_fetch_add,
            __ATOMIC_RELAXED)
SIMT__FETCH(add_relaxed_any_u64, uint64_t, "l", "relaxed.gpu.add.u64", __atomic_fetch_add, __ATOMIC_RELAXED)
SIMT__FETCH(add_relaxed_sys_u32, uint32_t, "r", "relaxed.sys.global.add.u32", __atomic_fetch_add,
            __ATOMIC_RELAXED)
SIMT__FETCH(add_relaxed_sys_u64, uint64_t, "l", "relaxed.sys.global.add.u64", __atomic_fetch_add,
            __ATOMIC_RELAXED)
SIMT__FETCH(add_acq_rel_dev_u32, uint32_t, "r", "acq_rel.gpu.global.add.u32", __atomic_fetch_add,
            __ATOMIC_ACQ_REL)
SIMT__FETCH(add_acq_rel_dev_u64, uint64_t, "l", "acq_rel.gpu.global.add.u64", __atomic_fetch_add,
            __ATOMIC_ACQ_REL)
SIMT__FETCH(or_acq_rel_dev_u64, uint64_t, "l", "acq_rel.gpu.global.or.b64", __atomic_fetch_or,
            __ATOMIC_ACQ_REL)
SIMT__FETCH(or_relaxed_dev_u64, uint64_t, "l", "relaxed.gpu.global.or.b64", __atomic_fetch_or,
            __ATOMIC_RELAXED)
SIMT__FETCH(and_acq_rel_dev_u64, uint64_t, "l", "acq_rel.gpu.global.and.b64", __atomic_fetch_and,
            __ATOMIC_ACQ_REL)
SIMT__FETCH(xor_relaxed_dev_u64, uint64_t, "l", "relaxed.gpu.global.xor.b64", __atomic_fetch_xor,
            __ATOMIC_RELAXED)
SIMT__FETCH(xor_relaxed_sys_u64, uint64_t, "l", "relaxed.sys.global.xor.b64", __atomic_fetch_xor,
            __ATOMIC_RELAXED)
SIMT__FETCH(xor_acq_rel_dev_u64, uint64_t, "l", "acq_rel.gpu.global.xor.b64", __atomic_fetch_xor,
            __ATOMIC_ACQ_REL)
SIMT__FETCH(min_relaxed_dev_u32, uint32_t, "r", "relaxed.gpu.global.min.u32", simt__fetch_min_u32,
            __ATOMIC_RELAXED)

/* An addition that returns nothing, so the caller need not wait for the value before. */
SIMT_FN void simt_add_release_dev_u64(uint64_t *p, uint64_t value)
{
#if SIMT_ON_CUDA
	asm volatile("red.release.gpu.global.add.u64 [%0], %1;" : : "l"(p), "l"(value) : "memory");
#else
	SIMT__POINT();
	__atomic_fetch_add(p, value, __ATOMIC_RELEASE);
#endif
}

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

#if !SIMT_ON_CUDA
/* Sequentially consistent accesses, for threads of the cpu machine. */
SIMT__CAS(seq_cst_dev_u64, uint64_t, "l", "", __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
SIMT__LOAD(seq_cst_dev_u64, uint64_t, uint64_t, "l", "", __ATOMIC_SEQ_CST)

SIMT_FN void simt_fence_seq_cst(void)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wtsan"
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#pragma GCC diagnostic pop
}
#endif

SIMT_FN void simt_fence_acq_rel_sys(void)
{
#if SIMT_ON_CUDA
	asm volatile("fence.acq_rel.sys;" : : : "memory");
#else
	simt_fence_acq_rel_dev();
#endif
}

#endif
