/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_slots_model.h - what slots must hold, by their contract alone: a table of slots on the host, batches
 * drawn at random, and what each may and must give. Which slot is given away is not the contract's.
 */
#ifndef GN_TESTS_SLOTS_MODEL_H
#define GN_TESTS_SLOTS_MODEL_H

#include "test_slots_support.h"

enum { MODEL_SLOTS = 128, MODEL_PINNED = 4 };

struct slots_model {
	int64_t key[MODEL_SLOTS]; /* or -1 */
	uint32_t pins[MODEL_SLOTS], used[MODEL_SLOTS], now;
	/* items whose bytes the store has not: marked; and who was in a slot before the batch */
	int dirty[MODEL_SLOTS], was_dirty[MODEL_SLOTS];
	int64_t was[MODEL_SLOTS];
	uint32_t *version; /* [items] how often an item was changed */
	int may_fail;      /* items that cannot be read or written are expected */
	int may_write;
	uint32_t kept;            /* items that could not be written when they were to leave */
	int32_t given[MOST_KEYS]; /* by resolve, before the fill */
	/* batches whose slots are pinned, in the order of their pins */
	int32_t pinned[MODEL_PINNED][MOST_KEYS];
	uint32_t pinned_count[MODEL_PINNED], pinned_batches;
	struct gn_slots_statistics s;
	char *slab; /* host memory for a copy */
};

static inline void model_open(struct slots_test *t, struct slots_model *m)
{
	memset(m, 0, sizeof *m);
	memset(m->key, 0xff, sizeof m->key);
	m->now = 5000;
	m->version = (uint32_t *)calloc(t->info.items, sizeof *m->version);
	m->may_write = gn__slots_may_write(&t->slots->view);
	m->slab = (char *)malloc(t->info.slots * t->info.item_bytes);
	assert_in_range(t->info.slots, 1, MODEL_SLOTS);
}

static inline void model_close(struct slots_model *m)
{
	free(m->version);
	free(m->slab);
}

/* Word k of an item, as it was changed last. */
static inline uint64_t model_word(const struct slots_test *t, const struct slots_model *m, int64_t key,
                                  uint64_t k)
{
	return word_of(t->options.offset / 8 + (uint64_t)key * (t->info.item_bytes / 8) + k) +
	       0x123456789abcdefull * m->version[key];
}

static inline int32_t model_find(const struct slots_test *t, const struct slots_model *m, int64_t key)
{
	for (uint32_t s = 0; s < t->info.slots && key >= 0; s++)
		if (m->key[s] == key)
			return (int32_t)s;
	return -1;
}

static inline int model_held(const struct slots_test *t, const struct slots_model *m, uint32_t s)
{
	const uint32_t keep = t->options.keep ? t->options.keep : 1;

	return m->pins[s] || (m->key[s] >= 0 && m->now - m->used[s] < keep);
}

static inline int asks(const struct slots_test *t, int64_t key)
{
	return key >= 0 && key < (int64_t)t->info.items;
}

/* ---- what a resolve gave ---- */

static inline void model_hits(struct slots_test *t, struct slots_model *m, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++) {
		const int32_t slot = asks(t, t->key[k]) ? model_find(t, m, t->key[k]) : -1;

		m->s.refused += t->key[k] >= (int64_t)t->info.items;
		m->s.hits += slot >= 0;
		m->s.misses += asks(t, t->key[k]) && slot < 0;
		if (slot < 0)
			continue;
		assert_int_equal(t->slot[k], slot);
		assert_int_equal(t->missed[k], 0);
		m->used[slot] = m->now;
	}
}

