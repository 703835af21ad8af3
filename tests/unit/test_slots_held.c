/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots that stay their items': pins, batches that hold theirs, changes that reach the store; and what is
 * refused.
 */
#include "test_slots_support.h"

/* ---- pins, and slots that are held ---- */

static void pinned_slots_stay(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	int32_t *pinned =
	    (int32_t *)simt_alloc(t->base.machine, 8 * sizeof *pinned, SIMT_PINNED, &t->base.error);

	open_plain(t, 64, 1000, 10);
	t->hints = GN_SLOTS_PIN;
	ask_range(t, 0, 4);
	memcpy(pinned, t->slot, 4 * sizeof *pinned);
	pinned[4] = -1;
	t->hints = 0;
	for (int64_t first = 100; first < 400; first += 6) {
		ask_range(t, first, 6);
		check_batch(t, 6);
		for (int k = 0; k < 4; k++)
			check_item(t, pinned[k], k);
	}
	no_failure(t);
	assert_int_equal(gn_slots_pin(t->slots, pinned, 2, NULL, &t->base.error), 0);
	assert_int_equal(gn_slots_unpin(t->slots, pinned, 5, NULL, &t->base.error), 0);
	ask_range(t, 500, 8); /* two are still pinned */
	check_batch(t, 8);
	no_failure(t);
	check_item(t, pinned[0], 0);
	check_item(t, pinned[1], 1);
	ask_range(t, 600, 9);
	assert_int_equal(gn_slots_failure(t->slots, &t->base.error), -GN_ENOBUFS);
	assert_int_equal(gn_slots_unpin(t->slots, pinned, 2, NULL, &t->base.error), 0);
	ask_range(t, 700, 10);
	check_batch(t, 10);
	no_failure(t);
	simt_free(t->base.machine, pinned);
}

static void pins_that_are_wrong_are_told(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;

	open_plain(t, 64, 100, 10);
	ask_range(t, 0, 3);
	assert_int_equal(gn_slots_unpin(t->slots, t->slot, 1, NULL, &t->base.error), 0);
	wait_all(t);
	assert_int_equal(gn_slots_failure(t->slots, &t->base.error), -GN_EINVAL);
	says(t, "unpin as often as you pin");
	t->slot[0] = 10;
	assert_int_equal(gn_slots_pin(t->slots, t->slot, 1, NULL, &t->base.error), 0);
	wait_all(t);
	assert_int_equal(gn_slots_failure(t->slots, &t->base.error), -GN_ERANGE);
	ask_range(t, 50, 10);
	check_batch(t, 10);
	no_failure(t);
}

/* With keep 2 the slots of a batch are its items' until the batch after the next is resolved. */
static void batches_hold_their_slots(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	int32_t before[5];
	int64_t keys[5];

	open_plain(t, 64, 1000, 10);
	t->options.keep = 2;
	open_slots(t);
	for (int64_t first = 0; first < 200; first += 5) {
		ask_range(t, first, 5);
		check_batch(t, 5);
		for (int k = 0; k < 5 && first; k++)
			check_item(t, before[k], keys[k]);
		memcpy(before, t->slot, sizeof before);
		memcpy(keys, t->key, sizeof keys);
	}
	no_failure(t);
	ask_range(t, 500, 6); /* five are held */
	assert_int_equal(gn_slots_failure(t->slots, &t->base.error), -GN_ENOBUFS);
}

/* Unpins run on another stream while batches are resolved on the first. */
static void pins_end_on_another_stream(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	struct simt_stream *moves, *uses;
	struct gn_slots_batch batch;
	int32_t *pinned =
	    (int32_t *)simt_alloc(t->base.machine, 64 * sizeof *pinned, SIMT_PINNED, &t->base.error);

	open_plain(t, 64, 4000, 24);
	assert_int_equal(simt_stream_create(&moves, t->base.machine, &t->base.error), 0);
	assert_int_equal(simt_stream_create(&uses, t->base.machine, &t->base.error), 0);
	t->hints = GN_SLOTS_PIN;
	for (int64_t round = 0; round < few_drawn(20, 100); round++) {
		for (int k = 0; k < 8; k++)
			t->key[k] = round * 8 + k;
		batch = batch_of(t, 8);
		assert_int_equal(gn_slots_resolve(t->slots, &batch, moves, &t->base.error), 0);
		assert_int_equal(gn_slots_fill(t->slots, moves, &t->base.error), 0);
		assert_int_equal(simt_stream_wait(moves, &t->base.error), 0);
		check_batch(t, 8);
		assert_int_equal(simt_stream_wait(uses, &t->base.error),
		                 0); /* the unpin of the round before */
		memcpy(pinned, t->slot, 8 * sizeof *pinned);
		assert_int_equal(gn_slots_unpin(t->slots, pinned, 8, uses, &t->base.error), 0);
	}
	assert_int_equal(simt_stream_wait(uses, &t->base.error), 0);
	no_failure(t);
	t->hints = 0;
	ask_range(t, 0, 24);
	check_batch(t, 24);
	no_failure(t);
	simt_stream_destroy(moves);
	simt_stream_destroy(uses);
	simt_free(t->base.machine, pinned);
}

