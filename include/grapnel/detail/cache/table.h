/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/table.h - finds the word of a page.
 *
 * The direct table has one word for each page. The set table has one word for each frame. Page p may lie in
 * the frames of one set, and the word's tag says which page it is. With s sets the tag is p / s. The set is
 * the remainder, mixed with the tag so that arrays with equal strides use different sets. p can be computed
 * from tag and set.
 */
#ifndef GRAPNEL_CACHE_TABLE_H
#define GRAPNEL_CACHE_TABLE_H

#include <grapnel/detail/cache/view.h>
#include <grapnel/detail/simt/lookup.h>

/*
 * A page that was looked up: its word, the value of the word, and the bytes of its frame. A pin
 * (detail/cache/page.h) keeps the page in that frame. If lanes pinned the page together, word is set only in
 * the first lane.
 */
struct gn_hold {
	uint64_t *word; /* NULL: the page has no word (set table), or nothing is held */
	/* [page size]; readable if the page is pinned, writable if it is pinned for writing */
	char *data;
	uint64_t seen;
};

/* ---- counters: processors use different stripes, so that they rarely add to the same line ---- */

SIMT_FN struct gn_cache_statistics *gn__stripe(const struct gn_cache_view *c)
{
	return &c->stripe[simt_processor() % GN_CACHE_STRIPES];
}

SIMT_FN struct gn_cache_local *gn__local(const struct gn_cache_view *c)
{
	return &c->shared->local[simt_processor() % GN_CACHE_LOCALS];
}

/*
 * Count a backoff down by one miss. Returns 1 if this miss leaves the costly attempt out, else 0. Threads
 * that race may lose a count, which does no harm.
 */
SIMT_FN int gn__backs_off(uint32_t *backoff)
{
	const uint32_t left = simt_load_relaxed_dev_u32(backoff);

	if (left)
		simt_store_relaxed_dev_u32(backoff, left - 1);
	return left != 0;
}

SIMT_FN void gn__count_u64(uint64_t *counter, uint64_t by)
{
	simt_reduce_add_relaxed_dev_u64(counter, by);
}

/* ---- pages and words ---- */

SIMT_FN uint32_t gn__stir(uint32_t tag)
{
	tag = (tag ^ tag >> 15) * 0x2c1b3c6du;
	return tag ^ tag >> 13;
}

SIMT_FN uint32_t gn__set_of(const struct gn_cache_view *c, uint64_t page)
{
	uint32_t tag = (uint32_t)(page >> c->sets_log2);

	return ((uint32_t)page ^ gn__stir(tag)) & ((1u << c->sets_log2) - 1);
}

SIMT_FN uint32_t gn__tag_of(const struct gn_cache_view *c, uint64_t page)
{
	return (uint32_t)(page >> c->sets_log2);
}

/* The page of a word with this tag in this set. */
SIMT_FN uint64_t gn__page_of(const struct gn_cache_view *c, uint32_t set, uint32_t tag)
{
	return (uint64_t)tag << c->sets_log2 | ((set ^ gn__stir(tag)) & ((1u << c->sets_log2) - 1));
}

/* gn_cache_view.ways_inverse for this number of ways: 2^32 / ways, rounded up and cut to 32 bits. */
SIMT_FN uint32_t gn__ways_inverse(uint32_t ways)
{
	return ways ? (uint32_t)(((1ull << 32) + ways - 1) / ways) : 0;
}

/*
 * The preferred way of a page in its set: tag % ways. A search looks there first, and a page is put there if
 * the way is free. So consecutive pages from page 0 on, as many as the cache has frames, each get a frame of
 * their own. The remainder is computed from the fraction of tag / ways, which is exact for tags below 2^28
 * and up to 16 ways (Lemire, Kaser, Kurz: Faster remainder by direct computation, 2019).
 */
SIMT_FN uint32_t gn__preferred_way(const struct gn_cache_view *c, uint32_t tag)
{
	return (uint32_t)((uint64_t)(tag * c->ways_inverse) * c->ways >> 32);
}