/* Keys that were not resident: each new item has a slot of its own that was not held. */
static inline void model_misses(struct slots_test *t, struct slots_model *m, uint32_t count)
{
	const struct slots_model before = *m;
	uint32_t none = 0, available = 0;

	for (uint32_t s = 0; s < t->info.slots; s++)
		available += !model_held(t, m, s);
	for (uint32_t k = 0; k < count; k++) {
		const int32_t slot = t->slot[k];

		if (!asks(t, t->key[k]) ||
		    (t->hints & GN_SLOTS_RESIDENT && model_find(t, &before, t->key[k]) < 0)) {
			assert_int_equal(slot, -1);
			continue;
		}
		if (model_find(t, &before, t->key[k]) >= 0)
			continue;
		assert_int_equal(t->missed[k], slot >= 0);
		if (slot < 0) {
			uint32_t n = 0;

			while (t->key[n] != t->key[k])
				n++;
			none += n == k;
			assert_int_equal(model_find(t, m, t->key[k]), -1);
			continue;
		}
		if (model_find(t, m, t->key[k]) == slot)
			continue;
		assert_int_equal(model_find(t, m, t->key[k]), -1);
		assert_false(model_held(t, m, (uint32_t)slot));
		m->s.evicted += m->key[slot] >= 0;
		m->was[slot] = m->key[slot];
		m->was_dirty[slot] = m->dirty[slot];
		m->s.written += (uint64_t)m->dirty[slot];
		m->dirty[slot] = 0;
		m->key[slot] = t->key[k];
		m->used[slot] = m->now;
		m->s.fetched += !(t->hints & GN_SLOTS_OVERWRITE);
		available--;
	}
	assert_true(!none || !available);
	m->s.no_slot += none;
}

static inline void model_pins(struct slots_test *t, struct slots_model *m, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++)
		if (t->hints & GN_SLOTS_PIN && t->slot[k] >= 0)
			m->pins[t->slot[k]]++;
}

/* ---- what the fill left ---- */

/* An item is not in its slot, because it could not be read, or the one before could not be written. */
static inline void model_fails(struct slots_test *t, struct slots_model *m, int32_t slot)
{
	int64_t key;

	assert_int_equal(simt_move(t->base.machine, &key, &t->slots->view.key[slot], sizeof key, NULL), 0);
	assert_true(key == -1 || (m->was_dirty[slot] && key == m->was[slot]));
	if (key >= 0) {
		m->kept++;
		m->dirty[slot] = 1;
		m->s.written--;
		m->s.evicted--;
	}
	m->key[slot] = key;
	m->s.fetched -= !(t->hints & GN_SLOTS_OVERWRITE);
	m->s.failed++;
}

/* Of items that could not be read all keys have lost their slot, and no others. */
static inline void model_lost(struct slots_test *t, struct slots_model *m, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++) {
		const int32_t slot = m->given[k];

		if (t->slot[k] == slot)
			continue;
		assert_true(m->may_fail);
		assert_int_equal(t->slot[k], -1);
		assert_int_equal(t->missed[k], 1);
		if (t->hints & GN_SLOTS_PIN)
			m->pins[slot]--;
		for (uint32_t n = 0; n < count; n++)
			assert_true(t->key[n] != t->key[k] || t->slot[n] == -1);
		if (m->key[slot] == t->key[k])
			model_fails(t, m, slot);
	}
}

/* Every word of every slot that has an item. */
static inline void check_slab(struct slots_test *t, struct slots_model *m)
{
	const uint64_t words = t->info.item_bytes / 8;

	assert_int_equal(
	    simt_move(t->base.machine, m->slab, t->info.slab, t->info.slots * t->info.item_bytes, NULL), 0);
	for (uint32_t s = 0; s < t->info.slots; s++) {
		const uint64_t *word = (const uint64_t *)(void *)(m->slab + s * t->info.item_bytes);

		for (uint64_t k = 0; k < words && m->key[s] >= 0; k++)
			if (word[k] != model_word(t, m, m->key[s], k))
				fail_msg("slot %u, key %lld: word %llu is not its item's", s,
				         (long long)m->key[s], (unsigned long long)k);
	}
}

