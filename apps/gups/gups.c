/* SPDX-License-Identifier: Apache-2.0 */
#include "gups/gups.h"

#include "gups/kernels.h"
#include "spread/run.h"

/* Updates of all nodes, from barrier to barrier. */
static int update_all(struct gn_net *net, const struct gups *g, struct gups_update_args *a, double *seconds)
{
	const struct gn_net_view *host = gn_net_host(net);
	int rc = gn_net_barrier(host);

	*seconds = -spread_clock();
	if (!rc)
		rc = spread_launch(net, &gups_update_kernel, g->threads, a);
	if (!rc)
		rc = gn_net_barrier(host);
	*seconds += spread_clock();
	return rc;
}

static int count_all(struct gn_net *net, const struct gups *g, const struct gups_update_args *a, uint64_t *count)
{
	struct gups_count_args c = {a->table, g->part_words, gn_net_node(net) * g->part_words, g->xors, count};
	int rc;

	*count = 0;
	rc = spread_launch(net, &gups_count_kernel, g->threads, &c);
	return rc ? rc : gn_net_reduce_u64(gn_net_host(net), GN__ADD, count, 1);
}

static int run(struct gn_net *net, const struct gups *g, struct gups_update_args *a, uint64_t *count,
	       struct gups_result *result)
{
	const uint64_t all = g->updates * gn_net_nodes(net);
	double unused;
	int rc;

	spread_count_begin(net, &result->stats);
	rc = update_all(net, g, a, &result->seconds);
	spread_count_end(net, &result->stats);
	if (!rc && g->xors)
		rc = update_all(net, g, a, &unused); /* takes back what the first did */
	if (!rc)
		rc = count_all(net, g, a, count);
	result->wrong = g->xors ? *count : *count > all ? *count - all : all - *count;
	return rc;
}

int gups_run(struct gn_net *net, const struct gups *g, struct gups_result *result)
{
	struct gups_update_args a;
	uint64_t *table = (uint64_t *)gn_net_alloc(net, g->part_words * 8);
	uint64_t *count = (uint64_t *)gn_net_alloc(net, 8);
	int rc = -GN_ENOMEM;

	memset(&a, 0, sizeof a);
	memset(result, 0, sizeof *result);
	if (table && count) {
		a.net = gn_net_device(net);
		a.table = table;
		a.part_mask = g->part_words - 1;
		while (1ull << a.part_log2 < g->part_words)
			a.part_log2++;
		a.xors = g->xors;
		a.updates = g->updates;
		a.first = gn_net_node(net) * g->updates;
		a.hold = g->hold;
		for (uint64_t k = 0; g->xors && k < g->part_words; k++)
			table[k] = gn_net_node(net) * g->part_words + k;
		rc = run(net, g, &a, count, result);
	}
	gn_net_free(net, count);
	gn_net_free(net, table);
	return rc;
}
