/* SPDX-License-Identifier: Apache-2.0 */
/* The checking schedules find planted errors, count what combinatorics says they should, and can be repeated.
 */
#define SIMT_PREEMPT 1

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <grapnel/simt.h>
#include <grapnel/explore.h>

enum { UNBOUNDED = 1000000 };

/* Every thread passes `points` points. */
struct steps {
	uint32_t *word;
	uint32_t points;
};

SIMT_FN void take_steps(const struct steps *a)
{
	for (uint32_t k = 0; k < a->points; k++)
		simt_add_relaxed_dev_u32(a->word, 1);
}
SIMT_KERNEL(take_steps, struct steps)

static uint64_t count_schedules(uint32_t threads, uint32_t points, unsigned preemptions)
{
	uint32_t word = 0;
	struct steps a = {&word, points};
	struct simt_grid grid = {1, threads, 0};
	struct simt_exploration task = {preemptions, 1, 0, 0, NULL, NULL, NULL};
	struct simt_explored done;

	assert_int_equal(simt_explore(&take_steps_kernel, grid, &a, &task, &done), 0);
	assert_int_equal(done.complete, 1);
	assert_int_equal(word, done.runs * threads * points);
	assert_int_equal(done.steps, done.runs * threads * points);
	return done.runs;
}

static void every_interleaving_runs_once(void **state)
{
	(void)state;
	/* Two threads of n points: binomial(2n, n). */
	assert_int_equal(count_schedules(2, 1, UNBOUNDED), 2);
	assert_int_equal(count_schedules(2, 2, UNBOUNDED), 6);
	assert_int_equal(count_schedules(2, 3, UNBOUNDED), 20);
	assert_int_equal(count_schedules(2, 6, UNBOUNDED), 924);
	/* Three threads of n points: (3n)! / n!^3. */
	assert_int_equal(count_schedules(3, 1, UNBOUNDED), 6);
	assert_int_equal(count_schedules(3, 2, UNBOUNDED), 90);
	assert_int_equal(count_schedules(3, 3, UNBOUNDED), 1680);
	assert_int_equal(count_schedules(4, 2, UNBOUNDED), 2520);
}

/*
 * Two threads a, b of n points with at most c preemptions. An interleaving is runs of a and b by turns; each
 * change but the one at which the thread before has ended is a preemption.
 */
static uint64_t bounded_interleavings(unsigned left_a, unsigned left_b, unsigned budget, int running)
{
	uint64_t count = 0;

	if (!left_a && !left_b)
		return 1;
	for (int next = 0; next < 2; next++) {
		unsigned left_next = next ? left_b : left_a, left_running = running == 1 ? left_b : left_a;
		unsigned cost = running >= 0 && next != running && left_running;

		if (left_next && cost <= budget)
			count += bounded_interleavings(left_a - !next, left_b - !!next, budget - cost, next);
	}
	return count;
}

static void the_preemption_bound_holds(void **state)
{
	(void)state;
	for (unsigned bound = 0; bound < 5; bound++) {
		for (unsigned points = 1; points < 6; points++)
			assert_int_equal(count_schedules(2, points, bound),
			                 bounded_interleavings(points, points, bound, -1));
	}
	assert_int_equal(count_schedules(3, 4, 0), 6);
}

/* An increment that is not atomic. */
struct counter {
	uint32_t value, times;
};

struct shared_counter {
	struct counter *counter;
};

SIMT_FN void increment(const struct shared_counter *a)
{
	for (uint32_t k = 0; k < a->counter->times; k++) {
		uint32_t value = simt_load_relaxed_dev_u32(&a->counter->value);

		simt_store_relaxed_dev_u32(&a->counter->value, value + 1);
	}
}
SIMT_KERNEL(increment, struct shared_counter)

static void reset_counter(void *user)
{
	((struct counter *)user)->value = 0;
}

/* Any code would do; this one is returned as it is. */
static int check_counter(void *user)
{
	const struct counter *counter = (const struct counter *)user;

	return counter->value == 2 * counter->times ? 0 : -GN_EBADMSG;
}

static void a_lost_update_is_found_and_replayed(void **state)
{
	struct counter counter = {0, 1};
	struct shared_counter a = {&counter};
	struct simt_grid one_block = {1, 2, 0}, two_blocks = {2, 1, 0};
	struct simt_exploration task = {1, 1, 0, 0, reset_counter, check_counter, &counter};
	struct simt_explored done;

	(void)state;
	assert_int_equal(simt_explore(&increment_kernel, one_block, &a, &task, &done), -GN_EBADMSG);
	assert_int_equal(done.complete, 0);
	assert_int_equal(simt_replay(&increment_kernel, one_block, &a, &task, done.schedule), -GN_EBADMSG);
	assert_int_equal(counter.value, 1);
	assert_int_equal(simt_replay(&increment_kernel, one_block, &a, &task, "-"), 0);
	assert_int_equal(simt_explore(&increment_kernel, two_blocks, &a, &task, &done), -GN_EBADMSG);
	assert_int_equal(simt_replay(&increment_kernel, two_blocks, &a, &task, done.schedule), -GN_EBADMSG);

	/* Without a preemption it cannot happen. */
	task.preemptions = 0;
	assert_int_equal(simt_explore(&increment_kernel, one_block, &a, &task, &done), 0);
	assert_int_equal(done.runs, 2);
}

