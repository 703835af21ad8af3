/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_slots_support.h - a machine, a store with known content, slots over it and a batch; and a model of
 * what the slots hold, which says what each batch must give.
 *
 * The store's 8-byte word k holds word_of(k).
 */
#ifndef GN_TESTS_SLOTS_SUPPORT_H
#define GN_TESTS_SLOTS_SUPPORT_H

#include <slots/map.h>
#include <slots/slots.h>

#include "test_store_support.h"

enum { MOST_KEYS = 512, CHUNK_WORDS = 8192 };

struct slots_test {
	struct store_test base; /* first: machine, store, error, folder, file */
	struct gn_slots *slots;
	struct gn_slots_info info;
	struct gn_slots_options options;
	/* of the next batch, in pinned memory: [MOST_KEYS] */
	int64_t *key;
	int32_t *slot;
	uint8_t *missed;
	uint32_t hints, priority;
	char *item;    /* host memory for one */
	uint64_t seed; /* of draws */
};

static inline uint64_t word_of(uint64_t k)
{
	return (k + 1) * 0x9e3779b97f4a7c15u;
}

static inline uint64_t draw(struct slots_test *t, uint64_t bound)
{
	t->seed = t->seed * 6364136223846793005u + 1442695040888963407u;
	return (t->seed >> 20) % bound;
}

/* ---- set up and tear down ---- */

static inline void open_batch(struct slots_test *t)
{
	struct simt_machine *m = t->base.machine;

	t->key = (int64_t *)simt_alloc(m, MOST_KEYS * sizeof *t->key, SIMT_PINNED, NULL);
	t->slot = (int32_t *)simt_alloc(m, MOST_KEYS * sizeof *t->slot, SIMT_PINNED, NULL);
	t->missed = (uint8_t *)simt_alloc(m, MOST_KEYS, SIMT_PINNED, NULL);
}

static inline void close_batch(struct slots_test *t)
{
	simt_free(t->base.machine, t->key);
	simt_free(t->base.machine, t->slot);
	simt_free(t->base.machine, t->missed);
}

static inline int slots_setup(void **state)
{
	struct slots_test *t;

	if (store_setup(state))
		return -1;
	t = (struct slots_test *)realloc(*state, sizeof *t);
	if (!t)
		return -1;
	memset((char *)t + sizeof t->base, 0, sizeof *t - sizeof t->base);
	open_batch(t);
	*state = t;
	return 0;
}

static inline void close_slots(struct slots_test *t)
{
	gn_slots_destroy(t->slots);
	t->slots = NULL;
	free(t->item);
	t->item = NULL;
}

static inline void close_all(struct slots_test *t)
{
	close_slots(t);
	gn_store_close(t->base.store);
	t->base.store = NULL;
}

static inline int slots_teardown(void **state)
{
	struct slots_test *t = (struct slots_test *)*state;

	close_slots(t);
	close_batch(t);
	return store_teardown(state);
}

/* Another machine instead, before anything is opened on it. */
static inline void use_machine(struct slots_test *t, unsigned threads, unsigned warp_width)
{
	close_all(t);
	close_batch(t);
	simt_close(t->base.machine);
	t->base.machine = open_machine(threads, warp_width);
	open_batch(t);
}

static inline void fill_store(struct slots_test *t)
{
	const uint64_t words = gn_store_view_of(t->base.store)->capacity_bytes / 8;
	static uint64_t chunk[CHUNK_WORDS];

	for (uint64_t at = 0; at < words; at += CHUNK_WORDS) {
		const uint64_t some = words - at < CHUNK_WORDS ? words - at : (uint64_t)CHUNK_WORDS;

		for (uint64_t k = 0; k < some; k++)
			chunk[k] = word_of(at + k);
		if (gn_store_write_host(t->base.store, at * 8, chunk, some * 8, &t->base.error))
			fail_msg("%s", t->base.error.text);
	}
}

/* A filled store of so many bytes: "host", "memq", or "file" with its options behind a question mark. */
static inline void open_filled(struct slots_test *t, const char *scheme, uint64_t bytes)
{
	char uri[320];

	close_all(t);
	unlink(t->base.file);
	if (strncmp(scheme, "file", 4))
		snprintf(uri, sizeof uri, "%s:%llu", scheme, (unsigned long long)bytes);
	else
		snprintf(uri, sizeof uri, "file:%s?create=%llu%s%s", t->base.file, (unsigned long long)bytes,
		         scheme[4] ? "&" : "", scheme[4] ? scheme + 5 : "");
	if (gn_store_open(&t->base.store, t->base.machine, uri, NULL, &t->base.error))
		fail_msg("%s", t->base.error.text);
	fill_store(t);
}

/* Slots over the store, by t->options. */
static inline void open_slots(struct slots_test *t)
{
	close_slots(t);
	if (gn_slots_create(&t->slots, t->base.machine, t->base.store, &t->options, &t->base.error))
		fail_msg("%s", t->base.error.text);
	gn_slots_describe(t->slots, &t->info);
	t->item = (char *)malloc(t->info.item_bytes);
}

