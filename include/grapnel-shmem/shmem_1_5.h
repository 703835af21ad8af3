/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shmem_1_5.h - what version 1.5 of OpenSHMEM added: teams, signals, waits for several words, atomic changes
 * whose result comes later. A part of shmem.h, which includes it.
 */
#ifndef GRAPNEL_SHMEM_1_5_H
#define GRAPNEL_SHMEM_1_5_H

#include "shmem.h"

/* ---- constants ---- */

#define SHMEM_TEAM_NUM_CONTEXTS 1L
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD (&shmem__team_world)
#define SHMEM_TEAM_SHARED (&shmem__team_shared)

#define SHMEM_SIGNAL_SET 1
#define SHMEM_SIGNAL_ADD 2

#define SHMEM_MALLOC_ATOMICS_REMOTE 1L
#define SHMEM_MALLOC_SIGNAL_REMOTE 2L

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off: lists that macros make */

/* ---- the library and memory ---- */

void shmem_pcontrol(int level, ...);                    /* does nothing */
void *shmem_malloc_with_hints(size_t size, long hints); /* shmem_malloc */

/* ---- teams: a PE is in at most 63 beside the predefined ones; one thread of a PE splits at a time ---- */

typedef struct shmem__team *shmem_team_t;

/* A program may create more contexts than it says here. */
typedef struct {
	int num_contexts;
} shmem_team_config_t;

extern struct shmem__team shmem__team_world, shmem__team_shared;

int shmem_team_my_pe(shmem_team_t team);
int shmem_team_n_pes(shmem_team_t team);
int shmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config);
int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);
int shmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                             const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team);
int shmem_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config,
                        long xaxis_mask, shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config,
                        long yaxis_mask, shmem_team_t *yaxis_team);
void shmem_team_destroy(shmem_team_t team);
int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx);
int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team);

/* ---- collective functions of a team ---- */

int shmem_team_sync(shmem_team_t team);

/* Functions that move elements; NAME has the type before, mem behind it. */
#define SHMEM__TEAM_MOVE(T, BEFORE, BEHIND)                                                               \
	int shmem_##BEFORE##broadcast##BEHIND(shmem_team_t team, T *dest, const T *source, size_t nelems, \
	                                      int PE_root);                                               \
	int shmem_##BEFORE##collect##BEHIND(shmem_team_t team, T *dest, const T *source, size_t nelems);  \
	int shmem_##BEFORE##fcollect##BEHIND(shmem_team_t team, T *dest, const T *source, size_t nelems); \
	int shmem_##BEFORE##alltoall##BEHIND(shmem_team_t team, T *dest, const T *source, size_t nelems); \
	int shmem_##BEFORE##alltoalls##BEHIND(shmem_team_t team, T *dest, const T *source, ptrdiff_t dst, \
	                                      ptrdiff_t sst, size_t nelems);
#define SHMEM__TEAM_TYPE(T, N) SHMEM__TEAM_MOVE(T, N##_, )
SHMEM__RMA_OWN(SHMEM__TEAM_TYPE)
SHMEM__RMA_ALIAS(SHMEM__TEAM_TYPE)
SHMEM__TEAM_MOVE(void, , mem)

#define SHMEM__TEAM_BITS_OWN(X) X(unsigned char, uchar) X(unsigned short, ushort) SHMEM__BITS_OWN(X)
#define SHMEM__TEAM_BITS_GENERIC(X) \
	SHMEM__TEAM_BITS_OWN(X) X(int8_t, int8) X(int16_t, int16) SHMEM__BITS_SIGNED(X)
#define SHMEM__TEAM_BITS(X) \
	SHMEM__TEAM_BITS_GENERIC(X) SHMEM__BITS_ALIAS(X) X(size_t, size) X(uint8_t, uint8) X(uint16_t, uint16)
#define SHMEM__TEAM_COMPLEX(X) X(shmem__complexf, complexf) X(shmem__complexd, complexd)
#define SHMEM__TEAM_NUMBERS(X) SHMEM__RMA_OWN(X) SHMEM__TEAM_COMPLEX(X)

#define SHMEM__TEAM_REDUCTION(T, NAME) \
	int shmem_##NAME##_reduce(shmem_team_t team, T *dest, const T *source, size_t nreduce);