static void damaged_schedules_are_refused(void **state)
{
	static const char *const schedules[] = {"x",       "1",
	                                        "1:",      ":1",
	                                        "1:70",    "1:1 1:1",
	                                        "0:1 0:1", "1000:1",
	                                        "0:5",     "too long to print",
	                                        "-1:1",    "99999999999:1"};
	struct counter counter = {0, 1};
	struct shared_counter a = {&counter};
	struct simt_grid grid = {1, 2, 0};
	struct simt_exploration task = {1, 1, 0, 0, reset_counter, NULL, &counter};

	(void)state;
	for (size_t k = 0; k < sizeof schedules / sizeof *schedules; k++)
		assert_int_equal(simt_replay(&increment_kernel, grid, &a, &task, schedules[k]), -GN_EINVAL);
}

/* Two locks taken in opposite orders. */
struct locks {
	uint32_t *word;
};

SIMT_FN void lock_word(uint32_t *lock)
{
	while (simt_cas_acq_rel_dev_u32(lock, 0, 1))
		simt_relax();
}

SIMT_FN void cross(const struct locks *a)
{
	uint32_t me = simt_thread();

	lock_word(&a->word[me]);
	lock_word(&a->word[!me]);
	simt_store_release_dev_u32(&a->word[!me], 0);
	simt_store_release_dev_u32(&a->word[me], 0);
}
SIMT_KERNEL(cross, struct locks)

static void reset_locks(void *user)
{
	memset(user, 0, 2 * sizeof(uint32_t));
}

static void a_deadlock_is_found_and_replayed(void **state)
{
	uint32_t word[2];
	struct locks a = {word};
	struct simt_grid grid = {1, 2, 0};
	struct simt_exploration task = {2, 1, 0, 10000, reset_locks, NULL, word};
	struct simt_explored done;

	(void)state;
	assert_int_equal(simt_explore(&cross_kernel, grid, &a, &task, &done), -GN_EDEADLK);
	assert_int_equal(simt_replay(&cross_kernel, grid, &a, &task, done.schedule), -GN_EDEADLK);
	assert_int_equal(simt_replay(&cross_kernel, grid, &a, &task, "-"), 0);
}

/* A right lock, with threads that poll: the exploration ends, although each poll may fail any number of
 * times. */
struct guarded {
	uint32_t *lock, *value;
};

SIMT_FN void guard(const struct guarded *a)
{
	uint32_t value;

	lock_word(a->lock);
	value = simt_load_relaxed_dev_u32(a->value);
	simt_store_relaxed_dev_u32(a->value, value + 1);
	simt_store_release_dev_u32(a->lock, 0);
}
SIMT_KERNEL(guard, struct guarded)

static int check_guarded(void *user)
{
	const uint32_t *word = (const uint32_t *)user;

	return word[0] == 0 && word[1] == word[2] ? 0 : -GN_EBADMSG;
}

static void reset_guarded(void *user)
{
	memset(user, 0, 2 * sizeof(uint32_t));
}

static void loops_that_poll_end(void **state)
{
	uint32_t word[3] = {0, 0, 2};
	struct guarded a = {&word[0], &word[1]};
	struct simt_grid grid = {1, 2, 0};
	struct simt_exploration task = {UNBOUNDED, 1, 0, 10000, reset_guarded, check_guarded, word};
	struct simt_explored done;

	(void)state;
	assert_int_equal(simt_explore(&guard_kernel, grid, &a, &task, &done), 0);
	assert_int_equal(done.complete, 1);
	assert_true(done.runs > 6);

	grid.block_threads = word[2] = 3;
	task.preemptions = 2;
	assert_int_equal(simt_explore(&guard_kernel, grid, &a, &task, &done), 0);
	assert_int_equal(done.complete, 1);
	assert_true(done.runs > 50);
}

/* Nobody comes; a deadline of seconds expires all the same, soon and in every schedule. */
struct deadline {
	uint32_t *flag, *late;
	uint64_t ns;
};

SIMT_FN void wait_in_vain(const struct deadline *a)
{
	uint64_t deadline = simt_clock_ns() + a->ns;

	while (!simt_load_acquire_dev_u32(a->flag)) {
		if (simt_clock_ns() > deadline) {
			simt_add_relaxed_dev_u32(a->late, 1);
			return;
		}
		simt_relax();
	}
}
SIMT_KERNEL(wait_in_vain, struct deadline)

static void deadlines_expire(void **state)
{
	uint32_t flag = 0, late = 0;
	struct deadline a = {&flag, &late, 5000000000u};
	struct simt_grid grid = {1, 2, 0};
	struct simt_exploration task = {1, 1, 0, 10000, NULL, NULL, NULL};
	struct simt_explored done;

	(void)state;
	assert_int_equal(simt_explore(&wait_in_vain_kernel, grid, &a, &task, &done), 0);
	assert_int_equal(done.complete, 1);
	assert_int_equal(late, 2 * done.runs);
}

