/* SPDX-License-Identifier: Apache-2.0 */
#include "pagerank/ranks.h"

#include <math.h>
#include <stdlib.h>

static const long double damping = 0.85L;

/* The graph with every edge turned round. */
struct reversed {
	uint64_t *offsets;
	uint32_t *sources;
};

static void turn(const struct gn_graph *g, struct reversed *r)
{
	for (uint64_t e = 0; e < g->edges; e++)
		r->offsets[g->neighbours[e] + 1ull]++;
	for (uint64_t v = 0; v < g->vertices; v++)
		r->offsets[v + 1] += r->offsets[v];
	for (uint64_t v = 0; v < g->vertices; v++)
		for (uint64_t e = g->offsets[v]; e < g->offsets[v + 1]; e++)
			r->sources[r->offsets[g->neighbours[e]]++] = (uint32_t)v;
	/* each is now where the next begins */
	for (uint64_t v = g->vertices; v > 0; v--)
		r->offsets[v] = r->offsets[v - 1];
	r->offsets[0] = 0;
}

static void iterate(const struct gn_graph *g, const struct reversed *r, long double *rank, long double *share)
{
	const long double vertices = (long double)g->vertices;
	long double idle = 0;

	for (uint64_t v = 0; v < g->vertices; v++) {
		const uint64_t degree = g->offsets[v + 1] - g->offsets[v];

		share[v] = degree ? damping * rank[v] / (long double)degree : 0;
		idle += degree ? 0 : damping * rank[v];
	}
	for (uint64_t v = 0; v < g->vertices; v++) {
		rank[v] = (1 - damping + idle) / vertices;
		for (uint64_t k = r->offsets[v]; k < r->offsets[v + 1]; k++)
			rank[v] += share[r->sources[k]];
	}
}

int pagerank_reference(const struct gn_graph *graph, uint32_t iterations, double *ranks)
{
	const uint64_t n = graph->vertices;
	long double *rank = (long double *)malloc(n * sizeof *rank),
	            *share = (long double *)malloc(n * sizeof *share);
	struct reversed r;
	int rc = -GN_ENOMEM;

	r.offsets = (uint64_t *)calloc(n + 1, sizeof *r.offsets);
	r.sources = (uint32_t *)malloc((graph->edges + 1) * sizeof *r.sources);
	if (rank && share && r.offsets && r.sources) {
		turn(graph, &r);
		for (uint64_t v = 0; v < n; v++)
			rank[v] = 1 / (long double)n;
		for (uint32_t k = 0; k < iterations; k++)
			iterate(graph, &r, rank, share);
		for (uint64_t v = 0; v < n; v++)
			ranks[v] = (double)rank[v];
		rc = 0;
	}
	free(r.sources);
	free(r.offsets);
	free(share);
	free(rank);
	return rc;
}

/* Every vertex adds its shares where its edges lead: by pushing, as the reference before does not. */
int pagerank_error(const struct gn_graph *graph, const double *ranks, double *error)
{
	const uint64_t n = graph->vertices;
	double *next = (double *)calloc(n, sizeof *next), idle = 0;

	if (!next)
		return -GN_ENOMEM;
	for (uint64_t v = 0; v < n; v++) {
		const uint64_t degree = graph->offsets[v + 1] - graph->offsets[v];

		for (uint64_t k = graph->offsets[v]; k < graph->offsets[v + 1]; k++)
			next[graph->neighbours[k]] += 0.85 * ranks[v] / (double)degree;
		idle += degree ? 0 : 0.85 * ranks[v];
	}
	*error = 0;
	for (uint64_t v = 0; v < n; v++)
		*error += fabs(next[v] + (0.15 + idle) / (double)n - ranks[v]);
	free(next);
	return 0;
}

double pagerank_bound(const struct gn_graph *graph)
{
	return 20.0 / 3 * (3.0 * (double)graph->edges + 4.0 * (double)graph->vertices) /
	           (double)pagerank_one +
	       ldexp(1, -53);
}
