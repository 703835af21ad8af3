/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array/look.h - how an access finds its page: a glimpse that is validated behind the read, or a pin.
 */
#ifndef GRAPNEL_ARRAY_LOOK_H
#define GRAPNEL_ARRAY_LOOK_H

#include <grapnel/array/view.h>
#include <grapnel/simt/lookup.h>

/* A frame's bytes with the word that vouches for them. */
struct gn__glimpse {
	const uint64_t *word;
	uint64_t seen;
	const char *data; /* of the page */
};

/* @acquire  a constant: 0 for who relies on the word no further than gn__again shows. An acquire makes a GPU's processor forget
 *           what it has at hand. */
SIMT_FN struct gn__glimpse gn__look_so(const struct gn_array *a, uint64_t page, int acquire)
{
	struct gn__glimpse g;

	if (a->word) {
		g.word = &a->word[page];
		g.seen = acquire ? simt_load_acquire_dev_u64(g.word) : simt_load_relaxed_dev_u64(g.word);
		g.data = a->frame + ((size_t)gn_word_payload(g.seen) << a->page_log2);
	} else {
		struct gn_place place = gn__find_in_set(a->cache, page, acquire);

		g.word = place.word;
		g.seen = place.word ? place.seen : 0;
		g.data = a->frame + ((size_t)place.frame << a->page_log2);
	}
	return g;
}

SIMT_FN struct gn__glimpse gn__look(const struct gn_array *a, uint64_t page)
{
	return gn__look_so(a, page, 1);
}

SIMT_FN struct gn__glimpse gn__peek(const struct gn_array *a, uint64_t page)
{
	return gn__look_so(a, page, 0);
}

/*
 * The same for who looks again before he relies on it: the word of a direct table may be an old one. Many threads read one
 * page, and look at one word: from the device's cache each of them would take its turn.
 */
SIMT_FN struct gn__glimpse gn__glance(const struct gn_array *a, uint64_t page)
{
	struct gn__glimpse g;

	if (!a->word)
		return gn__look(a, page);
	g.word = &a->word[page];
	g.seen = simt_load_old_u64(g.word);
	g.data = a->frame + ((size_t)gn_word_payload(g.seen) << a->page_log2);
	return g;
}

/* Lanes of mask before the first that is not in some. */
SIMT_FN uint32_t gn__lanes_before_gap(uint32_t mask, uint32_t some)
{
	const uint32_t gap = mask & ~some;

	return gap ? simt_popcount(mask & ((gap & (0 - gap)) - 1)) : simt_popcount(mask);
}

/* Lane number k of mask, from 0. */
SIMT_FN uint32_t gn__nth_lane(uint32_t mask, uint32_t k)
{
	if (!(mask & (mask + 1)))
		return k;
	for (; k; k--)
		mask &= mask - 1;
	return simt_first_lane(mask);
}

/* The clock's hand cleared REF: set it again. @now  the word */
SIMT_FN void gn__touch(const struct gn__glimpse *g, uint64_t now)
{
	if (simt_unlikely(!(now & GN_WORD_REF)))
		simt_reduce_or_relaxed_dev_u64((uint64_t *)(uintptr_t)g->word, GN_WORD_REF);
}

/* The word, looked at again; behind the loads of what was read, of which value is all bits together (gn__load_element). */
SIMT_FN uint64_t gn__again(const struct gn_array *a, const struct gn__glimpse *g, uint64_t value)
{
	return simt_load_behind_dev_u64(g->word, value, a->zero);
}

/* Did the page stay in its frame since the glimpse? @now  the word */
SIMT_FN int gn__still(const struct gn__glimpse *g, uint64_t now)
{
	return !((g->seen ^ now) & GN_WORD_SAME);
}

/*
 * Is the page there, marked as used, and was it all the time? What gn__still asks and two flags more, in one test of a
 * processor that tests 32 bits at a time.
 */
