/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array/rent.h - how elements are read and written, one by one, while a launch is looked at.
 *
 * While a paged array is looked at, a page is fetched only when what was read of it one by one has cost as much; until
 * then elements are read from the store's memory, and written there. Whatever the pattern is, the launch then costs at most
 * about twice what it had cost with the better of the two (the ski-rental argument), before anybody knows which that is.
 * That argument takes a page to stay once it is there. Where it is evicted before it has served anybody, it would be paid for
 * again and again: so pages are fetched from a purse, which begins with the price of a part of the cache, and into which
 * each access that finds its page pays what it has saved: one line, for what the processors' own caches had had of it
 * anyway is not known. Of rents it is: a line that was read last costs nothing again.
 *
 * What wants whole pages, references and loops over pages, fetches them at once; a gather reads rows around the cache anyway.
 */
#ifndef GRAPNEL_ARRAY_RENT_H
#define GRAPNEL_ARRAY_RENT_H

#include <grapnel/array/sample.h>
#include <grapnel/cache/element.h>

/* Some of these lanes found their pages: what that has saved, a line for each page. Collective over lanes, all of them. */
SIMT_FN void gn__sample_gain(struct gn_sample *s, uint32_t lanes, uint32_t found, uint64_t page)
{
	const uint32_t same = simt_match_any_u64(lanes, page);
	const uint32_t pages = found & simt_ballot(lanes, simt_lane() == simt_first_lane(same));

	if (found && simt_lane() == simt_first_lane(found))
		simt_reduce_add_relaxed_dev_u64(&gn__sample_stripe(s)->purse, simt_popcount(pages));
}

/* A page whose rents have come to its price: is there money for it? Then it is paid. */
SIMT_FN int gn__sample_buys(struct gn_sample *s)
{
	uint64_t *purse = &gn__sample_stripe(s)->purse;

	if ((int64_t)simt_load_relaxed_dev_u64(purse) < (int64_t)s->rent)
		return 0;
	simt_reduce_add_relaxed_dev_u64(purse, 0 - (uint64_t)s->rent);
	return 1;
}

/*
 * What a page has cost around the cache, and which of its lines was read last (from 1), in one word. Returns what it had cost
 * before. Races lose a rent or two, which does not matter.
 */
SIMT_FN uint32_t gn__sample_pays(uint32_t *rents, uint32_t line, uint32_t price)
{
	const uint32_t seen = simt_load_relaxed_dev_u32(rents), mask = (1u << GN_SAMPLE_LINE_BITS) - 1;

	if ((seen & mask) != line)
		simt_store_relaxed_dev_u32(rents, ((seen >> GN_SAMPLE_LINE_BITS) + price) << GN_SAMPLE_LINE_BITS | line);
	return seen >> GN_SAMPLE_LINE_BITS;
}

/*
 * Is the page still to be rented rather than bought? Collective over the lanes that miss; those that want the same page
 * pay together: many that read side by side a line, a few the price of going there. *alone: no other lane of these wants it.
 */
SIMT_FN int gn__sample_rents(struct gn_sample *s, uint32_t lanes, uint64_t page, uint32_t line, int *alone)
{
	const uint32_t same = simt_match_any_u64(lanes, page);
	const uint32_t leader = simt_first_lane(same);
	uint32_t *rents = &s->rents[gn_sample_hash(page) & s->rents_mask];
	uint32_t buys = 0;

	if (simt_lane() == leader) {
		const uint32_t paid = gn__sample_pays(rents, line, simt_popcount(same) < 8 ? s->once : 1);

		buys = paid >= s->rent && gn__sample_buys(s);
		if (buys)
			simt_store_relaxed_dev_u32(rents, 0);
	}
	*alone = same == 1u << simt_lane();
	return !simt_shfl_u32(same, buys, leader);
}

/* Are pages of this array rented? */
SIMT_FN int gn__sample_lets(const struct gn_array *a)
{
	return !a->memory & (a->sample->rent != 0) & (a->sample->memory != 0); /* not one behind the other: all are waited for together */
}

/*
 * Of lanes that have all found their elements, in regions none of which is looked at, only counts are kept. Collective over
 * lanes, those of one array. @at  byte of the array. Returns 1, or 0 and nothing was noted.
 */
