/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PEs of one host do to each other's heaps, by any library for OpenSHMEM 1.4: PE 0 asks, the last PE has
 * the memory. Everything is verified. Prints a JSON object; times are seconds for one operation.
 *
 *     shmem_host
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS = 1 << 21, PART = 1 << 17, ASKED = 20000, PARTS = 400, CHANGES = 1 << 20, MEETINGS = 2000 };

static long *table, *part;
static int wrong;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	return (z ^ z >> 27) % WORDS;
}

static void say(const char *name, double seconds, uint64_t operations)
{
	printf("\"%s\": %.6g, ", name, seconds / (double)operations);
}

static void ask(int pe)
{
	uint64_t state = 1, place;
	double begin = now();

	for (int k = 0; k < ASKED; k++) {
		place = draw(&state);
		wrong += shmem_long_g(&table[place], pe) != (long)place;
	}
	say("get_word", now() - begin, ASKED);
	begin = now();
	for (int k = 0; k < ASKED; k++) {
		place = draw(&state);
		wrong += shmem_long_atomic_fetch_add(&table[place], 0, pe) != (long)place;
	}
	say("fetch_add", now() - begin, ASKED);
	begin = now();
	for (int k = 0; k < ASKED; k++) {
		place = draw(&state);
		shmem_long_p(&table[place], (long)place, pe);
		shmem_quiet();
	}
	say("put_word_quiet", now() - begin, ASKED);
}

static void move(int pe)
{
	double begin = now();

	for (int k = 0; k < PARTS; k++)
		shmem_long_get(part, table + (long)k % (WORDS / PART) * PART, PART, pe);
	say("get_byte", now() - begin, (uint64_t)PARTS * PART * sizeof *part);
	for (long k = 0; k < PART; k++)
		wrong += part[k] != (PARTS - 1) % (WORDS / PART) * PART + k;
	begin = now();
	for (int k = 0; k < PARTS; k++)
		shmem_long_put(table + (PARTS - 1) % (WORDS / PART) * PART, part, PART, pe);
	shmem_quiet();
	say("put_byte", now() - begin, (uint64_t)PARTS * PART * sizeof *part);
	begin = now();
	for (int k = 0; k < PARTS; k++)
		memcpy(part, table + (long)k % (WORDS / PART) * PART, PART * sizeof *part);
	say("own_byte", now() - begin,
	    (uint64_t)PARTS * PART * sizeof *part); /* the limit: memory of its own */
}

/* All PEs at once, so that each word of each table is changed by several. */
static void change(int pes, int me)
{
	uint64_t state = (uint64_t)me + 7;
	long before = 0, after = 0, *sums = shmem_malloc(sizeof *sums);
	double begin;

	for (long k = 0; k < WORDS; k++)
		before += table[k];
	*sums = 0;
	shmem_barrier_all();
	begin = now();
	for (int k = 0; k < CHANGES; k++)
		shmem_long_atomic_inc(&table[draw(&state)], (me + 1 + k % pes) % pes);
	shmem_barrier_all();
	if (!me)
		say("change", now() - begin, CHANGES);
	for (long k = 0; k < WORDS; k++)
		after += table[k];
	shmem_long_atomic_add(sums, after - before, 0);
	shmem_barrier_all();
	wrong += !me && *sums != (long)pes * CHANGES;
	begin = now();
	for (int k = 0; k < CHANGES; k++)
		__atomic_fetch_add(&table[draw(&state)], 1, __ATOMIC_SEQ_CST);
	shmem_barrier_all();
	if (!me)
		say("own_change", now() - begin, CHANGES);
	shmem_free(sums);
}

static void meet(int me)
{
	double begin = now();

	for (int k = 0; k < MEETINGS; k++)
		shmem_barrier_all();
	if (!me)
		say("barrier", now() - begin, MEETINGS);
}

int main(void)
{
	int me, pes;

	shmem_init();
	me = shmem_my_pe();
	pes = shmem_n_pes();
	table = shmem_malloc(WORDS * sizeof *table);
	part = shmem_malloc(PART * sizeof *part);
	if (!table || !part)
		shmem_global_exit(1);
	for (long k = 0; k < WORDS; k++)
		table[k] = k;
	shmem_barrier_all();
	if (!me)
		printf("{");
	if (!me) {
		ask(pes - 1);
		move(pes - 1);
	}
	shmem_barrier_all();
	change(pes, me);
	meet(me);
	if (!me)
		printf("\"wrong\": %d}\n", wrong);
	shmem_finalize();
	return 0;
}
