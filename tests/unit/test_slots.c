/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots: items of every size from every kind of store, what a batch may hold, hints, and which slot is
 * given away.
 */
#include "test_slots_support.h"

/* ---- sizes and stores ---- */

struct size_case {
	uint64_t item_bytes, items;
	uint32_t slots, batch;
	uint64_t offset;
};

static const struct size_case sizes[] = {
    {64, 300, 40, 37, 0},  {80, 300, 40, 40, 48},  {16, 1000, 100, 60, 16},       {4096, 60, 16, 12, 0},
    {656, 500, 64, 64, 0}, {12288, 40, 7, 5, 512}, {(1 << 20) + 16, 9, 4, 3, 32}, {16 << 20, 4, 2, 2, 0}};

static void random_batches(struct slots_test *t, const char *scheme, const struct size_case *c, int batches)
{
	open_filled(t, scheme, c->offset + c->item_bytes * c->items);
	memset(&t->options, 0, sizeof t->options);
	t->options.item_bytes = c->item_bytes;
	t->options.slots = c->slots;
	t->options.offset = c->offset;
	open_slots(t);
	assert_int_equal(t->info.items, c->items);
	for (int b = 0; b < batches; b++) {
		for (uint32_t k = 0; k < c->batch; k++)
			t->key[k] = (int64_t)draw(t, c->items);
		resolve(t, c->batch);
		fill_slots(t);
		check_map(t);
		check_batch(t, c->batch);
	}
	no_failure(t);
}

static void every_size_from(struct slots_test *t, const char *scheme, uint64_t most)
{
	for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
		if (sizes[k].item_bytes <= most)
			random_batches(t, scheme, &sizes[k], few_drawn(2, 6));
}

static void every_size_from_host_memory(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	const unsigned widths[] = {1, 4, 32};

	for (int k = 0; k < few_or_all(2, 3); k++) {
		use_machine(t, 2, widths[k]);
		every_size_from(t, "host", k && few_or_all(1, 0) ? 1 << 16 : 64 << 20);
	}
}

static void every_size_from_queue_pairs(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;

	every_size_from(t, "memq", few_drawn(1 << 16, 64 << 20));
	use_machine(t, 2, 8);
	every_size_from(t, "memq", 2 << 20);
}

static void every_size_from_a_file(void **state)
{
	every_size_from((struct slots_test *)*state, "file", few_drawn(1 << 16, 64 << 20));
	every_size_from((struct slots_test *)*state, "file?transfer=4K&direct=0", 2 << 20);
}

static void items_cross_pieces(struct slots_test *t, const char *uri)
{
	close_all(t);
	assert_int_equal(gn_store_open(&t->base.store, t->base.machine, uri, NULL, &t->base.error), 0);
	fill_store(t);
	memset(&t->options, 0, sizeof t->options);
	t->options.item_bytes = 10240;
	t->options.slots = 5;
	open_slots(t);
	for (int64_t first = 0; first < 8; first++) {
		ask_range(t, first, 5);
		check_batch(t, 5);
	}
	t->options.item_bytes = 1008;
	t->options.slots = 50;
	open_slots(t);
	for (int64_t first = 0; first < 80; first += 7) {
		ask_range(t, first, 50);
		check_batch(t, 50);
	}
	no_failure(t);
}

/* A unit of a stripe, or a line of a tier, ends inside items. */
static void items_that_cross_units_and_lines(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;

	items_cross_pieces(t, "stripe:unit=4K,memq:64K,memq:64K");
	items_cross_pieces(t, "tier:host:64K,memq:128K");
	items_cross_pieces(t, "tier:line=1K,host:32K,host:128K");
}

/* ---- what a batch may hold ---- */

static void equal_keys_and_padding(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	const int64_t keys[] = {5, -1, 5, 7, INT64_MIN, 5, 7, 0, -7, 0};
	const uint8_t missed[] = {1, 0, 1, 1, 0, 1, 1, 1, 0, 1};

	open_plain(t, 64, 100, 10);
	for (int again = 0; again < 2; again++) {
		memcpy(t->key, keys, sizeof keys);
		resolve(t, 10);
		for (int k = 0; k < 10; k++)
			assert_int_equal(t->missed[k], again ? 0 : missed[k]);
		fill_slots(t);
		check_batch(t, 10);
	}
	no_failure(t);
	assert_int_equal(statistics_of(t).hits, 7);
	assert_int_equal(statistics_of(t).misses, 7);
	assert_int_equal(statistics_of(t).fetched, 3);
	assert_int_equal(statistics_of(t).batches, 2);
	assert_int_equal(statistics_of(t).evicted, 0);
}