SIMT_FN int gn__sample_passes(const struct gn_array *a, uint32_t lanes, uint64_t at, int found)
{
	struct gn_sample *s = a->sample;
	const int wanted = gn__sample_wants(s, s->base + at);

	if (simt_ballot(lanes, (!found) | wanted))
		return 0;
	gn__sample_count(s, lanes, 1);
	if (gn__sample_lets(a))
		gn__sample_gain(s, lanes, lanes, gn__page_number(&a->pages, a->base + at));
	return 1;
}

/* What the slow way decided: where to go around the cache, or NULL to go on through it. */
struct gn__around_way {
	char *memory;
	struct gn_hold page; /* as it was found; of one that is to be written around: absent */
	uint32_t fetches; /* some of these lanes fetch a page: who does not go around comes along, to copy */
};

SIMT_FN int gn__is_absent(const struct gn_hold *g)
{
	return !(g->seen & (GN_WORD_HELD | GN_WORD_BUSY)); /* what is being fetched is waited for */
}

/*
 * Is the page absent, and to be gone around? Collective over lanes; fills *way for those that go around. The store has what
 * was written of a page that left the cache: that is acquired (A4), but for a page that never was there.
 */
SIMT_FN void gn__sample_decide(const struct gn_array *a, uint32_t lanes, uint64_t at, uint32_t write, struct gn_hold g,
			       struct gn__around_way *way)
{
	struct gn_sample *s = a->sample;
	const uint64_t address = a->base + at, page = gn__page_number(&a->pages, address);
	const uint32_t line = (uint32_t)(address & ((1u << a->pages.page_log2) - 1)) >> GN_SAMPLE_LINE_LOG2;
	const int missing = gn__is_absent(&g);
	const uint32_t those = simt_ballot(lanes, missing);
	int alone = 0, rents = 0;

	gn__sample_gain(s, lanes, lanes & ~those, page);
	if (missing)
		rents = gn__sample_rents(s, those, page, line + 1, &alone);
	if (rents && (g.seen || !a->pages.word)) {
		g = gn__page_look(&a->pages, page, GN__ACQUIRE);
		rents = gn__is_absent(&g);
	}
	way->fetches = simt_ballot(lanes, missing && !rents) != 0;
	way->page = g;
	if (!rents || (write && (!alone || !a->pages.word || g.seen & GN_WORD_USED)))
		return;
	way->memory = s->memory + at;
}

/*
 * Note an access; on a miss of a paged array decide whether it goes around. Collective by whoever is here together, and
 * they leave together: else lanes of one warp would reach the cache one after the other, and wait there for each other.
 */
SIMT_FN struct gn__around_way gn__sample_access(const struct gn_array *a, uint64_t index, uint32_t write)
{
	struct gn_sample *s = a->sample;
	const uint64_t at = index << a->element_log2;
	const struct gn_hold absent = {0, 0, 0};
	/* first, so that it is under way meanwhile */
	const struct gn_hold page = a->memory ? absent : gn__page_look(&a->pages, gn__page_number(&a->pages, a->base + at), GN__LEADING);
	const uint32_t lanes = simt_match_any_u64(simt_active(), (uint64_t)(uintptr_t)s); /* those of one array */
	struct gn__around_way way = {0, page, 0};

	gn__sample_note(s, lanes, s->base + at, write);
	simt_warp_sync(lanes);
	if (gn__sample_lets(a))
		gn__sample_decide(a, lanes, at, write, page, &way);
	simt_warp_sync(lanes);
	return way;
}

/* The same for those to whom it is one thing of many. */
SIMT_NOINLINE_FN struct gn__around_way gn__sample(const struct gn_array *a, uint64_t index, uint32_t write)
{
	return gn__sample_access(a, index, write);
}

/*
 * Write an element around the cache, if the sample wants that and the page can be held absent meanwhile, so that nobody
 * fetches it half-way. Returns 1 or 0.
 */
SIMT_FN int gn__sampled_write(const struct gn_array *a, uint64_t index, const void *from, uint32_t size)
{
	const struct gn__around_way way = gn__sample(a, index, 1);
	uint64_t *word = (uint64_t *)(uintptr_t)way.page.word;

	if (!way.memory || simt_cas_acq_rel_dev_u64(word, way.page.seen, way.page.seen | GN_WORD_BUSY) != way.page.seen)
		return 0;
	gn__put_element(way.memory, from, size);
	simt_store_release_dev_u64(word, way.page.seen);
	return 1;
}

#endif
