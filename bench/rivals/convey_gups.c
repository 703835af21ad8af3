/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The updates of `grapnel gups` by conveyors (bale), for net_gups.py to run beside it. Not part of the build:
 * conveyors are not packaged. With an installed one, in the project's folder:
 *
 *     mpicc -O3 -march=native -Iinclude -Iapps bench/rivals/convey_gups.c -lconvey -lm -o convey_gups
 *     mpirun -np 4 ./convey_gups WORDS UPDATES xor|inc
 *
 * The same table, random sequence and check as apps/gups.
 */
#include <convey.h>
#include <mpi.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gups/sequence.h"

extern int xmpi_init(int argc, char **argv); /* conveyors' own MPI_Init */

struct job {
	uint64_t *table, words, updates, first;
	int nodes, log2;
};

static long node_of(const struct job *j, uint64_t random)
{
	return j->nodes & (j->nodes - 1) ? (long)((random >> 32) * (uint64_t)j->nodes >> 32)
	                                 : (long)(random >> j->log2 & (uint64_t)(j->nodes - 1));
}

/* word ^= random: the random number says which. */
static void update_xor(convey_t *c, const struct job *j)
{
	uint64_t random = gups_next(gups_at(j->first)), n = 0, *item;

	convey_begin(c, sizeof random, alignof(uint64_t));
	while (convey_advance(c, n == j->updates)) {
		for (; n < j->updates && convey_push(c, &random, node_of(j, random)) == convey_OK; n++)
			random = gups_next(random);
		while ((item = convey_apull(c, NULL)) != NULL)
			j->table[*item & (j->words - 1)] ^= *item;
	}
	convey_reset(c);
}

/* word += 1 */
static void update_inc(convey_t *c, const struct job *j)
{
	uint64_t random = gups_next(gups_at(j->first)), n = 0, *item;

	convey_begin(c, sizeof random, alignof(uint64_t));
	while (convey_advance(c, n == j->updates)) {
		for (; n < j->updates; n++) {
			const uint64_t word = random & (j->words - 1);

			if (convey_push(c, &word, node_of(j, random)) != convey_OK)
				break;
			random = gups_next(random);
		}
		while ((item = convey_apull(c, NULL)) != NULL)
			j->table[*item]++;
	}
	convey_reset(c);
}

int main(int argc, char **argv)
{
	struct job j = {
	    NULL, argc > 3 ? strtoull(argv[1], NULL, 0) : 0, argc > 3 ? strtoull(argv[2], NULL, 0) : 0, 0, 0,
	    0};
	const int xors = argc > 3 && !strcmp(argv[3], "xor");
	uint64_t wrong = 0, sum = 0, all;
	double seconds;
	convey_t *c;
	int node;

	xmpi_init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &node);
	MPI_Comm_size(MPI_COMM_WORLD, &j.nodes);
	j.table = malloc(8 * j.words);
	if (!j.words || !j.table)
		MPI_Abort(MPI_COMM_WORLD, 2);
	while (1ull << j.log2 < j.words)
		j.log2++;
	j.first = (uint64_t)node * j.updates;
	for (uint64_t k = 0; k < j.words; k++)
		j.table[k] = xors ? node * j.words + k : 0;
	c = convey_new(SIZE_MAX, 0, NULL, convey_opt_SCATTER);
	MPI_Barrier(MPI_COMM_WORLD);
	seconds = MPI_Wtime();
	(xors ? update_xor : update_inc)(c, &j);
	MPI_Barrier(MPI_COMM_WORLD);
	seconds = MPI_Wtime() - seconds;
	if (xors)
		update_xor(c, &j);
	convey_free(c);
	for (uint64_t k = 0; k < j.words; k++) {
		wrong += xors && j.table[k] != node * j.words + k;
		sum += j.table[k];
	}
	MPI_Allreduce(MPI_IN_PLACE, xors ? &wrong : &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	all = j.updates * (uint64_t)j.nodes;
	if (!xors)
		wrong = sum > all ? sum - all : all - sum;
	if (!node)
		printf("{\"nodes\": %d, \"seconds\": %.6f, \"gups\": %.6f, \"wrong\": %llu}\n", j.nodes,
		       seconds, 1e-9 * (double)all / seconds, (unsigned long long)wrong);
	MPI_Finalize();
	return wrong != 0;
}