static void a_key_past_the_end_is_told(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;

	open_plain(t, 64, 100, 10);
	t->key[0] = 99;
	t->key[1] = 100;
	t->key[2] = INT64_MAX;
	resolve(t, 3);
	fill_slots(t);
	check_item(t, t->slot[0], 99);
	assert_int_equal(t->slot[1], -1);
	assert_int_equal(t->slot[2], -1);
	assert_int_equal(gn_slots_failure(t->slots, &t->base.error), -GN_ERANGE);
	says(t, "is past the end");
	says(t, "failures so far: 2");
	no_failure(t);
	assert_int_equal(statistics_of(t).refused, 2);
	assert_int_equal(ask_one(t, 99), t->slot[0]);
	no_failure(t);
}

/* Any distinct keys fit, as long as there are slots for them; then some do not, and that is told. */
static void a_batch_fills_all_slots(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	uint32_t none = 0;

	open_plain(t, 64, 1000, 61);
	for (int64_t first = 0; first < 900; first += 50) {
		ask_range(t, first, 61);
		check_batch(t, 61);
	}
	no_failure(t);
	ask_range(t, 0, 70);
	for (uint32_t k = 0; k < 70; k++) {
		none += t->slot[k] < 0;
		assert_int_equal(t->missed[k], t->slot[k] >= 0);
		if (t->slot[k] >= 0)
			check_item(t, t->slot[k], k);
	}
	assert_int_equal(none, 9);
	assert_int_equal(statistics_of(t).no_slot, 9);
	assert_int_equal(gn_slots_failure(t->slots, &t->base.error), -GN_ENOBUFS);
	says(t, "found no slot");
	ask_range(t, 500, 61);
	check_batch(t, 61);
	no_failure(t);
}

static void an_empty_batch_is_one(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;

	open_plain(t, 64, 100, 3);
	ask_range(t, 0, 0);
	assert_int_equal(statistics_of(t).batches, 1);
	ask_range(t, 0, 3);
	check_batch(t, 3);
	no_failure(t);
}

static void a_batch_before_the_fill_is_refused(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;

	open_plain(t, 64, 100, 10);
	ask_range(t, 0, 4);
	t->key[0] = 0;
	t->key[1] = 50;
	resolve(t, 2);
	assert_true(t->slot[1] >= 0);
	resolve(t, 2);
	assert_int_equal(t->slot[0], -1);
	assert_int_equal(t->slot[1], -1);
	fill_slots(t);
	assert_int_equal(gn_slots_failure(t->slots, &t->base.error), -GN_EBUSY);
	says(t, "call gn_slots_fill between them");
	resolve(t, 2);
	fill_slots(t);
	check_batch(t, 2);
	fill_slots(t); /* once more is nothing */
	assert_int_equal(statistics_of(t).fetched, 5);
	no_failure(t);
}

/* ---- hints ---- */

static void only_what_is_resident(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;

	open_plain(t, 64, 100, 10);
	ask_range(t, 0, 3);
	t->hints = GN_SLOTS_RESIDENT;
	ask_range(t, 2, 4);
	check_item(t, t->slot[0], 2);
	for (int k = 1; k < 4; k++) {
		assert_int_equal(t->slot[k], -1);
		assert_int_equal(t->missed[k], 0);
	}
	assert_int_equal(statistics_of(t).misses, 6);
	assert_int_equal(statistics_of(t).fetched, 3);
	no_failure(t);
	t->hints = 0;
}

/* Items that are wanted once leave before those that were used before them. */
static void what_is_wanted_once_leaves_first(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;

	for (int policy = GN_SLOTS_CLOCK; policy <= GN_SLOTS_LRU; policy++) {
		open_plain(t, 64, 1000, 20);
		t->options.policy = (enum gn_slots_policy)policy;
		open_slots(t);
		ask_range(t, 0, 15);
		t->hints = GN_SLOTS_ONCE;
		for (int64_t first = 100; first < 200; first += 5) {
			ask_range(t, first, 5);
			check_batch(t, 5);
		}
		t->hints = GN_SLOTS_RESIDENT;
		ask_range(t, 0, 15);
		check_batch(t, 15);
		t->hints = 0;
		no_failure(t);
	}
}

