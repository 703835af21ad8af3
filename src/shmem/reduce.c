/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c - reductions: for each type and operation, how the elements of two PEs are combined. */
#include <shmem/team.h>

SHMEM__NAMES_REDUCE

static int reduce(struct gn_net_team team, void *dest, const void *source, size_t nreduce, size_t bytes,
                  gn_net_combine_fn *combine)
{
	if (nreduce && dest != source)
		memcpy(dest, source, nreduce * bytes);
	return gn_net_team_reduce(gn_shmem.view, &team, dest, nreduce, (uint32_t)bytes, combine, 0);
}

/* clang-format off: macros of whole functions */

/* How two elements are combined. */
#define COMBINE(T, NAME, BOTH)                                                                    \
	static void combine_##NAME(void *into, const void *with, uint32_t count, uint64_t unused) \
	{                                                                                         \
		T *a = (T *)into, b;                                                              \
                                                                                                  \
		(void)unused;                                                                     \
		for (uint32_t k = 0; k < count; k++) {                                            \
			memcpy(&b, (const char *)with + k * sizeof b, sizeof b);                  \
			a[k] = (T)(BOTH);                                                         \
		}                                                                                 \
	}
#define COMBINE_BITS(T, N) \
	COMBINE(T, N##_and, a[k] & b) COMBINE(T, N##_or, a[k] | b) COMBINE(T, N##_xor, a[k] ^ b)
#define COMBINE_ORDER(T, N) COMBINE(T, N##_min, a[k] < b ? a[k] : b) COMBINE(T, N##_max, a[k] > b ? a[k] : b)
#define COMBINE_SUM(T, N) COMBINE(T, N##_sum, a[k] + b) COMBINE(T, N##_prod, a[k] * b)
SHMEM__WHOLE(COMBINE_BITS)
SHMEM__TEAM_BITS(COMBINE_BITS)
SHMEM__RMA_OWN(COMBINE_ORDER)
SHMEM__RMA_ALIAS(COMBINE_ORDER)
SHMEM__TEAM_NUMBERS(COMBINE_SUM)
SHMEM__RMA_ALIAS(COMBINE_SUM)

/* Of active sets. */
#define TO_ALL(T, NAME)                                                                                    \
	void shmem_##NAME##_to_all(T *dest, const T *source, int nreduce, int PE_start, int logPE_stride,  \
	                           int PE_size, T *pWrk, long *pSync)                                      \
	{                                                                                                  \
		(void)pWrk;                                                                                \
		gn_shmem_check("shmem_to_all",                                                             \
		               reduce(gn_shmem_team(PE_start, logPE_stride, PE_size, pSync), dest, source, \
		                      nreduce > 0 ? (size_t)nreduce : 0, sizeof(T), combine_##NAME),       \
		               pshmem_my_pe());                                                            \
	}
#define TO_ALL_BITS(T, N) TO_ALL(T, N##_and) TO_ALL(T, N##_or) TO_ALL(T, N##_xor)
#define TO_ALL_ORDER(T, N) TO_ALL(T, N##_min) TO_ALL(T, N##_max)
#define TO_ALL_SUM(T, N) TO_ALL(T, N##_sum) TO_ALL(T, N##_prod)
SHMEM__WHOLE(TO_ALL_BITS)
SHMEM__ORDERED(TO_ALL_ORDER)
SHMEM__NUMBERS(TO_ALL_SUM)

/* Of teams. */
#define OF_TEAM(T, NAME)                                                                          \
	int shmem_##NAME##_reduce(shmem_team_t team, T *dest, const T *source, size_t nreduce)    \
	{                                                                                         \
		return team == SHMEM_TEAM_INVALID                                                 \
		           ? -GN_EINVAL                                                           \
		           : reduce(team->net, dest, source, nreduce, sizeof(T), combine_##NAME); \
	}
#define OF_TEAM_BITS(T, N) OF_TEAM(T, N##_and) OF_TEAM(T, N##_or) OF_TEAM(T, N##_xor)
#define OF_TEAM_ORDER(T, N) OF_TEAM(T, N##_min) OF_TEAM(T, N##_max)
#define OF_TEAM_SUM(T, N) OF_TEAM(T, N##_sum) OF_TEAM(T, N##_prod)
SHMEM__TEAM_BITS(OF_TEAM_BITS)
SHMEM__RMA_OWN(OF_TEAM_ORDER)
SHMEM__RMA_ALIAS(OF_TEAM_ORDER)
SHMEM__TEAM_NUMBERS(OF_TEAM_SUM)
SHMEM__RMA_ALIAS(OF_TEAM_SUM)
/* clang-format on */
