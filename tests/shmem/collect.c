/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collective functions, of all PEs and of active sets, again and again over one pSync; and reductions of
 * every type.
 */
#include "check.h"

#include <complex.h>
#include <string.h>

enum { MOST_PES = 16, WORDS = 300 };

static long sync_words[SHMEM_SYNC_SIZE];

/* An active set as this PE sees it. */
struct set {
	int start, log_stride, size, place;
};

static int member(const struct set *s, int place)
{
	return s->start + (place << s->log_stride);
}

#define SET s->start, s->log_stride, s->size, sync_words

static void broadcasts(const struct set *s)
{
	static int64_t to[WORDS], from[WORDS];

	for (int root = 0; root < s->size; root++) {
		for (int k = 0; k < WORDS; k++) {
			from[k] = s->place * 1000 + k;
			to[k] = -1;
		}
		shmem_barrier(SET);
		shmem_broadcast64(to, from, WORDS, root, SET);
		for (int k = 0; k < WORDS; k++)
			check(to[k] == (root == s->place ? -1 : root * 1000 + k));
		shmem_sync(SET);
	}
}

static void collects(const struct set *s)
{
	static int32_t to[MOST_PES * MOST_PES], from[MOST_PES];
	int at = 0;

	for (int k = 0; k < MOST_PES; k++)
		from[k] = s->place * 100 + k;
	shmem_fcollect32(to, from, 3, SET);
	for (int k = 0; k < 3 * s->size; k++)
		check(to[k] == k / 3 * 100 + k % 3);
	shmem_collect32(to, from, (size_t)s->place, SET); /* the first has nothing */
	for (int place = 0; place < s->size; place++)
		for (int k = 0; k < place; k++)
			check(to[at++] == place * 100 + k);
	shmem_barrier(SET);
}

static void all_to_all(const struct set *s)
{
	static int64_t to[4 * MOST_PES], from[4 * MOST_PES];
	static int32_t wide_to[6 * MOST_PES], wide_from[4 * MOST_PES];

	for (int k = 0; k < 2 * s->size; k++)
		from[k] = s->place * 1000 + k;
	shmem_alltoall64(to, from, 2, SET);
	for (int k = 0; k < 2 * s->size; k++)
		check(to[k] == k / 2 * 1000 + 2 * s->place + k % 2);
	for (int k = 0; k < 4 * s->size; k++)
		wide_from[k] = s->place * 1000 + k;
	memset(wide_to, 0, sizeof wide_to);
	shmem_barrier(SET);
	shmem_alltoalls32(wide_to, wide_from, 3, 2, 2, SET);
	for (int k = 0; k < 6 * s->size; k++)
		check(wide_to[k] == (k % 3 ? 0 : k / 6 * 1000 + 2 * (2 * s->place + k / 3 % 2)));
	shmem_barrier(SET);
}

/*
 * Small whole numbers: sums and products are exact in any order. In its own place a reduction does the same.
 */
#define REDUCE(T, N, OP, ELEMENT, EXPECTED)                                                           \
	static void OP##_##N(const struct set *s)                                                     \
	{                                                                                             \
		static T to[WORDS], from[WORDS], work[WORDS / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE]; \
		T expected;                                                                           \
                                                                                                      \
		for (int k = 0; k < WORDS; k++) {                                                     \
			const int place = s->place;                                                   \
                                                                                                      \
			from[k] = (T)(ELEMENT);                                                       \
		}                                                                                     \
		shmem_##N##_##OP##_to_all(to, from, WORDS, s->start, s->log_stride, s->size, work,    \
		                          sync_words);                                                \
		for (int k = 0; k < WORDS; k++) {                                                     \
			expected = (T)0;                                                              \
			for (int place = 0; place < s->size; place++) {                               \
				const T e = (T)(ELEMENT);                                             \
                                                                                                      \
				expected = place ? (T)(EXPECTED) : e;                                 \
			}                                                                             \
			check(to[k] == expected);                                                     \
		}                                                                                     \
		shmem_##N##_##OP##_to_all(from, from, WORDS, s->start, s->log_stride, s->size, work,  \
		                          sync_words);                                                \
		check(!memcmp(from, to, sizeof to));                                                  \
	}
#define BITS(T, N)                                                     \
	REDUCE(T, N, and, 0x7f ^ (1 << (place + k) % 6), expected & e) \
	REDUCE(T, N, or, 1 << (place + k) % 6, expected | e) REDUCE(T, N, xor, place * 5 + k, expected ^ e)
#define ORDER(T, N)                                                         \
	REDUCE(T, N, min, (place + k) % 5 - 2, e < expected ? e : expected) \
	REDUCE(T, N, max, (place + k) % 5 - 2, e > expected ? e : expected)
#define NUMBERS(T, N)                                       \
	REDUCE(T, N, sum, place * 3 + k - 50, expected + e) \
	REDUCE(T, N, prod, k % 3 - 1 + place % 2, expected * e)
SHMEM__WHOLE(BITS)
SHMEM__ORDERED(ORDER)
SHMEM__NUMBERS(NUMBERS)

#define RUN_BITS(T, N) \
	and_##N(s);    \
	or_##N(s);     \
	xor_##N(s);
#define RUN_ORDER(T, N) \
	min_##N(s);     \
	max_##N(s);
#define RUN_NUMBERS(T, N) \
	sum_##N(s);       \
	prod_##N(s);

static void reductions(const struct set *s)
{
	SHMEM__WHOLE(RUN_BITS)
	SHMEM__ORDERED(RUN_ORDER)
	SHMEM__NUMBERS(RUN_NUMBERS)
}

static void run(const struct set *s)
{
	for (int k = 0; k < 3; k++) {
		broadcasts(s);
		collects(s);
		all_to_all(s);
	}
	reductions(s);
	for (int k = 0; k < SHMEM_BARRIER_SYNC_SIZE; k++)
		check(sync_words[k] == SHMEM_SYNC_VALUE);
}

int main(void)
{
	int me, pes;

	shmem_init();
	me = shmem_my_pe();
	pes = shmem_n_pes();
	{
		const struct set all = {0, 0, pes, me}, half = {me % 2, 1, (pes + 1 - me % 2) / 2, me / 2};
		const struct set last = {pes - 2, 0, 2, me - (pes - 2)};

		check(member(&half, half.place) == me);
		run(&all);
		/* what another set writes into the words must not come while they are looked at */
		shmem_barrier_all();
		run(&half); /* both halves at the same time */
		shmem_barrier_all();
		if (pes > 1 && me >= last.start)
			run(&last);
	}
	shmem_finalize();
	return 0;
}
