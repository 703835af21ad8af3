/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block.h - what the threads of a block do together: the last block of a grid goes on alone, and threads are
 * numbered.
 */
#ifndef GN_SLOTS_BLOCK_H
#define GN_SLOTS_BLOCK_H

#include <slots/view.h>

enum { GN__DIGIT_BITS = 9, GN__DIGIT_BINS = 1 << GN__DIGIT_BITS, GN__MOST_WARPS = 1024 };

/* A block's shared memory. */
struct gn__slots_block {
	uint32_t last;
	uint32_t at;     /* what one thread tells the others: a place, */
	uint64_t before; /* and how many there are before it */
	/* of each warp: threads that want, and from bit 16 on threads that pass */
	uint32_t votes[GN__MOST_WARPS];
	uint64_t bin[GN__DIGIT_BINS];
};

SIMT_FN struct gn__slots_block *gn__block(void)
{
	return (struct gn__slots_block *)simt_shared();
}

/*
 * Is this the last block of the grid that comes to its end, by a counter of these? If so, it sees what all
 * threads of the others wrote: block_sync, then a chain of acq_rel adds (edge "last block"), then block_sync.
 */
SIMT_FN int gn__block_is_last(uint32_t *ended)
{
	struct gn__slots_block *b = gn__block();

	simt_block_sync();
	if (simt_thread() == 0) {
		b->last = simt_add_acq_rel_dev_u32(ended, 1) + 1 == simt_blocks();
		if (b->last)
			simt_store_relaxed_dev_u32(ended, 0);
	}
	simt_block_sync();
	return (int)b->last;
}

/* Numbers of a block's threads: how many before this one want, and how many of all do. */
struct gn__count {
	uint32_t before, wanting, passed;
};

/*
 * Count the threads that want something, in the order of threads, and those with passes. All threads call it,
 * and pass a barrier between two calls.
 */
SIMT_FN struct gn__count gn__block_count(int wants, int passes)
{
	struct gn__slots_block *b = gn__block();
	const uint32_t width = simt_warp_width(), all = simt_whole_warp(), mine = simt_thread() / width;
	const uint32_t want = simt_ballot(all, wants), pass = simt_ballot(all, passes);
	struct gn__count c = {simt_rank(want), 0, 0};

	if (simt_lane() == 0)
		b->votes[mine] = simt_popcount(want) | simt_popcount(pass) << 16;
	simt_block_sync();
	for (uint32_t k = 0; k < simt_block_threads() / width; k++) {
		c.before += k < mine ? b->votes[k] & 0xffff : 0;
		c.wanting += b->votes[k] & 0xffff;
		c.passed += b->votes[k] >> 16;
	}
	return c;
}

/* A place in a list for each lane of a warp that wants one; the whole warp calls it. */
SIMT_FN uint32_t gn__warp_append(uint32_t *length, int wants)
{
	const uint32_t all = simt_whole_warp(), want = simt_ballot(all, wants);
	uint32_t first = 0;

	if (!want)
		return 0;
	if (simt_lane() == simt_first_lane(want))
		first = simt_add_relaxed_dev_u32(length, simt_popcount(want));
	return simt_shfl_u32(all, first, simt_first_lane(want)) + simt_rank(want);
}

/* Add the number of lanes with a property to a counter; the whole warp calls it. */
SIMT_FN void gn__warp_count(uint64_t *counter, int holds)
{
	const uint32_t lanes = simt_ballot(simt_whole_warp(), holds);

	if (lanes && simt_lane() == 0)
		simt_reduce_add_relaxed_dev_u64(counter, simt_popcount(lanes));
}

#endif
