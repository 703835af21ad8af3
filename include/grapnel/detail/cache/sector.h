/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/sector.h - which parts of a page a frame holds, and which of them are not yet in the store.
 *
 * A page has up to 32 sectors of equal size. A frame's sector word holds two masks, so each sector has two
 * bits:
 *
 *   63 .. 32  31 .. 0
 *   dirty     valid
 *     0         0      absent: only the store has it
 *     1         0      in motion: one thread fetches it, or overwrites it whole; that thread has the page
 *                      pinned
 *     0         1      valid: the frame has what the store has
 *     1         1      valid, and it may differ from the store: only these are written back. (Or two wanted
 *                      it at once: the one that came late has set the bit of a sector that was valid by
 *                      then; it is what the store has.)
 *
 * A thread claims an absent sector by a fetch-and-or that sets its dirty bit. The thread that found both
 * bits 0 owns the sector. So each sector has one fetch at a time, and no fetch overwrites the bytes of a
 * writer. After the bytes the owner makes the sector valid (gn__sector_arrive); if they could not be had, it
 * makes it absent again (gn__sector_give_back). A valid sector stays valid as long as the page has the
 * frame. When all sectors are valid the page becomes VALID.
 *
 * Sectors behind the end of the store count as valid. A VALID page has all bits of `valid` set. A cache
 * without sector words behaves as if a page were one sector, and has no PARTIAL pages.
 */
#ifndef GRAPNEL_CACHE_SECTOR_H
#define GRAPNEL_CACHE_SECTOR_H

#include <grapnel/detail/cache/view.h>
#include <grapnel/simt.h>

/* The sectors that bytes begin to end - 1 of a page touch; begin < end. */
SIMT_FN uint32_t gn__sectors(const struct gn_cache_view *c, uint32_t begin, uint32_t end)
{
	const uint32_t first = begin >> c->sector_log2, last = (end - 1) >> c->sector_log2;

	return (0xffffffffu >> (31 - (last - first))) << first;
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

/* Begin a frame's life. Before the page's word says that the frame is its. */
SIMT_FN void gn__sector_reset(const struct gn_cache_view *c, uint32_t frame, uint32_t valid, uint32_t dirty)
{
	if (c->sector)
		simt_store_relaxed_dev_u64(&c->sector[frame], (uint64_t)dirty << 32 | valid);
}

/*
 * Valid sectors are about to be written. The caller has pinned the page for writing, and calls before it
 * writes the bytes. Nobody clears these bits while the page is pinned, so a thread without a warp, for which
 * a load is cheaper than a locked instruction, looks first.
 */
SIMT_FN void gn__sector_dirty(const struct gn_cache_view *c, uint32_t frame, uint32_t dirty)
{
	const uint64_t bits = (uint64_t)dirty << 32;

	if (!c->sector)
		return;
	if (simt_warp_width() > 1 || bits & ~simt_load_relaxed_dev_u64(&c->sector[frame]))
		simt_reduce_or_relaxed_dev_u64(&c->sector[frame], bits);
}

/* What is to be written back of a DIRTY page. */
SIMT_FN uint32_t gn__sector_dirty_of(const struct gn_cache_view *c, uint32_t frame)
{
	uint64_t seen;

	if (!c->sector)
		return 0xffffffffu;
	seen = simt_load_relaxed_dev_u64(&c->sector[frame]);
	return (uint32_t)(seen >> 32) & (uint32_t)seen;
}

/*
 * Claim absent sectors of a pinned page. Edge: acquires what made sectors valid (gn__sector_arrive).
 * Returns those of `wanted` that are the caller's now; the others are valid, or in motion by another thread.
 */
SIMT_FN uint32_t gn__sector_claim(const struct gn_cache_view *c, uint32_t frame, uint32_t wanted)
{
	const uint64_t before = simt_or_acq_rel_dev_u64(&c->sector[frame], (uint64_t)wanted << 32);

	return wanted & ~((uint32_t)before | (uint32_t)(before >> 32));
}

/*
 * The bytes of owned sectors could not be had: they are absent as before. One thread, which has the page
 * pinned.
 */
SIMT_FN void gn__sector_give_back(const struct gn_cache_view *c, uint32_t frame, uint32_t owned)
{
	if (owned)
		simt_xor_acq_rel_dev_u64(&c->sector[frame], (uint64_t)owned << 32);
}

/*
 * The bytes of owned sectors are in the frame. One thread, which has the page pinned, behind a fence since
 * the bytes (a fence of its own, or of a lane that it has met since).
 * @sector  the frames' sector words; @dirty  1: they differ from the store
 */
SIMT_FN void gn__sector_arrive(uint64_t *sector, uint64_t *word, uint32_t frame, uint32_t owned, int dirty)
{
	const uint64_t change = (dirty ? 0 : (uint64_t)owned << 32) | owned;
	const uint32_t before = (uint32_t)simt_xor_after_fence_dev_u64(&sector[frame], change);

	if ((before | owned) != 0xffffffffu)
		return;
	/*
	 * The last sector: whoever sees VALID sees the bytes of all who brought one. They are in the device's
	 * cache: theirs passed a fence before the bits that were just read.
	 */
	simt_fence_release_dev();
	simt_reduce_or_after_fence_dev_u64(word, GN__WORD_VALID);
}

/* The writer of a flushed page: nothing is dirty any more. BUSY, no pins. */
SIMT_FN void gn__sector_cleaned(const struct gn_cache_view *c, uint32_t frame)
{
	if (c->sector)
		simt_and_acq_rel_dev_u64(&c->sector[frame], 0xffffffffu);
}

/*
 * Claim what a pinned page needs of sectors that are about to be written, without waiting.
 * @covered  1: they are overwritten whole, so that those which are absent need not be fetched
 * Returns 1, with the sectors that are the caller's to bring in *owned; or 0: some have to come first.
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
