/* SPDX-License-Identifier: Apache-2.0 */
#include "sssp/net/sssp.h"

#include <stdlib.h>

#include "spread/run.h"
#include "sssp/net/kernels.h"
#include "sssp/weights.h"

/* ---- lengths of edges ---- */

int sssp_weights(struct gn_graph *graph, uint32_t most, struct gn_error *e)
{
	if (graph->weight == GN_WEIGHT_NONE)
		return sssp_draw_weights(graph, most, e);
	if (graph->weight != GN_WEIGHT_I32)
		return gn_error_set(
		    e, -GN_ENOTSUP,
		    "the weights are real numbers; give a graph with whole weights or without weights");
	for (uint64_t k = 0; k < graph->edges; k++)
		if ((int32_t)graph->weights[k] < 0)
			return gn_error_set(e, -GN_EINVAL,
			                    "the weight of edge %llu is %d, less than 0; give a graph with "
			                    "weights of 0 or more",
			                    (unsigned long long)k, (int)graph->weights[k]);
	return 0;
}

/* ---- the run ---- */

uint64_t sssp_heap(uint64_t vertices, uint32_t nodes)
{
	return 2 * 8 * (vertices / nodes + 1) + (1u << 20);
}

static int begin(struct gn_net *net, struct sssp_args *a, uint32_t source, struct gn_error *error)
{
	struct simt_machine *m = gn_net_machine(net);
	const uint32_t count = a->graph.blocks.each;
	uint64_t *length = (uint64_t *)malloc(8ull * count);
	int rc = -GN_ENOMEM;

	for (uint32_t v = 0; v < count && length; v++)
		length[v] = sssp_none;
	if (length)
		rc = simt_move(m, a->sent, length, 8ull * count, error);
	if (!rc && spread_owner(&a->graph.blocks, source) == a->net.node)
		length[source - a->graph.first] = 0;
	if (!rc)
		rc = simt_move(m, a->length, length, 8ull * count, error);
	free(length);
	return rc;
}

/* What this node has found, then all nodes together. */
static int collect(struct gn_net *net, const struct sssp_args *a, uint64_t *lengths,
                   struct sssp_result *result, struct gn_error *error)
{
	uint64_t sums[2] = {result->sends, 0};
	int rc;

	rc =
	    simt_move(gn_net_machine(net), lengths + a->graph.first, a->length, 8ull * a->graph.count, error);
	for (uint32_t v = a->graph.first; v < a->graph.first + a->graph.count; v++)
		sums[1] += lengths[v] != sssp_none;
	if (!rc)
		rc = gn_net_reduce_u64(gn_net_host(net), GN_ADD, sums, 2);
	result->sends = sums[0];
	result->reached = sums[1];
	return rc;
}

static int run(struct gn_net *net, struct sssp_args *a, uint32_t source, uint64_t *lengths,
               struct sssp_result *result, struct gn_error *error)
{
	int rc;

	rc = begin(net, a, source, error);
	if (!rc)
		rc = gn_net_barrier(gn_net_host(net));
	spread_count_begin(net, &result->stats);
	result->seconds = -spread_clock();
	if (!rc)
		rc = spread_until_still(net, &sssp_relax_kernel, a, a->changes, &result->sends,
		                        &result->rounds, error);
	result->seconds += spread_clock();
	spread_count_end(net, &result->stats);
	return rc ? rc : collect(net, a, lengths, result, error);
}

int sssp_run(struct gn_net *net, const struct gn_graph *graph, uint32_t source, uint64_t *lengths,
             struct sssp_result *result, struct gn_error *error)
{
	struct sssp_args a;
	int rc;

	memset(&a, 0, sizeof a);
	memset(result, 0, sizeof *result);
	a.net = gn_net_device(net);
	rc = spread_graph_load(&a.graph, net, graph, error);
	a.length = (uint64_t *)gn_net_alloc(net, 8ull * a.graph.blocks.each, error);
	a.sent = (uint64_t *)gn_net_alloc(net, 8ull * a.graph.blocks.each, error);
	a.changes = (uint64_t *)simt_alloc(gn_net_machine(net), 8, SIMT_DEVICE, error);
	if (!rc && !(a.length && a.sent && a.changes))
		rc = -GN_ENOMEM;
	if (!rc)
		rc = run(net, &a, source, lengths, result, error);
	simt_free(gn_net_machine(net), a.changes);
	gn_net_free(net, a.sent);
	gn_net_free(net, a.length);
	spread_graph_free(&a.graph, net);
	return rc;
}