/* ---- changes ---- */

/* Change all words of the batch's slots and mark them. */
static void change_batch(struct slots_test *t, uint32_t count)
{
	const uint64_t words = t->info.item_bytes / 8;
	uint64_t *word = (uint64_t *)(void *)t->item;

	for (uint32_t k = 0; k < count; k++) {
		for (uint64_t n = 0; n < words; n++)
			word[n] = ~word_of((uint64_t)t->key[k] * words + n);
		assert_int_equal(simt_move(t->base.machine,
		                           (char *)t->info.slab + (uint64_t)t->slot[k] * t->info.item_bytes,
		                           word, t->info.item_bytes, &t->base.error),
		                 0);
	}
	assert_int_equal(gn_slots_mark(t->slots, t->slot, count, NULL, &t->base.error), 0);
	wait_all(t);
}

static void check_stored(struct slots_test *t, uint64_t items, uint64_t changed)
{
	const uint64_t words = t->info.item_bytes / 8;
	const uint64_t *word = (const uint64_t *)(void *)t->item;

	for (uint64_t key = 0; key < items; key++) {
		assert_int_equal(gn_store_read_host(t->base.store, key * t->info.item_bytes, t->item,
		                                    t->info.item_bytes, &t->base.error),
		                 0);
		for (uint64_t n = 0; n < words; n++)
			assert_int_equal(word[n], key < changed ? ~word_of(key * words + n)
			                                        : word_of(key * words + n));
	}
}

/* Whatever the size: written before their slots are given away, or by a flush. */
static void changed_items_reach_the_store(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	const uint64_t bytes[] = {64, 80, 4096, 12288, (1 << 20) + 16, 8 << 20};
	const char *const stores[] = {"host", "memq"};

	for (int s = 0; s < 2; s++)
		for (int b = 0; b < few_or_all(4, 6); b++) {
			open_filled(t, stores[s], bytes[b] * 12);
			memset(&t->options, 0, sizeof t->options);
			t->options.item_bytes = bytes[b];
			t->options.slots = 4;
			open_slots(t);
			if (!gn__slots_may_write(&t->slots->view))
				continue;
			for (int64_t first = 0; first < 9; first += 3) {
				ask_range(t, first, 3);
				check_batch(t, 3);
				change_batch(t, 3);
			}
			assert_int_equal(gn_slots_flush(t->slots, NULL, &t->base.error), 0);
			wait_all(t);
			check_stored(t, 12, 9);
			assert_int_equal(statistics_of(t).written, 9);
			ask_range(t, 9, 3);
			check_batch(t, 3);
			no_failure(t);
		}
}

static void marks_that_are_refused(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	struct gn_slots_batch batch;

	open_filled(t, "memq", 80 * 100);
	memset(&t->options, 0, sizeof t->options);
	t->options.item_bytes = 80;
	t->options.slots = 4;
	open_slots(t);
	ask_range(t, 0, 4);
	assert_int_equal(gn_slots_mark(t->slots, t->slot, 4, NULL, &t->base.error), -GN_ENOTSUP);
	says(t, "not whole blocks of the store (512 bytes)");
	batch = batch_of(t, 1);
	batch.hints = GN_SLOTS_OVERWRITE;
	assert_int_equal(gn_slots_resolve(t->slots, &batch, NULL, &t->base.error), -GN_ENOTSUP);
	assert_int_equal(gn_slots_flush(t->slots, NULL, &t->base.error), 0);
	close_all(t);
	assert_int_equal(gn_store_open(&t->base.store, t->base.machine, "host:64K?ro", NULL, &t->base.error),
	                 0);
	open_slots(t);
	ask_one(t, 3);
	assert_int_equal(gn_slots_mark(t->slots, t->slot, 1, NULL, &t->base.error), -GN_EROFS);
	says(t, "opened read-only");
	no_failure(t);
}

/* ---- the rest ---- */

static void clear_forgets_everything(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	const uint64_t other = 42;
	uint64_t word;

	open_plain(t, 64, 100, 10);
	t->hints = GN_SLOTS_PIN;
	ask_range(t, 0, 10);
	t->hints = 0;
	assert_int_equal(gn_store_write_host(t->base.store, 64, &other, 8, &t->base.error), 0);
	assert_int_equal(gn_slots_clear(t->slots, NULL, &t->base.error), 0);
	ask_range(t, 1, 10);
	assert_int_equal(
	    simt_move(t->base.machine, &word, (char *)t->info.slab + 64 * t->slot[0], 8, &t->base.error), 0);
	assert_int_equal(word, 42);
	assert_int_equal(statistics_of(t).fetched, 20);
	no_failure(t);
}

