/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: what a quiet of one waits for, and for what it does not; from several threads. */
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 64, ROUNDS = 50, MANY = 1 << 17, ROUNDS_OF_MANY = 10, THREADS = 4 };

static void options_are_accepted_or_refused(void)
{
	shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;

	for (long options = 0; options < 8; options++) {
		check(!shmem_ctx_create(options, &ctx));
		check(ctx != SHMEM_CTX_INVALID && ctx != SHMEM_CTX_DEFAULT);
		shmem_ctx_quiet(ctx);
		shmem_ctx_fence(ctx);
		shmem_ctx_destroy(ctx);
	}
	check(shmem_ctx_create(1L << 20, &ctx));
	check(ctx == SHMEM_CTX_INVALID);
	shmem_ctx_quiet(ctx);
	shmem_ctx_fence(ctx);
	shmem_ctx_destroy(ctx);
	shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
	shmem_ctx_fence(SHMEM_CTX_DEFAULT);
}

/*
 * A PE that hears from this one after a quiet looks at a third one: what was put there before the quiet is
 * there. Words are static data and in the heap, which travel by different ways. They are so many that the
 * last ones are still under way if the quiet does not wait.
 */
static void a_quiet_waits_for_puts(int me, int pes)
{
	static long word[MANY], mine[MANY], told;
	long *heap = (long *)shmem_calloc(MANY, sizeof *heap);
	const int to = (me + 1) % pes, ear = (me + 2) % pes;
	const int teller = (me + pes - 2) % pes, there = (teller + 1) % pes;
	shmem_ctx_t ctx;

	check(!shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx));
	for (long round = 1; pes > 2 && round <= ROUNDS_OF_MANY; round++) {
		for (int k = 0; k < MANY; k++)
			mine[k] = round * MANY + k;
		shmem_ctx_long_put(ctx, heap, mine, MANY - 1, to);
		shmem_ctx_long_atomic_add(ctx, &heap[MANY - 1], 1, to);
		shmem_ctx_long_put_nbi(ctx, word, mine, MANY, to);
		shmem_ctx_quiet(ctx);
		shmem_long_p(&told, round, ear);
		shmem_long_wait_until(&told, SHMEM_CMP_GE, round);
		check(shmem_long_g(&word[MANY - 1], there) == round * MANY + MANY - 1);
		check(shmem_long_g(word, there) == round * MANY);
		check(shmem_long_g(&heap[MANY - 2], there) == round * MANY + MANY - 2);
		check(shmem_long_g(&heap[MANY - 1], there) == round);
		shmem_barrier_all();
	}
	shmem_ctx_destroy(ctx);
	shmem_free(heap);
}

/* Bytes that were asked for without waiting are here after the context's quiet, from every PE. */
static void a_quiet_waits_for_gets(int me, int pes)
{
	static long word[WORDS];
	long(*back)[WORDS] = (long(*)[WORDS])malloc((size_t)pes * sizeof *back);
	shmem_ctx_t ctx[2];

	for (int k = 0; k < WORDS; k++)
		word[k] = me * 1000 + k;
	shmem_barrier_all();
	check(!shmem_ctx_create(0, &ctx[0]) && !shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx[1]));
	for (int round = 0; round < ROUNDS; round++) {
		const shmem_ctx_t mine = ctx[round % 2];

		for (int pe = 0; pe < pes; pe++) {
			back[pe][0] = back[pe][WORDS - 1] = -1;
			shmem_ctx_getmem_nbi(mine, back[pe], word, sizeof word, pe);
		}
		shmem_ctx_quiet(mine);
		for (int pe = 0; pe < pes; pe++)
			check(back[pe][0] == pe * 1000 && back[pe][WORDS - 1] == pe * 1000 + WORDS - 1);
	}
	shmem_ctx_destroy(ctx[0]);
	shmem_ctx_destroy(ctx[1]);
	shmem_barrier_all();
	free(back);
}

/* Who sees the flag sees the words, if a fence of the context was between them: static data, then the heap.
 */