#define SHMEM__TEAM_REDUCE_BITS(T, N) \
	SHMEM__TEAM_REDUCTION(T, N##_and) SHMEM__TEAM_REDUCTION(T, N##_or) SHMEM__TEAM_REDUCTION(T, N##_xor)
#define SHMEM__TEAM_REDUCE_ORDER(T, N) SHMEM__TEAM_REDUCTION(T, N##_min) SHMEM__TEAM_REDUCTION(T, N##_max)
#define SHMEM__TEAM_REDUCE_SUM(T, N) SHMEM__TEAM_REDUCTION(T, N##_sum) SHMEM__TEAM_REDUCTION(T, N##_prod)
SHMEM__TEAM_BITS(SHMEM__TEAM_REDUCE_BITS)
SHMEM__RMA_OWN(SHMEM__TEAM_REDUCE_ORDER)
SHMEM__RMA_ALIAS(SHMEM__TEAM_REDUCE_ORDER)
SHMEM__TEAM_NUMBERS(SHMEM__TEAM_REDUCE_SUM)
SHMEM__RMA_ALIAS(SHMEM__TEAM_REDUCE_SUM)

/* ---- atomic changes whose result is there after a quiet; here it is there at once ---- */

#define SHMEM__AMO_SWAP_NBI(T, N)                                                  \
	SHMEM__BOTH(void, N##_atomic_fetch_nbi, T *fetch, const T *source, int pe) \
	SHMEM__BOTH(void, N##_atomic_swap_nbi, T *fetch, T *dest, T value, int pe)
#define SHMEM__AMO_ADD_NBI(T, N)                                                                   \
	SHMEM__BOTH(void, N##_atomic_compare_swap_nbi, T *fetch, T *dest, T cond, T value, int pe) \
	SHMEM__BOTH(void, N##_atomic_fetch_inc_nbi, T *fetch, T *dest, int pe)                     \
	SHMEM__BOTH(void, N##_atomic_fetch_add_nbi, T *fetch, T *dest, T value, int pe)
#define SHMEM__AMO_BITS_NBI(T, N)                                                       \
	SHMEM__BOTH(void, N##_atomic_fetch_and_nbi, T *fetch, T *dest, T value, int pe) \
	SHMEM__BOTH(void, N##_atomic_fetch_or_nbi, T *fetch, T *dest, T value, int pe)  \
	SHMEM__BOTH(void, N##_atomic_fetch_xor_nbi, T *fetch, T *dest, T value, int pe)
SHMEM__SWAP_OWN(SHMEM__AMO_SWAP_NBI)
SHMEM__AMO_ALIAS(SHMEM__AMO_SWAP_NBI)
SHMEM__AMO_OWN(SHMEM__AMO_ADD_NBI)
SHMEM__AMO_ALIAS(SHMEM__AMO_ADD_NBI)
SHMEM__BITS_GENERIC(SHMEM__AMO_BITS_NBI)
SHMEM__BITS_ALIAS(SHMEM__AMO_BITS_NBI)

/* ---- signals: data are put, then a word is changed ---- */

#define SHMEM__PUT_SIGNAL(T, NAME)                                                                 \
	SHMEM__BOTH(void, NAME, T *dest, const T *source, size_t nelems, uint64_t *sig_addr,       \
	            uint64_t signal, int sig_op, int pe)                                           \
	SHMEM__BOTH(void, NAME##_nbi, T *dest, const T *source, size_t nelems, uint64_t *sig_addr, \
	            uint64_t signal, int sig_op, int pe)
#define SHMEM__SIGNAL_TYPE(T, N) SHMEM__PUT_SIGNAL(T, N##_put_signal)
#define SHMEM__SIGNAL_SIZE(BYTES, N) SHMEM__PUT_SIGNAL(void, put##N##_signal)
SHMEM__RMA_OWN(SHMEM__SIGNAL_TYPE)
SHMEM__RMA_ALIAS(SHMEM__SIGNAL_TYPE)
SHMEM__SIZES(SHMEM__SIGNAL_SIZE)
SHMEM__PUT_SIGNAL(void, putmem_signal)

uint64_t shmem_signal_fetch(const uint64_t *sig_addr);
uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value);

/* ---- waiting for several words: status has a word that is not 0 for each word to leave out, or is NULL ----
 */

#define SHMEM__WAIT_SET(T, N, VECTOR, VALUE)                                                                 \
	void shmem_##N##_wait_until_all##VECTOR(T *ivars, size_t nelems, const int *status, int cmp, VALUE); \
	size_t shmem_##N##_wait_until_any##VECTOR(T *ivars, size_t nelems, const int *status, int cmp,       \
	                                          VALUE);                                                    \
	size_t shmem_##N##_wait_until_some##VECTOR(T *ivars, size_t nelems, size_t *indices,                 \
	                                           const int *status, int cmp, VALUE);                       \
	int shmem_##N##_test_all##VECTOR(T *ivars, size_t nelems, const int *status, int cmp, VALUE);        \
	size_t shmem_##N##_test_any##VECTOR(T *ivars, size_t nelems, const int *status, int cmp, VALUE);     \
	size_t shmem_##N##_test_some##VECTOR(T *ivars, size_t nelems, size_t *indices, const int *status,    \
	                                     int cmp, VALUE);
#define SHMEM__WAIT_SETS(T, N)               \
	SHMEM__WAIT_SET(T, N, , T cmp_value) \
	SHMEM__WAIT_SET(T, N, _vector, T *cmp_values)
SHMEM__WAIT_OWN(SHMEM__WAIT_SETS)
SHMEM__AMO_ALIAS(SHMEM__WAIT_SETS)

#ifdef __cplusplus
}
#endif

/* ---- C11: the type chooses ---- */

#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L

#define SHMEM__SEVENTH(a, b, c, d, e, f, g, ...) g
#define SHMEM__NINTH(a, b, c, d, e, f, g, h, i, ...) i
#define SHMEM__5(CASE, TYPES, ...) \
	SHMEM__SEVENTH(__VA_ARGS__, SHMEM__CALL, SHMEM__CALL_DEFAULT, 0)(CASE, TYPES, __VA_ARGS__)
#define SHMEM__7(CASE, TYPES, ...) \
	SHMEM__NINTH(__VA_ARGS__, SHMEM__CALL, SHMEM__CALL_DEFAULT, 0)(CASE, TYPES, __VA_ARGS__)
#define SHMEM__OF_TEAM(CASE, TYPES, team, a, ...) \
	_Generic(*(a), TYPES(CASE) struct shmem__no_type : 0)(team, a, __VA_ARGS__)

#define shmem_sync(...) SHMEM__FIFTH(__VA_ARGS__, shmem_sync, 0, 0, shmem_team_sync, 0)(__VA_ARGS__)

#define SHMEM__BROADCAST(T, N) \
	T:                     \
	shmem_##N##_broadcast,
#define SHMEM__COLLECT(T, N) \
	T:                   \
	shmem_##N##_collect,
#define SHMEM__FCOLLECT(T, N) \
	T:                    \
	shmem_##N##_fcollect,
#define SHMEM__ALLTOALL(T, N) \
	T:                    \
	shmem_##N##_alltoall,
#define SHMEM__ALLTOALLS(T, N) \
	T:                     \
	shmem_##N##_alltoalls,
#define shmem_broadcast(...) SHMEM__OF_TEAM(SHMEM__BROADCAST, SHMEM__RMA_OWN, __VA_ARGS__)
#define shmem_collect(...) SHMEM__OF_TEAM(SHMEM__COLLECT, SHMEM__RMA_OWN, __VA_ARGS__)
#define shmem_fcollect(...) SHMEM__OF_TEAM(SHMEM__FCOLLECT, SHMEM__RMA_OWN, __VA_ARGS__)
#define shmem_alltoall(...) SHMEM__OF_TEAM(SHMEM__ALLTOALL, SHMEM__RMA_OWN, __VA_ARGS__)
#define shmem_alltoalls(...) SHMEM__OF_TEAM(SHMEM__ALLTOALLS, SHMEM__RMA_OWN, __VA_ARGS__)

#define SHMEM__AND_REDUCE(T, N) \
	T:                      \
	shmem_##N##_and_reduce,
#define SHMEM__OR_REDUCE(T, N) \
	T:                     \
	shmem_##N##_or_reduce,
#define SHMEM__XOR_REDUCE(T, N) \
	T:                      \
	shmem_##N##_xor_reduce,
#define SHMEM__MIN_REDUCE(T, N) \
	T:                      \
	shmem_##N##_min_reduce,
#define SHMEM__MAX_REDUCE(T, N) \
	T:                      \
	shmem_##N##_max_reduce,
#define SHMEM__SUM_REDUCE(T, N) \
	T:                      \
	shmem_##N##_sum_reduce,
#define SHMEM__PROD_REDUCE(T, N) \
	T:                       \
	shmem_##N##_prod_reduce,
#define shmem_and_reduce(...) SHMEM__OF_TEAM(SHMEM__AND_REDUCE, SHMEM__TEAM_BITS_GENERIC, __VA_ARGS__)
#define shmem_or_reduce(...) SHMEM__OF_TEAM(SHMEM__OR_REDUCE, SHMEM__TEAM_BITS_GENERIC, __VA_ARGS__)
#define shmem_xor_reduce(...) SHMEM__OF_TEAM(SHMEM__XOR_REDUCE, SHMEM__TEAM_BITS_GENERIC, __VA_ARGS__)
#define shmem_min_reduce(...) SHMEM__OF_TEAM(SHMEM__MIN_REDUCE, SHMEM__RMA_OWN, __VA_ARGS__)
#define shmem_max_reduce(...) SHMEM__OF_TEAM(SHMEM__MAX_REDUCE, SHMEM__RMA_OWN, __VA_ARGS__)
#define shmem_sum_reduce(...) SHMEM__OF_TEAM(SHMEM__SUM_REDUCE, SHMEM__TEAM_NUMBERS, __VA_ARGS__)
#define shmem_prod_reduce(...) SHMEM__OF_TEAM(SHMEM__PROD_REDUCE, SHMEM__TEAM_NUMBERS, __VA_ARGS__)

#define SHMEM__FETCH_NBI(T, N) \
	T:                     \
	shmem_ctx_##N##_atomic_fetch_nbi,
#define SHMEM__SWAP_NBI(T, N) \
	T:                    \
	shmem_ctx_##N##_atomic_swap_nbi,
#define SHMEM__COMPARE_SWAP_NBI(T, N) \
	T:                            \
	shmem_ctx_##N##_atomic_compare_swap_nbi,
#define SHMEM__FETCH_INC_NBI(T, N) \
	T:                         \
	shmem_ctx_##N##_atomic_fetch_inc_nbi,
#define SHMEM__FETCH_ADD_NBI(T, N) \
	T:                         \
	shmem_ctx_##N##_atomic_fetch_add_nbi,
#define SHMEM__FETCH_AND_NBI(T, N) \
	T:                         \
	shmem_ctx_##N##_atomic_fetch_and_nbi,
#define SHMEM__FETCH_OR_NBI(T, N) \
	T:                        \
	shmem_ctx_##N##_atomic_fetch_or_nbi,
#define SHMEM__FETCH_XOR_NBI(T, N) \
	T:                         \
	shmem_ctx_##N##_atomic_fetch_xor_nbi,
#define shmem_atomic_fetch_nbi(...) SHMEM__3(SHMEM__FETCH_NBI, SHMEM__SWAP_OWN, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...) SHMEM__4(SHMEM__SWAP_NBI, SHMEM__SWAP_OWN, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) SHMEM__5(SHMEM__COMPARE_SWAP_NBI, SHMEM__AMO_OWN, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) SHMEM__3(SHMEM__FETCH_INC_NBI, SHMEM__AMO_OWN, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) SHMEM__4(SHMEM__FETCH_ADD_NBI, SHMEM__AMO_OWN, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) SHMEM__4(SHMEM__FETCH_AND_NBI, SHMEM__BITS_GENERIC, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...) SHMEM__4(SHMEM__FETCH_OR_NBI, SHMEM__BITS_GENERIC, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) SHMEM__4(SHMEM__FETCH_XOR_NBI, SHMEM__BITS_GENERIC, __VA_ARGS__)

#define SHMEM__PUT_THEN_SIGNAL(T, N) \
	T:                           \
	shmem_ctx_##N##_put_signal,
#define SHMEM__PUT_THEN_SIGNAL_NBI(T, N) \
	T:                               \
	shmem_ctx_##N##_put_signal_nbi,
#define shmem_put_signal(...) SHMEM__7(SHMEM__PUT_THEN_SIGNAL, SHMEM__RMA_OWN, __VA_ARGS__)
#define shmem_put_signal_nbi(...) SHMEM__7(SHMEM__PUT_THEN_SIGNAL_NBI, SHMEM__RMA_OWN, __VA_ARGS__)

#define SHMEM__WAIT_ALL(T, N) \
	T:                    \
	shmem_##N##_wait_until_all,
#define SHMEM__WAIT_ANY(T, N) \
	T:                    \
	shmem_##N##_wait_until_any,
#define SHMEM__WAIT_SOME(T, N) \
	T:                     \
	shmem_##N##_wait_until_some,
#define SHMEM__WAIT_ALL_VECTOR(T, N) \
	T:                           \
	shmem_##N##_wait_until_all_vector,
#define SHMEM__WAIT_ANY_VECTOR(T, N) \
	T:                           \
	shmem_##N##_wait_until_any_vector,
#define SHMEM__WAIT_SOME_VECTOR(T, N) \
	T:                            \
	shmem_##N##_wait_until_some_vector,
#define SHMEM__TEST_ALL(T, N) \
	T:                    \
	shmem_##N##_test_all,
#define SHMEM__TEST_ANY(T, N) \
	T:                    \
	shmem_##N##_test_any,
#define SHMEM__TEST_SOME(T, N) \
	T:                     \
	shmem_##N##_test_some,
#define SHMEM__TEST_ALL_VECTOR(T, N) \
	T:                           \
	shmem_##N##_test_all_vector,
#define SHMEM__TEST_ANY_VECTOR(T, N) \
	T:                           \
	shmem_##N##_test_any_vector,
#define SHMEM__TEST_SOME_VECTOR(T, N) \
	T:                            \
	shmem_##N##_test_some_vector,
#define shmem_wait_until_all(...) SHMEM__CHOSEN(SHMEM__WAIT_ALL, SHMEM__WAIT_OWN, __VA_ARGS__)
#define shmem_wait_until_any(...) SHMEM__CHOSEN(SHMEM__WAIT_ANY, SHMEM__WAIT_OWN, __VA_ARGS__)
#define shmem_wait_until_some(...) SHMEM__CHOSEN(SHMEM__WAIT_SOME, SHMEM__WAIT_OWN, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) SHMEM__CHOSEN(SHMEM__WAIT_ALL_VECTOR, SHMEM__WAIT_OWN, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) SHMEM__CHOSEN(SHMEM__WAIT_ANY_VECTOR, SHMEM__WAIT_OWN, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) SHMEM__CHOSEN(SHMEM__WAIT_SOME_VECTOR, SHMEM__WAIT_OWN, __VA_ARGS__)
#define shmem_test_all(...) SHMEM__CHOSEN(SHMEM__TEST_ALL, SHMEM__WAIT_OWN, __VA_ARGS__)
#define shmem_test_any(...) SHMEM__CHOSEN(SHMEM__TEST_ANY, SHMEM__WAIT_OWN, __VA_ARGS__)
#define shmem_test_some(...) SHMEM__CHOSEN(SHMEM__TEST_SOME, SHMEM__WAIT_OWN, __VA_ARGS__)
#define shmem_test_all_vector(...) SHMEM__CHOSEN(SHMEM__TEST_ALL_VECTOR, SHMEM__WAIT_OWN, __VA_ARGS__)
#define shmem_test_any_vector(...) SHMEM__CHOSEN(SHMEM__TEST_ANY_VECTOR, SHMEM__WAIT_OWN, __VA_ARGS__)
#define shmem_test_some_vector(...) SHMEM__CHOSEN(SHMEM__TEST_SOME_VECTOR, SHMEM__WAIT_OWN, __VA_ARGS__)

#endif

/* clang-format on */

#endif
