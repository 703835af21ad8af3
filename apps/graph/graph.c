/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t machine_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	long page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

int gn_graph_memory_fits(uint64_t bytes, uint64_t limit, const char *what, struct gn_error *e)
{
	uint64_t most = limit ? limit : machine_memory();

	if (bytes <= most)
		return 0;
	return gn_error_set(e, -GN_ENOMEM,
	                    "%s needs %.1f GiB of memory, but only %.1f GiB may be used; use a smaller graph "
	                    "or a machine with more memory",
	                    what, (double)bytes / 0x1p30, (double)most / 0x1p30);
}

static int graph_bytes(uint64_t vertices, uint64_t edges, uint32_t weight, uint64_t *bytes,
                       struct gn_error *e)
{
	if (vertices > GN_GRAPH_MAX_VERTICES || edges > GN_GRAPH_MAX_EDGES)
		return gn_error_set(e, -GN_EFBIG,
		                    "a graph of %llu vertices and %llu edges is too large; at most 2^32 - 1 "
		                    "vertices and 2^56 edges are possible",
		                    (unsigned long long)vertices, (unsigned long long)edges);
	*bytes = (vertices + 1) * 8 + edges * (weight ? 8 : 4);
	return 0;
}

int gn_graph_init(struct gn_graph *g, uint64_t vertices, uint64_t edges, uint32_t weight,
                  uint64_t memory_limit, struct gn_error *e)
{
	uint64_t bytes = 0;
	int err;

	memset(g, 0, sizeof *g);
	err = graph_bytes(vertices, edges, weight, &bytes, e);
	if (!err)
		err = gn_graph_memory_fits(bytes, memory_limit, "the graph", e);
	if (err)
		return err;
	g->vertices = vertices;
	g->edges = edges;
	g->weight = weight;
	g->offsets = (uint64_t *)calloc(vertices + 1, sizeof *g->offsets);
	if (edges)
		g->neighbours = (uint32_t *)malloc(edges * sizeof *g->neighbours);
	if (edges && weight)
		g->weights = (uint32_t *)malloc(edges * sizeof *g->weights);
	if (g->offsets && (!edges || (g->neighbours && (!weight || g->weights))))
		return 0;
	gn_graph_fini(g);
	return gn_error_set(e, -GN_ENOMEM,
	                    "out of memory for a graph of %llu bytes; free memory, or raise ulimit -v",
	                    (unsigned long long)bytes);
}

void gn_graph_fini(struct gn_graph *g)
{
	free(g->offsets);
	free(g->neighbours);
	free(g->weights);
	memset(g, 0, sizeof *g);
}