static void a_fence_orders_memory_of_both_kinds(int me, int pes)
{
	static long words[ROUNDS];
	long *flag = (long *)shmem_calloc(1, sizeof *flag);
	const int to = (me + 1) % pes;
	shmem_ctx_t ctx;

	check(!shmem_ctx_create(0, &ctx));
	for (long k = 0; k < ROUNDS; k++) {
		shmem_ctx_long_p(ctx, &words[k], k + 1, to);
		shmem_ctx_fence(ctx);
		shmem_ctx_long_p(ctx, flag, k + 1, to);
		shmem_long_wait_until(flag, SHMEM_CMP_GE, k + 1);
		check(*(volatile long *)&words[k] == k + 1);
	}
	shmem_ctx_destroy(ctx);
	shmem_barrier_all();
	shmem_free(flag);
}

/* ---- a PE that does nothing holds up the contexts that have sent to it, and no others ---- */

static long stopped_word, alive_word, pid, of_stopped;
static uint64_t stopped_signal;
static shmem_ctx_t of_both;
static int waits, continued;

/* All that the context sends to the stopped PE is one message, of another kind each time. */
static void send_word(int pe)
{
	shmem_ctx_long_p(of_both, &stopped_word, 7, pe);
}

static void send_change(int pe)
{
	shmem_ctx_long_atomic_add(of_both, &stopped_word, 7, pe);
}

static void send_signal(int pe)
{
	shmem_ctx_putmem_signal(of_both, &stopped_word, &of_stopped, 0, &stopped_signal, 7, SHMEM_SIGNAL_ADD,
	                        pe);
}

static void send_request(int pe)
{
	shmem_ctx_long_get_nbi(of_both, &of_stopped, &stopped_word, 1, pe);
}

static const struct sending {
	void (*send)(int pe);
	void (*end)(shmem_ctx_t ctx); /* waits for what was sent */
} sendings[] = {{send_word, shmem_ctx_quiet},
                {send_change, shmem_ctx_quiet},
                {send_signal, shmem_ctx_quiet},
                {send_request, shmem_ctx_destroy}};
enum { SENDINGS = sizeof sendings / sizeof *sendings };

static void *wait_for_the_stopped_pe(void *argument)
{
	const struct sending *s = (const struct sending *)argument;

	s->send(shmem_n_pes() - 1);
	__atomic_store_n(&waits, 1, __ATOMIC_RELEASE);
	s->end(of_both);
	check(__atomic_load_n(&continued, __ATOMIC_ACQUIRE));
	return NULL;
}

/* A second quiet of the same context, while the first one waits, waits for the same messages. */
static void *wait_beside(void *argument)
{
	while (!__atomic_load_n(&waits, __ATOMIC_ACQUIRE))
		usleep(1000);
	usleep(50000);
	shmem_ctx_quiet(of_both);
	check(__atomic_load_n(&continued, __ATOMIC_ACQUIRE));
	return argument;
}

static void await_stop(long of)
{
	char name[64], state = 0;

	snprintf(name, sizeof name, "/proc/%ld/stat", of);
	while (state != 'T') {
		FILE *f = fopen(name, "r");

		check(f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1);
		fclose(f);
		usleep(1000);
	}
}

/* If the quiet of the context waited for the stopped PE, this would not end. */
static void use_another_context(int pe)
{
	shmem_ctx_t ctx;
	long back[WORDS];

	check(!shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx));
	for (long round = 1; round <= ROUNDS; round++) {
		shmem_ctx_long_p(ctx, &alive_word, round, pe);
		shmem_ctx_quiet(ctx);
		shmem_ctx_long_get_nbi(ctx, back, &alive_word, 1, pe);
		shmem_ctx_quiet(ctx);
		check(back[0] == round);
		shmem_ctx_fence(ctx);
		check(shmem_long_g(&alive_word, pe) == round);
		shmem_getmem(back, &alive_word, 3, pe);
	}
	shmem_ctx_destroy(ctx);
}

static void wake(void)
{
	usleep(100000); /* longer than wait_beside, most times */
	__atomic_store_n(&continued, 1, __ATOMIC_RELEASE);
	check(!kill((pid_t)pid, SIGCONT));
}

