/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/sector.h - which sectors of a page a frame holds, and which of them are not yet in the store.
 *
 * A page has up to 32 sectors of equal size. A frame's sector word holds two masks, so each sector has two
 * bits:
 *
 *   63 .. 32  31 .. 0
 *   dirty     valid
 *     0         0      absent: only the store has its bytes
 *     1         0      in motion: one thread, which has pinned the page, fetches it or overwrites all of it
 *     0         1      valid: the frame has the same bytes as the store
 *     1         1      valid and dirty: the frame may differ from the store. Only these sectors are written
 *                      back. (A thread that claims a sector just after it became valid also sets its dirty
 *                      bit; then the bytes are those of the store.)
 *
 * A thread claims an absent sector by a fetch-and-or that sets its dirty bit. The thread that found both
 * bits 0 owns the sector. So each sector has one fetch at a time, and no fetch overwrites the bytes of a
 * writer. When the bytes are in the frame, the owner makes the sector valid (gn__sector_arrive). If the fetch
 * fails, the owner makes the sector absent again (gn__sector_give_back). A valid sector stays valid as long
 * as the page has the frame. When all sectors are valid the page becomes VALID.
 *
 * Sectors behind the end of the store count as valid. A VALID page has all bits of `valid` set. A cache
 * without sector words behaves as if a page were one sector, and has no PARTIAL pages.
 */
#ifndef GRAPNEL_CACHE_SECTOR_H
#define GRAPNEL_CACHE_SECTOR_H

#include <grapnel/detail/cache/view.h>
#include <grapnel/simt.h>

/* The sectors of bytes begin to end - 1 of a page; begin < end. */
SIMT_FN uint32_t gn__run_of_sectors(uint32_t begin, uint32_t end, uint32_t sector_log2)
{
	const uint32_t first = begin >> sector_log2, last = (end - 1) >> sector_log2;

	return (0xffffffffu >> (31 - (last - first))) << first;
}

SIMT_FN uint32_t gn__sectors(const struct gn_cache_view *c, uint32_t begin, uint32_t end)
{
	return gn__run_of_sectors(begin, end, c->sector_log2);
}

/* The valid half of a sector word. */
SIMT_FN uint32_t gn__sector_valid(uint64_t sectors)
{
	return (uint32_t)sectors;
}

/* The sectors in motion. */
SIMT_FN uint32_t gn__sector_moving(uint64_t sectors)
{
	return (uint32_t)(sectors >> 32) & ~(uint32_t)sectors;
}

/* Set the sector word of a frame for a new page, before the page's word names the frame. */
SIMT_FN void gn__sector_reset(const struct gn_cache_view *c, uint32_t frame, uint32_t valid, uint32_t dirty)
{
	if (c->sector)
		simt_store_relaxed_dev_u64(&c->sector[frame], (uint64_t)dirty << 32 | valid);
}

/*
 * Mark valid sectors dirty. The caller has pinned the page for writing and has not yet stored the bytes. No
 * thread clears these bits while the page is pinned. So a thread without a warp, for which a load costs less
 * than a locked instruction, looks first.
 */
SIMT_FN void gn__sector_dirty(const struct gn_cache_view *c, uint32_t frame, uint32_t dirty)
{
	const uint64_t bits = (uint64_t)dirty << 32;

	if (!c->sector)
		return;
	if (simt_warp_width() > 1 || bits & ~simt_load_relaxed_dev_u64(&c->sector[frame]))
		simt_reduce_or_relaxed_dev_u64(&c->sector[frame], bits);
}

/* Are these sectors of a VALID page dirty? */
SIMT_FN int gn__sector_is_dirty(const struct gn_cache_view *c, uint32_t frame, uint32_t sectors)
{
	return !c->sector || !(((uint64_t)sectors << 32) & ~simt_load_relaxed_dev_u64(&c->sector[frame]));
}

/* The sectors of a DIRTY page that must be written back. */
SIMT_FN uint32_t gn__sector_dirty_of(const struct gn_cache_view *c, uint32_t frame)
{
	uint64_t seen;

	if (!c->sector)
		return 0xffffffffu;
	seen = simt_load_relaxed_dev_u64(&c->sector[frame]);
	return (uint32_t)(seen >> 32) & (uint32_t)seen;
}

/*
 * Claim absent sectors of a pinned page. Edge: an acquire of gn__sector_arrive.
 * Returns the sectors of `wanted` that the caller now owns; the others are valid or in motion by another
 * thread.
 */
SIMT_FN uint32_t gn__sector_claim(const struct gn_cache_view *c, uint32_t frame, uint32_t wanted)
{
	const uint64_t before = simt_or_acq_rel_dev_u64(&c->sector[frame], (uint64_t)wanted << 32);

	return wanted & ~((uint32_t)before | (uint32_t)(before >> 32));
}

/* Make owned sectors absent again after their fetch failed. One thread, which has pinned the page. */
SIMT_FN void gn__sector_give_back(const struct gn_cache_view *c, uint32_t frame, uint32_t owned)
{
	if (owned)
		simt_xor_acq_rel_dev_u64(&c->sector[frame], (uint64_t)owned << 32);
}

/*
 * Make owned sectors valid: their bytes are in the frame. One thread, which has pinned the page. A fence has
 * been passed since the bytes, by this thread or by a lane that has synchronised with it since.
 * @sector  the frames' sector words
 * @dirty   1: the owned sectors differ from the store
 */
SIMT_FN void gn__sector_arrive(uint64_t *sector, uint64_t *word, uint32_t frame, uint32_t owned, int dirty)
{
	const uint64_t change = (dirty ? 0 : (uint64_t)owned << 32) | owned;
	const uint32_t before = (uint32_t)simt_xor_after_fence_dev_u64(&sector[frame], change);

	if ((before | owned) != 0xffffffffu)
		return;
	/*
	 * The last sector: a thread that sees VALID must see the bytes of all sectors. They are in the
	 * device's cache: each thread that brought one passed a fence before it set the bits just read.
	 */
	simt_fence_release_dev();
	simt_reduce_or_after_fence_dev_u64(word, GN__WORD_VALID);
}

/* Mark all sectors clean: the caller has written the page. The page is BUSY and has no pins. */
SIMT_FN void gn__sector_cleaned(const struct gn_cache_view *c, uint32_t frame)
{
	if (c->sector)
		simt_and_acq_rel_dev_u64(&c->sector[frame], 0xffffffffu);
}

/*
 * Prepare the `touched` sectors of a pinned page for a write, without waiting: mark the valid ones dirty and
 * claim the absent ones.
 * @covered  1: all bytes of the sectors are overwritten, so the absent ones are not fetched
 * Returns 1, with the sectors that the caller must make valid in *owned; or 0: some must be fetched first, or
 * another thread brings them.
 */
SIMT_FN int gn__sector_try_write(const struct gn_cache_view *c, uint32_t frame, uint32_t touched, int covered,
                                 uint32_t *owned)
{
	const uint32_t missing = touched & ~gn__sector_valid(simt_load_acquire_dev_u64(&c->sector[frame]));
	uint64_t now;

	*owned = 0;
	if (missing && !covered)
		return 0;
	if (missing)
		*owned = gn__sector_claim(c, frame, missing);
	now = *owned == missing ? 0 : simt_load_acquire_dev_u64(&c->sector[frame]);
	if (*owned != missing && missing & ~(*owned | gn__sector_valid(now))) {
		gn__sector_give_back(c, frame, *owned);
		*owned = 0;
		return 0;
	}
	if (touched & ~*owned)
		gn__sector_dirty(c, frame, touched & ~*owned);
	return 1;
}

#endif
