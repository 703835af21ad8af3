/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shmem.h - OpenSHMEM 1.5 over Grapnel's net. A library of its own, grapnel-shmem; docs/shmem.md names its
 * limits.
 *
 * Processing elements (PEs) are the processes that an MPI launcher has started, or this process alone.
 * Symmetric are the heap (shmem_malloc) and the program's static data, not that of shared libraries.
 *
 * What each function means is written in the OpenSHMEM specification, version 1.5, under its name; functions
 * below are in its order. Where one fails in a way that it has no return value for, the program ends with a
 * message.
 *
 * Tables list the types by the names that functions have for them, and every function stands here once:
 * X(TYPE, NAME) for each type declares shmem_NAME_..., or is a case of the generic form (C11). OWN lists have
 * each type once, ALIAS lists are other names for the same types.
 */
#ifndef GRAPNEL_SHMEM_H
#define GRAPNEL_SHMEM_H

#include <stddef.h>
#include <stdint.h>

/* ---- constants ---- */

#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 5
#define SHMEM_MAX_NAME_LEN 256
#define SHMEM_VENDOR_STRING "Grapnel"

#define SHMEM_THREAD_SINGLE 0
#define SHMEM_THREAD_FUNNELED 1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE 3

#define SHMEM_CTX_PRIVATE 1L
#define SHMEM_CTX_SERIALIZED 2L
#define SHMEM_CTX_NOSTORE 4L
#define SHMEM_CTX_DEFAULT ((shmem_ctx_t)0)
#define SHMEM_CTX_INVALID ((shmem_ctx_t)-1)

#define SHMEM_CMP_EQ 1
#define SHMEM_CMP_NE 2
#define SHMEM_CMP_GT 3
#define SHMEM_CMP_GE 4
#define SHMEM_CMP_LT 5
#define SHMEM_CMP_LE 6

/*
 * A pSync array holds struct gn_net_group: what only counts takes 17 words of it, what takes words along all
 * 1105.
 */
#define SHMEM_SYNC_VALUE 0
#define SHMEM_BARRIER_SYNC_SIZE 17
#define SHMEM_BCAST_SYNC_SIZE 17
#define SHMEM_ALLTOALL_SYNC_SIZE 17
#define SHMEM_ALLTOALLS_SYNC_SIZE 17
#define SHMEM_COLLECT_SYNC_SIZE 1105
#define SHMEM_REDUCE_SYNC_SIZE 1105
#define SHMEM_SYNC_SIZE 1105
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 1 /* not used */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shmem__ctx *shmem_ctx_t;
__extension__ typedef float _Complex shmem__complexf;
__extension__ typedef double _Complex shmem__complexd;

/* clang-format off: lists that macros make */

/* ---- types ---- */

#define SHMEM__BITS_OWN(X) X(unsigned int, uint) X(unsigned long, ulong) X(unsigned long long, ulonglong)
#define SHMEM__BITS_SIGNED(X) X(int32_t, int32) X(int64_t, int64)
#define SHMEM__BITS_ALIAS(X) X(uint32_t, uint32) X(uint64_t, uint64)
#define SHMEM__SIGNED(X) X(int, int) X(long, long) X(long long, longlong)
#define SHMEM__FLOATS(X) X(float, float) X(double, double)

#define SHMEM__AMO_OWN(X) SHMEM__SIGNED(X) SHMEM__BITS_OWN(X)
#define SHMEM__AMO_ALIAS(X) SHMEM__BITS_SIGNED(X) SHMEM__BITS_ALIAS(X) X(size_t, size) X(ptrdiff_t, ptrdiff)
#define SHMEM__SWAP_OWN(X) SHMEM__AMO_OWN(X) SHMEM__FLOATS(X)
#define SHMEM__BITS_GENERIC(X) SHMEM__BITS_OWN(X) SHMEM__BITS_SIGNED(X)
#define SHMEM__WAIT_OWN(X) X(short, short) X(unsigned short, ushort) SHMEM__AMO_OWN(X)
#define SHMEM__RMA_OWN(X)  \
	SHMEM__WAIT_OWN(X) \
	SHMEM__FLOATS(X)   \
	X(long double, longdouble) X(char, char) X(signed char, schar) X(unsigned char, uchar)
