/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/hand.h - the clock's hand: the places, counted on, of the frames that are looked at for
 * eviction.
 */
#ifndef GRAPNEL_CACHE_HAND_H
#define GRAPNEL_CACHE_HAND_H

#include <grapnel/detail/cache/table.h>
#include <grapnel/detail/cache/view.h>

/*
 * The next place of the hand, from the lot that the own processors have. Who takes the place behind the last
 * fetches the next lot; those who come before it is there go to the hand themselves. So does everybody while
 * there are frames that were never given out: as many pages as there are frames find room, and none is left
 * in another's lot.
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
		simt_store_relaxed_dev_u64(lot, GN__LOT_BEGUN + c->lot); /* used up: the next one fetches */
	return place;
}

#endif
