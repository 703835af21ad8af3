/* SPDX-License-Identifier: Apache-2.0 */
/* A tool's functions in place of the library's: the program calls them, and the library does not. */
#include "check.h"

#include <pshmem.h>

enum { WORDS = 100 };

static long words, barriers, table[WORDS];

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe)
{
	words += (long)nelems;
	pshmem_long_put(dest, source, nelems, pe);
}

void shmem_ctx_long_put(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, int pe)
{
	words += (long)nelems;
	pshmem_ctx_long_put(ctx, dest, source, nelems, pe);
}

void shmem_barrier_all(void)
{
	barriers++;
	pshmem_barrier_all();
}

int main(void)
{
	long mine[WORDS], *heap;
	int next, before;

	shmem_init();
	next = (shmem_my_pe() + 1) % shmem_n_pes();
	before = (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();
	heap = (long *)shmem_malloc(sizeof mine); /* meets the other PEs by itself */
	check(heap && !barriers);
	for (int k = 0; k < WORDS; k++)
		mine[k] = 1000 * shmem_my_pe() + k;
	shmem_long_put(heap, mine, WORDS, next);
	shmem_put(table, mine, WORDS, next); /* the generic form */
	check(words == 2 * WORDS);
	shmem_barrier_all();
	check(barriers == 1);
	for (int k = 0; k < WORDS; k++)
		check(heap[k] == 1000 * before + k && table[k] == heap[k]);
	shmem_free(heap);
	shmem_finalize();
	return barriers != 1 || words != 2 * WORDS;
}