/* Slots for items of a filled host: store. */
static inline void open_plain(struct slots_test *t, uint64_t item_bytes, uint64_t items, uint32_t slots)
{
	open_filled(t, "host", item_bytes * items);
	memset(&t->options, 0, sizeof t->options);
	t->options.item_bytes = item_bytes;
	t->options.slots = slots;
	open_slots(t);
}

/* ---- batches ---- */

static inline struct gn_slots_batch batch_of(struct slots_test *t, uint32_t count)
{
	const struct gn_slots_batch batch = {t->key, t->slot, t->missed, count, t->hints, t->priority};

	return batch;
}

static inline void wait_all(struct slots_test *t)
{
	if (simt_wait(t->base.machine, &t->base.error))
		fail_msg("%s", t->base.error.text);
}

static inline void resolve(struct slots_test *t, uint32_t count)
{
	const struct gn_slots_batch batch = batch_of(t, count);

	if (gn_slots_resolve(t->slots, &batch, NULL, &t->base.error))
		fail_msg("%s", t->base.error.text);
	wait_all(t);
}

static inline void fill_slots(struct slots_test *t)
{
	if (gn_slots_fill(t->slots, NULL, &t->base.error))
		fail_msg("%s", t->base.error.text);
	wait_all(t);
}

/* One key: resolve and fill. Returns its slot. */
static inline int32_t ask_one(struct slots_test *t, int64_t key)
{
	t->key[0] = key;
	resolve(t, 1);
	fill_slots(t);
	return t->slot[0];
}

/* Keys first, first + 1, ... count of them. */
static inline void ask_range(struct slots_test *t, int64_t first, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++)
		t->key[k] = first + k;
	resolve(t, count);
	fill_slots(t);
}

static inline void no_failure(struct slots_test *t)
{
	if (gn_slots_failure(t->slots, &t->base.error))
		fail_msg("%s", t->base.error.text);
}

static inline void says(struct slots_test *t, const char *words)
{
	assert_says(&t->base, words, words);
}

static inline struct gn_slots_statistics statistics_of(struct slots_test *t)
{
	struct gn_slots_statistics s;

	assert_int_equal(gn_slots_get_statistics(t->slots, NULL, &s, &t->base.error), 0);
	return s;
}

/* Every word of a slot is its item's. */
static inline void check_item(struct slots_test *t, int32_t slot, int64_t key)
{
	const uint64_t bytes = t->info.item_bytes, first = (t->options.offset + (uint64_t)key * bytes) / 8;
	const uint64_t *word = (const uint64_t *)(void *)t->item;

	assert_in_range(slot, 0, t->info.slots - 1);
	assert_int_equal(
	    simt_move(t->base.machine, t->item, (char *)t->info.slab + (uint64_t)slot * bytes, bytes, NULL),
	    0);
	for (uint64_t k = 0; k < bytes / 8; k++)
		if (word[k] != word_of(first + k))
			fail_msg("key %lld in slot %d: word %llu of %llu is not its item's", (long long)key,
			         slot, (unsigned long long)k, (unsigned long long)bytes / 8);
}

/* A copy of device memory; to be freed. */
static inline void *copy_of(struct slots_test *t, const void *from, size_t bytes)
{
	void *to = malloc(bytes);

	assert_non_null(to);
	assert_int_equal(simt_move(t->base.machine, to, from, bytes, NULL), 0);
	return to;
}

/* Every item is in the map once, where a search finds it, and the groups count what passes them, exactly. */
static inline void check_map(struct slots_test *t)
{
	const struct gn__slots_view *v = &t->slots->view;
	int64_t *key = (int64_t *)copy_of(t, v->key, v->slots * sizeof *key);
	struct gn__slots_group *group =
	    (struct gn__slots_group *)copy_of(t, v->group, v->groups * sizeof *group);
	uint64_t *passed = (uint64_t *)calloc(v->groups, sizeof *passed), resident = 0, words = 0;

	for (uint32_t s = 0; s < v->slots; s++)
		resident += key[s] >= 0;
	for (uint32_t g = 0; g < v->groups; g++)
		for (int k = 0; k < GN__GROUP_WORDS; k++) {
			const uint64_t word = group[g].word[k];
			const uint32_t slot = (uint32_t)(word & ((1ull << v->slot_bits) - 1));

			if (word == GN__NO_ITEM)
				continue;
			words++;
			assert_in_range(slot, 0, v->slots - 1);
			assert_int_equal(word >> v->slot_bits, key[slot]);
			for (uint32_t at = gn__home_of(v, key[slot]); at != g; at = gn__next_group(v, at))
				passed[at]++;
		}
	assert_int_equal(words, resident);
	for (uint32_t g = 0; g < v->groups; g++)
		assert_int_equal(group[g].passed, passed[g]);
	free(key);
	free(group);
	free(passed);
}

/* The batch has the bytes of all keys; each different key a slot of its own. */
static inline void check_batch(struct slots_test *t, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++) {
		if (t->key[k] < 0) {
			assert_int_equal(t->slot[k], -1);
			continue;
		}
		check_item(t, t->slot[k], t->key[k]);
		for (uint32_t n = 0; n < k; n++)
			assert_int_equal(t->slot[n] == t->slot[k], t->key[n] == t->key[k]);
	}
}

#endif
