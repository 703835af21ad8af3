/* SPDX-License-Identifier: Apache-2.0 */
#include "pagerank/net/kernels.h"

#include "pagerank/ranks.h"

SIMT_FN uint64_t share_of(const struct pagerank_args *a, uint32_t vertex)
{
	return pagerank_share(a->rank[vertex], spread_degree(&a->graph, vertex));
}

SIMT_FN int has_share(const void *args, uint32_t vertex, uint64_t *share)
{
	*share = share_of((const struct pagerank_args *)args, vertex);
	return *share != 0;
}

SIMT_FN int send_share(const void *args, uint64_t share, uint64_t edge)
{
	const struct pagerank_args *a = (const struct pagerank_args *)args;
	const uint32_t to = a->graph.neighbours[edge];
	const struct spread_blocks *b = &a->graph.blocks;

	return gn_net_add_u64(&a->net, spread_owner(b, to), &a->come[spread_place(b, to)], share);
}

SIMT_FN void pagerank_send(const struct pagerank_args *a)
{
	spread_push(&a->graph, a, has_share, send_share);
}
SIMT_KERNEL(pagerank_send, struct pagerank_args)

SIMT_FN void pagerank_take(const struct pagerank_args *a)
{
	uint64_t moved = 0, sends = 0;

	for (uint64_t v = simt_global_thread(); v < a->graph.count; v += simt_global_threads()) {
		const uint64_t rank = a->come[v] + a->base + (a->graph.first + v < a->extra);

		moved += rank > a->rank[v] ? rank - a->rank[v] : a->rank[v] - rank;
		a->rank[v] = rank;
		a->come[v] = 0;
		sends += share_of(a, (uint32_t)v) * spread_degree(&a->graph, (uint32_t)v);
	}
	simt_reduce_add_relaxed_dev_u64(&a->totals[0], moved);
	simt_reduce_add_relaxed_dev_u64(&a->totals[1], sends);
}
SIMT_KERNEL(pagerank_take, struct pagerank_args)
