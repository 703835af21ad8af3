/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/hand.h - the clock's hand: a counter of places. A place modulo the number of frames is the
 * next frame to try for eviction.
 */
#ifndef GRAPNEL_CACHE_HAND_H
#define GRAPNEL_CACHE_HAND_H

#include <grapnel/detail/cache/table.h>
#include <grapnel/detail/cache/view.h>

/*
 * The next place of the hand, taken from the lot of this thread's group of processors. A lot is a range of
 * places that the group took from the hand at once. The thread that takes the place after the last one
 * fetches the next lot. Until the next lot is there, other threads take places from the hand itself. While
 * there are frames that were never given out, all threads use the hand itself: so the first pages, as many as
 * there are frames, all find a frame, and no free frame stays unused in a lot.
 */
SIMT_FN uint32_t gn__next_place(const struct gn_cache_view *c)
{
	uint64_t *lot = &gn__local(c)->lot;
	const uint64_t seen = c->lot > 1 ? simt_add_relaxed_dev_u64(lot, 1) : 0;
	const uint32_t taken = (uint32_t)seen - GN__LOT_BEGUN, many = taken == c->lot ? c->lot : 1;
	uint32_t place;

	if ((uint32_t)seen >= GN__LOT_BEGUN && taken < c->lot)
		return (uint32_t)(seen >> 32) + taken;
	place = simt_add_relaxed_dev_u32(&c->shared->hand, many);
	if (many > 1)
		simt_store_relaxed_dev_u64(lot, (uint64_t)place << 32 | (GN__LOT_BEGUN + 1));
	else if (c->lot > 1 && (uint32_t)seen < GN__LOT_BEGUN && place >= c->frames)
		simt_store_relaxed_dev_u64(lot, GN__LOT_BEGUN +
		                                    c->lot); /* an empty lot: the next thread fetches one */
	return place;
}

#endif
