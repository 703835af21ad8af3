/* SPDX-License-Identifier: Apache-2.0 */
/*
 * far_graph.h - small graphs for unit tests of jobs over a graph that is far away: lists of edges, the rows
 * that are made of them, and these behind a cache of a few small pages, or read directly.
 */
#ifndef GN_TEST_FAR_GRAPH_H
#define GN_TEST_FAR_GRAPH_H

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grapnel/cache.h>
#include <grapnel/store.h>

#include "graph/arrays.h"
#include "graph/balance.h"
#include "graph/graph.h"
#include "graph/state.h"

enum { FAR_MOST_EDGES = 20000 };

/* Edges in the order in which they were added, with the bits of their weights. */
static struct {
	uint32_t vertices, count, weight; /* weight: GN_WEIGHT_* */
	uint32_t from[FAR_MOST_EDGES], to[FAR_MOST_EDGES], bits[FAR_MOST_EDGES];
} list;

static inline void begin_list(uint32_t vertices, uint32_t weight)
{
	list.vertices = vertices;
	list.weight = weight;
	list.count = 0;
}

static inline void add_edge(uint32_t from, uint32_t to, uint32_t bits)
{
	assert_true(list.count < FAR_MOST_EDGES);
	list.from[list.count] = from;
	list.to[list.count] = to;
	list.bits[list.count++] = bits;
}

static inline void add_both(uint32_t from, uint32_t to, uint32_t bits)
{
	add_edge(from, to, bits);
	add_edge(to, from, bits);
}

/* Compressed sparse rows of the list, by counting. */
static inline void build_rows(struct gn_graph *g)
{
	assert_int_equal(gn_graph_init(g, list.vertices, list.count, list.weight, 0, NULL), 0);
	for (uint32_t k = 0; k < list.count; k++)
		g->offsets[list.from[k] + 1]++;
	for (uint32_t v = 0; v < list.vertices; v++)
		g->offsets[v + 1] += g->offsets[v];
	for (uint32_t k = list.count; k--;) {
		const uint64_t at = --g->offsets[list.from[k] + 1];

		g->neighbours[at] = list.to[k];
		if (g->weights)
			g->weights[at] = list.bits[k];
	}
	for (uint32_t v = 0; v < list.vertices; v++)
		g->offsets[v] = g->offsets[v + 1];
	g->offsets[list.vertices] = list.count;
}