#define SHMEM__RMA_ALIAS(X) \
	SHMEM__AMO_ALIAS(X) X(int8_t, int8) X(int16_t, int16) X(uint8_t, uint8) X(uint16_t, uint16)
#define SHMEM__SIZES(X) X(1, 8) X(2, 16) X(4, 32) X(8, 64) X(16, 128)

/* of reductions */
#define SHMEM__WHOLE(X) X(short, short) SHMEM__SIGNED(X)
#define SHMEM__ORDERED(X) SHMEM__WHOLE(X) SHMEM__FLOATS(X) X(long double, longdouble)
#define SHMEM__NUMBERS(X) SHMEM__ORDERED(X) X(shmem__complexf, complexf) X(shmem__complexd, complexd)

/* Most functions are there twice: the second takes a context before all else. */
#define SHMEM__BOTH(R, NAME, ...)    \
	R shmem_##NAME(__VA_ARGS__); \
	R shmem_ctx_##NAME(shmem_ctx_t ctx, __VA_ARGS__);

/* ---- the library ---- */

void shmem_init(void);
int shmem_init_thread(int requested, int *provided);
void shmem_query_thread(int *provided);
void shmem_finalize(void);
void shmem_global_exit(int status);
int shmem_my_pe(void);
int shmem_n_pes(void);
int shmem_pe_accessible(int pe);
int shmem_addr_accessible(const void *addr, int pe);
void *shmem_ptr(const void *dest, int pe); /* NULL where a PE is reached by messages */
void shmem_info_get_version(int *major, int *minor);
void shmem_info_get_name(char *name);

/* ---- memory: all PEs make the same calls ---- */

void *shmem_malloc(size_t size);
void *shmem_calloc(size_t count, size_t size);
void *shmem_align(size_t alignment, size_t size);
void *shmem_realloc(void *ptr, size_t size);
void shmem_free(void *ptr);

/*
 * ---- contexts: a quiet of a context waits for its own operations alone, a quiet of the default context
 * for those of all contexts ----
 */

int shmem_ctx_create(long options, shmem_ctx_t *ctx);
void shmem_ctx_destroy(shmem_ctx_t ctx);

/* ---- remote memory ---- */

