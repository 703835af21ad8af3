/* SPDX-License-Identifier: Apache-2.0 */
/*
 * While a graph is built, offsets[v + 1] is first the number of v's neighbours, then the place of
 * v's first, then of its next; when every neighbour is placed that is the end of v, which is the
 * start of v + 1. So no array is needed beside the graph's own.
 */
#include "build.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, BLOCKS_PER_STEP = 2048 };

static uint32_t mirrored_weight(const struct gn_build *b, uint32_t bits)
{
	if (b->mirror != GN_MIRROR_NEGATED)
		return bits;
	return b->weight == GN_WEIGHT_F32 ? bits ^ UINT32_C(0x80000000) : 0u - bits;
}

static void count_block(const struct gn_build *b, uint64_t *offsets, uint64_t first, uint64_t n)
{
	struct gn_edge edges[BLOCK];

	b->source.draw(b->source.self, first, n, edges, NULL);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t from = edges[i].from;
		uint64_t to = edges[i].to;

		if (from == to && b->simple)
			continue;
#pragma omp atomic update
		offsets[from + 1]++;
		if (b->mirror == GN_MIRROR_NONE || from == to)
			continue;
#pragma omp atomic update
		offsets[to + 1]++;
	}
}

static void place(struct gn_graph *g, uint64_t from, uint32_t to, uint32_t weight)
{
	uint64_t at;

#pragma omp atomic capture
	at = g->offsets[from + 1]++;
	g->neighbours[at] = to;
	if (g->weights)
		g->weights[at] = weight;
}

static void place_block(const struct gn_build *b, struct gn_graph *g, uint64_t first, uint64_t n)
{
	struct gn_edge edges[BLOCK];
	uint32_t weights[BLOCK];

	memset(weights, 0, sizeof weights);
	b->source.draw(b->source.self, first, n, edges, g->weights ? weights : NULL);
	for (uint64_t i = 0; i < n; i++) {
		uint32_t from = edges[i].from;
		uint32_t to = edges[i].to;

		if (from == to && b->simple)
			continue;
		place(g, from, to, weights[i]);
		if (b->mirror != GN_MIRROR_NONE && from != to)
			place(g, to, from, mirrored_weight(b, weights[i]));
	}
}

/* One pass over all edges; in steps, so that the calling thread can say how far it is. */
static void pass(const struct gn_build *b, struct gn_graph *g, bool placing)
{
	const uint64_t edges = b->source.edges;
	const uint64_t blocks = (edges + BLOCK - 1) / BLOCK;

	for (uint64_t step = 0; step < blocks; step += BLOCKS_PER_STEP) {
		uint64_t end = gn__min_u64(blocks, step + BLOCKS_PER_STEP);

		gn_progress_step(b->progress, placing ? "placing edges" : "counting edges", step, blocks);
#pragma omp parallel for schedule(dynamic, 16)
		for (uint64_t block = step; block < end; block++) {
			uint64_t first = block * BLOCK;
			uint64_t n = gn__min_u64(edges - first, BLOCK);

			if (placing)
				place_block(b, g, first, n);
			else
				count_block(b, g->offsets, first, n);
		}
	}
}

/* Counts become places; returns the number of edges. */
static uint64_t prefix_sum(struct gn_graph *g)
{
	uint64_t total = 0;

	for (uint64_t v = 0; v < g->vertices; v++) {
		uint64_t n = g->offsets[v + 1];

		g->offsets[v + 1] = total;
		total += n;
	}
	return total;
}

static void sort_rows(const struct gn_build *b, struct gn_graph *g)
{
	enum { ROWS = 1 << 20 };

	for (uint64_t step = 0; step < g->vertices; step += ROWS) {
		uint64_t end = gn__min_u64(g->vertices, step + ROWS);

		gn_progress_step(b->progress, "sorting neighbours", step, g->vertices);
#pragma omp parallel for schedule(dynamic, 256)
		for (uint64_t v = step; v < end; v++) {
			uint64_t begin = g->offsets[v];
			uint64_t n = g->offsets[v + 1] - begin;

			if (n > 1)
				gn__row_sort(g->neighbours + begin, g->weights ? g->weights + begin : NULL, n,
				             b->weight, g->vertices);
		}
	}
}

/* Of sorted rows keep the first of equal neighbours, moving everything down. Returns how many are kept. */
static uint64_t drop_duplicates(struct gn_graph *g)
{
	uint64_t kept = 0;
	uint64_t begin = 0;

	for (uint64_t v = 0; v < g->vertices; v++) {
		uint64_t end = g->offsets[v + 1];

		for (uint64_t i = begin; i < end; i++) {
			if (i > begin && g->neighbours[i] == g->neighbours[i - 1])
				continue;
			g->neighbours[kept] = g->neighbours[i];
			if (g->weights)
				g->weights[kept] = g->weights[i];
			kept++;
		}
		g->offsets[v + 1] = kept;
		begin = end;
	}
	return kept;
}

/* A smaller block, or the same where there is none. */
static void *shrunk(void *block, uint64_t bytes)
{
	void *smaller = bytes ? realloc(block, bytes) : NULL;

	return smaller ? smaller : block;
}

void gn__graph_shrink(struct gn_graph *g, uint64_t edges)
{
	g->edges = edges;
	g->neighbours = (uint32_t *)shrunk(g->neighbours, edges * sizeof *g->neighbours);
	if (g->weights)
		g->weights = (uint32_t *)shrunk(g->weights, edges * sizeof *g->weights);
}

static int allocate_edges(struct gn_graph *g, uint64_t edges, uint32_t weight, struct gn_error *e)
{
	g->edges = edges;
	g->weight = weight;
	if (!edges)
		return 0;
	g->neighbours = (uint32_t *)malloc(edges * sizeof *g->neighbours);
	if (weight)
		g->weights = (uint32_t *)malloc(edges * sizeof *g->weights);
	if (g->neighbours && (!weight || g->weights))
		return 0;
	return gn_error_set(e, -GN_ENOMEM, "out of memory for %llu edges; free memory, or raise ulimit -v",
	                    (unsigned long long)edges);
}

/* Held against the limits before anything is counted, since counting is half the work. */
static int check_size(const struct gn_build *b, struct gn_error *e)
{
	uint64_t each = (b->mirror == GN_MIRROR_NONE ? 1 : 2) * (b->weight ? 8 : 4);

	if (b->source.edges > GN_GRAPH_MAX_EDGES / 2)
		return gn_error_set(e, -GN_EFBIG, "%llu edges are too many; at most 2^55 are possible",
		                    (unsigned long long)b->source.edges);
	return gn_graph_memory_fits((b->vertices + 1) * 8 + b->source.edges * each, b->memory_limit,
	                            "the graph", e);
}

int gn__graph_build(struct gn_graph *g, const struct gn_build *b, struct gn_error *e)
{
	int err;

	err = gn_graph_init(g, b->vertices, 0, GN_WEIGHT_NONE, b->memory_limit, e);
	if (!err)
		err = check_size(b, e);
	if (err)
		goto fail;
	pass(b, g, false);
	err = allocate_edges(g, prefix_sum(g), b->weight, e);
	if (err)
		goto fail;
	pass(b, g, true);
	sort_rows(b, g);
	if (b->simple)
		gn__graph_shrink(g, drop_duplicates(g));
	g->flags = GN_GRAPH_SORTED;
	if (b->mirror != GN_MIRROR_NONE)
		g->flags |= GN_GRAPH_UNDIRECTED;
	return 0;
fail:
	gn_graph_fini(g);
	return err;
}