static void runs_and_sizes_are_bounded(void **state)
{
	uint32_t word = 0;
	struct steps a = {&word, 5};
	struct simt_grid grid = {1, 3, 0}, large = {5, 13, 0};
	struct simt_exploration task = {UNBOUNDED, 1, 100, 0, NULL, NULL, NULL};
	struct simt_explored done;

	(void)state;
	assert_int_equal(simt_explore(&take_steps_kernel, grid, &a, &task, &done), 0);
	assert_int_equal(done.runs, 100);
	assert_int_equal(done.complete, 0);
	assert_int_equal(simt_explore(&take_steps_kernel, large, &a, &task, &done), -GN_EINVAL);
	task.warp_width = 3;
	assert_int_equal(simt_explore(&take_steps_kernel, grid, &a, &task, &done), -GN_EINVAL);
}

/* Collectives and barriers under every schedule. */
struct meeting {
	uint32_t *sum, *wrong;
};

SIMT_FN void meet_often(const struct meeting *a)
{
	uint32_t *shared = (uint32_t *)simt_shared();

	simt_add_relaxed_dev_u32(a->sum, 1);
	if (simt_ballot(3, simt_lane() == 1) != 2)
		simt_add_relaxed_dev_u32(a->wrong, 1);
	shared[simt_thread()] = 1;
	simt_block_sync();
	if (shared[!simt_thread()] != 1)
		simt_add_relaxed_dev_u32(a->wrong, 1);
	if (simt_popcount(simt_active()) > 2)
		simt_add_relaxed_dev_u32(a->wrong, 1);
}
SIMT_KERNEL(meet_often, struct meeting)

static void collectives_work_under_every_schedule(void **state)
{
	uint32_t sum = 0, wrong = 0;
	struct meeting a = {&sum, &wrong};
	struct simt_grid grid = {2, 2, 64};
	struct simt_exploration task = {2, 2, 0, 0, NULL, NULL, NULL};
	struct simt_explored done;

	(void)state;
	assert_int_equal(simt_explore(&meet_often_kernel, grid, &a, &task, &done), 0);
	assert_int_equal(done.complete, 1);
	assert_int_equal(wrong, 0);
	assert_int_equal(sum, 4 * done.runs);
}

/* What a seed gives. */
static uint32_t run_seed(uint64_t seed, uint32_t threads, uint32_t times)
{
	struct simt_options config = {"cpu", 0, 1, SIMT_RANDOM, seed};
	struct simt_machine *machine;
	struct counter counter = {0, times};
	struct shared_counter a = {&counter};
	struct simt_grid grid = {threads, 1, 0};

	assert_int_equal(simt_open(&machine, &config, NULL), 0);
	assert_int_equal(simt_launch(machine, &increment_kernel, grid, &a, NULL), 0);
	assert_int_equal(simt_wait(machine, NULL), 0);
	simt_close(machine);
	return counter.value;
}

static void a_seed_repeats_its_run(void **state)
{
	unsigned lost = 0, different = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		uint32_t value = run_seed(seed, 4, 10);

		assert_int_equal(run_seed(seed, 4, 10), value);
		lost += value != 40;
		different += value != run_seed(seed + 1000, 4, 10);
	}
	assert_true(lost > 45);
	assert_true(different > 25);
	/* More threads than are candidates at once. */
	assert_true(run_seed(1, 5000, 2) < 10000);
	assert_int_equal(run_seed(7, 1, 100), 100);
}

static void random_schedules_wait(void **state)
{
	uint32_t word[3] = {0, 0, 100};
	struct guarded a = {&word[0], &word[1]};
	struct simt_grid grid = {10, 10, 0};

	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct simt_options config = {"cpu", 0, 2, SIMT_RANDOM, seed};
		struct simt_machine *machine;

		reset_guarded(word);
		assert_int_equal(simt_open(&machine, &config, NULL), 0);
		assert_int_equal(simt_launch(machine, &guard_kernel, grid, &a, NULL), 0);
		assert_int_equal(simt_wait(machine, NULL), 0);
		assert_int_equal(check_guarded(word), 0);
		simt_close(machine);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_interleaving_runs_once),
	    cmocka_unit_test(the_preemption_bound_holds),
	    cmocka_unit_test(a_lost_update_is_found_and_replayed),
	    cmocka_unit_test(damaged_schedules_are_refused),
	    cmocka_unit_test(a_deadlock_is_found_and_replayed),
	    cmocka_unit_test(loops_that_poll_end),
	    cmocka_unit_test(deadlines_expire),
	    cmocka_unit_test(runs_and_sizes_are_bounded),
	    cmocka_unit_test(collectives_work_under_every_schedule),
	    cmocka_unit_test(a_seed_repeats_its_run),
	    cmocka_unit_test(random_schedules_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
