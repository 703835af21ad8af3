/* SPDX-License-Identifier: Apache-2.0 */
#include "color/color.h"

#include <stdlib.h>

#include "color/kernels.h"
#include "spread/run.h"

uint64_t color_heap(const struct gn_graph *graph, uint32_t nodes)
{
	return 4 * (graph->vertices / nodes + 1) + 4 * spread_most_edges(graph, nodes) + (1u << 20);
}

/* Where a neighbour lies in a sorted row; the row's end if it is not there. */
static uint64_t find(const struct gn_graph *g, uint32_t vertex, uint32_t neighbour)
{
	const uint64_t end = g->offsets[vertex + 1ull];
	uint64_t low = g->offsets[vertex], high = end;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (g->neighbours[middle] < neighbour)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end && g->neighbours[low] == neighbour ? low : end;
}

static int find_twins(const struct spread_graph *part, const struct gn_graph *g, uint64_t *twin)
{
	const uint64_t begin = g->offsets[part->first];

	for (uint32_t v = part->first; v < part->first + part->count; v++) {
		for (uint64_t e = g->offsets[v]; e < g->offsets[v + 1ull]; e++) {
			const uint32_t to = g->neighbours[e];
			const uint64_t at = find(g, to, v);

			if (at == g->offsets[to + 1ull])
				return -GN_EINVAL;
			twin[e - begin] =
			    at - g->offsets[spread_first(&part->blocks, spread_owner(&part->blocks, to))];
		}
	}
	return 0;
}

/* The twins, in memory of the machine; free it also on failure. */
static int load_twins(struct gn_net *net, const struct spread_graph *part, const struct gn_graph *g,
                      uint64_t **to, struct gn_error *error)
{
	const uint64_t bytes = (part->edges + 1) * sizeof(uint64_t);
	uint64_t *twin = (uint64_t *)calloc(1, bytes);
	int rc = -GN_ENOMEM;

	*to = (uint64_t *)simt_alloc(gn_net_machine(net), bytes, SIMT_DEVICE, error);
	if (twin && *to)
		rc = find_twins(part, g, twin);
	if (!rc)
		rc = simt_move(gn_net_machine(net), *to, twin, bytes, error);
	free(twin);
	return rc;
}

static int run(struct gn_net *net, struct color_args *a, uint32_t *colors, struct color_result *result,
               struct gn_error *error)
{
	uint64_t given = 0, most = 0;
	int rc = gn_net_barrier(gn_net_host(net));

	spread_count_begin(net, &result->stats);
	result->seconds = -spread_clock();
	if (!rc)
		rc = spread_until_still(net, &color_some_kernel, a, a->changes, &given, &result->rounds,
		                        error);
	result->seconds += spread_clock();
	spread_count_end(net, &result->stats);
	if (!rc)
		rc = simt_move(gn_net_machine(net), colors + a->graph.first, a->color, 4ull * a->graph.count,
		               NULL);
	for (uint32_t v = a->graph.first; v < a->graph.first + a->graph.count; v++) {
		most = colors[v] > most ? colors[v] : most;
		colors[v]--;
	}
	result->colors = most;
	return rc ? rc : gn_net_reduce_u64(gn_net_host(net), GN_MAX, &result->colors, 1);
}

int color_run(struct gn_net *net, const struct gn_graph *graph, uint32_t *colors, struct color_result *result,
              struct gn_error *error)
{
	uint64_t *twin = NULL;
	struct color_args a;
	int rc;

	memset(&a, 0, sizeof a);
	memset(result, 0, sizeof *result);
	a.net = gn_net_device(net);
	rc = spread_graph_load(&a.graph, net, graph, error);
	if (!rc)
		rc = load_twins(net, &a.graph, graph, &twin, error);
	a.twin = twin;
	a.color = (uint32_t *)gn_net_alloc(net, 4ull * a.graph.blocks.each, error);
	a.seen = (uint32_t *)gn_net_alloc(net, 4 * spread_most_edges(graph, gn_net_nodes(net)), error);
	a.changes = (uint64_t *)simt_alloc(gn_net_machine(net), 8, SIMT_DEVICE, error);
	if (!rc && !(a.color && a.seen && a.changes))
		rc = -GN_ENOMEM;
	if (!rc)
		rc = run(net, &a, colors, result, error);
	simt_free(gn_net_machine(net), a.changes);
	gn_net_free(net, a.seen);
	gn_net_free(net, a.color);
	simt_free(gn_net_machine(net), twin);
	spread_graph_free(&a.graph, net);
	return rc;
}
