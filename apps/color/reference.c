/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "color/color.h"
#include "color/kernels.h"

static const uint32_t none = UINT32_MAX;

/* A vertex behind its place in the order: to be sorted as one number. */
static int ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void arrange(uint64_t *vertex, uint64_t vertices, enum color_order order)
{
	for (uint64_t v = 0; v < vertices; v++)
		vertex[v] = (order == COLOR_BY_RANK ? (uint64_t)~color_rank((uint32_t)v) << 32 : 0) | v;
	if (order == COLOR_BY_RANK)
		qsort(vertex, vertices, sizeof *vertex, ascending);
}

/* The least colour that no neighbour has. @marked  of each colour, the last vertex that saw it, and 1 */
static uint32_t choose(const struct gn_graph *g, uint32_t vertex, const uint32_t *colors, uint64_t *marked)
{
	uint32_t least = 0;

	for (uint64_t e = g->offsets[vertex]; e < g->offsets[vertex + 1ull]; e++)
		if (colors[g->neighbours[e]] != none)
			marked[colors[g->neighbours[e]]] = vertex + 1ull;
	while (marked[least] == vertex + 1ull)
		least++;
	return least;
}

int64_t color_greedy(const struct gn_graph *graph, enum color_order order, uint32_t *colors)
{
	const uint64_t n = graph->vertices;
	uint64_t *vertex = (uint64_t *)malloc((n + 1) * sizeof *vertex),
	         *marked = (uint64_t *)calloc(n + 1, sizeof *marked);
	int64_t count = vertex && marked ? 0 : -GN_ENOMEM;

	for (uint64_t v = 0; !count && v < n; v++)
		colors[v] = none;
	if (!count)
		arrange(vertex, n, order);
	for (uint64_t k = 0; count >= 0 && k < n; k++) {
		const uint32_t v = (uint32_t)vertex[k];

		colors[v] = choose(graph, v, colors, marked);
		count = colors[v] >= count ? colors[v] + 1ll : count;
	}
	free(marked);
	free(vertex);
	return count;
}

uint64_t color_conflicts(const struct gn_graph *graph, const uint32_t *colors)
{
	uint64_t conflicts = 0;

	for (uint64_t v = 0; v < graph->vertices; v++)
		for (uint64_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++)
			conflicts += colors[v] == colors[graph->neighbours[e]];
	return conflicts / 2;
}
