/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pshmem.h - the profiling interface of OpenSHMEM: every function of shmem.h has a second name, with p before
 * the first. A tool defines functions by the names of shmem.h, and calls the library's by these.
 *
 * What declares functions of many types in shmem.h is expanded again, and gives names. The names stand in
 * lists, one for each source of the library, which gives SHMEM__NAME another meaning (src/shmem/pe.h).
 */
#ifndef GRAPNEL_PSHMEM_H
#define GRAPNEL_PSHMEM_H

#include "shmem.h"

#define SHMEM__NAME(NAME) extern __typeof__(NAME) p##NAME;

/* clang-format off */

#define SHMEM__1(N) SHMEM__NAME(shmem_##N)

/* ---- in place of declarations ---- */

#undef SHMEM__BOTH
#define SHMEM__BOTH(R, N, ...) SHMEM__1(N) SHMEM__1(ctx_##N)
#undef SHMEM__OLD_SWAP
#define SHMEM__OLD_SWAP(T, N) SHMEM__1(N##_fetch) SHMEM__1(N##_set) SHMEM__1(N##_swap)
#undef SHMEM__OLD_ADD
#define SHMEM__OLD_ADD(T, N) \
	SHMEM__1(N##_cswap) SHMEM__1(N##_finc) SHMEM__1(N##_inc) SHMEM__1(N##_fadd) SHMEM__1(N##_add)
#undef SHMEM__OLD_WAIT
#define SHMEM__OLD_WAIT(T, N) SHMEM__1(N##_wait)
#undef SHMEM__WAIT
#define SHMEM__WAIT(T, N) SHMEM__1(N##_wait_until) SHMEM__1(N##_test)
#undef SHMEM__WAIT_SET
#define SHMEM__WAIT_SET(T, N, V, VALUE)                                                            \
	SHMEM__1(N##_wait_until_all##V)                                                            \
	SHMEM__1(N##_wait_until_any##V) SHMEM__1(N##_wait_until_some##V) SHMEM__1(N##_test_all##V) \
	    SHMEM__1(N##_test_any##V) SHMEM__1(N##_test_some##V)
#undef SHMEM__TEAM_MOVE
#define SHMEM__TEAM_MOVE(T, A, B) \
	SHMEM__1(A##broadcast##B) \
	SHMEM__1(A##collect##B) SHMEM__1(A##fcollect##B) SHMEM__1(A##alltoall##B) SHMEM__1(A##alltoalls##B)
#undef SHMEM__COLLECTIVES
#define SHMEM__COLLECTIVES(BYTES, N) SHMEM__TEAM_MOVE(void, , N)
#undef SHMEM__REDUCTION
#define SHMEM__REDUCTION(T, N) SHMEM__1(N##_to_all)
#undef SHMEM__TEAM_REDUCTION
#define SHMEM__TEAM_REDUCTION(T, N) SHMEM__1(N##_reduce)

/* ---- the lists ---- */

#define SHMEM__NAMES_PE                                                                             \
	SHMEM__1(init) SHMEM__1(init_thread) SHMEM__1(query_thread) SHMEM__1(finalize)              \
	SHMEM__1(global_exit) SHMEM__1(my_pe) SHMEM__1(n_pes) SHMEM__1(pe_accessible) SHMEM__1(ptr) \
	SHMEM__1(addr_accessible) SHMEM__1(info_get_version) SHMEM__1(info_get_name)                \
	SHMEM__1(pcontrol) SHMEM__NAME(start_pes) SHMEM__NAME(_my_pe) SHMEM__NAME(_num_pes)
#define SHMEM__NAMES_MEMORY                                                            \
	SHMEM__1(malloc) SHMEM__1(malloc_with_hints) SHMEM__1(calloc) SHMEM__1(align)  \
	SHMEM__1(realloc) SHMEM__1(free) SHMEM__NAME(shmalloc) SHMEM__NAME(shmemalign) \
	SHMEM__NAME(shrealloc) SHMEM__NAME(shfree)
#define SHMEM__NAMES_CONTEXT                                                               \
	SHMEM__1(ctx_create) SHMEM__1(ctx_destroy) SHMEM__1(ctx_fence) SHMEM__1(ctx_quiet) \
	SHMEM__1(ctx_get_team) SHMEM__1(team_create_ctx)
#define SHMEM__NAMES_TEAM                                                                \
	SHMEM__1(team_my_pe) SHMEM__1(team_n_pes) SHMEM__1(team_get_config)              \
	SHMEM__1(team_translate_pe) SHMEM__1(team_split_strided) SHMEM__1(team_split_2d) \
	SHMEM__1(team_destroy) SHMEM__1(team_sync)
#define SHMEM__NAMES_RMA                                                                             \
	SHMEM__RMA_OWN(SHMEM__RMA) SHMEM__RMA_ALIAS(SHMEM__RMA) SHMEM__SIZES(SHMEM__RMA_SIZE)        \
	SHMEM__RMA_MOVE(mem) SHMEM__RMA_OWN(SHMEM__SIGNAL_TYPE) SHMEM__RMA_ALIAS(SHMEM__SIGNAL_TYPE) \
	SHMEM__SIZES(SHMEM__SIGNAL_SIZE) SHMEM__PUT_SIGNAL(void, putmem_signal)
#define SHMEM__NAMES_AMO                                                                            \
	SHMEM__SWAP_OWN(SHMEM__AMO_SWAP) SHMEM__AMO_ALIAS(SHMEM__AMO_SWAP)                          \
	SHMEM__AMO_OWN(SHMEM__AMO_ADD) SHMEM__AMO_ALIAS(SHMEM__AMO_ADD)                             \
	SHMEM__BITS_GENERIC(SHMEM__AMO_BITS) SHMEM__BITS_ALIAS(SHMEM__AMO_BITS)                     \
	SHMEM__SWAP_OWN(SHMEM__AMO_SWAP_NBI) SHMEM__AMO_ALIAS(SHMEM__AMO_SWAP_NBI)                  \
	SHMEM__AMO_OWN(SHMEM__AMO_ADD_NBI) SHMEM__AMO_ALIAS(SHMEM__AMO_ADD_NBI)                     \
	SHMEM__BITS_GENERIC(SHMEM__AMO_BITS_NBI) SHMEM__BITS_ALIAS(SHMEM__AMO_BITS_NBI)             \
	SHMEM__SIGNED(SHMEM__OLD_SWAP) SHMEM__FLOATS(SHMEM__OLD_SWAP) SHMEM__SIGNED(SHMEM__OLD_ADD) \
	SHMEM__1(swap)
#define SHMEM__NAMES_COLLECT                                                      \
	SHMEM__1(barrier_all) SHMEM__1(sync_all) SHMEM__1(barrier) SHMEM__1(sync) \
	SHMEM__COLLECTIVE_SIZES(SHMEM__COLLECTIVES) SHMEM__TEAM_MOVE(void, , mem) \
	SHMEM__RMA_OWN(SHMEM__TEAM_TYPE) SHMEM__RMA_ALIAS(SHMEM__TEAM_TYPE)
#define SHMEM__NAMES_REDUCE                                                                  \
	SHMEM__WHOLE(SHMEM__REDUCE_BITS) SHMEM__ORDERED(SHMEM__REDUCE_ORDER)                 \
	SHMEM__NUMBERS(SHMEM__REDUCE_SUM) SHMEM__TEAM_BITS(SHMEM__TEAM_REDUCE_BITS)          \
	SHMEM__RMA_OWN(SHMEM__TEAM_REDUCE_ORDER) SHMEM__RMA_ALIAS(SHMEM__TEAM_REDUCE_ORDER)  \
	SHMEM__TEAM_NUMBERS(SHMEM__TEAM_REDUCE_SUM) SHMEM__RMA_ALIAS(SHMEM__TEAM_REDUCE_SUM)
#define SHMEM__NAMES_SYNC                                                                          \
	SHMEM__WAIT_OWN(SHMEM__WAIT) SHMEM__AMO_ALIAS(SHMEM__WAIT) SHMEM__WHOLE(SHMEM__OLD_WAIT)   \
	SHMEM__1(wait) SHMEM__1(wait_until) SHMEM__1(fence) SHMEM__1(quiet) SHMEM__1(signal_fetch) \
	SHMEM__1(signal_wait_until) SHMEM__1(set_lock) SHMEM__1(clear_lock) SHMEM__1(test_lock)    \
	SHMEM__1(clear_cache_inv) SHMEM__1(set_cache_inv) SHMEM__1(clear_cache_line_inv)           \
	SHMEM__1(set_cache_line_inv) SHMEM__1(udcflush) SHMEM__1(udcflush_line)
#define SHMEM__NAMES_WAIT SHMEM__WAIT_OWN(SHMEM__WAIT_SETS) SHMEM__AMO_ALIAS(SHMEM__WAIT_SETS)

#ifdef __cplusplus
extern "C" {
#endif
SHMEM__NAMES_PE SHMEM__NAMES_MEMORY SHMEM__NAMES_CONTEXT SHMEM__NAMES_TEAM SHMEM__NAMES_RMA SHMEM__NAMES_AMO
    SHMEM__NAMES_COLLECT SHMEM__NAMES_REDUCE SHMEM__NAMES_SYNC SHMEM__NAMES_WAIT
#ifdef __cplusplus
}
#endif
/* clang-format on */

#endif
