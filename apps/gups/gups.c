/* SPDX-License-Identifier: Apache-2.0 */
#include "gups/gups.h"

#include <stddef.h>

#include "gups/kernels.h"

static struct simt_grid grid_of(struct gn_net *net, const struct gups *g)
{
	struct simt_info info;
	struct simt_grid grid = {1, 1, 0};
	uint32_t threads = g->threads;

	simt_describe(gn_net_machine(net), &info);
	if (!threads) /* on cpu a thread that waits is a fiber, and more of them make nothing faster */
		threads = info.is_cuda ? info.resident_threads : 32 * info.processors;
	grid.block_threads = threads < 256 ? threads : 256;
	grid.blocks = (threads + grid.block_threads - 1) / grid.block_threads;
	return grid;
}

static int launch(struct gn_net *net, const struct simt_kernel *kernel, struct simt_grid grid, const void *arguments)
{
	const int rc = simt_launch(gn_net_machine(net), kernel, grid, arguments);

	return rc ? rc : simt_wait(gn_net_machine(net));
}

static void difference(struct gn_net_stats *after, const struct gn_net_stats *before)
{
	const uint64_t *from = (const uint64_t *)before;
	uint64_t *to = (uint64_t *)after;

	for (size_t k = 0; k < offsetof(struct gn_net_stats, buffer_bytes) / sizeof *to; k++)
		to[k] -= from[k];
}

/* Updates of all nodes, from barrier to barrier. */
static int update_all(struct gn_net *net, const struct gups *g, struct gups_update_args *a, double *seconds)
{
	const struct gn_net_view *host = gn_net_host(net);
	uint64_t began;
	int rc = gn_net_barrier(host);

	began = simt_clock_ns();
	if (!rc)
		rc = launch(net, &gups_update_kernel, grid_of(net, g), a);
	if (!rc)
		rc = *a->code;
	if (!rc)
		rc = gn_net_barrier(host);
	*seconds = 1e-9 * (double)(simt_clock_ns() - began);
	return rc;
}

static int count_all(struct gn_net *net, const struct gups *g, const struct gups_update_args *a, uint64_t *count)
{
	struct gups_count_args c = {a->table, g->part_words, gn_net_node(net) * g->part_words, g->xors, count};
	int rc;

	*count = 0;
	rc = launch(net, &gups_count_kernel, grid_of(net, g), &c);
	return rc ? rc : gn_net_reduce_u64(gn_net_host(net), GN__ADD, count, 1);
}

static int run(struct gn_net *net, const struct gups *g, struct gups_update_args *a, uint64_t *count,
	       struct gups_result *result)
{
	const uint64_t all = g->updates * gn_net_nodes(net);
	struct gn_net_stats before;
	double unused;
	int rc;

	gn_net_count(net, &before);
	rc = update_all(net, g, a, &result->seconds);
	gn_net_count(net, &result->stats);
	difference(&result->stats, &before);
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
	uint64_t *count = (uint64_t *)gn_net_alloc(net, 16);
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
		a.code = (int32_t *)(count + 1);
		for (uint64_t k = 0; g->xors && k < g->part_words; k++)
			table[k] = gn_net_node(net) * g->part_words + k;
		rc = run(net, g, &a, count, result);
	}
	gn_net_free(net, count);
	gn_net_free(net, table);
	return rc;
}