/* Numbers that look random (Marsaglia's xorshift). */
static inline uint64_t draw_number(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* ---- behind a store ---- */

/* How a graph is read. */
struct far_way {
	unsigned width;      /* of a warp */
	uint32_t page_bytes; /* 0: directly, without a cache */
	int far_state;       /* 1: what a job knows of each vertex is far too */
	uint32_t chunk;      /* edges, of a graph that is handed out by chunks; 0: by vertices */
};

static const struct far_way far_ways[] = {
    {1, 512, 0, 0}, {32, 512, 1, 0}, {32, 512, 0, 0},  {1, 512, 1, 0}, {32, 4096, 0, 0}, {8, 1024, 0, 0},
    {1, 0, 0, 0},   {32, 0, 0, 0},   {32, 512, 0, 64}, {1, 512, 0, 4}, {32, 0, 1, 1024}, {8, 512, 0, 128}};

#define FAR_WAYS few_drawn(2, sizeof far_ways / sizeof *far_ways)

/*
 * Under the address sanitizer a graph is read in every third way, and the next graph in other ones: what that
 * finds lies in the ways. Elsewhere every graph is read in every way.
 */
#ifdef __SANITIZE_ADDRESS__
enum { FAR_STEP = 3 };
#else
enum { FAR_STEP = 1 };
#endif

/* A number that is another for each graph. */
static inline unsigned far_turn(void)
{
	static unsigned turn;

	return turn++;
}

/* Leaves of a star: its hub's list is more than two chunks. */
enum { FAR_STAR = 2100 };

/* Of n rounds over random graphs, those to run. */
#define FAR_ROUNDS(n) few_drawn(((n) + 3) / 4, n)

struct far_graph {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_cache *cache; /* NULL: read directly */
	struct gn_graph_arrays arrays;
	struct gn_state_place place; /* of state that is far */
};

static struct gn_error far_error;
static const char *far_kind = "host"; /* of store */

static inline void far_must(int rc)
{
	if (rc)
		fail_msg("%s: %s", gn_error_name(rc), far_error.text);
}

/* Without an element there is nothing to write, and no place to lay an array over. */
static inline void far_array(struct far_graph *f, struct gn_array *array, uint64_t at, const void *from,
                             uint64_t count, uint32_t element_bytes)
{
	struct gn_array_options a = {
	    f->cache ? GN_PAGED : GN_DIRECT, f->cache, f->store, count ? at : 0, count, element_bytes};

	if (count)
		far_must(gn_store_write_host(f->store, at, from, count * element_bytes, &far_error));
	far_must(gn_array_create(array, f->machine, &a, &far_error));
}

static inline void far_store(struct far_graph *f, uint64_t bytes, uint32_t page_bytes)
{
	struct gn_cache_options c;
	char uri[64];

	snprintf(uri, sizeof uri, "%s:%llu", far_kind, (unsigned long long)bytes);
	far_must(gn_store_open(&f->store, f->machine, uri, NULL, &far_error));
	memset(&c, 0, sizeof c);
	c.statistics = 1;
	c.page_bytes = page_bytes;
	c.bytes = 16 * page_bytes;
	if (page_bytes)
		far_must(gn_cache_create(&f->cache, f->machine, &f->store, 1, &c, &far_error));
}

static inline void open_far(struct far_graph *f, const struct gn_graph *g, unsigned width,
                            uint32_t page_bytes)
{
	const uint64_t page = 4096, first = ((g->vertices + 1) * 8 / page + 1) * page,
	               second = first + (g->edges * 4 / page + 1) * page;
	struct simt_options machine;

	memset(f, 0, sizeof *f);
	memset(&machine, 0, sizeof machine);
	machine.name = "cpu";
	machine.threads = 2;
	machine.warp_width = width;
	far_must(simt_open(&f->machine, &machine, &far_error));
	far_store(f, second + (g->edges * 4 / page + 1) * page, page_bytes);
	far_array(f, &f->arrays.offsets, 0, g->offsets, g->vertices + 1, 8);
	far_array(f, &f->arrays.neighbours, first, g->neighbours, g->edges, 4);
	if (g->weight)
		far_array(f, &f->arrays.weights, second, g->weights, g->edges, 4);
	f->arrays.weight = g->weight;
	f->arrays.vertices = g->vertices;
	f->arrays.edges = g->edges;
}

/* What jobs know of each vertex is behind a cache of four pages. */
static inline void open_far_state(struct far_graph *f, uint32_t bytes_per_vertex)
{
	struct gn_cache_options c;
	char uri[64];

	snprintf(uri, sizeof uri, "host:%llu",
	         (unsigned long long)gn_state_place_bytes(f->arrays.vertices, bytes_per_vertex));
	far_must(gn_store_open(&f->place.store, f->machine, uri, NULL, &far_error));
	memset(&c, 0, sizeof c);
	c.page_bytes = 512;
	c.bytes = 4 * c.page_bytes;
	far_must(gn_cache_create(&f->place.cache, f->machine, &f->place.store, 1, &c, &far_error));
	f->arrays.state = &f->place;
}

static inline void close_far(struct far_graph *f)
{
	gn_balance_remove(f->machine, &f->arrays);
	gn_array_destroy(&f->arrays.weights, f->machine);
	gn_array_destroy(&f->arrays.neighbours, f->machine);
	gn_array_destroy(&f->arrays.offsets, f->machine);
	if (f->place.cache)
		gn_cache_destroy(f->place.cache);
	gn_store_close(f->place.store);
	if (f->cache)
		gn_cache_destroy(f->cache);
	gn_store_close(f->store);
	simt_close(f->machine);
}

/* The same graph by chunks of edges (balance.h). */
static inline void balance_far(struct far_graph *f, const struct gn_graph *g, uint32_t chunk)
{
	struct gn_balance b;

	far_must(gn_balance_begin(&b, g->vertices, g->edges, chunk, &far_error));
	far_must(gn_balance_add(&b, g->offsets, g->vertices + 1, &far_error));
	if (g->edges)
		far_must(gn_balance_place(&b, f->machine, &f->arrays, &far_error));
	gn_balance_fini(&b);
}

/* In one of the ways. @bytes_per_vertex  of state that is far */
static inline void open_far_way(struct far_graph *f, const struct gn_graph *g, const struct far_way *way,
                                uint32_t bytes_per_vertex)
{
	open_far(f, g, way->width, way->page_bytes);
	if (way->far_state)
		open_far_state(f, bytes_per_vertex);
	if (way->chunk)
		balance_far(f, g, way->chunk);
}

static inline void expect_words(const char *words)
{
	if (!strstr(far_error.text, words))
		fail_msg("\"%s\" does not say \"%s\"", far_error.text, words);
}

#endif
