/* SPDX-License-Identifier: Apache-2.0 */
/* Signals behind puts; tests of several words and waits for them; atomic changes with the result in memory.
 */
#include "check.h"

#include <string.h>

enum { WORDS = 64, ROUNDS = 20, MOST_PES = 16 };

/* ---- put with a signal: who sees the signal sees the bytes, wherever both are ---- */

static void see(const long *data, long from, long round)
{
	for (int k = 0; k < WORDS; k++)
		check(((const volatile long *)data)[k] == from * 1000 + round * 10 + k);
}

static void signals_between(long *data, uint64_t *signal, int me, int pes)
{
	const int to = (me + 1) % pes, from = (me + pes - 1) % pes;
	long mine[WORDS];
	shmem_ctx_t ctx;

	check(!shmem_ctx_create(0, &ctx));
	*signal = 0;
	shmem_barrier_all();
	for (long round = 1; round <= ROUNDS; round++) {
		for (int k = 0; k < WORDS; k++)
			mine[k] = me * 1000 + round * 10 + k;
		if (round % 3 == 0)
			shmem_long_put_signal(data, mine, WORDS, signal, (uint64_t)round, SHMEM_SIGNAL_SET,
			                      to);
		else if (round % 3 == 1)
			shmem_putmem_signal_nbi(data, mine, sizeof mine, signal, 1, SHMEM_SIGNAL_ADD, to);
		else
			shmem_put_signal(ctx, data, mine, WORDS, signal, 1, SHMEM_SIGNAL_ADD, to);
		check(shmem_signal_wait_until(signal, SHMEM_CMP_GE, (uint64_t)round) == (uint64_t)round);
		check(shmem_signal_fetch(signal) == (uint64_t)round);
		see(data, from, round);
		shmem_ctx_quiet(ctx);
		shmem_barrier_all();
	}
	shmem_ctx_destroy(ctx);
}

static void signals(int me, int pes)
{
	static long data[WORDS];
	static uint64_t word;
	static short narrow[3];
	long *heap = (long *)shmem_malloc_with_hints(sizeof data, SHMEM_MALLOC_SIGNAL_REMOTE);
	uint64_t *heap_word = (uint64_t *)shmem_malloc_with_hints(8, SHMEM_MALLOC_ATOMICS_REMOTE);
	const short three[3] = {1, 2, (short)me};

	signals_between(data, &word, me, pes);
	signals_between(data, heap_word, me, pes);
	signals_between(heap, &word, me, pes);
	signals_between(heap, heap_word, me, pes);
	shmem_put16_signal(narrow, three, 3, &word, 99, SHMEM_SIGNAL_SET, (me + 1) % pes);
	check(shmem_signal_wait_until(&word, SHMEM_CMP_EQ, 99) == 99);
	check(narrow[2] == (me + pes - 1) % pes);
	shmem_barrier_all();
	shmem_free(heap);
	shmem_free(heap_word);
}

/* ---- several words ---- */

