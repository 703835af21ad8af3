/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of slots under random schedules: threads change at every atomic, and pins end on another
 * stream. This source has the kernels in it, so that the library's are not linked.
 */
#define SIMT_PREEMPT 1

#include <slots/kernels.c>

#include "test_slots_model.h"

/* A machine that chooses the next thread at random, by a seed. */
static void use_schedule(struct slots_test *t, uint64_t seed, unsigned width)
{
	struct simt_options options;

	close_all(t);
	close_batch(t);
	simt_close(t->base.machine);
	memset(&options, 0, sizeof options);
	options.name = "cpu";
	options.warp_width = width;
	options.schedule = SIMT_RANDOM;
	options.seed = seed;
	assert_int_equal(simt_open(&t->base.machine, &options, &t->base.error), 0);
	open_batch(t);
}

static void random_schedules(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	struct slots_model *m = (struct slots_model *)malloc(sizeof *m);
	const unsigned widths[] = {1, 2, 8};

	for (uint64_t seed = 1; seed <= (uint64_t)few_drawn(6, 60); seed++) {
		use_schedule(t, seed, widths[seed % 3]);
		open_filled(t, seed % 5 == 1 ? "memq" : "host", 80 * 60);
		memset(&t->options, 0, sizeof t->options);
		t->options.item_bytes = 80;
		t->options.slots = 1 + (uint32_t)(seed * 7 % 40);
		t->options.policy = seed % 4 == 0 ? GN_SLOTS_LRU : GN_SLOTS_CLOCK;
		open_slots(t);
		t->slots->resolve.blocks =
		    1 + (uint32_t)(seed % 4); /* so that the last block is another each time */
		model_open(t, m);
		t->seed = seed;
		model_run(t, m, 12, 30);
		model_close(m);
	}
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(random_schedules, slots_setup, slots_teardown)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
