/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_far.h - small graphs, edge by edge, and behind a store: what tests of jobs over graphs share.
 */
#ifndef GN_TEST_GRAPH_FAR_H
#define GN_TEST_GRAPH_FAR_H

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grapnel/cache.h>
#include <grapnel/store.h>

#include "graph/arrays.h"
#include "graph/graph.h"

enum { PAGE = 512, CACHE = 16 * PAGE, MOST_EDGES = 20000 };

/* Edges in the order in which they were added. */
struct edges {
	uint32_t vertices, count;
	uint32_t from[MOST_EDGES], to[MOST_EDGES];
};

static struct edges list;

static inline void begin(uint32_t vertices)
{
	list.vertices = vertices;
	list.count = 0;
}

static inline void add(uint32_t from, uint32_t to)
{
	assert_true(list.count < MOST_EDGES);
	list.from[list.count] = from;
	list.to[list.count++] = to;
}

static inline void add_both(uint32_t from, uint32_t to)
{
	add(from, to);
	add(to, from);
}

/* Compressed sparse rows, by counting. */
static inline void build(struct gn_graph *g)
{
	assert_int_equal(gn_graph_init(g, list.vertices, list.count, GN_WEIGHT_NONE, 0, NULL), 0);
	for (uint32_t k = 0; k < list.count; k++)
		g->offsets[list.from[k] + 1]++;
	for (uint32_t v = 0; v < list.vertices; v++)
		g->offsets[v + 1] += g->offsets[v];
	for (uint32_t k = list.count; k--;)
		g->neighbours[--g->offsets[list.from[k] + 1]] = list.to[k];
	for (uint32_t v = 0; v < list.vertices; v++)
		g->offsets[v] = g->offsets[v + 1];
	g->offsets[list.vertices] = list.count;
}

/* ---- the graph behind a cache ---- */

struct far {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_cache *cache;
	struct gn_graph_arrays arrays;
};

static struct gn_error error;

static inline void must(int rc)
{
	if (rc)
		fail_msg("%s: %s", gn_error_name(rc), error.text);
}

static inline void open_store(struct far *f, const struct gn_graph *g, uint64_t neighbours_at)
{
	struct gn_cache_options c;
	char uri[64];

	snprintf(uri, sizeof uri, "host:%llu", (unsigned long long)(neighbours_at + g->edges * 4 + PAGE));
	must(gn_store_open(&f->store, f->machine, uri, NULL, &error));
	must(gn_store_write_host(f->store, 0, g->offsets, (g->vertices + 1) * 8, &error));
	if (g->edges)
		must(gn_store_write_host(f->store, neighbours_at, g->neighbours, g->edges * 4, &error));
	memset(&c, 0, sizeof c);
	c.page_bytes = PAGE;
	c.bytes = CACHE;
	must(gn_cache_create(&f->cache, f->machine, &f->store, 1, &c, &error));
}

static inline void open_far_as(struct far *f, const struct gn_graph *g, unsigned width, enum gn_mode mode)
{
	const uint64_t neighbours_at = ((g->vertices + 1) * 8 + PAGE - 1) / PAGE * PAGE;
	struct gn_array_options a = {mode, NULL, NULL, 0, g->vertices + 1, 8};
	struct simt_options machine;

	memset(f, 0, sizeof *f);
	memset(&machine, 0, sizeof machine);
	machine.name = "cpu";
	machine.threads = 2;
	machine.warp_width = width;
	must(simt_open(&f->machine, &machine, &error));
	open_store(f, g, neighbours_at);
	a.cache = mode == GN_PAGED ? f->cache : NULL;
	a.store = f->store;
	must(gn_array_create(&f->arrays.offsets, f->machine, &a, &error));
	a.offset = g->edges ? neighbours_at : 0;
	a.count = g->edges;
	a.element_bytes = 4;
	must(gn_array_create(&f->arrays.neighbours, f->machine, &a, &error));
	f->arrays.vertices = g->vertices;
	f->arrays.edges = g->edges;
}

static inline void open_far(struct far *f, const struct gn_graph *g, unsigned width)
{
	open_far_as(f, g, width, GN_PAGED);
}

static inline void close_far(struct far *f)
{
	gn_array_destroy(&f->arrays.neighbours, f->machine);
	gn_array_destroy(&f->arrays.offsets, f->machine);
	gn_cache_destroy(f->cache);
	gn_store_close(f->store);
	simt_close(f->machine);
}

#endif
