/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - things numbered from 0, spread over nodes in blocks: node k has those from k * each on, the last
 * nodes fewer or none.
 */
#ifndef GN_SPREAD_BLOCKS_H
#define GN_SPREAD_BLOCKS_H

#include <grapnel/simt.h>

struct spread_blocks {
	uint32_t all;
	uint32_t each; /* at least 1 */
};

SIMT_FN struct spread_blocks spread_blocks_of(uint32_t all, uint32_t nodes)
{
	struct spread_blocks b;

	b.all = all;
	b.each = all / nodes + (all % nodes != 0);
	b.each += !b.each;
	return b;
}

/* spread_owner - which node has a thing. */
SIMT_FN uint32_t spread_owner(const struct spread_blocks *b, uint32_t thing)
{
	return thing / b->each;
}

/* spread_place - which of its node's things it is. */
SIMT_FN uint32_t spread_place(const struct spread_blocks *b, uint32_t thing)
{
	return thing % b->each;
}

/* spread_first - the first thing of a node; of node k + 1: the end of node k. */
SIMT_FN uint32_t spread_first(const struct spread_blocks *b, uint32_t node)
{
	const uint64_t first = (uint64_t)node * b->each;

	return first < b->all ? (uint32_t)first : b->all;
}

#endif
