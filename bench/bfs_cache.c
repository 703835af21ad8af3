/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does the cache cost a search that finds everything in it? The same kernels, through arrays on a cache
 * that holds the whole graph and on plain pointers to the same memory, in turn; every depth of both is
 * checked.
 *
 *     bench_bfs_cache [machine=cpu] [scale=20] [runs=5] [threads=0]
 *
 * Prints one JSON object: median seconds of both and their ratio.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grapnel/open.h>

#include "bfs/bfs.h"
#include "graph/generate.h"
#include "graph/reference.h"
#include "support/engine.h"

enum { MOST_RUNS = 99 };

static struct gn_error error;

struct bench {
	struct gn_data data; /* offsets; neighbours lie behind them in the same store */
	struct gn_graph graph;
	struct gn_graph_arrays paged, plain;
	uint32_t *depth, *want;
	uint64_t source, edges;
};

/* The vertex of highest degree: it is in the large component. */
static uint64_t hub(const struct gn_graph *g)
{
	uint64_t best = 0;

	for (uint64_t v = 1; v < g->vertices; v++)
		if (g->offsets[v + 1] - g->offsets[v] > g->offsets[best + 1] - g->offsets[best])
			best = v;
	return best;
}

static void open_graph(struct bench *b)
{
	struct gn_generate_options o;

	memset(&o, 0, sizeof o);
	o.kind = GN_GENERATOR_KRON;
	o.scale = (unsigned)bench_number("scale", 20);
	o.degree = 16;
	o.seed = 1;
	o.undirected = true;
	bench_must(gn_graph_generate(&b->graph, &o, &error), error.text);
	b->source = hub(&b->graph);
	b->depth = (uint32_t *)malloc(b->graph.vertices * sizeof *b->depth);
	b->want = (uint32_t *)malloc(b->graph.vertices * sizeof *b->want);
	bench_must(!b->depth || !b->want, "no memory for the depths");
	bench_must(gn_bfs_reference(&b->graph, b->source, b->want, &error), error.text);
}

/* Offsets and neighbours side by side in one store; the plain pointers go to the same bytes. */
static void open_store(struct bench *b)
{
	const uint64_t offsets = (b->graph.vertices + 1) * 8, neighbours = b->graph.edges * 4;
	const uint64_t at = (offsets + 4095) / 4096 * 4096;
	struct gn_array_options a = {GN_PAGED, NULL, NULL, at, b->graph.edges, 4};
	struct gn_options options = {0};
	const struct gn_store_view *view;
	char uri[64];

	snprintf(uri, sizeof uri, "host:%llu", (unsigned long long)(at + neighbours));
	options.machine = bench_text("machine", "cpu");
	options.machine_options.threads = (unsigned)bench_number("threads", 0);
	options.element_bytes = 8;
	options.count = b->graph.vertices + 1;
	options.cache.bytes = at + neighbours + (1 << 20);
	bench_must(gn_open(&b->data, uri, &options, &error), error.text);
	bench_must(gn_store_write_host(b->data.store, 0, b->graph.offsets, offsets, &error), error.text);
	bench_must(gn_store_write_host(b->data.store, at, b->graph.neighbours, neighbours, &error),
	           error.text);
	a.cache = b->data.cache;
	a.store = b->data.store;
	b->paged.offsets = b->data.array;
	bench_must(gn_array_create(&b->paged.neighbours, b->data.machine, &a, &error), error.text);
	b->paged.vertices = b->graph.vertices;
	b->paged.edges = b->graph.edges;
	view = gn_store_view_of(b->data.store);
	b->plain = b->paged;
	b->plain.plain_offsets = (const uint64_t *)(const void *)view->memory;
	b->plain.plain_neighbours = (const uint32_t *)(const void *)(view->memory + at);
}

static double search(struct bench *b, struct gn_graph_arrays *graph)
{
	const struct gn_bfs_options options = {b->source, GN_BFS_TOP_DOWN, {NULL, NULL}};
	struct gn_bfs_result result;

	bench_must(gn_bfs(b->data.machine, graph, &options, b->depth, &result, NULL, &error), error.text);
	bench_must(gn_depths_verify(b->depth, b->want, b->graph.vertices, &error), error.text);
	b->edges = result.edges;
	return result.seconds;
}

int main(int argc, char **argv)
{
	double paged[MOST_RUNS], plain[MOST_RUNS], ratio;
	struct simt_info info;
	struct bench b;
	uint32_t runs;

	memset(&b, 0, sizeof b);
	bench_begin(argc, argv, "machine scale runs threads");
	runs = (uint32_t)bench_number("runs", 5);
	bench_must(!runs || runs > MOST_RUNS, "runs: from 1 to 99");
	open_graph(&b);
	open_store(&b);
	/* The first two are not counted: one brings the graph into the cache, one into the processor's. */
	search(&b, &b.paged);
	search(&b, &b.plain);
	for (uint32_t k = 0; k < runs; k++) {
		paged[k] = search(&b, &b.paged);
		plain[k] = search(&b, &b.plain);
	}
	ratio = bench_median(paged, runs) / bench_median(plain, runs);
	simt_describe(b.data.machine, &info);
	bench_print(json_pack("{s:s, s:s, s:i, s:I, s:I, s:i, s:f, s:f, s:f, s:b}", "schema",
	                      "grapnel-bench-bfs-cache-1", "machine", info.name, "processors",
	                      (int)info.processors, "vertices", (json_int_t)b.graph.vertices, "edges",
	                      (json_int_t)b.edges, "runs", (int)runs, "paged_seconds",
	                      bench_median(paged, runs), "plain_seconds", bench_median(plain, runs), "ratio",
	                      ratio, "verified", 1));
	gn_array_destroy(&b.paged.neighbours, b.data.machine);
	bench_must(gn_close(&b.data, &error), error.text);
	gn_graph_fini(&b.graph);
	free(b.depth);
	free(b.want);
	return 0;
}
