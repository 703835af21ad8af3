/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - graphs for searches: read from a file, or drawn. */
#include <sim/workloads/support.h>

#include <string.h>

#include "graph/read.h"

static int too_large(struct gn_error *error, const char *workload, uint64_t vertices, uint64_t edges)
{
	return gn_error_set(error, -GN_EFBIG,
	                    "%s: %llu vertices and %llu edges are too many; give a graph of at most 2^26 "
	                    "vertices and 2^30 edges",
	                    workload, (unsigned long long)vertices, (unsigned long long)edges);
}

static int generate(struct gn_graph *g, uint32_t vertices, uint32_t degree, uint64_t seed,
                    struct gn_error *error)
{
	int rc = gn_graph_init(g, vertices, (uint64_t)vertices * degree, GN_WEIGHT_NONE, 0, error);

	/* Degrees from 0 to twice the mean, and a cycle as far as that goes, so that most is reached. */
	for (uint32_t v = 0; v < vertices && !rc; v++) {
		const uint64_t left = g->edges - g->offsets[v], most = 2ull * degree;
		uint64_t count = sim_random_below(&seed, most + 1);

		count = count < left ? count : left;
		g->offsets[v + 1] = g->offsets[v] + count;
		for (uint64_t k = 0; k < count; k++)
			g->neighbours[g->offsets[v] + k] =
			    (uint32_t)(k ? sim_random_below(&seed, vertices) : (v + 1) % vertices);
	}
	return rc;
}

uint32_t sim_graph_largest(const struct gn_graph *g)
{
	uint32_t best = 0;

	for (uint32_t v = 1; v < g->vertices; v++)
		if (g->offsets[v + 1] - g->offsets[v] > g->offsets[best + 1] - g->offsets[best])
			best = v;
	return best;
}

int sim_graph_get(struct gn_graph *g, const struct sim_request *request, const char *workload,
                  struct gn_error *error)
{
	struct sim_size size[] = {{"vertices", 16384, 1, 1 << 26, 1}, {"a mean degree", 8, 1, 256, 1}};
	int rc;

	memset(g, 0, sizeof *g);
	if (sim_sizes_read(request->size, workload, size, 2, error))
		return -GN_EINVAL;
	if (request->input)
		rc = gn_graph_read(g, request->input, NULL, error);
	else
		rc = generate(g, (uint32_t)size[0].value, (uint32_t)size[1].value, request->seed, error);
	if (!rc && (!g->vertices || g->vertices > 1u << 26 || g->edges > 1u << 30))
		rc = too_large(error, workload, g->vertices, g->edges);
	return rc;
}
