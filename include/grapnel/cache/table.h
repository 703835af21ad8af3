/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache/table.h - from a page to its word.
 *
 * The direct table has a word for every page. The set table has a word for every frame; page p may lie in the
 * frames of one set, and the word's tag says which page it is: with s sets, the tag is p / s and the set is
 * the rest of p, stirred by the tag so that arrays with equal strides spread. Both can be turned back into p.
 */
#ifndef GRAPNEL_CACHE_TABLE_H
#define GRAPNEL_CACHE_TABLE_H

#include <grapnel/cache/view.h>

/* Where a page's word is and what it said. */
struct gn_place {
	uint64_t *word; /* NULL: no frame of the set holds the page */
	uint64_t seen;
	uint32_t frame;
};

/* ---- counters: one stripe a processor, so that they do not meet ---- */

SIMT_FN struct gn_cache_stripe *gn__stripe(const struct gn_cache_view *c)
{
	return &c->stripe[simt_processor() % GN_CACHE_STRIPES];
}

SIMT_FN void gn__count_u64(uint64_t *counter, uint64_t by)
{
	simt_add_relaxed_dev_u64(counter, by);
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

/* The page that a set's word with this tag stands for. */
SIMT_FN uint64_t gn__page_of(const struct gn_cache_view *c, uint32_t set, uint32_t tag)
{
	return (uint64_t)tag << c->sets_log2 | ((set ^ gn__stir(tag)) & ((1u << c->sets_log2) - 1));
}

SIMT_FN struct gn_place gn__find_in_set(const struct gn_cache_view *c, uint64_t page)
{
	uint32_t first = gn__set_of(c, page) * c->ways;
	uint32_t tag = gn__tag_of(c, page);
	struct gn_place place = {0, 0, 0};

	for (uint32_t way = 0; way < c->ways; way++) {
		uint64_t word = simt_load_relaxed_dev_u64(&c->word[first + way]);

		if (gn_word_payload(word) != tag || !(word & GN_WORD_USED))
			continue;
		place.word = &c->word[first + way];
		place.seen = simt_load_acquire_dev_u64(place.word);
		place.frame = first + way;
		if (gn_word_payload(place.seen) == tag && place.seen & GN_WORD_USED)
			return place;
		place.word = 0;
	}
	return place;
}

/*
 * gn_table_find - look a page up.
 * Returns its place; place.word is NULL when no word stands for the page (set table), and place.seen has no flag
 * of GN_WORD_USED when the page is absent (direct table). The word was loaded with acquire (edge A4): if it says
 * VALID, the frame's bytes are those of the page or newer.
 */
SIMT_FN struct gn_place gn_table_find(const struct gn_cache_view *c, uint64_t page)
{
	struct gn_place place;

	if (!c->owner)
		return gn__find_in_set(c, page);
	place.word = &c->word[page];
	place.seen = simt_load_acquire_dev_u64(place.word);
	place.frame = gn_word_payload(place.seen);
	return place;
}

SIMT_FN char *gn__frame(const struct gn_cache_view *c, uint32_t frame)
{
	return c->frame + ((size_t)frame << c->page_log2);
}

/* The segment that a page belongs to. There are few, and only a miss asks. */
SIMT_FN const struct gn_cache_segment *gn__segment_of(const struct gn_cache_view *c, uint64_t page)
{
	uint32_t k = 0;

	while (k + 1 < c->segments && page >= c->segment[k + 1].first_page)
		k++;
	return &c->segment[k];
}

#endif
