/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache/sector.h - which parts of a page a frame holds, and which of them the store has not.
 *
 * A page has up to 32 sectors of equal size. A frame's sector word holds two masks:
 *
 *   63 .. 32  dirty: sectors that may differ from the store; only these are written back
 *   31 .. 0   valid: sectors that were overwritten whole; looked at while the page is PARTIAL only
 *
 * Dirty bits are set by whoever pins the page for writing, after the pin and before the bytes; valid bits by whoever
 * overwrote sectors, after the bytes and before the unpin. Who holds the page BUSY without pins is alone with both.
 * A cache without sector words behaves as if a page were one sector.
 */
#ifndef GRAPNEL_CACHE_SECTOR_H
#define GRAPNEL_CACHE_SECTOR_H

#include <grapnel/cache/view.h>
#include <grapnel/simt.h>

/* The sectors that bytes begin to end - 1 of a page touch; begin < end. */
SIMT_FN uint32_t gn__sectors(const struct gn_cache_view *c, uint32_t begin, uint32_t end)
{
	const uint32_t first = begin >> c->sector_log2, last = (end - 1) >> c->sector_log2;

	return (0xffffffffu >> (31 - (last - first))) << first;
}

/* Begin a frame's life: nothing valid, these dirty. Before the page's word says that the frame is its. */
SIMT_FN void gn__sector_reset(const struct gn_cache_view *c, uint32_t frame, uint32_t dirty)
{
	if (c->sector)
		simt_store_relaxed_dev_u64(&c->sector[frame], (uint64_t)dirty << 32);
}

SIMT_FN void gn__sector_dirty(const struct gn_cache_view *c, uint32_t frame, uint32_t dirty)
{
	if (c->sector)
		simt_reduce_or_relaxed_dev_u64(&c->sector[frame], (uint64_t)dirty << 32);
}

/* What is dirty of a DIRTY page. */
SIMT_FN uint32_t gn__sector_dirty_of(const struct gn_cache_view *c, uint32_t frame)
{
	return c->sector ? (uint32_t)(simt_load_relaxed_dev_u64(&c->sector[frame]) >> 32) : 0xffffffffu;
}

SIMT_FN uint32_t gn__sector_valid_of(const struct gn_cache_view *c, uint32_t frame)
{
	return (uint32_t)simt_load_relaxed_dev_u64(&c->sector[frame]);
}

/* The writer of a flushed page: nothing is dirty any more. BUSY, no pins. */
SIMT_FN void gn__sector_cleaned(const struct gn_cache_view *c, uint32_t frame)
{
	if (c->sector)
		simt_and_acq_rel_dev_u64(&c->sector[frame], 0xffffffffu);
}

/*
 * Lanes write elements of one page. Side by side, as a warp that walks an array writes, they are known to touch a run of
 * sectors, and perhaps to overwrite it whole: then it need not be fetched. Else each lane says for itself what it touches.
 */
struct gn__reach {
	uint32_t touched; /* 0: each lane for itself */
	uint32_t covered; /* touched, or 0 */
};

/*
 * Collective over mask; lanes are those of the caller's page, `at` is where in it the caller writes size bytes. All lanes
 * of mask take part in every exchange, also such as is of interest to one group only: see gn__access_together.
 */
SIMT_FN struct gn__reach gn__sector_reach(const struct gn_cache_view *c, uint32_t mask, uint32_t lanes, uint32_t at,
					  uint32_t size)
{
	const uint32_t first = simt_shfl_u32(mask, at, simt_first_lane(lanes));
	const uint32_t end = first + simt_popcount(lanes) * size, inside = (1u << c->sector_log2) - 1;
	const uint32_t in_line = simt_ballot(mask, at == first + simt_rank(lanes) * size);
	struct gn__reach r = {0, 0};

	if ((in_line & lanes) == lanes) {
		r.touched = gn__sectors(c, first, end);
		r.covered = c->sector && !((first | end) & inside) ? r.touched : 0;
	}
	return r;
}

/* A lane of a group that writes here and there: its page is pinned, its bytes are about to change. */
SIMT_FN void gn__sector_touch(const struct gn_cache_view *c, const struct gn__reach *r, uint32_t frame, uint32_t at,
			      uint32_t size)
{
	if (!r->touched)
		gn__sector_dirty(c, frame, gn__sectors(c, at, at + size));
}

#endif
