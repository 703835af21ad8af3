/* SPDX-License-Identifier: Apache-2.0 */
/* amo.c - atomic changes of elements of 4 and 8 bytes, for every type, by two common functions. */
#include <shmem/pe.h>

SHMEM__NAMES_AMO

static uint64_t bits(const void *value, size_t bytes)
{
	uint32_t narrow;
	uint64_t wide;

	if (bytes == 4) {
		memcpy(&narrow, value, 4);
		return narrow;
	}
	memcpy(&wide, value, 8);
	return wide;
}

static void change(shmem_ctx_t ctx, void *dest, enum gn_change how, const void *value, size_t bytes, int pe)
{
	const uint32_t node = gn_shmem_node("atomic", ctx, pe);

	gn_shmem_check("atomic",
	               gn__net_change(gn_shmem.view, node, dest, how, bits(value, bytes), 0, (uint32_t)bytes),
	               pe);
	gn_shmem_sent(ctx, dest, node);
}

/* @value  in: the operand; out: the element before the change */
static void fetch(shmem_ctx_t ctx, const void *dest, enum gn_change how, void *value, const void *second,
                  size_t bytes, int pe)
{
	const uint32_t node = gn_shmem_node("atomic", ctx, pe);
	uint64_t before = 0;
	uint32_t narrow;

	gn_shmem_check("atomic",
	               gn__net_fetch(gn_shmem.view, node, (void *)(uintptr_t)dest, how, bits(value, bytes),
	                             second ? bits(second, bytes) : 0, (uint32_t)bytes, &before),
	               pe);
	narrow = (uint32_t)before;
	memcpy(value, bytes == 4 ? (void *)&narrow : (void *)&before, bytes);
}

/* ---- the names ---- */

/* clang-format off: macros of whole functions */
#define ARGUMENTS(...) __VA_ARGS__

/* Define a function with a context and its form without; the last arguments are the parameters to pass on. */
#define DEFINE(R, NAME, PARAMETERS, BODY, ...)                                                              \
	R shmem_ctx_##NAME(shmem_ctx_t ctx, ARGUMENTS PARAMETERS) BODY R shmem_##NAME(ARGUMENTS PARAMETERS) \
	{                                                                                                   \
		return pshmem_ctx_##NAME(SHMEM_CTX_DEFAULT, __VA_ARGS__);                                   \
	}
#define DEFINE_VOID(NAME, PARAMETERS, BODY, ...)                     \
	void shmem_ctx_##NAME(shmem_ctx_t ctx, ARGUMENTS PARAMETERS) \
	    BODY void shmem_##NAME(ARGUMENTS PARAMETERS)             \
	{                                                            \
		pshmem_ctx_##NAME(SHMEM_CTX_DEFAULT, __VA_ARGS__);   \
	}

/* Change by `value`, a parameter or set by SET. FETCH returns the element before the change. */
#define CHANGE(HOW, SET)                                          \
	{                                                         \
		SET;                                              \
		change(ctx, dest, HOW, &value, sizeof value, pe); \
	}
#define FETCH(HOW, SET, SECOND)                                          \
	{                                                                \
		SET;                                                     \
		fetch(ctx, dest, HOW, &value, SECOND, sizeof value, pe); \
		return value;                                            \
	}

