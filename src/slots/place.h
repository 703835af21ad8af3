/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - slots for the items that a batch misses: one block chooses whose slots are given away. All
 * its threads call each function here that counts them.
 */
#ifndef GN_SLOTS_PLACE_H
#define GN_SLOTS_PLACE_H

#include <slots/block.h>

struct gn__place {
	const struct gn__slots_view *v;
	const struct gn_slots_batch *batch;
	uint32_t now;    /* number of the batch */
	uint32_t wanted; /* items that need a slot */
	uint32_t taken;  /* of these, items that have got one */
	uint32_t examined;
};

/* The word of a slot that a batch uses. */
SIMT_FN uint32_t gn__use_of(const struct gn_slots_batch *batch, uint32_t now)
{
	const uint32_t lives = batch->hints & GN_SLOTS_ONCE ? 0 : 1 + 2 * batch->priority;

	return now | batch->priority << GN__PRIORITY_SHIFT | lives << GN__LIVES_SHIFT;
}

/* Batches since the last use; of a slot with an item. */
SIMT_FN uint32_t gn__age_of(uint32_t use, uint32_t now)
{
	return (now - use) & GN__STAMP;
}

SIMT_FN uint32_t gn__lives_of(uint32_t use)
{
	return use == GN__UNUSED ? 0 : use >> GN__LIVES_SHIFT;
}

/* May a slot be given away? */
SIMT_FN int gn__is_available(const struct gn__place *p, uint32_t slot, uint32_t use)
{
	return !(simt_load_acquire_dev_u32(&p->v->pins[slot]) & GN__PINS) &&
	       (use == GN__UNUSED || gn__age_of(use, p->now) >= p->v->keep);
}

/* A key of the batch has a slot that is filled later. */
SIMT_FN void gn__assign(const struct gn__slots_view *v, const struct gn_slots_batch *batch, uint32_t position,
                        int32_t slot)
{
	batch->slot[position] = slot;
	if (slot < 0)
		return;
	if (batch->missed)
		batch->missed[position] = 1;
	if (batch->hints & GN_SLOTS_PIN)
		simt_reduce_add_relaxed_dev_u32(&v->pins[slot], 1);
}

/* Give a slot to a missing item. The fill changes the map. */
SIMT_FN void gn__give(const struct gn__place *p, uint32_t slot, struct gn__slots_fetch *f)
{
	const struct gn__slots_view *v = p->v;

	f->gone = v->key[slot];
	f->slot = slot;
	f->writes = (simt_load_relaxed_dev_u32(&v->pins[slot]) & GN__DIRTY) != 0;
	if (f->writes)
		simt_reduce_and_relaxed_dev_u32(&v->pins[slot], ~GN__DIRTY);
	f->writes &= f->gone >= 0; /* a mark on an empty slot is none */
	if (f->gone >= 0)
		simt_reduce_add_relaxed_dev_u64(&v->shared->statistics.evicted, 1);
	simt_store_relaxed_dev_u32(&v->use[slot], gn__use_of(p->batch, p->now));
	gn__assign(v, p->batch, f->position, (int32_t)slot);
}

/*
 * Give away the slots of the threads that want to, the first ones if that is too many. Returns the counts;
 * c.before of a thread is its item's place among the missing ones.
 */
SIMT_FN struct gn__count gn__place_row(struct gn__place *p, uint32_t slot, int wants, int passes)
{
	struct gn__count c = gn__block_count(wants, passes);

	c.before += p->taken;
	if (wants && c.before < p->wanted)
		gn__give(p, slot, &p->v->fetch[c.before]);
	p->taken = c.wanting < p->wanted - p->taken ? p->taken + c.wanting : p->wanted;
	return c;
}

/* ---- clock ---- */

/*
 * The hand passes up to as many slots as the block has threads, or fewer if the last item gets its slot.
 * @gently  1: slots that are passed keep their lives
 * Returns how many; *idle: no slot without lives was seen, and none lost one.
 */
SIMT_FN uint32_t gn__clock_row(struct gn__place *p, uint32_t hand, uint32_t row, int gently, int *idle)
{
	const uint32_t at = simt_thread(), slots = p->v->slots, left = slots - hand;
	const uint32_t slot = at < left ? hand + at : at - left, had = p->taken;
	struct gn__slots_block *b = gn__block();
	int available, wants, passes;
	struct gn__count c;
	uint32_t use;

	simt_block_sync(); /* the row before may have had the same slots */
	use = at < row ? simt_load_relaxed_dev_u32(&p->v->use[slot]) : 0;
	available = at < row && gn__is_available(p, slot, use);
	wants = available && !gn__lives_of(use);
	passes = gently ? at < row && !available && !gn__lives_of(use) : available && !wants;
	c = gn__place_row(p, slot, wants, passes);
	if (!gently && passes && c.before < p->wanted)
		simt_store_relaxed_dev_u32(&p->v->use[slot], use - (1u << GN__LIVES_SHIFT));
	*idle = !c.wanting && !c.passed;
	if (had + c.wanting < p->wanted)
		return row;
	if (wants && c.before == p->wanted - 1)
		b->at = at + 1;
	simt_block_sync();
	return b->at;
}

