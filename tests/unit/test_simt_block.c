/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers and shared memory; waits between blocks and on host threads. */
#include <pthread.h>

#include "test_simt_support.h"

/* Sum of the thread numbers of each block by a tree in shared memory. */
struct reduction {
	uint64_t *sum;  /* one a block */
	uint32_t leave; /* threads from this number on end before the first barrier */
};

SIMT_FN void reduce(const struct reduction *a)
{
	uint64_t *partial = (uint64_t *)simt_shared();
	uint32_t me = simt_thread(), n = simt_block_threads() < a->leave ? simt_block_threads() : a->leave;

	if (me >= a->leave)
		return;
	partial[me] = simt_global_thread();
	simt_block_sync();
	for (uint32_t width = 1; width < n; width *= 2) {
		if (me % (2 * width) == 0 && me + width < n)
			partial[me] += partial[me + width];
		simt_block_sync();
	}
	if (me == 0)
		a->sum[simt_block()] = partial[0];
}
SIMT_KERNEL(reduce, struct reduction)

static void check_reduction(struct simt_machine *machine, uint32_t blocks, uint32_t threads, uint32_t leave)
{
	uint64_t *sum = (uint64_t *)simt_alloc(machine, blocks * sizeof *sum, SIMT_PINNED, NULL);
	struct reduction a = {sum, leave};
	struct simt_grid grid = {blocks, threads, threads * 8};
	uint64_t n = leave < threads ? leave : threads;
	struct gn_error error;

	assert_int_equal(simt_launch(machine, &reduce_kernel, grid, &a, &error), 0);
	if (simt_wait(machine, &error))
		fail_msg("%s", error.text);
	for (uint64_t b = 0; b < blocks; b++)
		assert_int_equal(sum[b], b * threads * n + n * (n - 1) / 2);
	simt_free(machine, sum);
}

static void blocks_reduce(void **state)
{
	static const unsigned widths[] = {1, 2, 8, 32};

	(void)state;
	for (size_t k = 0; k < 8; k += few_or_all(3, 1)) {
		struct simt_machine *machine =
		    open_scheduled(2, widths[k % 4], k < 4 ? SIMT_FAIR : SIMT_RANDOM, 3);

		check_reduction(machine, 5, 1, 1);
		check_reduction(machine, 20, 64, 64);
		check_reduction(machine, 7, 100, 33);
		check_reduction(machine, 3, 1024, 1024);
		check_reduction(machine, 2, 1024, 1);
		check_reduction(machine, 2, 1000, 999);
		simt_close(machine);
	}
}

/* A thread that leaves while the others already stand at the barrier opens it. */
struct latecomer {
	uint32_t *passed;
};

SIMT_FN void leave_late(const struct latecomer *a)
{
	if (simt_thread() == 0) {
		for (int k = 0; k < 100; k++)
			simt_relax();
		return;
	}
	simt_block_sync();
	simt_add_relaxed_dev_u32(a->passed, 1);
}
SIMT_KERNEL(leave_late, struct latecomer)

static void ended_threads_do_not_count(void **state)
{
	struct simt_machine *machine = open_cpu(1, 1);
	uint32_t passed = 0;
	struct latecomer a = {&passed};
	struct simt_grid grid = {3, 50, 0};

	(void)state;
	assert_int_equal(simt_launch(machine, &leave_late_kernel, grid, &a, NULL), 0);
	assert_int_equal(simt_wait(machine, NULL), 0);
	assert_int_equal(passed, 3 * 49);
	simt_close(machine);
}

/* Threads that wait count their turns during some rounds of the machine. */
struct rounds {
	uint32_t *few; /* threads that had a turn in less than four of five rounds */
};

SIMT_FN void wait_for_rounds(const struct rounds *a)
{
	const uint32_t begin = simt__round(), rounds = 50;
	uint32_t turns = 0;

	while (simt__round() - begin < rounds) {
		simt_relax();
		turns++;
	}
	simt_add_relaxed_dev_u32(a->few, turns < rounds / 5 * 4);
}
SIMT_KERNEL(wait_for_rounds, struct rounds)

static void every_thread_has_a_turn_in_a_round(void **state)
{
	(void)state;
	for (unsigned workers = 1; workers <= 3; workers++)
		for (unsigned width = 1; width <= 32; width *= 32) {
			struct simt_machine *machine = open_cpu(workers, width);
			struct simt_grid grid = {60, 32, 0};
			uint32_t few = 0;
			struct rounds a = {&few};

			assert_int_equal(simt_launch(machine, &wait_for_rounds_kernel, grid, &a, NULL), 0);
			assert_int_equal(simt_wait(machine, NULL), 0);
			assert_int_equal(few, 0);
			simt_close(machine);
		}
}

/* Block 2k hands values to block 2k + 1 through one word. */
struct channel {
	uint32_t *word; /* one a pair, each on its own line */
	uint32_t *sum;
	uint32_t values;
};