#define SWAP(T, N)                                                                                       \
	DEFINE(T, N##_atomic_fetch, (const T *dest, int pe), FETCH(GN_GET, T value = 0, NULL), dest, pe) \
	DEFINE_VOID(N##_atomic_set, (T * dest, T value, int pe), CHANGE(GN_PUT, ), dest, value, pe)      \
	DEFINE(T, N##_atomic_swap, (T * dest, T value, int pe), FETCH(GN_PUT, , NULL), dest, value, pe)

/* A change by a value, without and with the element before it as result. */
#define BY(T, N, NAME, HOW)                                                                                  \
	DEFINE(T, N##_atomic_fetch_##NAME, (T * dest, T value, int pe), FETCH(HOW, , NULL), dest, value, pe) \
	DEFINE_VOID(N##_atomic_##NAME, (T * dest, T value, int pe), CHANGE(HOW, ), dest, value, pe)

#define ADD(T, N)                                                                                       \
	DEFINE(T, N##_atomic_compare_swap, (T * dest, T cond, T value, int pe),                         \
	       FETCH(GN_CAS, const T to = value; value = cond, &to), dest, cond, value, pe)             \
	DEFINE(T, N##_atomic_fetch_inc, (T * dest, int pe), FETCH(GN_ADD, T value = 1, NULL), dest, pe) \
	DEFINE_VOID(N##_atomic_inc, (T * dest, int pe), CHANGE(GN_ADD, const T value = 1), dest, pe)    \
	BY(T, N, add, GN_ADD)

#define BITS(T, N) BY(T, N, and, GN_AND) BY(T, N, or, GN_OR) BY(T, N, xor, GN_XOR)

SHMEM__SWAP_OWN(SWAP)
SHMEM__AMO_ALIAS(SWAP)
SHMEM__AMO_OWN(ADD)
SHMEM__AMO_ALIAS(ADD)
SHMEM__BITS_GENERIC(BITS)
SHMEM__BITS_ALIAS(BITS)

/* ---- with the result in memory ---- */

#define NBI(NAME, PARAMETERS, CALL)                                        \
	void shmem_ctx_##NAME##_nbi(shmem_ctx_t ctx, ARGUMENTS PARAMETERS) \
	{                                                                  \
		*fetch = CALL;                                             \
	}                                                                  \
	void shmem_##NAME##_nbi(ARGUMENTS PARAMETERS)                      \
	{                                                                  \
		const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;                 \
                                                                           \
		*fetch = CALL;                                             \
	}
#define SWAP_NBI(T, N)                                               \
	NBI(N##_atomic_fetch, (T * fetch, const T *source, int pe),  \
	    pshmem_ctx_##N##_atomic_fetch(ctx, source, pe))          \
	NBI(N##_atomic_swap, (T * fetch, T * dest, T value, int pe), \
	    pshmem_ctx_##N##_atomic_swap(ctx, dest, value, pe))
#define BY_NBI(T, N, NAME)                                                   \
	NBI(N##_atomic_fetch_##NAME, (T * fetch, T * dest, T value, int pe), \
	    pshmem_ctx_##N##_atomic_fetch_##NAME(ctx, dest, value, pe))
#define ADD_NBI(T, N)                                                                \
	NBI(N##_atomic_compare_swap, (T * fetch, T * dest, T cond, T value, int pe), \
	    pshmem_ctx_##N##_atomic_compare_swap(ctx, dest, cond, value, pe))        \
	NBI(N##_atomic_fetch_inc, (T * fetch, T * dest, int pe),                     \
	    pshmem_ctx_##N##_atomic_fetch_inc(ctx, dest, pe))                        \
	BY_NBI(T, N, add)
#define BITS_NBI(T, N) BY_NBI(T, N, and) BY_NBI(T, N, or) BY_NBI(T, N, xor)

SHMEM__SWAP_OWN(SWAP_NBI)
SHMEM__AMO_ALIAS(SWAP_NBI)
SHMEM__AMO_OWN(ADD_NBI)
SHMEM__AMO_ALIAS(ADD_NBI)
SHMEM__BITS_GENERIC(BITS_NBI)
SHMEM__BITS_ALIAS(BITS_NBI)

/* ---- older names ---- */

#define OLD_SWAP(T, N)                                            \
	T shmem_##N##_fetch(const T *source, int pe)              \
	{                                                         \
		return pshmem_##N##_atomic_fetch(source, pe);     \
	}                                                         \
	void shmem_##N##_set(T *dest, T value, int pe)            \
	{                                                         \
		pshmem_##N##_atomic_set(dest, value, pe);         \
	}                                                         \
	T shmem_##N##_swap(T *dest, T value, int pe)              \
	{                                                         \
		return pshmem_##N##_atomic_swap(dest, value, pe); \
	}
#define OLD_ADD(T, N)                                                           \
	T shmem_##N##_cswap(T *dest, T cond, T value, int pe)                   \
	{                                                                       \
		return pshmem_##N##_atomic_compare_swap(dest, cond, value, pe); \
	}                                                                       \
	T shmem_##N##_finc(T *dest, int pe)                                     \
	{                                                                       \
		return pshmem_##N##_atomic_fetch_inc(dest, pe);                 \
	}                                                                       \
	void shmem_##N##_inc(T *dest, int pe)                                   \
	{                                                                       \
		pshmem_##N##_atomic_inc(dest, pe);                              \
	}                                                                       \
	T shmem_##N##_fadd(T *dest, T value, int pe)                            \
	{                                                                       \
		return pshmem_##N##_atomic_fetch_add(dest, value, pe);          \
	}                                                                       \
	void shmem_##N##_add(T *dest, T value, int pe)                          \
	{                                                                       \
		pshmem_##N##_atomic_add(dest, value, pe);                       \
	}

SHMEM__SIGNED(OLD_SWAP)
SHMEM__FLOATS(OLD_SWAP)
SHMEM__SIGNED(OLD_ADD)

long(shmem_swap)(long *dest, long value, int pe)
{
	return pshmem_long_atomic_swap(dest, value, pe);
}
/* clang-format on */
