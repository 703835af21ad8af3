/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simt/reduce.h - read-modify-write that returns nothing: nobody waits for what was there, and no link carries it back.
 *
 *     void simt_reduce_OP_relaxed_SCOPE_T(T *p, T value)
 *
 * OP is add, min, max (unsigned), and, or, xor; T u32 or u64. Scope, addresses and callers as in simt/atomic.h. Source: PTX ISA,
 * "red".
 */
#ifndef GRAPNEL_SIMT_REDUCE_H
#define GRAPNEL_SIMT_REDUCE_H

#include <grapnel/simt/base.h>

#if SIMT_ON_CUDA

#define SIMT__REDUCE_BY(op, scope, ptx_scope, ptx, bits, reg)                                              \
	SIMT_FN void simt_reduce##op##_relaxed_##scope##_u##bits(uint##bits##_t *p, uint##bits##_t value)  \
	{                                                                                                  \
		asm volatile("red.relaxed." ptx_scope ".global" ptx #bits " [%0], %1;"                     \
			     : : "l"(p), reg(value) : "memory");                                           \
	}

#else

#define SIMT__FETCH_add(p, value) __atomic_fetch_add(p, value, __ATOMIC_RELAXED)
#define SIMT__FETCH_and(p, value) __atomic_fetch_and(p, value, __ATOMIC_RELAXED)
#define SIMT__FETCH_or(p, value) __atomic_fetch_or(p, value, __ATOMIC_RELAXED)
#define SIMT__FETCH_xor(p, value) __atomic_fetch_xor(p, value, __ATOMIC_RELAXED)
#define SIMT__FETCH_min(p, value)                                                                                   \
	for (old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                            \
	     value < old && !__atomic_compare_exchange_n(p, &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED);)
#define SIMT__FETCH_max(p, value)                                                                                   \
	for (old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                            \
	     value > old && !__atomic_compare_exchange_n(p, &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED);)

#define SIMT__REDUCE_BY(op, scope, ptx_scope, ptx, bits, reg)                                              \
	SIMT_FN void simt_reduce##op##_relaxed_##scope##_u##bits(uint##bits##_t *p, uint##bits##_t value)  \
	{                                                                                                  \
		uint##bits##_t old;                                                                        \
														   \
		(void)old;                                                                                 \
		SIMT__POINT();                                                                             \
		SIMT__FETCH##op(p, value);                                                                 \
	}

#endif

#define SIMT__REDUCE(op, ptx, bits, reg)                 \
	SIMT__REDUCE_BY(op, dev, "gpu", ptx, bits, reg)  \
	SIMT__REDUCE_BY(op, sys, "sys", ptx, bits, reg)

#define SIMT__REDUCE_ALL(bits, reg)          \
	SIMT__REDUCE(_add, ".add.u", bits, reg) \
	SIMT__REDUCE(_min, ".min.u", bits, reg) \
	SIMT__REDUCE(_max, ".max.u", bits, reg) \
	SIMT__REDUCE(_and, ".and.b", bits, reg) \
	SIMT__REDUCE(_or, ".or.b", bits, reg)   \
	SIMT__REDUCE(_xor, ".xor.b", bits, reg)

SIMT__REDUCE_ALL(32, "r")
SIMT__REDUCE_ALL(64, "l")

#endif
