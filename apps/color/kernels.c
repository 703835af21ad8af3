/* SPDX-License-Identifier: Apache-2.0 */
#include "color/kernels.h"

SIMT_FN int is_higher(const struct color_args *a, uint64_t edge, uint32_t rank)
{
	return color_rank(a->graph.neighbours[edge]) > rank;
}

/*
 * Colours base to base + 63 that neighbours of higher rank have, as bits. Returns 0 if one of them has none
 * yet.
 */
SIMT_FN int taken(const struct color_args *a, uint32_t vertex, uint32_t base, uint64_t *bits)
{
	const uint32_t rank = color_rank(a->graph.first + vertex);

	*bits = 0;
	for (uint64_t e = a->graph.offsets[vertex]; e < a->graph.offsets[vertex + 1]; e++) {
		uint32_t seen;

		if (!is_higher(a, e, rank))
			continue;
		seen = simt_load_relaxed_dev_u32(&a->seen[e]);
		if (!seen)
			return 0;
		if (seen - 1 - base < 64)
			*bits |= 1ull << (seen - 1 - base);
	}
	return 1;
}

/*
 * The least colour that is free, if all that have to be known are. A vertex belongs to one thread of a
 * launch.
 */
SIMT_FN int can_choose(const void *args, uint32_t vertex, uint64_t *color)
{
	const struct color_args *a = (const struct color_args *)args;
	uint64_t bits = ~0ull;
	uint32_t least = 0;

	if (a->color[vertex])
		return 0;
	for (uint32_t base = 0; bits == ~0ull; base += 64) {
		if (!taken(a, vertex, base, &bits))
			return 0;
		least = base;
	}
	for (; bits & 1; bits >>= 1)
		least++;
	a->color[vertex] = least + 1;
	*color = (uint64_t)(a->graph.first + vertex) << 32 | (least + 1);
	return 1;
}

SIMT_FN int put_color(const void *args, uint64_t color, uint64_t edge)
{
	const struct color_args *a = (const struct color_args *)args;

	if (is_higher(a, edge, color_rank((uint32_t)(color >> 32))))
		return 0; /* it has its colour */
	return gn_net_put_u32(&a->net, spread_owner(&a->graph.blocks, a->graph.neighbours[edge]),
	                      &a->seen[a->twin[edge]], (uint32_t)color);
}

SIMT_FN void color_some(const struct color_args *a)
{
	const uint64_t found = spread_push(&a->graph, a, can_choose, put_color);

	if (found)
		simt_reduce_add_relaxed_dev_u64(a->changes, found);
}
SIMT_KERNEL(color_some, struct color_args)