SIMT_FN uint32_t gn__hand_on(const struct gn__place *p, uint32_t hand, uint32_t by)
{
	return by < p->v->slots - hand ? hand + by : by - (p->v->slots - hand);
}

SIMT_FN uint32_t gn__row_of(const struct gn__place *p)
{
	return simt_block_threads() < p->v->slots ? simt_block_threads() : p->v->slots;
}

/*
 * Items that are wanted once take the slots of earlier such items, which lie side by side where the hand
 * found them: without this they would make the hand go round, and all others lose lives.
 */
SIMT_FN void gn__place_once(struct gn__place *p)
{
	const uint64_t far = 8 * (uint64_t)p->wanted + simt_block_threads();
	const uint32_t most = far < p->v->slots ? (uint32_t)far : p->v->slots, row = gn__row_of(p);
	uint32_t hand = p->v->shared->once, seen = 0;

	for (uint32_t done = 0, passed; done < most && p->taken < p->wanted; done += passed) {
		int idle;

		passed = gn__clock_row(p, hand, row < most - done ? row : most - done, 1, &idle);
		hand = gn__hand_on(p, hand, passed);
		seen |= !idle;
		p->examined += passed;
	}
	if (!seen && simt_thread() == 0)
		p->v->shared->once = p->v->shared->hand;
}

SIMT_FN void gn__place_clock(struct gn__place *p)
{
	const uint32_t row = gn__row_of(p);
	uint32_t hand = p->v->shared->hand, none = 0;

	while (p->taken < p->wanted && none < p->v->slots) {
		int idle;
		const uint32_t passed = gn__clock_row(p, hand, row, 0, &idle);

		none = idle ? none + passed : 0;
		hand = gn__hand_on(p, hand, passed);
		p->examined += passed;
	}
	simt_block_sync(); /* all have read the hand */
	if (simt_thread() == 0)
		p->v->shared->hand = hand;
}

/* ---- least recently used ---- */

/*
 * Slots are given away in the order of 27 bits: without an item, without lives, by priority, by age. A bound
 * is found digit by digit, the highest first: how many slots have each value of the digit, and in which one
 * the last slot that is needed lies.
 */
enum { GN__ORDER_BITS = 3 * GN__DIGIT_BITS };
static const uint32_t GN__NOT_AVAILABLE = ~0u;

SIMT_FN uint32_t gn__order_of(const struct gn__place *p, uint32_t slot)
{
	const uint32_t use = slot < p->v->slots ? simt_load_relaxed_dev_u32(&p->v->use[slot]) : 0;
	const uint32_t age = gn__age_of(use, p->now);
	uint32_t rank;

	if (slot >= p->v->slots || !gn__is_available(p, slot, use))
		return GN__NOT_AVAILABLE;
	if (use == GN__UNUSED)
		return 0;
	rank = gn__lives_of(use) ? 2 + (use >> GN__PRIORITY_SHIFT & GN_SLOTS_MOST_PRIORITY) : 1;
	return (rank << GN__AGE_BITS | (GN__AGE - (age < GN__AGE ? age : GN__AGE))) << 2;
}

/* Count the slots of a prefix by their next digit. */
SIMT_FN void gn__lru_count(struct gn__place *p, uint32_t prefix, uint32_t shift)
{
	struct gn__slots_block *b = gn__block();

	for (uint32_t k = simt_thread(); k < GN__DIGIT_BINS; k += simt_block_threads())
		b->bin[k] = 0;
	b->at = GN__DIGIT_BINS;
	simt_block_sync();
	for (uint32_t slot = simt_thread(); slot < p->v->slots; slot += simt_block_threads()) {
		const uint32_t order = gn__order_of(p, slot);

		if (order != GN__NOT_AVAILABLE && order >> (shift + GN__DIGIT_BITS) == prefix)
			simt_add_relaxed_any_u64(&b->bin[order >> shift & (GN__DIGIT_BINS - 1)], 1);
	}
	simt_block_sync();
	p->examined += p->v->slots;
}

