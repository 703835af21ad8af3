/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/announce.h - on the cpu machine: write or change an element of a page without a pin.
 *
 * A pin changes the page's word, and so does its end. OS threads that write elements of the same page would
 * hand the word's line to each other twice for each element. So an OS thread announces the page that it
 * writes to in a word of its own (gn_cache_local.writes). Then it looks at the page's word:
 *
 *   the writer                                a thread that makes a dirty page BUSY
 *   1. writes = the page                      1. compare-and-swap of the page's word: BUSY
 *   2. load the page's word                   2. load each `writes`; wait while it is this page
 *   3. VALID, DIRTY and not BUSY: store       3. read the frame, write it back
 *   4. writes = 0
 *
 * Both are sequentially consistent: either the writer sees BUSY, or the other thread sees the announcement
 * and waits until the element is stored (Dekker's exclusion). If the page is clean, BUSY or in parts, the
 * writer pins it, as it does on a GPU. A page that is DIRTY leaves its frame only through BUSY, so a clean
 * page needs no such look.
 *
 * Memory edges: docs/memory-model.md.
 */
#ifndef GRAPNEL_CACHE_ANNOUNCE_H
#define GRAPNEL_CACHE_ANNOUNCE_H

#include <grapnel/detail/cache/element.h>
#include <grapnel/detail/cache/page.h>
#include <grapnel/detail/cache/sector.h>

/* The word in which this thread's processor announces pages. */
SIMT_FN uint64_t *gn__announcement(const struct gn_cache_view *c)
{
	return &gn__local(c)->writes;
}

/* May this thread announce? Only where those who wait look (gn__await_announced). */
SIMT_FN int gn__may_announce(const struct gn__pages *p)
{
	return p->word && simt_processor() % GN_CACHE_LOCALS < p->cache->announcers && simt_warp_width() == 1;
}

/* May a page with this word be written without a pin? */
SIMT_FN int gn__word_is_written(uint64_t seen)
{
	const uint64_t wanted = GN__WORD_VALID | GN__WORD_DIRTY | GN__WORD_REF;

	return (seen & (wanted | GN__WORD_BUSY)) == wanted;
}

/*
 * gn__announce - begin to write or change `size` bytes at `at` of a page, if it is VALID and DIRTY, and their
 * sectors are dirty. One thread; waits for nothing.
 * Returns the bytes' address, and gn__announce_end must follow soon, with no wait before it. Or NULL: pin the
 * page. That is so too while another thread, whose processor shares the word, announces a page.
 */
SIMT_FN char *gn__announce(const struct gn__pages *p, uint64_t page, uint32_t at, uint32_t size)
{
#if SIMT_ON_CUDA
	(void)p, (void)page, (void)at, (void)size;
	return 0;
#else
	const struct gn_cache_view *c = p->cache;
	uint64_t *writes = gn__announcement(c), seen;

	if (!gn__may_announce(p) || !gn__word_is_written(simt_load_relaxed_dev_u64(&p->word[page])) ||
	    simt_cas_seq_cst_dev_u64(writes, 0, (uint64_t)(uintptr_t)&p->word[page]))
		return 0;
	seen = simt_load_seq_cst_dev_u64(&p->word[page]);
	if (gn__word_is_written(seen) &&
	    gn__sector_is_dirty(c, gn__word_payload(seen), gn__sectors(c, at, at + size)))
		return p->frame + ((size_t)gn__word_payload(seen) << p->page_log2) + at;
	simt_store_release_dev_u64(writes, 0);
	return 0;
#endif
}

/* gn__announce_end - the bytes are written. */
SIMT_FN void gn__announce_end(const struct gn__pages *p)
{
	simt_store_release_dev_u64(gn__announcement(p->cache), 0);
	gn__count_hits(p, 1);
}

/*
 * The caller has made a DIRTY page BUSY: wait for the threads that write an element of it. Each is between
 * two steps above and waits for nothing, so this wait has no deadline. A clean page needs no call.
 */
SIMT_FN void gn__await_announced(const struct gn_cache_view *c, const uint64_t *word)
{
#if SIMT_ON_CUDA
	(void)c, (void)word;
#else
	if (!c->announcers)
		return;
	simt_fence_seq_cst();
	for (uint32_t k = 0; k < c->announcers; k++)
		while (simt_load_acquire_dev_u64(&c->shared->local[k].writes) == (uint64_t)(uintptr_t)word)
			simt_relax();
#endif
}

#endif
