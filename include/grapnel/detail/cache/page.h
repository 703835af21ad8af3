/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/page.h - the page protocol: a sequence lock with a pin count.
 *
 * The word of a page (detail/cache/word.h) vouches for the bytes of the frame that it names. A thread uses a
 * page in one of three ways:
 *
 *   Without a pin, to read, as under a sequence lock: gn__page_snapshot loads the word, the thread loads
 *   from the frame, and gn__page_reload loads the word once more, behind these loads. If gn__word_validate
 *   returns 1, the page was in that frame all the time, and the loaded bytes are the page's; else they are
 *   dropped.
 *
 *   With a pin, to read or write: gn__page_try_pin adds one to the pin count by a compare-and-swap. The page
 *   keeps its frame until gn__page_unpin. gn__page_pin_together and gn__page_pin_own take a snapshot and pin
 *   at once.
 *
 *   If neither is possible at once, the page is faulted in: a missing sector of a byte-addressable store by
 *   detail/cache/fault.h, everything else by detail/cache/access.h.
 *
 * Memory edges (docs/memory-model.md): the snapshot is A4 and pairs with R4 of the thread that published the
 * page; the reload is A5 and pairs with R5 of the thread that took the frame; a pin is an acquire of R4 and
 * of earlier unpins, and an unpin is the release that an evictor's compare-and-swap acquires.
 */
#ifndef GRAPNEL_CACHE_PAGE_H
#define GRAPNEL_CACHE_PAGE_H

#include <grapnel/detail/cache/sector.h>
#include <grapnel/detail/cache/table.h>
#include <grapnel/detail/cache/view.h>
#include <grapnel/detail/simt/lookup.h>
#include <grapnel/trace.h>

/*
 * The pages of a cache, as an array's handle has them: what a hit and a missing sector need of struct
 * gn_cache_view. The handle lies in a GPU's constant memory, which the view does not.
 */
struct gn__pages {
	uint64_t *word;   /* [pages], direct table; NULL: the table is of sets */
	char *frame;      /* [frames][page size] */
	uint64_t *sector; /* [frames], of a cache whose pages come by sectors; where backing is not NULL */
	/*
	 * detail/cache/fault.h serves misses: byte 0 of the cache's pages would lie here in the store; or
	 * NULL
	 */
	char *backing;
	const struct gn_cache_view *cache;
	uint64_t zero; /* is 0, which no compiler knows: see simt_load_behind_dev_u64 */
	uint32_t page_log2;
	uint32_t sector_log2;
	uint32_t counting; /* the cache counts */
};

/* The page of a byte of the cache's pages, and where in the page the byte is. */
SIMT_FN uint64_t gn__page_number(const struct gn__pages *p, uint64_t address)
{
	return address >> p->page_log2;
}

SIMT_FN uint32_t gn__page_offset(const struct gn__pages *p, uint64_t address)
{
	return (uint32_t)address & ((1u << p->page_log2) - 1);
}

/* ---- look up ---- */

/* What a look at a word orders. A constant at every call. */
enum gn__order {
	/*
	 * it may be an old word of a direct table: for a thread that looks again. Many threads read one page
	 * and look at one word; from the device's cache each of them would take its turn
	 */
	GN__OLD,
	GN__LEADING, /* an acquire for what depends on the word (detail/simt/lookup.h) */
	GN__ACQUIRE  /* which makes a GPU's processor forget what it has at hand */
};

/* gn__page_snapshot where the table is a direct one. */
SIMT_FN struct gn_hold gn__page_snapshot_direct(const struct gn__pages *p, uint64_t page,
                                                enum gn__order order)
{
	struct gn_hold h;

	h.word = &p->word[page];
	if (order == GN__OLD)
		h.seen = simt_load_old_u64(h.word);
	else
		h.seen =
		    order == GN__LEADING ? simt_load_once_dev_u64(h.word) : simt_load_acquire_dev_u64(h.word);
	h.data = p->frame + ((size_t)gn__word_payload(h.seen) << p->page_log2);
	return h;
}

/*
 * gn__page_snapshot - look a page up (A4). Any thread; waits for nothing.
 * Returns the page's word, its value, and the bytes of its frame, which are the page's only if the word has
 * a flag of GN__WORD_HELD. In a set table that has no word for the page, word is NULL and seen is 0; the
 * order is an acquire there.
 */
SIMT_FN struct gn_hold gn__page_snapshot(const struct gn__pages *p, uint64_t page, enum gn__order order)
{
	return p->word ? gn__page_snapshot_direct(p, page, order) : gn__find_in_set(p->cache, page, 1);
}

/* The frame of a page that has one. */
SIMT_FN uint32_t gn__page_frame(const struct gn__pages *p, const struct gn_hold *h)
{
	return (uint32_t)((size_t)(h->data - p->frame) >> p->page_log2);
}

/* ---- read without a pin ---- */

/*
 * gn__page_reload - the word once more (A5), behind what was read.
 * @value  all bits that were loaded from the frame, put together by |
 */
