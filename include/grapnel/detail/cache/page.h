/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/page.h - the page protocol: a sequence lock with a pin count.
 *
 * The word of a page (detail/cache/word.h) says which frame holds the page. A thread uses a page in one of
 * four ways:
 *
 *   Without a pin, to read, as under a sequence lock: gn__page_snapshot loads the word, the thread loads
 *   from the frame, and gn__page_reload loads the word again, behind these loads. If gn__word_validate
 *   returns 1, the page was in that frame all the time and the loaded bytes are the page's. Otherwise the
 *   thread drops the bytes.
 *
 *   With a pin, to read or write: gn__page_try_pin adds one to the pin count by a compare-and-swap. The page
 *   keeps its frame until gn__page_unpin. gn__page_pin_together and gn__page_pin_own take a snapshot and pin
 *   at once.
 *
 *   Without a pin, to write, on the cpu machine alone: detail/cache/announce.h.
 *
 *   If none of these is possible at once, the thread brings the page in: detail/cache/fault.h serves a
 *   missing sector of a byte-addressable store, detail/cache/access.h everything else.
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
 * The fields of struct gn_cache_view that a hit and a missing sector need, as a part of an array's handle. A
 * GPU has the handle in constant memory; the view lies in device memory.
 */
struct gn__pages {
	uint64_t *word;   /* [pages], direct table; NULL: the table is of sets */
	char *frame;      /* [frames][page size] */
	uint64_t *sector; /* [frames], sector words; set if backing is not NULL */
	/*
	 * The memory of the store, as the address that byte 0 of the cache's pages would have there. NULL:
	 * detail/cache/fault.h does not serve the array's misses.
	 */
	char *backing;
	const struct gn_cache_view *cache;
	uint64_t zero; /* 0, which the compiler must not know: see simt_load_behind_dev_u64 */
	uint32_t page_log2;
	uint32_t sector_log2;
	uint32_t counting; /* 1: the cache has statistics */
};

/* The page of a byte, and the byte's offset in it. @address  in bytes from the cache's page 0 */
SIMT_FN uint64_t gn__page_number(const struct gn__pages *p, uint64_t address)
{
	return address >> p->page_log2;
}

SIMT_FN uint32_t gn__page_offset(const struct gn__pages *p, uint64_t address)
{
	return (uint32_t)address & ((1u << p->page_log2) - 1);
}

/* ---- look up ---- */

/* The order of a load of a word. A constant at every call. */
enum gn__order {
	/*
	 * In a direct table the loaded word may be old: for a thread that loads the word again. Many threads
	 * that read one page load one word, and the device's cache would serve them one after the other.
	 */
	GN__OLD,
	GN__LEADING, /* an acquire for accesses that depend on the word (detail/simt/lookup.h) */
	GN__ACQUIRE  /* an acquire; on a GPU it empties the processor's own cache */
};

/* gn__page_snapshot in a direct table. */
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
 * Returns the page's word, its value, and the bytes of its frame. The bytes are the page's only if the word
 * has a flag of GN__WORD_HELD. In a set table the order is always an acquire; if the page has no word there,
 * word is NULL and seen is 0.
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
 * gn__page_reload - load the word again (A5), behind the loads from the frame.
 * @value  all bits that were loaded from the frame, combined by |
 * @zero   gn__pages.zero
 */
SIMT_FN uint64_t gn__page_reload(const uint64_t *word, uint64_t value, uint64_t zero)
{
	return simt_load_behind_dev_u64(word, value, zero);
}

/* Set REF if the clock's hand has cleared it. @now  the value of the word */
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
 * May a pin be added to a word? The page must have a frame and not be BUSY, and the pin count must have
 * room.
 */
SIMT_FN int gn__page_can_pin(uint64_t seen)
{
	return seen & GN__WORD_HELD && !(seen & GN__WORD_BUSY) && (seen & GN__WORD_PINS) != GN__WORD_PINS;
}

/*
 * gn__page_try_pin - pin a page that was looked up, unless its word has changed or does not allow a pin. One
 * thread; waits for nothing.
 * @mark   flags to set with the pin: GN__WORD_REF; for a write also GN__WORD_DIRTY. A writer then marks the
 *         sectors (gn__sector_dirty) before it stores to them
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

/* gn__page_unpin - give a pin back. Order: a release. */
SIMT_FN void gn__page_unpin(uint64_t *word)
{
	GN_TRACE(unpin);
	simt_add_release_dev_u64(word, 0 - GN__WORD_PIN);
}

/* gn__page_unpin by a thread that has passed a fence since it used the page. */
SIMT_FN void gn__page_unpin_after_fence(uint64_t *word)
{
	GN_TRACE(unpin);
	simt_add_after_fence_once_dev_u64(word, 0 - GN__WORD_PIN);
}

/*
 * End a write to a pinned page: make the covered sectors valid, and give the pin back. One thread, for lanes
 * that have synchronised with it since they stored the bytes. Order: a release.
 * @covered  owned sectors that were overwritten whole
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
 * Pin a VALID page for reading, for this lane alone. Returns 1; or 0, and then *word and *data are undefined.
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
 * Pin a VALID page: the first lane takes one pin for all lanes of mask. Returns 1 or 0, to all. This is the
 * common case of gn_cache_pin without a call. In a direct table a read needs no load from struct
 * gn_cache_view.
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
