/* SPDX-License-Identifier: Apache-2.0 */
#include "sssp/net/kernels.h"

/*
 * A vertex belongs to one thread of a launch: nobody else changes `sent`. Its length may become less at any
 * time.
 */
SIMT_FN int has_come_nearer(const void *args, uint32_t vertex, uint64_t *length)
{
	const struct sssp_args *a = (const struct sssp_args *)args;

	*length = simt_load_relaxed_dev_u64(&a->length[vertex]);
	if (*length >= a->sent[vertex])
		return 0;
	a->sent[vertex] = *length;
	return 1;
}

SIMT_FN int send_length(const void *args, uint64_t length, uint64_t edge)
{
	const struct sssp_args *a = (const struct sssp_args *)args;
	const uint32_t to = a->graph.neighbours[edge];
	const struct spread_blocks *b = &a->graph.blocks;

	return gn_net_min_u64(&a->net, spread_owner(b, to), &a->length[spread_place(b, to)],
	                      length + a->graph.weights[edge]);
}

SIMT_FN void sssp_relax(const struct sssp_args *a)
{
	const uint64_t found = spread_push(&a->graph, a, has_come_nearer, send_length);

	if (found)
		simt_reduce_add_relaxed_dev_u64(a->changes, found);
}
SIMT_KERNEL(sssp_relax, struct sssp_args)
