/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/simt/reduce.h - read-modify-write functions that return nothing: the thread does not wait for the
 * value before, and no link carries it back.
 *
 *     void simt_reduce_OP_relaxed_SCOPE_T(T *p, T value)
 *
 * OP is add, min, max (unsigned), and, or, xor; T u32 or u64, and of add also f64: each addition is rounded
 * to nearest, in the order in which threads come. Scope, addresses and callers as in
 * detail/simt/atomic.h. Source: PTX ISA, "red".
 */
#ifndef GRAPNEL_SIMT_REDUCE_H
#define GRAPNEL_SIMT_REDUCE_H

#include <grapnel/detail/simt/base.h>

/* Define one function: by a PTX instruction, on cpu by an expression of p and value. */
#if SIMT_ON_CUDA
#define SIMT__REDUCE(name, type, reg, ptx, cpu)                                                  \
	SIMT_FN void simt_reduce_##name(type *p, type value)                                     \
	{                                                                                        \
		asm volatile("red.relaxed." ptx " [%0], %1;" : : "l"(p), reg(value) : "memory"); \
	}
#else
SIMT_FN void simt__lower_u32(uint32_t *p, uint32_t value)
{
	uint32_t old = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (value < old &&
	       !__atomic_compare_exchange_n(p, &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

SIMT_FN void simt__raise_u32(uint32_t *p, uint32_t value)
{
	uint32_t old = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (value > old &&
	       !__atomic_compare_exchange_n(p, &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

SIMT_FN void simt__lower_u64(uint64_t *p, uint64_t value)
{
	uint64_t old = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (value < old &&
	       !__atomic_compare_exchange_n(p, &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

SIMT_FN void simt__raise_u64(uint64_t *p, uint64_t value)
{
	uint64_t old = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (value > old &&
	       !__atomic_compare_exchange_n(p, &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

SIMT_FN void simt__add_f64(double *p, double value)
{
	double old, sum;

	__atomic_load(p, &old, __ATOMIC_RELAXED);
	do
		sum = old + value;
	while (!__atomic_compare_exchange(p, &old, &sum, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

#define SIMT__REDUCE(name, type, reg, ptx, cpu)              \
	SIMT_FN void simt_reduce_##name(type *p, type value) \
	{                                                    \
		SIMT__POINT();                               \
		cpu;                                         \
	}
#endif

SIMT__REDUCE(add_relaxed_dev_u32, uint32_t, "r", "gpu.global.add.u32",
             __atomic_fetch_add(p, value, __ATOMIC_RELAXED))
SIMT__REDUCE(min_relaxed_dev_u32, uint32_t, "r", "gpu.global.min.u32", simt__lower_u32(p, value))
SIMT__REDUCE(max_relaxed_dev_u32, uint32_t, "r", "gpu.global.max.u32", simt__raise_u32(p, value))
SIMT__REDUCE(and_relaxed_dev_u32, uint32_t, "r", "gpu.global.and.b32",
             __atomic_fetch_and(p, value, __ATOMIC_RELAXED))
SIMT__REDUCE(or_relaxed_dev_u32, uint32_t, "r", "gpu.global.or.b32",
             __atomic_fetch_or(p, value, __ATOMIC_RELAXED))
SIMT__REDUCE(xor_relaxed_dev_u32, uint32_t, "r", "gpu.global.xor.b32",
             __atomic_fetch_xor(p, value, __ATOMIC_RELAXED))
SIMT__REDUCE(add_relaxed_dev_u64, uint64_t, "l", "gpu.global.add.u64",
             __atomic_fetch_add(p, value, __ATOMIC_RELAXED))
SIMT__REDUCE(min_relaxed_dev_u64, uint64_t, "l", "gpu.global.min.u64", simt__lower_u64(p, value))
SIMT__REDUCE(max_relaxed_dev_u64, uint64_t, "l", "gpu.global.max.u64", simt__raise_u64(p, value))
SIMT__REDUCE(and_relaxed_dev_u64, uint64_t, "l", "gpu.global.and.b64",
             __atomic_fetch_and(p, value, __ATOMIC_RELAXED))
SIMT__REDUCE(or_relaxed_dev_u64, uint64_t, "l", "gpu.global.or.b64",
             __atomic_fetch_or(p, value, __ATOMIC_RELAXED))
SIMT__REDUCE(xor_relaxed_dev_u64, uint64_t, "l", "gpu.global.xor.b64",
             __atomic_fetch_xor(p, value, __ATOMIC_RELAXED))
SIMT__REDUCE(add_relaxed_dev_f64, double, "d", "gpu.global.add.f64", simt__add_f64(p, value))
SIMT__REDUCE(add_relaxed_sys_u32, uint32_t, "r", "sys.global.add.u32",
             __atomic_fetch_add(p, value, __ATOMIC_RELAXED))
SIMT__REDUCE(min_relaxed_sys_u32, uint32_t, "r", "sys.global.min.u32", simt__lower_u32(p, value))
SIMT__REDUCE(max_relaxed_sys_u32, uint32_t, "r", "sys.global.max.u32", simt__raise_u32(p, value))
SIMT__REDUCE(and_relaxed_sys_u32, uint32_t, "r", "sys.global.and.b32",
             __atomic_fetch_and(p, value, __ATOMIC_RELAXED))
SIMT__REDUCE(or_relaxed_sys_u32, uint32_t, "r", "sys.global.or.b32",
             __atomic_fetch_or(p, value, __ATOMIC_RELAXED))
SIMT__REDUCE(xor_relaxed_sys_u32, uint32_t, "r", "sys.global.xor.b32",
             __atomic_fetch_xor(p, value, __ATOMIC_RELAXED))
SIMT__REDUCE(add_relaxed_sys_u64, uint64_t, "l", "sys.global.add.u64",
             __atomic_fetch_add(p, value, __ATOMIC_RELAXED))
SIMT__REDUCE(min_relaxed_sys_u64, uint64_t, "l", "sys.global.min.u64", simt__lower_u64(p, value))
SIMT__REDUCE(max_relaxed_sys_u64, uint64_t, "l", "sys.global.max.u64", simt__raise_u64(p, value))
SIMT__REDUCE(and_relaxed_sys_u64, uint64_t, "l", "sys.global.and.b64",
             __atomic_fetch_and(p, value, __ATOMIC_RELAXED))
SIMT__REDUCE(or_relaxed_sys_u64, uint64_t, "l", "sys.global.or.b64",
             __atomic_fetch_or(p, value, __ATOMIC_RELAXED))
SIMT__REDUCE(xor_relaxed_sys_u64, uint64_t, "l", "sys.global.xor.b64",
             __atomic_fetch_xor(p, value, __ATOMIC_RELAXED))

#endif