/* By messages alone a fence has nothing to wait for, although a quiet of the same context waits. */
static void fence_of_both(const long *heap)
{
	if (!shmem_ptr(heap, shmem_n_pes() - 1))
		shmem_ctx_fence(of_both);
}

static void work_while_it_is_stopped(const struct sending *s, const long *heap)
{
	const int ends = s->end == shmem_ctx_destroy;
	pthread_t thread[2];

	waits = continued = 0;
	check(!shmem_ctx_create(0, &of_both));
	check(!pthread_create(&thread[0], NULL, wait_for_the_stopped_pe, (void *)(uintptr_t)s));
	if (!ends)
		check(!pthread_create(&thread[1], NULL, wait_beside, NULL));
	while (!__atomic_load_n(&waits, __ATOMIC_ACQUIRE))
		usleep(1000);
	use_another_context(1);
	if (!ends)
		fence_of_both(heap);
	wake();
	pthread_join(thread[0], NULL);
	if (ends)
		return;
	pthread_join(thread[1], NULL);
	shmem_ctx_destroy(of_both);
}

static void contexts_do_not_wait_for_each_other(int me, int pes)
{
	const int stops = pes - 1;
	long *heap = (long *)shmem_calloc(1, sizeof *heap);

	if (me == stops)
		shmem_long_p(&pid, (long)getpid(), 0);
	for (int k = 0; pes > 2 && k < SENDINGS; k++) {
		shmem_barrier_all();
		if (me == stops)
			raise(SIGSTOP);
		if (me)
			continue;
		await_stop(pid);
		work_while_it_is_stopped(&sendings[k], heap);
	}
	shmem_barrier_all();
	if (pes > 2 && me == 0)
		check(shmem_long_g(&stopped_word, stops) == 14 && of_stopped == 14);
	if (pes > 2 && me == stops)
		check(stopped_signal == 7);
	shmem_free(heap);
}

/* ---- threads ---- */

static shmem_ctx_t of_all;
static long of_thread[THREADS][WORDS];

static void *use_contexts(void *argument)
{
	const int thread = (int)(uintptr_t)argument, pes = shmem_n_pes();
	const int to = (shmem_my_pe() + 1 + thread % (pes > 1 ? pes - 1 : 1)) % pes;
	long back[WORDS], mine[WORDS];
	shmem_ctx_t own, ctx;

	check(!shmem_ctx_create(SHMEM_CTX_PRIVATE, &own));
	for (int round = 0; round < ROUNDS; round++) {
		ctx = round % 2 ? own : of_all;
		for (int k = 0; k < WORDS; k++)
			mine[k] = round * 1000 + k;
		shmem_ctx_long_put(ctx, of_thread[thread], mine, WORDS, to);
		back[WORDS - 1] = -1;
		shmem_ctx_long_get_nbi(ctx, back, of_thread[thread], WORDS, to);
		shmem_ctx_quiet(ctx);
		check(pes > 1 ? back[WORDS - 1] == round * 1000 + WORDS - 1 : back[0] >= 0);
	}
	shmem_ctx_destroy(own);
	return NULL;
}

static void threads_have_contexts(void)
{
	pthread_t thread[THREADS];

	check(!shmem_ctx_create(0, &of_all));
	for (int k = 0; k < THREADS; k++)
		check(!pthread_create(&thread[k], NULL, use_contexts, (void *)(uintptr_t)k));
	for (int k = 0; k < THREADS; k++)
		pthread_join(thread[k], NULL);
	shmem_ctx_destroy(of_all);
	shmem_barrier_all();
}

int main(void)
{
	int me, pes, provided = -1;

	check(!shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) && provided == SHMEM_THREAD_MULTIPLE);
	me = shmem_my_pe();
	pes = shmem_n_pes();
	options_are_accepted_or_refused();
	a_quiet_waits_for_puts(me, pes);
	a_quiet_waits_for_gets(me, pes);
	a_fence_orders_memory_of_both_kinds(me, pes);
	threads_have_contexts();
	contexts_do_not_wait_for_each_other(me, pes);
	check(!shmem_ctx_create(0, &of_both)); /* which shmem_finalize destroys */
	shmem_finalize();
	return 0;
}