static void a_slab_of_the_callers(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	void *slab = simt_alloc(t->base.machine, 10 * 80, SIMT_DEVICE, NULL);

	open_filled(t, "host", 80 * 50);
	memset(&t->options, 0, sizeof t->options);
	t->options.item_bytes = 80;
	t->options.bytes = 10 * 80 + 79;
	t->options.slab = slab;
	open_slots(t);
	assert_int_equal(t->info.slots, 10);
	assert_ptr_equal(t->info.slab, slab);
	for (int64_t first = 0; first < 40; first += 3) {
		ask_range(t, first, 10);
		check_batch(t, 10);
	}
	close_slots(t);
	simt_free(t->base.machine, slab);
}

static void refused(struct slots_test *t, int code, const char *words)
{
	struct gn_slots *slots = NULL;

	assert_int_equal(gn_slots_create(&slots, t->base.machine, t->base.store, &t->options, &t->base.error),
	                 code);
	assert_null(slots);
	says(t, words);
	memset(&t->options, 0, sizeof t->options);
	t->options.item_bytes = 64;
	t->options.slots = 10;
}

static void options_that_are_refused(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	struct gn_slots *slots;

	open_plain(t, 64, 100, 10);
	t->options.item_bytes = 72;
	refused(t, -GN_EINVAL, "items of 72 bytes");
	t->options.item_bytes = 0;
	refused(t, -GN_EINVAL, "items of 0 bytes");
	t->options.item_bytes = (64 << 20) + 16;
	refused(t, -GN_EINVAL, "a multiple of 16 from 16 to");
	t->options.offset = 8;
	refused(t, -GN_EINVAL, "begin at byte 8");
	t->options.slots = 0;
	refused(t, -GN_EINVAL, "0 slots are not possible");
	t->options.items = 101;
	refused(t, -GN_EINVAL, "room for 100 items");
	t->options.offset = 64 * 100;
	refused(t, -GN_EINVAL, "room for 0 items");
	t->options.policy = (enum gn_slots_policy)2;
	refused(t, -GN_EINVAL, "no policy 2");
	t->options.keep = 5000;
	refused(t, -GN_EINVAL, "5000 batches");
	t->options.most_keys = 1u << 30;
	refused(t, -GN_EINVAL, "keys are not possible");
	t->options.slab = (char *)0 + 8;
	refused(t, -GN_EINVAL, "align it to 16 bytes");
	assert_int_equal(gn_slots_create(&slots, t->base.machine, NULL, &t->options, &t->base.error),
	                 -GN_EINVAL);
}

static void batches_that_are_refused(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;
	struct gn_slots_batch b;
	struct simt_machine *other;
	struct simt_stream *stream;
	const struct simt_options cpu = {"cpu", 1, 1, SIMT_FAIR, 0};

	open_plain(t, 64, 100, 10);
	b = batch_of(t, 4097);
	assert_int_equal(gn_slots_resolve(t->slots, &b, NULL, &t->base.error), -GN_EINVAL);
	says(t, "larger than options.most_keys (4096)");
	b = batch_of(t, 1);
	b.hints = 64;
	assert_int_equal(gn_slots_resolve(t->slots, &b, NULL, &t->base.error), -GN_EINVAL);
	says(t, "no hints 0x40");
	b.hints = 0;
	b.priority = 4;
	assert_int_equal(gn_slots_resolve(t->slots, &b, NULL, &t->base.error), -GN_EINVAL);
	b.priority = 0;
	b.slot = NULL;
	assert_int_equal(gn_slots_resolve(t->slots, &b, NULL, &t->base.error), -GN_EINVAL);
	assert_int_equal(gn_slots_pin(t->slots, NULL, 1, NULL, &t->base.error), -GN_EINVAL);
	assert_int_equal(simt_open(&other, &cpu, &t->base.error), 0);
	assert_int_equal(simt_stream_create(&stream, other, &t->base.error), 0);
	assert_int_equal(gn_slots_fill(t->slots, stream, &t->base.error), -GN_EINVAL);
	says(t, "belongs to another machine");
	simt_stream_destroy(stream);
	simt_close(other);
	assert_int_equal(statistics_of(t).batches, 0);
}

#define SLOTS_TEST(f) cmocka_unit_test_setup_teardown(f, slots_setup, slots_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {SLOTS_TEST(pinned_slots_stay),
	                                   SLOTS_TEST(pins_that_are_wrong_are_told),
	                                   SLOTS_TEST(batches_hold_their_slots),
	                                   SLOTS_TEST(pins_end_on_another_stream),
	                                   SLOTS_TEST(changed_items_reach_the_store),
	                                   SLOTS_TEST(marks_that_are_refused),
	                                   SLOTS_TEST(clear_forgets_everything),
	                                   SLOTS_TEST(a_slab_of_the_callers),
	                                   SLOTS_TEST(options_that_are_refused),
	                                   SLOTS_TEST(batches_that_are_refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