SIMT_FN int gn__word_has_tag(uint64_t word, uint32_t tag)
{
	return gn__word_payload(word) == tag && (word & GN__WORD_USED) != 0;
}

/* The bytes of a frame. */
SIMT_FN char *gn__frame(const struct gn_cache_view *c, uint32_t frame)
{
	return c->frame + ((size_t)frame << c->page_log2);
}

/* The word of one way, if it has the page's tag. */
SIMT_FN struct gn_hold gn__find_in_way(const struct gn_cache_view *c, uint32_t frame, uint32_t tag,
                                       int acquire)
{
	struct gn_hold h = {&c->word[frame], gn__frame(c, frame), 0};
	const uint64_t seen = acquire ? simt_load_acquire_dev_u64(h.word) : simt_load_relaxed_dev_u64(h.word);

	if (gn__word_has_tag(seen, tag))
		h.seen = seen;
	else
		h.word = 0;
	return h;
}

/* Look at all ways of a set. */
SIMT_NOINLINE_FN struct gn_hold gn__find_elsewhere(const struct gn_cache_view *c, uint32_t set, uint32_t tag)
{
	const uint32_t first = set * c->ways;
	struct gn_hold h = {0, 0, 0};

	for (uint32_t way = 0; way < c->ways && !h.word; way++)
		if (gn__word_has_tag(simt_load_relaxed_dev_u64(&c->word[first + way]), tag))
			h = gn__find_in_way(c, first + way, tag, 1);
	return h;
}

/*
 * @acquire  1: the load of the word is edge A4; 0: relaxed, for a claim, which continues with a
 *           compare-and-swap
 */
SIMT_FN struct gn_hold gn__find_in_set(const struct gn_cache_view *c, uint64_t page, int acquire)
{
	const uint32_t set = gn__set_of(c, page), tag = gn__tag_of(c, page);
	struct gn_hold h = gn__find_in_way(c, set * c->ways + gn__preferred_way(c, tag), tag, acquire);

	if (simt_unlikely(!h.word))
		h = SIMT_COLD(gn__find_elsewhere)(c, set, tag);
	return h;
}

/*
 * gn__table_find - look a page up for a claim, which continues with a compare-and-swap. The load is relaxed
 * in a set table and leading in a direct table: there a thread may read the frame of a VALID page after this
 * load alone.
 * Returns word NULL if the page has no word (set table). If the page is absent, seen has no flag of
 * GN__WORD_USED.
 */
SIMT_FN struct gn_hold gn__table_find(const struct gn_cache_view *c, uint64_t page)
{
	struct gn_hold h;

	if (!c->owner)
		return gn__find_in_set(c, page, 0);
	h.word = &c->word[page];
	h.seen = simt_load_leading_dev_u64(h.word);
	h.data = gn__frame(c, gn__word_payload(h.seen));
	return h;
}

/* The frame of a page that was found to have one. */
SIMT_FN uint32_t gn__frame_of(const struct gn_cache_view *c, const struct gn_hold *h)
{
	return c->owner ? gn__word_payload(h->seen) : (uint32_t)(h->word - c->word);
}

/* The segment of a page. A linear search: there are few segments, and only a miss calls this. */
SIMT_FN const struct gn_cache_segment *gn__segment_of(const struct gn_cache_view *c, uint64_t page)
{
	uint32_t k = 0;

	while (k + 1 < c->segments && page >= c->segment[k + 1].first_page)
		k++;
	return &c->segment[k];
}

/*
 * Is the store of a page full? Then its dirty pages stay in their frames. Only a flush tries to write them,
 * because it must find out whether there is room again. A write to an absent page fails, because it would add
 * a dirty page.
 */
SIMT_FN int gn__is_full(const struct gn_cache_view *c, uint64_t page)
{
	const uint64_t full = simt_load_relaxed_dev_u64(&c->shared->full);

	return simt_unlikely(full != 0) && (full >> (gn__segment_of(c, page) - c->segment) & 1);
}

#endif
