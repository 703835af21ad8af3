/* SPDX-License-Identifier: Apache-2.0 */
#include "spread/graph.h"

#include <stdlib.h>

static uint64_t edges_of(const struct gn_graph *g, const struct spread_blocks *b, uint32_t node)
{
	return g->offsets[spread_first(b, node + 1)] - g->offsets[spread_first(b, node)];
}

uint64_t spread_most_edges(const struct gn_graph *whole, uint32_t nodes)
{
	const struct spread_blocks b = spread_blocks_of((uint32_t)whole->vertices, nodes);
	uint64_t most = 0;

	for (uint32_t node = 0; node < nodes; node++)
		most = edges_of(whole, &b, node) > most ? edges_of(whole, &b, node) : most;
	return most;
}

/* A copy in memory of the machine. */
static int copy(struct gn_net *net, const void *from, uint64_t bytes, void **to, struct gn_error *error)
{
	*to = simt_alloc(gn_net_machine(net), bytes ? bytes : 1, SIMT_DEVICE, error);
	if (!*to)
		return -GN_ENOMEM;
	return bytes ? simt_move(gn_net_machine(net), *to, from, bytes, error) : 0;
}

static int load_offsets(struct spread_graph *p, struct gn_net *net, const struct gn_graph *whole,
                        struct gn_error *error)
{
	const uint64_t bytes = (p->count + 1ull) * sizeof *p->offsets;
	uint64_t *offsets = (uint64_t *)malloc(bytes);
	void *to = NULL;
	int rc;

	if (!offsets)
		return -GN_ENOMEM;
	for (uint64_t v = 0; v <= p->count; v++)
		offsets[v] = whole->offsets[p->first + v] - whole->offsets[p->first];
	rc = copy(net, offsets, bytes, &to, error);
	p->offsets = (const uint64_t *)to;
	free(offsets);
	return rc;
}

int spread_graph_load(struct spread_graph *part, struct gn_net *net, const struct gn_graph *whole,
                      struct gn_error *error)
{
	const uint32_t node = gn_net_node(net);
	void *neighbours = NULL, *weights = NULL;
	uint64_t begin;
	int rc;

	memset(part, 0, sizeof *part);
	part->blocks = spread_blocks_of((uint32_t)whole->vertices, gn_net_nodes(net));
	part->first = spread_first(&part->blocks, node);
	part->count = spread_first(&part->blocks, node + 1) - part->first;
	part->edges = edges_of(whole, &part->blocks, node);
	begin = whole->offsets[part->first];
	rc = load_offsets(part, net, whole, error);
	if (!rc)
		rc = copy(net, whole->neighbours + begin, part->edges * 4, &neighbours, error);
	if (!rc && whole->weights)
		rc = copy(net, whole->weights + begin, part->edges * 4, &weights, error);
	part->neighbours = (const uint32_t *)neighbours;
	part->weights = (const uint32_t *)weights;
	return rc;
}

void spread_graph_free(struct spread_graph *part, struct gn_net *net)
{
	simt_free(gn_net_machine(net), (void *)(uintptr_t)part->offsets);
	simt_free(gn_net_machine(net), (void *)(uintptr_t)part->neighbours);
	simt_free(gn_net_machine(net), (void *)(uintptr_t)part->weights);
	memset(part, 0, sizeof *part);
}
