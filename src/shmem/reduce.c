/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c - reductions: for each type and operation, how the elements of two PEs are combined. */
#include <shmem/team.h>

static void reduce(struct gn_net_team team, void *dest, const void *source, int nreduce, size_t bytes,
                   gn_net_combine_fn *combine)
{
	const uint64_t count = nreduce > 0 ? (uint64_t)nreduce : 0;

	if (count && dest != source)
		memcpy(dest, source, count * bytes);
	gn_shmem_check("shmem_to_all",
	               gn_net_team_reduce(gn_shmem.view, &team, dest, count, (uint32_t)bytes, combine, 0),
	               shmem_my_pe());
}

#define REDUCTION(T, NAME, BOTH)                                                                          \
	static void combine_##NAME(void *into, const void *with, uint32_t count, uint64_t unused)         \
	{                                                                                                 \
		T *a = (T *)into, b;                                                                      \
                                                                                                          \
		(void)unused;                                                                             \
		for (uint32_t k = 0; k < count; k++) {                                                    \
			memcpy(&b, (const char *)with + k * sizeof b, sizeof b);                          \
			a[k] = (T)(BOTH);                                                                 \
		}                                                                                         \
	}                                                                                                 \
	void shmem_##NAME##_to_all(T *dest, const T *source, int nreduce, int PE_start, int logPE_stride, \
	                           int PE_size, T *pWrk, long *pSync)                                     \
	{                                                                                                 \
		(void)pWrk;                                                                               \
		reduce(gn_shmem_team(PE_start, logPE_stride, PE_size, pSync), dest, source, nreduce,      \
		       sizeof(T), combine_##NAME);                                                        \
	}

#define BITS(T, N) \
	REDUCTION(T, N##_and, a[k] & b) REDUCTION(T, N##_or, a[k] | b) REDUCTION(T, N##_xor, a[k] ^ b)
#define ORDER(T, N) REDUCTION(T, N##_min, a[k] < b ? a[k] : b) REDUCTION(T, N##_max, a[k] > b ? a[k] : b)
#define SUM(T, N) REDUCTION(T, N##_sum, a[k] + b) REDUCTION(T, N##_prod, a[k] * b)

SHMEM__WHOLE(BITS)
SHMEM__ORDERED(ORDER)
SHMEM__NUMBERS(SUM)