static inline void check_failures(struct slots_test *t, struct slots_model *m,
                                  const struct gn_slots_statistics *before)
{
	const int wanted = m->s.refused != before->refused || m->s.no_slot != before->no_slot ||
	                   m->s.failed != before->failed;
	const int code = gn_slots_failure(t->slots, &t->base.error);

	assert_int_equal(code != 0, wanted);
	assert_true(code != -GN_ERANGE || m->s.refused != before->refused);
	assert_true(code != -GN_ENOBUFS || m->s.no_slot != before->no_slot);
	assert_true(code != -GN_EIO || m->s.failed != before->failed);
	assert_false(code == -GN_EINVAL || code == -GN_EBUSY);
	no_failure(t);
}

static inline void check_statistics(struct slots_test *t, const struct slots_model *m)
{
	const struct gn_slots_statistics s = statistics_of(t);

	assert_int_equal(s.batches, m->s.batches);
	assert_int_equal(s.hits, m->s.hits);
	assert_int_equal(s.misses, m->s.misses);
	assert_int_equal(s.fetched, m->s.fetched);
	assert_int_equal(s.evicted, m->s.evicted);
	assert_int_equal(s.no_slot, m->s.no_slot);
	assert_int_equal(s.refused, m->s.refused);
	assert_int_equal(s.failed, m->s.failed);
	assert_int_equal(s.written, m->s.written);
}

static inline void model_change(struct slots_test *t, struct slots_model *m, uint32_t s);

/* The batch of t->key, and all that must hold after it. */
static inline void model_batch(struct slots_test *t, struct slots_model *m, uint32_t count)
{
	const struct gn_slots_statistics before = m->s;

	m->now++;
	m->s.batches++;
	resolve(t, count);
	memcpy(m->given, t->slot, sizeof m->given);
	model_hits(t, m, count);
	model_misses(t, m, count);
	model_pins(t, m, count);
	fill_slots(t);
	model_lost(t, m, count);
	for (uint32_t k = 0; k < count && t->hints & GN_SLOTS_OVERWRITE; k++)
		if (t->slot[k] >= 0)
			model_change(t, m, (uint32_t)t->slot[k]);
	check_slab(t, m);
	check_map(t);
	check_failures(t, m, &before);
	check_statistics(t, m);
}

/* ---- batches at random ---- */

static inline uint32_t draw_batch(struct slots_test *t, uint32_t most)
{
	const uint32_t count = (uint32_t)draw(t, most + 1);
	const uint64_t near = 1 + draw(t, t->info.items), hints = draw(t, 8);

	for (uint32_t k = 0; k < count; k++)
		t->key[k] = (int64_t)draw(t, draw(t, 2) ? near : t->info.items);
	if (count && draw(t, 4) == 0)
		t->key[draw(t, count)] = -1 - (int64_t)draw(t, 5);
	if (count && draw(t, 10) == 0)
		t->key[draw(t, count)] = (int64_t)(t->info.items + draw(t, 3));
	t->hints = hints == 1 ? GN_SLOTS_ONCE : hints == 2 ? GN_SLOTS_RESIDENT : 0;
	if (hints == 3 && gn__slots_may_write(&t->slots->view))
		t->hints = GN_SLOTS_OVERWRITE;
	t->priority = (uint32_t)draw(t, 4);
	return count;
}

/* End the oldest pins. */
static inline void model_unpin(struct slots_test *t, struct slots_model *m)
{
	const uint32_t count = m->pinned_count[0];

	memcpy(t->slot, m->pinned[0], sizeof m->pinned[0]);
	if (gn_slots_unpin(t->slots, t->slot, count, NULL, &t->base.error))
		fail_msg("%s", t->base.error.text);
	wait_all(t);
	for (uint32_t k = 0; k < count; k++)
		if (m->pinned[0][k] >= 0)
			m->pins[m->pinned[0][k]]--;
	m->pinned_batches--;
	memmove(m->pinned[0], m->pinned[1], m->pinned_batches * sizeof m->pinned[0]);
	memmove(m->pinned_count, m->pinned_count + 1, m->pinned_batches * sizeof m->pinned_count[0]);
}

/* ---- changes ---- */

