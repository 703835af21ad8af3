/* SPDX-License-Identifier: Apache-2.0 */
#include "order.h"

#include <stdlib.h>
#include <string.h>

#include "build.h"

/* ---- does it pay? ---- */

uint64_t gn_graph_order_sample(uint64_t vertices, uint32_t k)
{
	/* Fibonacci hashing: multiples of 2^64 divided by the golden ratio are spread evenly */
	const uint64_t spread = (k + UINT64_C(1)) * 0x9e3779b97f4a7c15u >> 32;

	return spread * vertices >> 32;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

bool gn_graph_order_pays(uint64_t vertices, uint64_t edges, uint64_t *degree, uint32_t count)
{
	double total = 0;
	uint32_t zeros = 0;

	qsort(degree, count, sizeof *degree, by_value);
	while (zeros < count && !degree[zeros])
		zeros++;
	if (zeros == count || edges / 2 / vertices < 10)
		return false;
	for (uint32_t k = zeros; k < count; k++)
		total += (double)degree[k];
	return total / (count - zeros) / 1.3 > (double)degree[zeros + (count - zeros) / 2];
}

/* ---- order ---- */

/* Edges of a graph, by the new numbers. One that is not wanted becomes a self loop, which is dropped. */
struct ordered {
	struct gn_edge_source from;
	const uint32_t *rank;
};

static void draw(const void *self, uint64_t first, uint64_t count, struct gn_edge *edges, uint32_t *weights)
{
	const struct ordered *o = (const struct ordered *)self;

	o->from.draw(o->from.self, first, count, edges, weights);
	for (uint64_t i = 0; i < count; i++) {
		const uint32_t u = o->rank[edges[i].from], v = o->rank[edges[i].to];

		edges[i].from = u;
		edges[i].to = u > v ? v : u;
	}
}

static uint32_t degree_of(const struct gn_graph *g, uint64_t v)
{
	return (uint32_t)gn__min_u64(g->offsets[v + 1] - g->offsets[v], UINT32_MAX);
}

/*
 * @key  [vertices] room
 * How far each degree is below the highest one is sorted with the vertices in the place of weights.
 */
static void rank_by_degree(const struct gn_graph *g, uint32_t *rank, uint32_t *key, uint32_t *vertex)
{
	uint32_t most = 0;

	for (uint64_t v = 0; v < g->vertices; v++)
		most = degree_of(g, v) > most ? degree_of(g, v) : most;
	for (uint64_t v = 0; v < g->vertices; v++) {
		key[v] = most - degree_of(g, v);
		vertex[v] = (uint32_t)v;
	}
	gn__row_sort(key, vertex, g->vertices, GN_WEIGHT_I32, (uint64_t)most + 1);
	for (uint64_t k = 0; k < g->vertices; k++)
		rank[vertex[k]] = (uint32_t)k;
}

static int build(struct gn_graph *to, const struct gn_graph *from, const uint32_t *rank,
                 const struct gn_progress *progress, struct gn_error *e)
{
	const struct ordered ordered = {gn__graph_source(from), rank};
	struct gn_build b = {0};

	b.source.self = &ordered;
	b.source.edges = from->edges;
	b.source.draw = draw;
	b.vertices = from->vertices;
	b.simple = true;
	b.progress = progress;
	return gn__graph_build(to, &b, e);
}

int gn_graph_order(struct gn_graph *to, const struct gn_graph *from, const struct gn_progress *progress,
                   struct gn_error *e)
{
	const uint64_t vertices = from->vertices + 1;
	uint32_t *rank = (uint32_t *)malloc(3 * vertices * sizeof *rank);
	int err;

	memset(to, 0, sizeof *to);
	if (!rank)
		return gn_error_set(e, -GN_ENOMEM, "out of memory to order %llu vertices",
		                    (unsigned long long)from->vertices);
	rank_by_degree(from, rank, rank + vertices, rank + 2 * vertices);
	err = build(to, from, rank, progress, e);
	free(rank);
	return err;
}