/* Find the digit in which the wanted-th slot lies. The first warp calls it; one lane tells the block. */
SIMT_FN void gn__lru_find(uint64_t wanted)
{
	struct gn__slots_block *b = gn__block();
	const uint32_t width = simt_warp_width(), share = GN__DIGIT_BINS / width;
	uint32_t digit = simt_lane() * share;
	uint64_t mine = 0, before = 0;

	for (uint32_t k = 0; k < share; k++)
		mine += b->bin[digit + k];
	for (uint32_t k = 0; k < width; k++) {
		const uint64_t some = simt_shfl_u64(simt_whole_warp(), mine, k);

		before += k < simt_lane() ? some : 0;
	}
	if (before >= wanted || before + mine < wanted)
		return;
	while (before + b->bin[digit] < wanted)
		before += b->bin[digit++];
	b->at = digit;
	b->before = before;
}

/* The order of the last slot that is needed; GN__NOT_AVAILABLE: all that are available are needed. */
SIMT_FN uint32_t gn__lru_bound(struct gn__place *p)
{
	struct gn__slots_block *b = gn__block();
	uint64_t wanted = p->wanted;
	uint32_t prefix = 0;

	for (uint32_t shift = GN__ORDER_BITS; shift;) {
		shift -= GN__DIGIT_BITS;
		simt_block_sync(); /* all have read what was found before */
		gn__lru_count(p, prefix, shift);
		if (simt_thread() < simt_warp_width())
			gn__lru_find(wanted);
		simt_block_sync();
		if (b->at == GN__DIGIT_BINS)
			return GN__NOT_AVAILABLE;
		prefix = prefix << GN__DIGIT_BITS | b->at;
		wanted -= b->before;
	}
	return prefix;
}

/* Give away slots of an order below a bound, or of the bound itself. */
SIMT_FN void gn__lru_take(struct gn__place *p, uint32_t bound, int below)
{
	for (uint32_t first = 0; first < p->v->slots && p->taken < p->wanted; first += simt_block_threads()) {
		const uint32_t slot = first + simt_thread();
		uint32_t order;

		simt_block_sync();
		order = gn__order_of(p, slot);
		gn__place_row(p, slot, below ? order < bound : order == bound && order != GN__NOT_AVAILABLE,
		              0);
	}
	p->examined += p->v->slots;
}

SIMT_FN void gn__place_lru(struct gn__place *p)
{
	const uint32_t bound = gn__lru_bound(p);

	gn__lru_take(p, bound, 1);
	gn__lru_take(p, bound, 0);
}

/* ---- the whole ---- */

/* Cut ages, so that no stamp comes round: once in 2^22 batches. */
SIMT_FN void gn__cut_ages(const struct gn__slots_view *v, uint32_t now)
{
	for (uint32_t slot = simt_thread(); slot < v->slots; slot += simt_block_threads()) {
		const uint32_t use = simt_load_relaxed_dev_u32(&v->use[slot]);

		if (use != GN__UNUSED && gn__age_of(use, now) > GN__AGE)
			simt_store_relaxed_dev_u32(&v->use[slot],
			                           (use & ~GN__STAMP) | ((now - GN__AGE) & GN__STAMP));
	}
	simt_block_sync();
}

/* Items without a slot, and keys that are equal to a missing one. */
SIMT_FN void gn__place_rest(const struct gn__place *p, uint32_t followers)
{
	const struct gn__slots_view *v = p->v;

	for (uint32_t k = simt_thread(); k < p->wanted; k += simt_block_threads()) {
		simt_store_relaxed_dev_u32(&v->seen[v->fetch[k].seen], 0);
		if (k >= p->taken)
			gn__slots_refuse(v, v->fetch[k].key, -GN_ENOBUFS);
	}
	for (uint32_t k = simt_thread(); k < followers; k += simt_block_threads())
		gn__assign(v, p->batch, v->follower[k].position, p->batch->slot[v->follower[k].leader]);
}

/* Give slots to what a batch misses. */
SIMT_FN void gn__place_all(const struct gn__slots_view *v, const struct gn_slots_batch *batch, uint32_t now)
{
	struct gn__slots_shared *s = v->shared;
	struct gn__place p = {v, batch, now, s->missing, 0, 0};

	if (v->policy == GN_SLOTS_CLOCK) {
		if (batch->hints & GN_SLOTS_ONCE)
			gn__place_once(&p);
		gn__place_clock(&p);
	} else {
		gn__place_lru(&p);
	}
	simt_block_sync();
	gn__place_rest(&p, s->followers);
	simt_block_sync();
	if (simt_thread())
		return;
	s->pending = p.taken;
	s->slot = batch->slot;
	s->count = batch->count;
	s->hints = batch->hints;
	s->missing = s->followers = 0;
	s->statistics.no_slot += p.wanted - p.taken;
	s->statistics.examined += p.examined;
}

#endif
