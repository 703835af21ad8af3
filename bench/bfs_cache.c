/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does the cache cost a search that finds everything in it? The same kernels, through arrays on a cache
 * that holds the whole graph and on plain pointers to the same memory, in turn; every depth of both is
 * checked.
 *
 *     bench_bfs_cache [MACHINE] [SCALE] [RUNS] [THREADS]
 *
 * Prints one JSON object: median seconds of both and their ratio.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bfs/bfs.h"
#include "graph/generate.h"
#include "graph/reference.h"

enum { MOST_RUNS = 99 };

struct bench {
	struct simt_machine *machine;
	struct gn_graph graph;
	struct gn_store *store;
	struct gn_cache *cache;
	struct gn_bfs_graph paged, plain;
	uint32_t *depth, *want;
	uint64_t source;
	unsigned runs;
	double paged_seconds[MOST_RUNS], plain_seconds[MOST_RUNS];
	uint64_t edges;
};

static int fail(const struct gn_error *e)
{
	fprintf(stderr, "bench_bfs_cache: %s\n", e->text);
	return 1;
}

/* The vertex of highest degree: it is in the large component. */
static uint64_t hub(const struct gn_graph *g)
{
	uint64_t best = 0;

	for (uint64_t v = 1; v < g->vertices; v++)
		if (g->offsets[v + 1] - g->offsets[v] > g->offsets[best + 1] - g->offsets[best])
			best = v;
	return best;
}

static int open_graph(struct bench *b, unsigned scale, struct gn_error *e)
{
	struct gn_generate_options o;

	memset(&o, 0, sizeof o);
	o.kind = GN_GENERATOR_KRON;
	o.scale = scale;
	o.degree = 16;
	o.seed = 1;
	o.undirected = true;
	if (gn_graph_generate(&b->graph, &o, e))
		return -1;
	b->source = hub(&b->graph);
	b->depth = (uint32_t *)malloc(b->graph.vertices * sizeof *b->depth);
	b->want = (uint32_t *)malloc(b->graph.vertices * sizeof *b->want);
	if (!b->depth || !b->want)
		return gn_error_set(e, -GN_ENOMEM, "no memory for the depths");
	return gn_bfs_reference(&b->graph, b->source, b->want, e);
}

/* Offsets and neighbours side by side in one store; the plain pointers go to the same bytes. */
static int open_store(struct bench *b, struct gn_error *e)
{
	const uint64_t offsets = (b->graph.vertices + 1) * 8, neighbours = b->graph.edges * 4;
	const uint64_t at = (offsets + 4095) / 4096 * 4096;
	struct gn_cache_options c;
	struct gn_array_options a = {GN_PAGED, NULL, NULL, 0, b->graph.vertices + 1, 8};
	const struct gn_store_view *view;
	char uri[64];

	memset(&c, 0, sizeof c);
	snprintf(uri, sizeof uri, "host:%llu", (unsigned long long)(at + neighbours));
	if (gn_store_open(&b->store, b->machine, uri, NULL, e) ||
	    gn_store_write_host(b->store, 0, b->graph.offsets, offsets, e) ||
	    gn_store_write_host(b->store, at, b->graph.neighbours, neighbours, e))
		return -1;
	c.bytes = at + neighbours + (1 << 20);
	if (gn_cache_create(&b->cache, b->machine, &b->store, 1, &c, e))
		return -1;
	a.cache = b->cache;
	a.store = b->store;
	if (gn_array_create(&b->paged.offsets, b->machine, &a, e))
		return -1;
	a.offset = at;
	a.count = b->graph.edges;
	a.element_bytes = 4;
	if (gn_array_create(&b->paged.neighbours, b->machine, &a, e))
		return -1;
	b->paged.vertices = b->graph.vertices;
	b->paged.edges = b->graph.edges;
	view = gn_store_view_of(b->store);
	b->plain = b->paged;
	b->plain.plain_offsets = (const uint64_t *)(const void *)view->memory;
	b->plain.plain_neighbours = (const uint32_t *)(const void *)(view->memory + at);
	return 0;
}

static int search(struct bench *b, struct gn_bfs_graph *graph, double *seconds, struct gn_error *e)
{
	struct gn_bfs_result result;

	if (gn_bfs(b->machine, graph, b->source, b->depth, &result, NULL, e) ||
	    gn_depths_verify(b->depth, b->want, b->graph.vertices, e))
		return -1;
	*seconds = result.seconds;
	b->edges = result.edges;
	return 0;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int run(struct bench *b, struct gn_error *e)
{
	double first;

	/* The first two are not counted: one brings the graph into the cache, one into the processor's. */
	if (search(b, &b->paged, &first, e) || search(b, &b->plain, &first, e))
		return -1;
	for (unsigned k = 0; k < b->runs; k++)
		if (search(b, &b->paged, &b->paged_seconds[k], e) ||
		    search(b, &b->plain, &b->plain_seconds[k], e))
			return -1;
	qsort(b->paged_seconds, b->runs, sizeof *b->paged_seconds, ascending);
	qsort(b->plain_seconds, b->runs, sizeof *b->plain_seconds, ascending);
	return 0;
}

static void print(const struct bench *b)
{
	const double paged = b->paged_seconds[b->runs / 2], plain = b->plain_seconds[b->runs / 2];
	struct simt_info info;
	json_t *root;

	simt_describe(b->machine, &info);
	root = json_pack("{s:s, s:s, s:i, s:I, s:I, s:i, s:f, s:f, s:f, s:b}", "schema",
	                 "grapnel-bench-bfs-cache-1", "machine", info.name, "processors",
	                 (int)info.processors, "vertices", (json_int_t)b->graph.vertices, "edges",
	                 (json_int_t)b->edges, "runs", (int)b->runs, "paged_seconds", paged, "plain_seconds",
	                 plain, "ratio", paged / plain, "verified", 1);
	json_dumpf(root, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(root);
}

int main(int argc, char **argv)
{
	struct simt_options config;
	struct gn_error e;
	struct bench b;

	memset(&config, 0, sizeof config);
	memset(&b, 0, sizeof b);
	config.name = argc > 1 ? argv[1] : "cpu";
	b.runs = argc > 3 ? (unsigned)atoi(argv[3]) : 5;
	config.threads = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
	if (!b.runs || b.runs > MOST_RUNS)
		b.runs = 5;
	if (simt_open(&b.machine, &config, &e))
		return e.code == -GN_ENODEV ? 77 : fail(&e);
	if (open_graph(&b, argc > 2 ? (unsigned)atoi(argv[2]) : 20, &e) || open_store(&b, &e) || run(&b, &e))
		return fail(&e);
	print(&b);
	gn_array_destroy(&b.paged.offsets, b.machine);
	gn_array_destroy(&b.paged.neighbours, b.machine);
	gn_cache_destroy(b.cache);
	gn_store_close(b.store);
	simt_close(b.machine);
	gn_graph_fini(&b.graph);
	free(b.depth);
	free(b.want);
	return 0;
}