SIMT_FN int gn__is_at_hand(uint64_t seen, uint64_t now)
{
	const uint64_t wanted = GN_WORD_VALID | GN_WORD_REF;
	const uint32_t low = (uint32_t)(seen ^ now) & (uint32_t)GN_WORD_SAME;
	const uint32_t high = (uint32_t)(seen >> 32 ^ now >> 32) & (uint32_t)(GN_WORD_SAME >> 32);

	return !(low | high | (~(uint32_t)(now >> 32) & (uint32_t)(wanted >> 32)));
}

SIMT_FN void gn__count_hits(const struct gn_array *a, uint64_t hits)
{
	if (simt_unlikely(a->counting) && hits)
		gn__count_u64(&gn__stripe(a->cache)->hits, hits);
}

/*
 * Pin a page that is in its frame: the first lane looks and takes the pin for all. Returns 1 or 0, to all lanes of
 * mask. This is gn_cache_pin's common case without a call and without the words of the cache behind it.
 */
SIMT_FN int gn__pin_hit(const struct gn_array *a, uint32_t mask, uint64_t page, int write, struct gn_hold *hold)
{
	const uint32_t leader = simt_first_lane(mask);
	struct gn__glimpse g = {0, 0, 0};
	uint64_t data = 0;

	if (simt_lane() == leader) {
		g = gn__look(a, page);
		if (g.seen & GN_WORD_VALID && !(g.seen & GN_WORD_BUSY) && (g.seen & GN_WORD_PINS) != GN_WORD_PINS) {
			const uint64_t mark = GN_WORD_REF | (write ? GN_WORD_DIRTY : 0);

			if (simt_cas_acquire_dev_u64((uint64_t *)(uintptr_t)g.word, g.seen, (g.seen | mark) + GN_WORD_PIN) ==
			    g.seen)
				data = (uint64_t)(uintptr_t)g.data;
		}
	}
	data = simt_shfl_u64(mask, data, leader);
	hold->word = (uint64_t *)(uintptr_t)g.word;
	hold->data = (char *)(uintptr_t)data;
	simt_warp_sync(mask);
	if (data && simt_lane() == leader)
		gn__count_hits(a, simt_popcount(mask));
	return data != 0;
}

/* Pin a page that is in its frame for reading, for this lane alone. Returns 1 or 0. */
SIMT_FN int gn__pin_own(const struct gn_array *a, uint64_t page, struct gn_hold *hold)
{
	const struct gn__glimpse g = gn__look(a, page);

	if (!(g.seen & GN_WORD_VALID) || g.seen & GN_WORD_BUSY || (g.seen & GN_WORD_PINS) == GN_WORD_PINS)
		return 0;
	hold->word = (uint64_t *)(uintptr_t)g.word;
	hold->data = (char *)(uintptr_t)g.data;
	if (simt_cas_acquire_dev_u64(hold->word, g.seen, (g.seen | GN_WORD_REF) + GN_WORD_PIN) != g.seen)
		return 0;
	gn__count_hits(a, 1);
	return 1;
}

/* Pin the page of a paged array, whatever it takes; for writing only if the array is not read-only. */
SIMT_FN struct gn_store_status gn__pin(const struct gn_array *a, uint32_t mask, uint64_t page, uint32_t intent,
				       struct gn_hold *hold)
{
	const struct gn_store_status ok = {0, 0};

	if (simt_unlikely(!gn__pin_hit(a, mask, page, intent != GN_READ, hold))) {
		const struct gn_pinned p = SIMT_COLD(gn_cache_pin)(a->cache, mask, page, intent);

		*hold = p.hold;
		return p.status;
	}
	if (intent != GN_READ && simt_lane() == simt_first_lane(mask))
		gn__sector_dirty(a->cache, (uint32_t)((size_t)(hold->data - a->frame) >> a->page_log2), 0xffffffffu);
	return ok;
}

#endif
