/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic changes of every type and name, locks, and waiting: all PEs at the same words. */
#include "check.h"

enum { TIMES = 200 };

/* All PEs change the word of PE 0; the sum of what comes back says that each saw another state. */
#define COUNT(T, N)                                                                             \
	static void count_##N(int me, int pes)                                                  \
	{                                                                                       \
		static T word, seen;                                                            \
		T sum = 0;                                                                      \
                                                                                                \
		for (int k = 0; k < TIMES; k++) {                                               \
			sum += shmem_##N##_atomic_fetch_inc(&word, 0);                          \
			shmem_##N##_atomic_add(&word, 2, 0);                                    \
			shmem_##N##_atomic_inc(&word, 0);                                       \
			sum -= shmem_##N##_atomic_fetch_add(&word, (T)0 - (T)3, 0);             \
			shmem_##N##_atomic_add(&word, 1, 0);                                    \
		}                                                                               \
		shmem_##N##_atomic_add(&seen, sum, 0);                                          \
		shmem_barrier_all();                                                            \
		check(shmem_##N##_atomic_fetch(&word, 0) == (T)(TIMES * 2 * pes));              \
		if (pes == 1)                                                                   \
			check(seen == (T)0 - (T)(4 * TIMES));                                   \
		shmem_barrier_all();                                                            \
		shmem_##N##_atomic_set(&word, (T)me, me);                                       \
		check(shmem_##N##_atomic_compare_swap(&word, (T)0 - (T)1, 5, me) == (T)me);     \
		check(shmem_##N##_atomic_compare_swap(&word, (T)me, (T)0 - (T)2, me) == (T)me); \
		check(shmem_##N##_atomic_swap(&word, 9, me) == (T)0 - (T)2);                    \
		check(word == 9);                                                               \
		shmem_barrier_all();                                                            \
	}
SHMEM__AMO_OWN(COUNT)
SHMEM__AMO_ALIAS(COUNT)

/* Each PE owns a bit. */
#define BITS(T, N)                                                                  \
	static void bits_##N(int me, int pes)                                       \
	{                                                                           \
		static T word;                                                      \
		const T all = (T)(((T)1 << pes) - 1), own = (T)((T)1 << me);        \
                                                                                    \
		check(!(shmem_##N##_atomic_fetch_or(&word, own, pes - 1) & own));   \
		shmem_barrier_all();                                                \
		check(shmem_##N##_atomic_fetch(&word, pes - 1) == all);             \
		shmem_barrier_all();                                                \
		shmem_##N##_atomic_xor(&word, own, pes - 1);                        \
		check(!(shmem_##N##_atomic_fetch_xor(&word, own, pes - 1) & own));  \
		check(shmem_##N##_atomic_fetch_and(&word, (T)~own, pes - 1) & own); \
		shmem_##N##_atomic_or(&word, own, pes - 1);                         \
		shmem_##N##_atomic_and(&word, (T)~own, pes - 1);                    \
		shmem_barrier_all();                                                \
		check(shmem_##N##_atomic_fetch(&word, pes - 1) == 0);               \
		shmem_barrier_all();                                                \
	}
SHMEM__BITS_GENERIC(BITS)
SHMEM__BITS_ALIAS(BITS)

static void floats_swap(int me, int pes)
{
	static float f;
	static double d;
	const int to = (me + 1) % pes;

	shmem_float_atomic_set(&f, 1.5f, to);
	check(shmem_float_atomic_swap(&f, 2.5f, to) == 1.5f);
	check(shmem_double_atomic_swap(&d, -1e300, to) == 0);
	check(shmem_double_atomic_fetch(&d, to) == -1e300);
	shmem_barrier_all();
}

/* Under a lock one PE at a time changes a word by a get and a put. */
static void locks_exclude(int pes)
{
	static long lock, other_lock, value, other_value;
	int tries = 0;

	for (int k = 0; k < 20; k++) {
		shmem_set_lock(&lock);
		shmem_long_p(&value, shmem_long_g(&value, 0) + 1, 0);
		shmem_clear_lock(&lock);
	}
	while (tries < 20)
		if (!shmem_test_lock(&other_lock)) {
			shmem_long_p(&other_value, shmem_long_g(&other_value, 0) + 1, 0);
			shmem_clear_lock(&other_lock);
			tries++;
		}
	shmem_barrier_all();
	check(shmem_long_g(&value, 0) == 20L * pes && shmem_long_g(&other_value, 0) == 20L * pes);
	check(lock == 0 && other_lock == 0);
	shmem_barrier_all();
}

/* A flag comes behind what was put before it. */
static void waits_see_what_was_put_before(int me, int pes)
{
	static long data[64];
	static short narrow;
	static unsigned flag;
	const int to = (me + 1) % pes, from = (me + pes - 1) % pes;
	long mine[64];

	for (unsigned round = 1; round <= 20; round++) {
		for (int k = 0; k < 64; k++)
			mine[k] = me + (long)round * k;
		shmem_long_put(data, mine, 64, to);
		shmem_fence();
		shmem_uint_p(&flag, round, to);
		shmem_uint_wait_until(&flag, SHMEM_CMP_GE, round);
		for (int k = 0; k < 64; k++)
			check(data[k] == from + (long)round * k);
		shmem_barrier_all();
	}
	check(shmem_uint_test(&flag, SHMEM_CMP_EQ, 20) && !shmem_uint_test(&flag, SHMEM_CMP_GT, 20));
	shmem_short_p(&narrow, -3, to);
	shmem_short_wait_until(&narrow, SHMEM_CMP_LT, 0);
	check(narrow == -3);
}

#define RUN(T, N) count_##N(me, pes);
#define RUN_BITS(T, N) bits_##N(me, pes);

int main(void)
{
	int me, pes;

	shmem_init();
	me = shmem_my_pe();
	pes = shmem_n_pes();
	SHMEM__AMO_OWN(RUN)
	SHMEM__AMO_ALIAS(RUN)
	SHMEM__BITS_GENERIC(RUN_BITS)
	SHMEM__BITS_ALIAS(RUN_BITS)
	floats_swap(me, pes);
	locks_exclude(pes);
	waits_see_what_was_put_before(me, pes);
	return 0; /* shmem_finalize is called at exit */
}