SIMT_FN void hand_over(const struct channel *a)
{
	uint32_t *word = &a->word[simt_block() / 2 * 16];

	for (uint32_t k = 1; k <= a->values; k++) {
		if (simt_block() % 2 == 0) {
			while (simt_load_acquire_dev_u32(word))
				simt_relax();
			simt_store_release_dev_u32(word, k);
		} else {
			uint32_t value;

			while (!(value = simt_load_acquire_dev_u32(word)))
				simt_relax();
			simt_store_release_dev_u32(word, 0);
			simt_add_relaxed_dev_u32(a->sum, value);
		}
	}
}
SIMT_KERNEL(hand_over, struct channel)

static void blocks_hand_values_over(void **state)
{
	(void)state;
	for (unsigned workers = 1; workers <= 3; workers++) {
		struct simt_machine *machine = open_cpu(workers, 1);
		uint32_t *word = (uint32_t *)simt_alloc(machine, 1 << 20, SIMT_PINNED, NULL), sum = 0;
		struct channel a = {word, &sum, 100};
		struct simt_grid grid = {200, 1, 0};

		assert_int_equal(simt_launch(machine, &hand_over_kernel, grid, &a, NULL), 0);
		assert_int_equal(simt_wait(machine, NULL), 0);
		assert_int_equal(sum, 100 * 5050);
		simt_free(machine, word);
		simt_close(machine);
	}
}

/* A host thread answers every thread of a grid, as a controller does. */
enum { ASKERS = 600 };
struct desk {
	uint32_t *question, *answer;
};

SIMT_FN void ask(const struct desk *a)
{
	uint64_t me = simt_global_thread();

	for (uint32_t k = 1; k <= 20; k++) {
		simt_store_release_sys_u32(&a->question[me], k);
		while (simt_load_acquire_sys_u32(&a->answer[me]) != k)
			simt_relax();
	}
}
SIMT_KERNEL(ask, struct desk)

static void *answer(void *user)
{
	struct desk *a = (struct desk *)user;
	uint32_t done = 0;

	while (done < ASKERS) {
		done = 0;
		for (uint32_t k = 0; k < ASKERS; k++) {
			uint32_t question = simt_load_acquire_sys_u32(&a->question[k]);

			done += question == 20;
			simt_store_release_sys_u32(&a->answer[k], question);
		}
		simt_relax();
	}
	return NULL;
}

static void host_threads_answer(void **state)
{
	(void)state;
	for (unsigned schedule = 0; schedule < 2; schedule++) {
		struct simt_machine *machine = open_scheduled(2, 1, schedule ? SIMT_RANDOM : SIMT_FAIR, 3);
		uint32_t *memory = (uint32_t *)simt_alloc(machine, 2 * ASKERS * 4, SIMT_PINNED, NULL);
		struct desk a = {memory, memory + ASKERS};
		struct simt_grid grid = {ASKERS / 20, 20, 0};
		pthread_t controller;

		assert_int_equal(pthread_create(&controller, NULL, answer, &a), 0);
		assert_int_equal(simt_launch(machine, &ask_kernel, grid, &a, NULL), 0);
		assert_int_equal(simt_wait(machine, NULL), 0);
		pthread_join(controller, NULL);
		simt_free(machine, memory);
		simt_close(machine);
	}
}

/* What any lane wrote before is copied, all lanes see it; bytes beside it stay. */
struct copying {
	unsigned char *to, *from;
};

SIMT_FN void copy_parts(const struct copying *a)
{
	uint32_t mask = simt_active();
	size_t at = (size_t)simt_block() * 8192;

	mask = simt_ballot(mask, 1);
	a->from[at + simt_lane()] = (unsigned char)(simt_lane() + 100);
	simt_copy(mask, a->to + at, a->from + at, 4096 + 16);
	if (a->to[at + simt_first_lane(mask)] != simt_first_lane(mask) + 100)
		a->to[at + 8191] = 1;
}
SIMT_KERNEL(copy_parts, struct copying)

static void copies_arrive(void **state)
{
	(void)state;
	for (unsigned width = 1; width <= 32; width *= 32) {
		struct simt_machine *machine = open_cpu(2, width);
		unsigned char *from = (unsigned char *)simt_alloc(machine, 4 * 8192, SIMT_PINNED, NULL);
		unsigned char *to = (unsigned char *)simt_alloc(machine, 4 * 8192, SIMT_DEVICE, NULL);
		struct copying a = {to, from};
		struct simt_grid grid = {4, width, 0};

		for (size_t k = 0; k < 4 * 8192; k++)
			from[k] = (unsigned char)(k * 7 / 3 + 1);
		assert_int_equal(simt_launch(machine, &copy_parts_kernel, grid, &a, NULL), 0);
		assert_int_equal(simt_wait(machine, NULL), 0);
		for (size_t k = 0; k < 4 * 8192; k++)
			assert_int_equal(to[k], k % 8192 < 4096 + 16 ? from[k] : 0);
		simt_free(machine, from);
		simt_free(machine, to);
		simt_close(machine);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(blocks_reduce),           cmocka_unit_test(ended_threads_do_not_count),
	    cmocka_unit_test(blocks_hand_values_over), cmocka_unit_test(host_threads_answer),
	    cmocka_unit_test(copies_arrive),           cmocka_unit_test(every_thread_has_a_turn_in_a_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
