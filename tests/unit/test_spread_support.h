/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_spread_support.h - numbers of nodes, ways and warps that an application is run with, and graphs for
 * it.
 */
#ifndef GN_TEST_SPREAD_SUPPORT_H
#define GN_TEST_SPREAD_SUPPORT_H

#include "node_check.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <grapnel/net.h>

#include "graph/generate.h"
#include "spread/graph.h"

struct shape {
	uint32_t nodes, columns, width;
	uint32_t by_kernel; /* 1: as on a GPU */
};

static const struct shape shapes[] = {{1, 1, 1, 0}, {1, 1, 32, 0}, {2, 1, 32, 0}, {4, 2, 1, 0},
                                      {8, 1, 1, 0}, {8, 3, 32, 0}, {2, 1, 32, 1}};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static inline void run_on(const struct shape *s, uint64_t heap, int (*node)(struct gn_net *, void *),
                          void *argument)
{
	struct gn_net_options options;
	struct gn_error error = {0, ""};
	int rc;

	memset(&options, 0, sizeof options);
	options.nodes = s->nodes;
	options.columns = s->columns;
	options.machine.warp_width = s->width;
	options.machine.threads = 1;
	options.heap_bytes = options.shared_bytes = heap;
	options.by_kernel = s->by_kernel;
	options.host_sorts =
	    1; /* sorters are slow where they are emulated; tests/system/spread.sh has them */
	options.timeout_ns = 1000000000000; /* longer than the test may take: a slow machine fails none */
	rc = gn_net_run(&options, node, argument, &error);
	if (rc)
		fail_msg("%u nodes in %u columns, warps of %u%s: %s %s", s->nodes, s->columns, s->width,
		         s->by_kernel ? ", by kernel" : "", gn_error_name(rc), error.text);
}

/* Many vertices of few edges, some of none, and hubs. */
static inline void draw(struct gn_graph *g, bool undirected)
{
	struct gn_generate_options o;
	struct gn_error e = {0, ""};

	memset(&o, 0, sizeof o);
	o.kind = GN_GENERATOR_KRON;
	o.scale = 9;
	o.degree = 4;
	o.seed = 7;
	o.undirected = undirected;
	if (gn_graph_generate(g, &o, &e))
		fail_msg("%s", e.text);
}

/* A path has the longest way; with more nodes than vertices some nodes have none. */
static inline void path(struct gn_graph *g, uint32_t vertices)
{
	assert_int_equal(gn_graph_init(g, vertices, 2 * (vertices - 1), GN_WEIGHT_NONE, 0, NULL), 0);
	g->flags = GN_GRAPH_UNDIRECTED | GN_GRAPH_SORTED;
	for (uint32_t v = 0; v < vertices; v++) {
		uint64_t at = g->offsets[v];

		if (v)
			g->neighbours[at++] = v - 1;
		if (v + 1 < vertices)
			g->neighbours[at++] = v + 1;
		g->offsets[v + 1] = at;
	}
}

/* All know all: every vertex has a long row. */
static inline void clique(struct gn_graph *g, uint32_t vertices)
{
	uint64_t at = 0;

	assert_int_equal(
	    gn_graph_init(g, vertices, (uint64_t)vertices * (vertices - 1), GN_WEIGHT_NONE, 0, NULL), 0);
	g->flags = GN_GRAPH_UNDIRECTED | GN_GRAPH_SORTED;
	for (uint32_t v = 0; v < vertices; v++) {
		for (uint32_t u = 0; u < vertices; u++)
			if (u != v)
				g->neighbours[at++] = u;
		g->offsets[v + 1] = at;
	}
}

#endif