#define SHMEM__RMA(T, N)                                                                                   \
	SHMEM__BOTH(void, N##_put, T *dest, const T *source, size_t nelems, int pe)                        \
	SHMEM__BOTH(void, N##_get, T *dest, const T *source, size_t nelems, int pe)                        \
	SHMEM__BOTH(void, N##_put_nbi, T *dest, const T *source, size_t nelems, int pe)                    \
	SHMEM__BOTH(void, N##_get_nbi, T *dest, const T *source, size_t nelems, int pe)                    \
	SHMEM__BOTH(void, N##_iput, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
	            int pe)                                                                                \
	SHMEM__BOTH(void, N##_iget, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
	            int pe)                                                                                \
	SHMEM__BOTH(void, N##_p, T *dest, T value, int pe)                                                 \
	SHMEM__BOTH(T, N##_g, const T *source, int pe)
SHMEM__RMA_OWN(SHMEM__RMA)
SHMEM__RMA_ALIAS(SHMEM__RMA)

#define SHMEM__RMA_MOVE(N)                                                                     \
	SHMEM__BOTH(void, put##N, void *dest, const void *source, size_t nelems, int pe)       \
	SHMEM__BOTH(void, get##N, void *dest, const void *source, size_t nelems, int pe)       \
	SHMEM__BOTH(void, put##N##_nbi, void *dest, const void *source, size_t nelems, int pe) \
	SHMEM__BOTH(void, get##N##_nbi, void *dest, const void *source, size_t nelems, int pe)
#define SHMEM__RMA_SIZE(BYTES, N)                                                                \
	SHMEM__RMA_MOVE(N)                                                                       \
	SHMEM__BOTH(void, iput##N, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, \
	            size_t nelems, int pe)                                                       \
	SHMEM__BOTH(void, iget##N, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, \
	            size_t nelems, int pe)
SHMEM__SIZES(SHMEM__RMA_SIZE)
SHMEM__RMA_MOVE(mem)

/* ---- atomic changes ---- */

#define SHMEM__AMO_SWAP(T, N)                                       \
	SHMEM__BOTH(T, N##_atomic_fetch, const T *source, int pe)   \
	SHMEM__BOTH(void, N##_atomic_set, T *dest, T value, int pe) \
	SHMEM__BOTH(T, N##_atomic_swap, T *dest, T value, int pe)
#define SHMEM__AMO_ADD(T, N)                                                      \
	SHMEM__BOTH(T, N##_atomic_compare_swap, T *dest, T cond, T value, int pe) \
	SHMEM__BOTH(T, N##_atomic_fetch_inc, T *dest, int pe)                     \
	SHMEM__BOTH(void, N##_atomic_inc, T *dest, int pe)                        \
	SHMEM__BOTH(T, N##_atomic_fetch_add, T *dest, T value, int pe)            \
	SHMEM__BOTH(void, N##_atomic_add, T *dest, T value, int pe)
#define SHMEM__AMO_BITS(T, N)                                          \
	SHMEM__BOTH(T, N##_atomic_fetch_and, T *dest, T value, int pe) \
	SHMEM__BOTH(void, N##_atomic_and, T *dest, T value, int pe)    \
	SHMEM__BOTH(T, N##_atomic_fetch_or, T *dest, T value, int pe)  \
	SHMEM__BOTH(void, N##_atomic_or, T *dest, T value, int pe)     \
	SHMEM__BOTH(T, N##_atomic_fetch_xor, T *dest, T value, int pe) \
	SHMEM__BOTH(void, N##_atomic_xor, T *dest, T value, int pe)
SHMEM__SWAP_OWN(SHMEM__AMO_SWAP)
SHMEM__AMO_ALIAS(SHMEM__AMO_SWAP)
SHMEM__AMO_OWN(SHMEM__AMO_ADD)
SHMEM__AMO_ALIAS(SHMEM__AMO_ADD)
SHMEM__BITS_GENERIC(SHMEM__AMO_BITS)
SHMEM__BITS_ALIAS(SHMEM__AMO_BITS)

/* ---- collective: a pSync array is all SHMEM_SYNC_VALUE before and after ---- */

void shmem_barrier_all(void);
void shmem_sync_all(void);
void shmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync);
void shmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync);

#define SHMEM__COLLECTIVES(BYTES, N)                                                                         \
	void shmem_broadcast##N(void *dest, const void *source, size_t nelems, int PE_root, int PE_start,    \
	                        int logPE_stride, int PE_size, long *pSync);                                 \
	void shmem_collect##N(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, \
	                      int PE_size, long *pSync);                                                     \
	void shmem_fcollect##N(void *dest, const void *source, size_t nelems, int PE_start,                  \
	                       int logPE_stride, int PE_size, long *pSync);                                  \
	void shmem_alltoall##N(void *dest, const void *source, size_t nelems, int PE_start,                  \
	                       int logPE_stride, int PE_size, long *pSync);                                  \
	void shmem_alltoalls##N(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
	                        int PE_start, int logPE_stride, int PE_size, long *pSync);
#define SHMEM__COLLECTIVE_SIZES(X) X(4, 32) X(8, 64)
SHMEM__COLLECTIVE_SIZES(SHMEM__COLLECTIVES)

#define SHMEM__REDUCTION(T, NAME)                                                                         \
	void shmem_##NAME##_to_all(T *dest, const T *source, int nreduce, int PE_start, int logPE_stride, \
	                           int PE_size, T *pWrk, long *pSync);
#define SHMEM__REDUCE_BITS(T, N) \
	SHMEM__REDUCTION(T, N##_and) SHMEM__REDUCTION(T, N##_or) SHMEM__REDUCTION(T, N##_xor)
#define SHMEM__REDUCE_ORDER(T, N) SHMEM__REDUCTION(T, N##_min) SHMEM__REDUCTION(T, N##_max)
#define SHMEM__REDUCE_SUM(T, N) SHMEM__REDUCTION(T, N##_sum) SHMEM__REDUCTION(T, N##_prod)
SHMEM__WHOLE(SHMEM__REDUCE_BITS)
SHMEM__ORDERED(SHMEM__REDUCE_ORDER)
SHMEM__NUMBERS(SHMEM__REDUCE_SUM)

/* ---- waiting for other PEs ---- */

#define SHMEM__WAIT(T, N)                                       \
	void shmem_##N##_wait_until(T *ivar, int cmp, T value); \
	int shmem_##N##_test(T *ivar, int cmp, T value);
SHMEM__WAIT_OWN(SHMEM__WAIT)
SHMEM__AMO_ALIAS(SHMEM__WAIT)

/* ---- order ---- */

void shmem_fence(void);
void shmem_ctx_fence(shmem_ctx_t ctx);
void shmem_quiet(void);
void shmem_ctx_quiet(shmem_ctx_t ctx);

/* ---- locks: served in the order in which they were asked for ---- */

void shmem_set_lock(long *lock);
void shmem_clear_lock(long *lock);
int shmem_test_lock(long *lock); /* 0: it has it now */

/* ---- deprecated: older names ---- */

#define _SHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ SHMEM_CMP_EQ
#define _SHMEM_CMP_NE SHMEM_CMP_NE
#define _SHMEM_CMP_GT SHMEM_CMP_GT
#define _SHMEM_CMP_GE SHMEM_CMP_GE
#define _SHMEM_CMP_LT SHMEM_CMP_LT
#define _SHMEM_CMP_LE SHMEM_CMP_LE
#define _SHMEM_SYNC_VALUE SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_ALLTOALL_SYNC_SIZE SHMEM_ALLTOALL_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

void start_pes(int npes);
int _my_pe(void);
int _num_pes(void);
void *shmalloc(size_t size);
void *shmemalign(size_t alignment, size_t size);
void *shrealloc(void *ptr, size_t size);
void shfree(void *ptr);

#define SHMEM__OLD_SWAP(T, N)                           \
	T shmem_##N##_fetch(const T *source, int pe);   \
	void shmem_##N##_set(T *dest, T value, int pe); \
	T shmem_##N##_swap(T *dest, T value, int pe);
#define SHMEM__OLD_ADD(T, N)                                   \
	T shmem_##N##_cswap(T *dest, T cond, T value, int pe); \
	T shmem_##N##_finc(T *dest, int pe);                   \
	void shmem_##N##_inc(T *dest, int pe);                 \
	T shmem_##N##_fadd(T *dest, T value, int pe);          \
	void shmem_##N##_add(T *dest, T value, int pe);
#define SHMEM__OLD_WAIT(T, N) void shmem_##N##_wait(T *ivar, T value);
SHMEM__SIGNED(SHMEM__OLD_SWAP)
SHMEM__FLOATS(SHMEM__OLD_SWAP)
SHMEM__SIGNED(SHMEM__OLD_ADD)
SHMEM__WHOLE(SHMEM__OLD_WAIT)

long shmem_swap(long *dest, long value, int pe);
void shmem_wait(long *ivar, long value);
void shmem_wait_until(long *ivar, int cmp, long value);
void shmem_clear_cache_inv(void);
void shmem_set_cache_inv(void);
void shmem_clear_cache_line_inv(void *dest);
void shmem_set_cache_line_inv(void *dest);
void shmem_udcflush(void);
void shmem_udcflush_line(void *dest);

#ifdef __cplusplus
}
#endif

/* ---- C11: the type chooses ---- */

#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L

/*
 * SHMEM__n(CASE, TYPES, arguments): a function of n arguments, or of one more with a context first, for the
 * type that its first pointer points to.
 */
#define SHMEM__CALL(CASE, TYPES, ctx, a, ...) \
	_Generic(*(a), TYPES(CASE) struct shmem__no_type : 0)(ctx, a, __VA_ARGS__)
#define SHMEM__CALL_DEFAULT(CASE, TYPES, ...) SHMEM__CALL(CASE, TYPES, SHMEM_CTX_DEFAULT, __VA_ARGS__)
#define SHMEM__FOURTH(a, b, c, d, ...) d
#define SHMEM__FIFTH(a, b, c, d, e, ...) e
#define SHMEM__SIXTH(a, b, c, d, e, f, ...) f
#define SHMEM__EIGHTH(a, b, c, d, e, f, g, h, ...) h
#define SHMEM__2(CASE, TYPES, ...) \
	SHMEM__FOURTH(__VA_ARGS__, SHMEM__CALL, SHMEM__CALL_DEFAULT, 0)(CASE, TYPES, __VA_ARGS__)
#define SHMEM__3(CASE, TYPES, ...) \
	SHMEM__FIFTH(__VA_ARGS__, SHMEM__CALL, SHMEM__CALL_DEFAULT, 0)(CASE, TYPES, __VA_ARGS__)
#define SHMEM__4(CASE, TYPES, ...) \
	SHMEM__SIXTH(__VA_ARGS__, SHMEM__CALL, SHMEM__CALL_DEFAULT, 0)(CASE, TYPES, __VA_ARGS__)
#define SHMEM__6(CASE, TYPES, ...) \
	SHMEM__EIGHTH(__VA_ARGS__, SHMEM__CALL, SHMEM__CALL_DEFAULT, 0)(CASE, TYPES, __VA_ARGS__)

/* Ends the list of cases, which all end with a comma. */
struct shmem__no_type {
	int unused;
};

#define SHMEM__PUT(T, N) \
	T:               \
	shmem_ctx_##N##_put,
#define SHMEM__GET(T, N) \
	T:               \
	shmem_ctx_##N##_get,
#define SHMEM__PUT_NBI(T, N) \
	T:                   \
	shmem_ctx_##N##_put_nbi,
#define SHMEM__GET_NBI(T, N) \
	T:                   \
	shmem_ctx_##N##_get_nbi,
#define SHMEM__IPUT(T, N) \
	T:                \
	shmem_ctx_##N##_iput,
#define SHMEM__IGET(T, N) \
	T:                \
	shmem_ctx_##N##_iget,
#define SHMEM__P(T, N) \
	T:             \
	shmem_ctx_##N##_p,
#define SHMEM__G(T, N) \
	T:             \
	shmem_ctx_##N##_g,
#define shmem_put(...) SHMEM__4(SHMEM__PUT, SHMEM__RMA_OWN, __VA_ARGS__)
#define shmem_get(...) SHMEM__4(SHMEM__GET, SHMEM__RMA_OWN, __VA_ARGS__)
#define shmem_put_nbi(...) SHMEM__4(SHMEM__PUT_NBI, SHMEM__RMA_OWN, __VA_ARGS__)
#define shmem_get_nbi(...) SHMEM__4(SHMEM__GET_NBI, SHMEM__RMA_OWN, __VA_ARGS__)
#define shmem_iput(...) SHMEM__6(SHMEM__IPUT, SHMEM__RMA_OWN, __VA_ARGS__)
#define shmem_iget(...) SHMEM__6(SHMEM__IGET, SHMEM__RMA_OWN, __VA_ARGS__)
#define shmem_p(...) SHMEM__3(SHMEM__P, SHMEM__RMA_OWN, __VA_ARGS__)
#define shmem_g(...) SHMEM__2(SHMEM__G, SHMEM__RMA_OWN, __VA_ARGS__)

#define SHMEM__FETCH(T, N) \
	T:                 \
	shmem_ctx_##N##_atomic_fetch,
#define SHMEM__SET(T, N) \
	T:               \
	shmem_ctx_##N##_atomic_set,
#define SHMEM__SWAP(T, N) \
	T:                \
	shmem_ctx_##N##_atomic_swap,
#define SHMEM__COMPARE_SWAP(T, N) \
	T:                        \
	shmem_ctx_##N##_atomic_compare_swap,
#define SHMEM__FETCH_INC(T, N) \
	T:                     \
	shmem_ctx_##N##_atomic_fetch_inc,
#define SHMEM__INC(T, N) \
	T:               \
	shmem_ctx_##N##_atomic_inc,
#define SHMEM__FETCH_ADD(T, N) \
	T:                     \
	shmem_ctx_##N##_atomic_fetch_add,
#define SHMEM__ADD(T, N) \
	T:               \
	shmem_ctx_##N##_atomic_add,
#define SHMEM__FETCH_AND(T, N) \
	T:                     \
	shmem_ctx_##N##_atomic_fetch_and,
#define SHMEM__AND(T, N) \
	T:               \
	shmem_ctx_##N##_atomic_and,
#define SHMEM__FETCH_OR(T, N) \
	T:                    \
	shmem_ctx_##N##_atomic_fetch_or,
#define SHMEM__OR(T, N) \
	T:              \
	shmem_ctx_##N##_atomic_or,
#define SHMEM__FETCH_XOR(T, N) \
	T:                     \
	shmem_ctx_##N##_atomic_fetch_xor,
#define SHMEM__XOR(T, N) \
	T:               \
	shmem_ctx_##N##_atomic_xor,
#define shmem_atomic_fetch(...) SHMEM__2(SHMEM__FETCH, SHMEM__SWAP_OWN, __VA_ARGS__)
#define shmem_atomic_set(...) SHMEM__3(SHMEM__SET, SHMEM__SWAP_OWN, __VA_ARGS__)
#define shmem_atomic_swap(...) SHMEM__3(SHMEM__SWAP, SHMEM__SWAP_OWN, __VA_ARGS__)
#define shmem_atomic_compare_swap(...) SHMEM__4(SHMEM__COMPARE_SWAP, SHMEM__AMO_OWN, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...) SHMEM__2(SHMEM__FETCH_INC, SHMEM__AMO_OWN, __VA_ARGS__)
#define shmem_atomic_inc(...) SHMEM__2(SHMEM__INC, SHMEM__AMO_OWN, __VA_ARGS__)
#define shmem_atomic_fetch_add(...) SHMEM__3(SHMEM__FETCH_ADD, SHMEM__AMO_OWN, __VA_ARGS__)
#define shmem_atomic_add(...) SHMEM__3(SHMEM__ADD, SHMEM__AMO_OWN, __VA_ARGS__)
#define shmem_atomic_fetch_and(...) SHMEM__3(SHMEM__FETCH_AND, SHMEM__BITS_GENERIC, __VA_ARGS__)
#define shmem_atomic_and(...) SHMEM__3(SHMEM__AND, SHMEM__BITS_GENERIC, __VA_ARGS__)
#define shmem_atomic_fetch_or(...) SHMEM__3(SHMEM__FETCH_OR, SHMEM__BITS_GENERIC, __VA_ARGS__)
#define shmem_atomic_or(...) SHMEM__3(SHMEM__OR, SHMEM__BITS_GENERIC, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...) SHMEM__3(SHMEM__FETCH_XOR, SHMEM__BITS_GENERIC, __VA_ARGS__)
#define shmem_atomic_xor(...) SHMEM__3(SHMEM__XOR, SHMEM__BITS_GENERIC, __VA_ARGS__)

#define SHMEM__WAIT_UNTIL(T, N) \
	T:                      \
	shmem_##N##_wait_until,
#define SHMEM__TEST(T, N) \
	T:                \
	shmem_##N##_test,
#define SHMEM__CHOSEN(CASE, TYPES, a, ...) \
	_Generic(*(a), TYPES(CASE) struct shmem__no_type : 0)(a, __VA_ARGS__)
#define shmem_wait_until(...) SHMEM__CHOSEN(SHMEM__WAIT_UNTIL, SHMEM__WAIT_OWN, __VA_ARGS__)
#define shmem_test(...) SHMEM__CHOSEN(SHMEM__TEST, SHMEM__WAIT_OWN, __VA_ARGS__)

/* deprecated */
#define shmem_fetch(...) shmem_atomic_fetch(__VA_ARGS__)
#define shmem_set(...) shmem_atomic_set(__VA_ARGS__)
#define shmem_swap(...) shmem_atomic_swap(__VA_ARGS__)
#define shmem_cswap(...) shmem_atomic_compare_swap(__VA_ARGS__)
#define shmem_finc(...) shmem_atomic_fetch_inc(__VA_ARGS__)
#define shmem_inc(...) shmem_atomic_inc(__VA_ARGS__)
#define shmem_fadd(...) shmem_atomic_fetch_add(__VA_ARGS__)
#define shmem_add(...) shmem_atomic_add(__VA_ARGS__)

/* clang-format on */

#endif

#include "shmem_1_5.h"

#endif