static inline void model_change(struct slots_test *t, struct slots_model *m, uint32_t s)
{
	uint64_t *word = (uint64_t *)(void *)t->item;

	m->version[m->key[s]]++;
	for (uint64_t k = 0; k < t->info.item_bytes / 8; k++)
		word[k] = model_word(t, m, m->key[s], k);
	assert_int_equal(simt_move(t->base.machine, (char *)t->info.slab + s * t->info.item_bytes, word,
	                           t->info.item_bytes, NULL),
	                 0);
	m->dirty[s] = 1;
}

/* Change some of the batch's items, and mark their slots. */
static inline void model_mark(struct slots_test *t, struct slots_model *m, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++)
		if (t->slot[k] >= 0 && draw(t, 3) == 0)
			model_change(t, m, (uint32_t)t->slot[k]);
		else
			t->slot[k] = -1;
	if (gn_slots_mark(t->slots, t->slot, count, NULL, &t->base.error))
		fail_msg("%s", t->base.error.text);
	wait_all(t);
}

/* Flush. What could not be written is still marked. Returns how many are. */
static inline uint32_t model_flush(struct slots_test *t, struct slots_model *m)
{
	uint32_t pins[MODEL_SLOTS], left = 0;

	if (gn_slots_flush(t->slots, NULL, &t->base.error))
		fail_msg("%s", t->base.error.text);
	wait_all(t);
	assert_int_equal(simt_move(t->base.machine, pins, t->slots->view.pins, t->info.slots * sizeof *pins,
	                           &t->base.error),
	                 0);
	for (uint32_t s = 0; s < t->info.slots; s++) {
		const int marked = (pins[s] & GN__DIRTY) != 0;

		assert_int_equal(pins[s] & GN__LOST, 0);
		assert_int_equal(pins[s] & GN__PINS, m->pins[s]);
		assert_true(m->dirty[s] || !marked);
		assert_true(!marked || m->may_fail);
		m->s.written += (uint64_t)(m->dirty[s] && !marked);
		m->s.failed += (uint64_t)marked;
		m->dirty[s] = marked;
		left += (uint32_t)marked;
	}
	assert_int_equal(gn_slots_failure(t->slots, &t->base.error) != 0, left != 0);
	check_statistics(t, m);
	return left;
}

/* Everything is in the store at last. */
static inline void model_check_store(struct slots_test *t, struct slots_model *m)
{
	const uint64_t bytes = t->info.item_bytes;
	const uint64_t *word = (const uint64_t *)(void *)t->item;

	for (int tries = 0; m->may_write && model_flush(t, m);)
		assert_true(++tries < 100);
	for (uint64_t key = 0; key < t->info.items; key++) {
		int tries = 0;

		while (gn_store_read_host(t->base.store, t->options.offset + key * bytes, t->item, bytes,
		                          &t->base.error))
			assert_true(m->may_fail && ++tries < 100);
		for (uint64_t k = 0; k < bytes / 8; k++)
			assert_int_equal(word[k], model_word(t, m, (int64_t)key, k));
	}
}

/* So many random batches, some of them pinned for a while, some changed. */
static inline void model_run(struct slots_test *t, struct slots_model *m, uint32_t batches, uint32_t most)
{
	for (uint32_t b = 0; b < batches; b++) {
		const uint32_t count = draw_batch(t, most);

		if (m->pinned_batches < MODEL_PINNED && draw(t, 3) == 0)
			t->hints |= GN_SLOTS_PIN;
		model_batch(t, m, count);
		if (t->hints & GN_SLOTS_PIN) {
			memcpy(m->pinned[m->pinned_batches], t->slot, sizeof m->pinned[0]);
			m->pinned_count[m->pinned_batches++] = count;
		}
		if (m->may_write && draw(t, 2))
			model_mark(t, m, count);
		if (m->may_write && draw(t, 10) == 0)
			model_flush(t, m);
		if (m->pinned_batches && draw(t, 3) == 0)
			model_unpin(t, m);
	}
	model_check_store(t, m);
	t->hints = t->priority = 0;
}

#endif