SIMT_FN uint64_t gn__page_reload(const uint64_t *word, uint64_t value, uint64_t zero)
{
	return simt_load_behind_dev_u64(word, value, zero);
}

/* The clock's hand cleared REF: set it again. @now  the word */
SIMT_FN void gn__page_touch(const struct gn_hold *h, uint64_t now)
{
	if (simt_unlikely(!(now & GN__WORD_REF)))
		simt_reduce_or_relaxed_dev_u64(h->word, GN__WORD_REF);
}

SIMT_FN void gn__count_hits(const struct gn__pages *p, uint64_t hits)
{
	if (simt_unlikely(p->counting) && hits)
		gn__count_u64(&gn__stripe(p->cache)->hits, hits);
}

/* ---- pin and unpin ---- */

/*
 * May a pin be added to a word? The page has its frame, nobody works on it, and the count does not run into
 * the version.
 */
SIMT_FN int gn__page_can_pin(uint64_t seen)
{
	return seen & GN__WORD_HELD && !(seen & GN__WORD_BUSY) && (seen & GN__WORD_PINS) != GN__WORD_PINS;
}

/*
 * gn__page_try_pin - pin a page that was looked up, unless its word has changed or says no. One thread; waits
 * for nothing.
 * @mark   flags to set with the pin: GN__WORD_REF; GN__WORD_DIRTY by a thread that will write, which also
 * says which sectors
 *         (gn__sector_dirty) before it writes them
 * @order  GN__LEADING or GN__ACQUIRE
 * Returns 1 or 0.
 */
SIMT_FN int gn__page_try_pin(uint64_t *word, uint64_t seen, uint64_t mark, enum gn__order order)
{
	const uint64_t pinned = (seen | mark) + GN__WORD_PIN;

	if (!gn__page_can_pin(seen))
		return 0;
	if (order == GN__LEADING)
		return simt_cas_leading_dev_u64(word, seen, pinned) == seen;
	return simt_cas_acquire_dev_u64(word, seen, pinned) == seen;
}

/* gn__page_unpin - one pin less. Order: a release. */
SIMT_FN void gn__page_unpin(uint64_t *word)
{
	GN_TRACE(unpin);
	simt_add_release_dev_u64(word, 0 - GN__WORD_PIN);
}

/* gn__page_unpin behind a fence since the page was used. */
SIMT_FN void gn__page_unpin_after_fence(uint64_t *word)
{
	GN_TRACE(unpin);
	simt_add_after_fence_once_dev_u64(word, 0 - GN__WORD_PIN);
}

/*
 * What was written of a pinned page is written: the sectors that were overwritten whole are there, and the
 * page may go. One thread, for lanes that it has met since the bytes. Order: a release.
 */
SIMT_FN void gn__page_written(const struct gn_cache_view *c, uint64_t *word, uint32_t frame, uint32_t covered)
{
	if (covered) {
		simt_fence_acq_rel_dev();
		gn__sector_arrive(c->sector, word, frame, covered, 1);
	}
	gn__page_unpin(word);
}

/*
 * Pin a whole page that is in its frame for reading, for this lane alone. Returns 1; or 0, and word and data
 * mean nothing.
 */
SIMT_FN int gn__page_pin_own(const struct gn__pages *p, uint64_t page, uint64_t **word, char **data)
{
	const struct gn_hold h = gn__page_snapshot(p, page, GN__ACQUIRE);

	if (!(h.seen & GN__WORD_VALID))
		return 0;
	*word = h.word;
	*data = h.data;
	if (!gn__page_try_pin(h.word, h.seen, GN__WORD_REF, GN__ACQUIRE))
		return 0;
	gn__count_hits(p, 1);
	return 1;
}

/*
 * Pin a whole page that is in its frame: the first lane looks and takes the pin for all of mask. Returns 1 or
 * 0, to all. This is the common case of gn_cache_pin, without a call and without the words of the cache
 * behind it.
 */
SIMT_FN int gn__page_pin_together(const struct gn__pages *p, uint32_t mask, uint64_t page, int write,
                                  struct gn_hold *hold)
{
	const uint32_t leader = simt_first_lane(mask);
	const uint64_t mark = GN__WORD_REF | (write ? GN__WORD_DIRTY : 0);
	struct gn_hold h = {0, 0, 0};
	uint64_t data = 0;

	if (simt_lane() == leader) {
		h = gn__page_snapshot(p, page, GN__ACQUIRE);
		if (h.seen & GN__WORD_VALID && gn__page_try_pin(h.word, h.seen, mark, GN__ACQUIRE)) {
			data = (uint64_t)(uintptr_t)h.data;
			if (write)
				gn__sector_dirty(p->cache, gn__page_frame(p, &h), 0xffffffffu);
		}
	}
	data = simt_shfl_u64(mask, data, leader);
	*hold = h;
	hold->data = (char *)(uintptr_t)data;
	simt_warp_sync(mask);
	if (data && simt_lane() == leader)
		gn__count_hits(p, simt_popcount(mask));
	return data != 0;
}

#endif
