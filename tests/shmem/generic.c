/* SPDX-License-Identifier: Apache-2.0 */
/* The forms for which the type chooses (C11), with and without a context, and the deprecated names. */
#include "check.h"

/* Lists of its own: a table of the header cannot be used inside itself. */
#define FOR_WHOLE(X) X(int) X(long) X(llong) X(unsig) X(unlong) X(ullong)
#define FOR_BITS(X) X(int32_t) X(int64_t) X(unsig) X(unlong) X(ullong)
#define FOR_ALL(X) FOR_WHOLE(X) X(short) X(unshort) X(char) X(schar) X(uchar) X(float) X(double) X(ldouble)

typedef long long llong;
typedef unsigned unsig;
typedef unsigned long unlong;
typedef unsigned short unshort;
typedef unsigned long long ullong;
typedef signed char schar;
typedef unsigned char uchar;
typedef long double ldouble;

static shmem_ctx_t ctx;

#define MOVE(T)                                                                                   \
	static void move_##T(int me, int pes)                                                     \
	{                                                                                         \
		static T word[4];                                                                 \
		const T mine[2] = {(T)(me + 1), (T)(me + 2)};                                     \
		const int to = (me + 1) % pes;                                                    \
		T back[2];                                                                        \
                                                                                                  \
		shmem_put(word, mine, 2, to);                                                     \
		shmem_put_nbi(ctx, word + 2, mine, 1, to);                                        \
		shmem_p(ctx, word + 3, mine[1], to);                                              \
		shmem_get(ctx, back, word, 2, to);                                                \
		check(back[0] == mine[0] && back[1] == mine[1]);                                  \
		check(shmem_g(word + 3, to) == mine[1] && shmem_g(ctx, &word[2], to) == mine[0]); \
		shmem_iput(ctx, word, mine + 1, 2, -1, 2, to);                                    \
		shmem_iget(back, word, 1, 2, 2, to);                                              \
		check(back[0] == mine[1] && back[1] == mine[0]);                                  \
		shmem_get_nbi(back, word, 1, to);                                                 \
		shmem_ctx_quiet(ctx);                                                             \
		check(back[0] == mine[1]);                                                        \
		shmem_barrier_all();                                                              \
	}
FOR_ALL(MOVE)

#define CHANGE(T)                                                                           \
	static void change_##T(int me, int pes)                                             \
	{                                                                                   \
		static T word;                                                              \
		const int to = (me + 1) % pes;                                              \
                                                                                            \
		shmem_atomic_set(&word, 5, to);                                             \
		shmem_atomic_add(ctx, &word, 2, to);                                        \
		shmem_atomic_inc(&word, to);                                                \
		check(shmem_atomic_fetch_add(&word, 1, to) == 8 &&                          \
		      shmem_atomic_fetch_inc(ctx, &word, to) == 9);                         \
		check(shmem_atomic_compare_swap(&word, 10, 20, to) == 10 &&                 \
		      shmem_atomic_fetch(&word, to) == 20);                                 \
		check(shmem_atomic_swap(ctx, &word, 30, to) == 20);                         \
		check(shmem_finc(&word, to) == 30 && shmem_cswap(&word, 31, 1, to) == 31 && \
		      shmem_fetch(&word, to) == 1);                                         \
		shmem_barrier_all();                                                        \
		shmem_wait_until(&word, SHMEM_CMP_EQ, 1);                                   \
		check(shmem_test(&word, SHMEM_CMP_NE, 2));                                  \
		shmem_barrier_all();                                                        \
	}
FOR_WHOLE(CHANGE)

#define BITS(T)                                                                                          \
	static void bits_##T(int me, int pes)                                                            \
	{                                                                                                \
		static T word;                                                                           \
		const int to = (me + 1) % pes;                                                           \
                                                                                                         \
		shmem_atomic_or(&word, 12, to);                                                          \
		shmem_atomic_xor(ctx, &word, 5, to);                                                     \
		shmem_atomic_and(&word, 11, to);                                                         \
		check(shmem_atomic_fetch_or(ctx, &word, 2, to) == 9 &&                                   \
		      shmem_atomic_fetch_xor(&word, 1, to) == 11);                                       \
		check(shmem_atomic_fetch_and(&word, 8, to) == 10 && shmem_atomic_fetch(&word, to) == 8); \
		shmem_barrier_all();                                                                     \
	}
FOR_BITS(BITS)

static void older_names(int me, int pes)
{
	static long word, *heap;
	const int to = (me + 1) % pes;

	check(_my_pe() == me && _num_pes() == pes);
	heap = (long *)shmalloc(64);
	heap = (long *)shrealloc(heap, 4096);
	shmem_long_add(heap, 4, to);
	check(shmem_long_finc(heap, to) == 4 && shmem_long_fadd(heap, 2, to) == 5);
	check(shmem_long_cswap(heap, 7, -1, to) == 7 && shmem_long_swap(heap, 3, to) == -1);
	shfree(heap);
	shmem_long_p(&word, 1, to);
	shmem_long_wait(&word, 0);
	check(word == 1);
}

#define RUN_MOVE(T) move_##T(me, pes);
#define RUN_CHANGE(T) change_##T(me, pes);
#define RUN_BITS(T) bits_##T(me, pes);

int main(void)
{
	int me, pes, level = -1;
	char name[SHMEM_MAX_NAME_LEN];

	start_pes(0);
	me = shmem_my_pe();
	pes = shmem_n_pes();
	shmem_query_thread(&level);
	check(level == SHMEM_THREAD_SINGLE);
	shmem_info_get_name(name);
	check(name[0]);
	check(!shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx));
	FOR_ALL(RUN_MOVE)
	FOR_WHOLE(RUN_CHANGE)
	FOR_BITS(RUN_BITS)
	older_names(me, pes);
	shmem_ctx_destroy(ctx);
	return 0;
}