/* Each PE sets its word on all PEs. */
#define ARRIVALS(T, N)                                                                                      \
	static void arrivals_##N(int me, int pes)                                                           \
	{                                                                                                   \
		static T words[MOST_PES];                                                                   \
		const size_t n = (size_t)pes;                                                               \
		int gone[MOST_PES] = {0};                                                                   \
		size_t some[MOST_PES], left = n;                                                            \
		T values[MOST_PES];                                                                         \
                                                                                                            \
		for (int pe = 0; pe < pes; pe++)                                                            \
			shmem_##N##_p(&words[me], (T)(me + 1), pe);                                         \
		while (left) {                                                                              \
			const size_t k = shmem_##N##_wait_until_any(words, n, gone, SHMEM_CMP_NE, 0);       \
                                                                                                            \
			check(k < n && !gone[k] && words[k] == (T)(k + 1));                                 \
			gone[k] = 1;                                                                        \
			left--;                                                                             \
		}                                                                                           \
		check(shmem_##N##_wait_until_any(words, n, gone, SHMEM_CMP_NE, 0) == SIZE_MAX);             \
		check(shmem_##N##_wait_until_some(words, n, some, gone, SHMEM_CMP_NE, 0) == 0);             \
		shmem_##N##_wait_until_all(words, n, NULL, SHMEM_CMP_GT, 0);                                \
		check(shmem_##N##_test_all(words, n, NULL, SHMEM_CMP_GT, 0));                               \
		check(!shmem_##N##_test_all(words, n, NULL, SHMEM_CMP_GT, 1));                              \
		check(shmem_##N##_test_any(words, n, NULL, SHMEM_CMP_EQ, (T)pes) == n - 1);                 \
		check(shmem_##N##_test_any(words, n, NULL, SHMEM_CMP_GT, (T)pes) == SIZE_MAX);              \
		check(shmem_##N##_test_some(words, n, some, NULL, SHMEM_CMP_LE, (T)1) == 1 && !some[0]);    \
		shmem_barrier_all();                                                                        \
		for (int k = 0; k < pes; k++)                                                               \
			values[k] = (T)(100 + k);                                                           \
		shmem_##N##_p(&words[me], values[me], (me + 1) % pes);                                      \
		memset(gone, 0xff, sizeof gone);                                                            \
		gone[(me + pes - 1) % pes] = 0;                                                             \
		shmem_##N##_wait_until_all_vector(words, n, gone, SHMEM_CMP_EQ, values);                    \
		check(shmem_##N##_wait_until_any_vector(words, n, gone, SHMEM_CMP_EQ, values) ==            \
		      (size_t)((me + pes - 1) % pes));                                                      \
		check(shmem_##N##_wait_until_some_vector(words, n, some, NULL, SHMEM_CMP_EQ, values) == 1); \
		check(some[0] == (size_t)((me + pes - 1) % pes));                                           \
		check(shmem_##N##_test_all_vector(words, n, gone, SHMEM_CMP_GE, values));                   \
		check(pes == 1 || !shmem_##N##_test_all_vector(words, n, NULL, SHMEM_CMP_GE, values));      \
		check(shmem_##N##_test_any_vector(words, n, NULL, SHMEM_CMP_EQ, values) == some[0]);        \
		check(shmem_##N##_test_some_vector(words, n, some, gone, SHMEM_CMP_NE, values) == 0);       \
		check(shmem_##N##_test_all(words, 0, NULL, SHMEM_CMP_EQ, 0));                               \
		shmem_barrier_all();                                                                        \
	}
SHMEM__WAIT_OWN(ARRIVALS)
SHMEM__AMO_ALIAS(ARRIVALS)

/* Calls without a status come to every word. */
static void any_is_every_word_in_the_end(void)
{
	static long words[5] = {1, 1, 0, 1, 1};
	int seen[5] = {0};

	for (int k = 0; k < 1000; k++)
		seen[shmem_wait_until_any(words, 5, NULL, SHMEM_CMP_EQ, 1)]++;
	check(seen[0] && seen[1] && !seen[2] && seen[3] && seen[4]);
}

/* Calls for several sets take turns, and come to every word of each set. */
static void any_is_every_word_of_each_set(int sets)
{
	static long words[3][2] = {{1, 1}, {1, 1}, {1, 1}};
	int seen[3][2] = {{0}};

	for (int k = 0; k < 1000 * sets; k++) {
		const int s = k % sets;

		if (s == 0)
			seen[s][shmem_test_any(words[s], 2, NULL, SHMEM_CMP_EQ, 1)]++;
		else
			seen[s][shmem_wait_until_any(words[s], 2, NULL, SHMEM_CMP_EQ, 1)]++;
	}
	for (int s = 0; s < sets; s++)
		check(seen[s][0] && seen[s][1]);
}

/* ---- atomic changes ---- */

#define RESULTS(T, N)                                                                             \
	static void results_##N(int me, int pes)                                                  \
	{                                                                                         \
		static T word;                                                                    \
		const int to = (me + 1) % pes;                                                    \
		T was[5];                                                                         \
                                                                                                  \
		shmem_##N##_atomic_set(&word, 3, to);                                             \
		shmem_##N##_atomic_fetch_nbi(&was[0], &word, to);                                 \
		shmem_##N##_atomic_fetch_inc_nbi(&was[1], &word, to);                             \
		shmem_##N##_atomic_fetch_add_nbi(&was[2], &word, 6, to);                          \
		shmem_##N##_atomic_compare_swap_nbi(&was[3], &word, 10, 20, to);                  \
		shmem_##N##_atomic_swap_nbi(&was[4], &word, 30, to);                              \
		shmem_quiet();                                                                    \
		check(was[0] == 3 && was[1] == 3 && was[2] == 4 && was[3] == 10 && was[4] == 20); \
		shmem_barrier_all();                                                              \
		check(word == 30);                                                                \
		shmem_barrier_all();                                                              \
	}
SHMEM__AMO_OWN(RESULTS)
SHMEM__AMO_ALIAS(RESULTS)

#define BITS(T, N)                                                       \
	static void bits_##N(int me, int pes)                            \
	{                                                                \
		static T word;                                           \
		const int to = (me + 1) % pes;                           \
		T was[3];                                                \
                                                                         \
		shmem_##N##_atomic_set(&word, 12, to);                   \
		shmem_##N##_atomic_fetch_or_nbi(&was[0], &word, 3, to);  \
		shmem_##N##_atomic_fetch_and_nbi(&was[1], &word, 6, to); \
		shmem_##N##_atomic_fetch_xor_nbi(&was[2], &word, 2, to); \
		shmem_quiet();                                           \
		check(was[0] == 12 && was[1] == 15 && was[2] == 6);      \
		shmem_barrier_all();                                     \
		check(word == 4);                                        \
		shmem_barrier_all();                                     \
	}
SHMEM__BITS_GENERIC(BITS)
SHMEM__BITS_ALIAS(BITS)

static void generic_forms(int me, int pes)
{
	static unsigned word;
	static long sync_words[SHMEM_BARRIER_SYNC_SIZE];
	const int to = (me + 1) % pes;
	shmem_ctx_t ctx;
	unsigned was = 9;
	size_t some;

	check(!shmem_ctx_create(0, &ctx));
	shmem_atomic_fetch_add_nbi(ctx, &was, &word, 5, to);
	shmem_ctx_quiet(ctx);
	check(was == 0);
	shmem_atomic_compare_swap_nbi(&was, &word, 5, 8, to);
	shmem_quiet();
	check(was == 5);
	shmem_sync(0, 0, pes, sync_words);
	check(!shmem_sync(SHMEM_TEAM_WORLD));
	shmem_wait_until_all(&word, 1, NULL, SHMEM_CMP_EQ, 8);
	check(shmem_wait_until_some_vector(&word, 1, &some, NULL, SHMEM_CMP_LT, &(unsigned){9}) == 1);
	check(shmem_test_any(&word, 1, NULL, SHMEM_CMP_EQ, 8) == 0);
	shmem_pcontrol(1, "nothing");
	shmem_ctx_destroy(ctx);
}

#define RUN_ARRIVALS(T, N) arrivals_##N(me, pes);
#define RUN_RESULTS(T, N) results_##N(me, pes);
#define RUN_BITS(T, N) bits_##N(me, pes);

int main(void)
{
	int me, pes;

	shmem_init();
	me = shmem_my_pe();
	pes = shmem_n_pes();
	signals(me, pes);
	SHMEM__WAIT_OWN(RUN_ARRIVALS)
	SHMEM__AMO_ALIAS(RUN_ARRIVALS)
	any_is_every_word_in_the_end();
	for (int sets = 1; sets <= 3; sets++)
		any_is_every_word_of_each_set(sets);
	SHMEM__AMO_OWN(RUN_RESULTS)
	SHMEM__AMO_ALIAS(RUN_RESULTS)
	SHMEM__BITS_GENERIC(RUN_BITS)
	SHMEM__BITS_ALIAS(RUN_BITS)
	generic_forms(me, pes);
	shmem_finalize();
	return 0;
}
