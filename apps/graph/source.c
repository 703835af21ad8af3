/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

#include <string.h>

static void draw_from_list(const void *self, uint64_t first, uint64_t count, struct gn_edge *edges,
                           uint32_t *weights)
{
	const struct gn_edges *l = (const struct gn_edges *)self;

	memcpy(edges, l->edges + first, count * sizeof *edges);
	if (weights)
		memcpy(weights, l->weights + first, count * sizeof *weights);
}

struct gn_edge_source gn__edges_source(const struct gn_edges *l)
{
	struct gn_edge_source s = {l, l->count, draw_from_list};

	return s;
}

/* The vertex whose row holds edge i: the last v with offsets[v] <= i. */
static uint64_t row_of(const struct gn_graph *g, uint64_t i)
{
	uint64_t low = 0;
	uint64_t high = g->vertices;

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (g->offsets[middle] <= i)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void draw_from_graph(const void *self, uint64_t first, uint64_t count, struct gn_edge *edges,
                            uint32_t *weights)
{
	const struct gn_graph *g = (const struct gn_graph *)self;
	uint64_t v = row_of(g, first);

	for (uint64_t i = 0; i < count; i++) {
		while (g->offsets[v + 1] <= first + i)
			v++;
		edges[i].from = (uint32_t)v;
		edges[i].to = g->neighbours[first + i];
	}
	if (weights)
		memcpy(weights, g->weights + first, count * sizeof *weights);
}

struct gn_edge_source gn__graph_source(const struct gn_graph *g)
{
	struct gn_edge_source s = {g, g->edges, draw_from_graph};

	return s;
}
