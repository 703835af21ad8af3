/* SPDX-License-Identifier: Apache-2.0 */
#include "gups/gups.h"

#include "gups/check.h"
#include "gups/kernels.h"
#include "spread/run.h"

/* Each thread holds one update back at least. */
static uint32_t threads_of(struct gn_net *net, const struct gups *g)
{
	return !g->threads && g->hold && g->hold < spread_threads(net) ? (uint32_t)g->hold : g->threads;
}

/* Updates of all nodes, from barrier to barrier. */
static int update_all(struct gn_net *net, const struct gups *g, struct gups_update_args *a, double *seconds,
                      struct gn_error *error)
{
	const struct gn_net_view *host = gn_net_host(net);
	int rc = gn_net_barrier(host);

	*seconds = -spread_clock();
	if (!rc)
		rc = spread_launch(net, &gups_update_kernel, threads_of(net, g), a, error);
	if (!rc)
		rc = gn_net_barrier(host);
	*seconds += spread_clock();
	return rc;
}

/* The words that are not their index, of all nodes. @count  device memory */
static int count_all(struct gn_net *net, const struct gups *g, const struct gups_update_args *a,
                     uint64_t *count, uint64_t *counted, struct gn_error *error)
{
	struct gups_count_args c = {a->table, g->part_words, gn_net_node(net) * g->part_words, count};
	const int rc =
	    spread_launch_counting(net, &gups_count_kernel, g->threads, &c, count, 1, counted, error);

	return rc ? rc : gn_net_reduce_u64(gn_net_host(net), GN_ADD, counted, 1);
}

static int run(struct gn_net *net, const struct gups *g, struct gups_update_args *a, uint64_t *count,
               struct gups_result *result, struct gn_error *error)
{
	uint64_t counted = 0;
	double unused;
	int rc;

	spread_count_begin(net, &result->stats);
	rc = update_all(net, g, a, &result->seconds, error);
	spread_count_end(net, &result->stats);
	if (!rc)
		rc = gups_check(net, g, gups_every_word(g, gn_net_nodes(net)), a->table, &result->wrong,
		                error);
	if (rc || !g->xors)
		return rc;
	rc = update_all(net, g, a, &unused, error); /* takes back what the first did */
	if (!rc)
		rc = count_all(net, g, a, count, &counted, error);
	result->wrong += counted;
	return rc;
}

/* HPCC's table begins with the numbers of its words. */
static int fill(struct gn_net *net, const struct gups *g, uint64_t *table, struct gn_error *error)
{
	const struct gups_fill_args a = {table, g->part_words, gn_net_node(net) * g->part_words};

	return g->xors ? spread_launch(net, &gups_fill_kernel, g->threads, &a, error) : 0;
}

int gups_run(struct gn_net *net, const struct gups *g, struct gups_result *result, struct gn_error *error)
{
	struct gups_update_args a;
	uint64_t *table = (uint64_t *)gn_net_alloc(net, g->part_words * 8, error);
	uint64_t *count = (uint64_t *)simt_alloc(gn_net_machine(net), 8, SIMT_DEVICE, error);
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
		rc = fill(net, g, table, error);
		if (!rc)
			rc = run(net, g, &a, count, result, error);
	}
	simt_free(gn_net_machine(net), count);
	gn_net_free(net, table);
	return rc;
}
