/* SPDX-License-Identifier: Apache-2.0 */
#include "pagerank/net/pagerank.h"

#include "pagerank/net/kernels.h"
#include "spread/run.h"

uint64_t pagerank_heap(uint64_t vertices, uint32_t nodes)
{
	return 2 * 8 * (vertices / nodes + 1) + (1u << 20);
}

/*
 * A vertex's new rank is what it has received, and an equal share of what no vertex sent. If nothing was sent
 * yet, these are the initial ranks.
 * @totals  [1] holds the sum that all vertices sent. Receives, over all nodes, [0] the sum of changes of
 *          ranks and [1] the sum that they will send
 */
static int take(struct gn_net *net, struct pagerank_args *a, uint64_t totals[2], struct gn_error *error)
{
	const uint64_t rest = pagerank_one - totals[1];
	int rc;

	a->base = rest / a->graph.blocks.all;
	a->extra = (uint32_t)(rest % a->graph.blocks.all);
	rc = spread_launch_counting(net, &pagerank_take_kernel, 0, a, a->totals, 2, totals, error);
	return rc ? rc : gn_net_reduce_u64(gn_net_host(net), GN_ADD, totals, 2);
}

/* All have taken before anyone sends (the reduction), all has come before anyone takes (the barrier). */
static int iterate(struct gn_net *net, struct pagerank_args *a, uint64_t totals[2], struct gn_error *error)
{
	int rc = spread_launch(net, &pagerank_send_kernel, 0, a, error);

	if (!rc)
		rc = gn_net_barrier(gn_net_host(net));
	return rc ? rc : take(net, a, totals, error);
}

static int run(struct gn_net *net, struct pagerank_args *a, uint32_t iterations, uint64_t *ranks,
               struct pagerank_result *result, struct gn_error *error)
{
	uint64_t totals[2] = {0, 0};
	int rc = take(net, a, totals, error);

	spread_count_begin(net, &result->stats);
	result->seconds = -spread_clock();
	for (uint32_t k = 0; k < iterations && !rc; k++)
		rc = iterate(net, a, totals, error);
	result->seconds += spread_clock();
	spread_count_end(net, &result->stats);
	if (!rc)
		rc = simt_move(gn_net_machine(net), ranks + a->graph.first, a->rank, 8ull * a->graph.count,
		               NULL);
	for (uint32_t v = 0; v < a->graph.count; v++)
		result->sum += ranks[a->graph.first + v];
	result->moved = (double)totals[0] / (double)pagerank_one;
	return rc ? rc : gn_net_reduce_u64(gn_net_host(net), GN_ADD, &result->sum, 1);
}

int pagerank_run(struct gn_net *net, const struct gn_graph *graph, uint32_t iterations, uint64_t *ranks,
                 struct pagerank_result *result, struct gn_error *error)
{
	struct pagerank_args a;
	int rc;

	memset(&a, 0, sizeof a);
	memset(result, 0, sizeof *result);
	a.net = gn_net_device(net);
	rc = spread_graph_load(&a.graph, net, graph, error);
	a.rank = (uint64_t *)gn_net_alloc(net, 8ull * a.graph.blocks.each, error);
	a.come = (uint64_t *)gn_net_alloc(net, 8ull * a.graph.blocks.each, error);
	a.totals = (uint64_t *)simt_alloc(gn_net_machine(net), 16, SIMT_DEVICE, error);
	if (!rc && !(a.rank && a.come && a.totals))
		rc = -GN_ENOMEM;
	if (!rc)
		rc = run(net, &a, iterations, ranks, result, error);
	simt_free(gn_net_machine(net), a.totals);
	gn_net_free(net, a.come);
	gn_net_free(net, a.rank);
	spread_graph_free(&a.graph, net);
	return rc;
}
