/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many random batches against the model (test_slots_model.h): each slot, every word of the slab, the map and
 * the statistics after each; with stores that fail by chance and on purpose; and under random schedules.
 */
#include "test_slots_model.h"

#include <signal.h>
#include <sys/resource.h>

struct random_case {
	const char *store;
	uint64_t item_bytes, items;
	uint32_t slots, most, keep;
	unsigned threads, width;
};

static const struct random_case cases[] = {
    {"host", 64, 200, 128, 100, 0, 2, 1}, {"host", 64, 60, 20, 30, 0, 1, 32},
    {"host", 80, 1000, 100, 90, 2, 2, 8}, {"memq", 80, 90, 33, 20, 0, 2, 1},
    {"host", 16, 7, 3, 9, 0, 2, 4},       {"host", 64, 5000, 128, 300, 3, 2, 16},
    {"file", 1008, 60, 20, 15, 0, 2, 8},  {"host", 64, 50, 1, 3, 0, 1, 2},
    {"host", 5008, 40, 11, 9, 0, 2, 4},   {"memq", 4096, 40, 11, 9, 2, 2, 16},
    {"host", 64, 100, 100, 100, 0, 2, 2}};

static void open_case(struct slots_test *t, const struct random_case *c, enum gn_slots_policy policy)
{
	use_machine(t, c->threads, c->width);
	open_filled(t, c->store, c->item_bytes * c->items);
	memset(&t->options, 0, sizeof t->options);
	t->options.item_bytes = c->item_bytes;
	t->options.slots = c->slots;
	t->options.keep = c->keep;
	t->options.policy = policy;
	t->options.most_keys = c->most;
	open_slots(t);
}

static void random_batches(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	struct slots_model *m = (struct slots_model *)malloc(sizeof *m);

	for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
		for (int policy = GN_SLOTS_CLOCK; policy <= GN_SLOTS_LRU; policy++) {
			t->seed = 1 + k;
			open_case(t, &cases[k], (enum gn_slots_policy)policy);
			model_open(t, m);
			model_run(t, m, few_drawn(12, 150), cases[k].most);
			model_close(m);
		}
	free(m);
}

/* A wrong item, or one that was never read, would be seen: the model says which are resident. */
static void batches_from_a_store_that_fails_by_chance(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	struct slots_model *m = (struct slots_model *)malloc(sizeof *m);
	const unsigned widths[] = {1, 8};

	for (int k = 0; k < 2; k++) {
		struct gn_fault_plan plan = {
		    (uint64_t)7 + (uint64_t)k, 0, 0, 100000, 0, 0, 250000, 0x281, 0, 0, 0, 0};
		struct gn_store_options o;

		use_machine(t, 2, widths[k]);
		memset(&o, 0, sizeof o);
		o.faults = &plan;
		plan.first = 10; /* the store is filled before */
		assert_int_equal(
		    gn_store_open(&t->base.store, t->base.machine, "memq:64K", &o, &t->base.error), 0);
		fill_store(t);
		memset(&t->options, 0, sizeof t->options);
		t->options.item_bytes = k ? 1024 : 656;
		t->options.slots = 20;
		open_slots(t);
		model_open(t, m);
		m->may_fail = 1;
		t->seed = (uint64_t)k;
		model_run(t, m, few_drawn(60, 200), 20);
		/* Which commands fail hangs on the order of the warps. */
		for (int more = 0; more < 50 && (m->s.failed <= 10 || (k && m->kept <= 1)); more++)
			model_run(t, m, 20, 20);
		assert_true(m->s.failed > 10);
		assert_true(!k || m->kept > 1);
		model_close(m);
	}
	free(m);
}

/* Items behind the end of a file that somebody cut short; then it is mended. */
static void items_that_cannot_be_read(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;

	open_filled(t, "file?direct=0", 32 * 4096);
	memset(&t->options, 0, sizeof t->options);
	t->options.item_bytes = 4096;
	t->options.slots = 8;
	open_slots(t);
	assert_int_equal(truncate(t->base.file, 16 * 4096), 0);
	t->hints = GN_SLOTS_PIN;
	for (int k = 0; k < 8; k++)
		t->key[k] = k < 6 ? 13 + k : 17;
	resolve(t, 8);
	for (int k = 0; k < 8; k++)
		assert_true(t->slot[k] >= 0);
	fill_slots(t);
	for (int k = 0; k < 8; k++)
		if (t->key[k] < 16)
			check_item(t, t->slot[k], t->key[k]);
		else
			assert_int_equal(t->slot[k], -1);
	assert_int_equal(gn_slots_failure(t->slots, &t->base.error), -GN_EIO);
	says(t, "could not be read");
	says(t, "device status");
	no_failure(t);
	assert_int_equal(statistics_of(t).failed, 3);
	assert_int_equal(statistics_of(t).fetched, 3);
	assert_int_equal(gn_slots_unpin(t->slots, t->slot, 8, NULL, &t->base.error), 0);
	t->hints = 0;
	assert_int_equal(truncate(t->base.file, 32 * 4096), 0);
	fill_store(t);
	ask_range(t, 14, 8); /* every slot: none is pinned any more */
	check_batch(t, 8);
	check_map(t);
	no_failure(t);
}

/* Changed items of a file that takes no more bytes stay in their slots, and are written when it does. */
static void items_that_cannot_be_written(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	struct rlimit limit;
	uint64_t word = 42;
	rlim_t before;

	open_filled(t, "file?direct=0", 32 * 4096);
	memset(&t->options, 0, sizeof t->options);
	t->options.item_bytes = 4096;
	t->options.slots = 4;
	open_slots(t);
	ask_range(t, 0, 4);
	assert_int_equal(
	    simt_move(t->base.machine, (char *)t->info.slab + 4096 * t->slot[2], &word, 8, &t->base.error),
	    0);
	assert_int_equal(gn_slots_mark(t->slots, t->slot + 2, 1, NULL, &t->base.error), 0);
	wait_all(t);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	before = limit.rlim_cur;
	limit.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ask_range(t, 10, 4);
	assert_int_equal((t->slot[0] < 0) + (t->slot[1] < 0) + (t->slot[2] < 0) + (t->slot[3] < 0), 1);
	assert_true(gn_slots_failure(t->slots, &t->base.error) < 0);
	says(t, "key 2 could not be written and stays in its slot");
	assert_int_equal(gn_slots_flush(t->slots, NULL, &t->base.error), 0);
	wait_all(t);
	assert_true(gn_slots_failure(t->slots, &t->base.error) < 0);
	limit.rlim_cur = before;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	t->hints = GN_SLOTS_RESIDENT;
	assert_true(ask_one(t, 2) >= 0);
	t->hints = 0;
	ask_range(t, 20, 4);
	check_batch(t, 4);
	no_failure(t);
	assert_int_equal(gn_store_read_host(t->base.store, 2 * 4096, &word, 8, &t->base.error), 0);
	assert_int_equal(word, 42);
	assert_int_equal(statistics_of(t).written, 1);
}

#define SLOTS_TEST(f) cmocka_unit_test_setup_teardown(f, slots_setup, slots_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SLOTS_TEST(random_batches), SLOTS_TEST(batches_from_a_store_that_fails_by_chance),
	    SLOTS_TEST(items_that_cannot_be_read), SLOTS_TEST(items_that_cannot_be_written)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