/* Priority 3 is resident after a stream of so many others; with lru whatever the stream's length. */
static void priorities_stay_longer(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;

	for (int policy = GN_SLOTS_CLOCK; policy <= GN_SLOTS_LRU; policy++) {
		open_plain(t, 64, 1000, 20);
		t->options.policy = (enum gn_slots_policy)policy;
		open_slots(t);
		t->priority = 3;
		ask_range(t, 0, 5);
		t->priority = 0;
		for (int64_t first = 100; first < 130 + 300 * policy; first += 3)
			ask_range(t, first, 3);
		t->hints = GN_SLOTS_RESIDENT;
		ask_range(t, 0, 5);
		check_batch(t, 5);
		t->hints = 0;
		no_failure(t);
	}
}

/* ---- what leaves ---- */

/* The textbook's clock and list over single keys, against the slots. */
struct policy_model {
	int64_t key[16];
	uint32_t lives[16], last[16], slots, hand, now;
};

static uint32_t model_victim(struct policy_model *m, int is_lru)
{
	uint32_t best = 0;

	if (is_lru) {
		for (uint32_t k = 1; k < m->slots; k++)
			best = m->last[k] < m->last[best] ? k : best;
		return best;
	}
	for (;; m->hand = (m->hand + 1) % m->slots) {
		best = m->hand;
		if (!m->lives[best])
			break;
		m->lives[best]--;
	}
	m->hand = (m->hand + 1) % m->slots;
	return best;
}

static uint32_t model_use(struct policy_model *m, int64_t key, int is_lru)
{
	uint32_t slot = 0;

	m->now++;
	while (slot < m->slots && m->key[slot] != key)
		slot++;
	if (slot == m->slots)
		slot = model_victim(m, is_lru);
	m->key[slot] = key;
	m->lives[slot] = 1;
	m->last[slot] = m->now;
	return slot;
}

static void what_leaves(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;

	for (int policy = GN_SLOTS_CLOCK; policy <= GN_SLOTS_LRU; policy++) {
		for (uint32_t slots = 1; slots <= 16; slots += 5) {
			struct policy_model m = {{0}, {0}, {0}, slots, 0, 0};

			memset(m.key, 0xff, sizeof m.key);
			open_plain(t, 64, 60, slots);
			t->options.policy = (enum gn_slots_policy)policy;
			open_slots(t);
			for (int k = 0; k < few_drawn(60, 300); k++) {
				const int64_t key = (int64_t)draw(t, 1 + draw(t, 60));

				assert_int_equal(ask_one(t, key), model_use(&m, key, policy == GN_SLOTS_LRU));
			}
		}
	}
}

/* The number of a batch comes round, and ages with it. */
static void numbers_of_batches_come_round(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	const uint32_t starts[] = {GN__AGE - 5, GN__STAMP - 5, 2 * GN__AGE - 3};

	for (int k = 0; k < 3; k++) {
		open_plain(t, 64, 100, 4);
		t->options.policy = GN_SLOTS_LRU;
		open_slots(t);
		ask_range(t, 0, 3); /* old when the number jumps */
		assert_int_equal(simt_move(t->base.machine, &t->slots->view.shared->now, &starts[k], 4, NULL),
		                 0);
		ask_one(t, 50);
		for (int64_t key = 60; key < 80; key++) {
			ask_one(t, 50);
			check_item(t, t->slot[0], 50);
			ask_one(t, key);
			check_item(t, t->slot[0], key);
		}
		t->hints = GN_SLOTS_RESIDENT;
		ask_range(t, 0, 3);
		for (int n = 0; n < 3; n++)
			assert_int_equal(t->slot[n], -1);
		assert_true(ask_one(t, 50) >= 0);
		assert_true(ask_one(t, 78) >= 0);
		t->hints = 0;
		no_failure(t);
	}
}

#define SLOTS_TEST(f) cmocka_unit_test_setup_teardown(f, slots_setup, slots_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {SLOTS_TEST(every_size_from_host_memory),
	                                   SLOTS_TEST(every_size_from_queue_pairs),
	                                   SLOTS_TEST(every_size_from_a_file),
	                                   SLOTS_TEST(items_that_cross_units_and_lines),
	                                   SLOTS_TEST(equal_keys_and_padding),
	                                   SLOTS_TEST(a_key_past_the_end_is_told),
	                                   SLOTS_TEST(a_batch_fills_all_slots),
	                                   SLOTS_TEST(an_empty_batch_is_one),
	                                   SLOTS_TEST(a_batch_before_the_fill_is_refused),
	                                   SLOTS_TEST(only_what_is_resident),
	                                   SLOTS_TEST(what_is_wanted_once_leaves_first),
	                                   SLOTS_TEST(priorities_stay_longer),
	                                   SLOTS_TEST(what_leaves),
	                                   SLOTS_TEST(numbers_of_batches_come_round)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
