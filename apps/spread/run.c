/* SPDX-License-Identifier: Apache-2.0 */
#include "spread/run.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static struct simt_grid grid_of(struct gn_net *net, uint32_t threads)
{
	struct simt_grid grid = {1, 1, 0};
	struct simt_info info;

	simt_describe(gn_net_machine(net), &info);
	if (!threads) /* on cpu a thread that waits is a fiber, and more of them make nothing faster */
		threads = info.is_cuda ? info.resident_threads : 32 * info.processors;
	grid.block_threads =
	    threads < 256 ? (threads + info.warp_width - 1) / info.warp_width * info.warp_width : 256;
	grid.blocks = (threads + grid.block_threads - 1) / grid.block_threads;
	return grid;
}

uint32_t spread_threads(struct gn_net *net)
{
	const struct simt_grid grid = grid_of(net, 0);

	return grid.blocks * grid.block_threads;
}

int spread_launch(struct gn_net *net, const struct simt_kernel *kernel, uint32_t threads,
                  const void *arguments, struct gn_error *error)
{
	struct gn_net_fault fault;
	int rc = simt_launch(gn_net_machine(net), kernel, grid_of(net, threads), arguments, error);

	if (!rc)
		rc = simt_wait(gn_net_machine(net), error);
	return rc ? rc : gn_net_failure(net, &fault, error);
}

int spread_launch_counting(struct gn_net *net, const struct simt_kernel *kernel, uint32_t threads,
                           const void *arguments, uint64_t *count, uint32_t counts, uint64_t *counted,
                           struct gn_error *error)
{
	static const uint64_t zero[SPREAD_MOST_COUNTS] = {0};
	const size_t bytes = counts * sizeof *count;
	int rc;

	assert(counts <= SPREAD_MOST_COUNTS);
	memset(counted, 0, bytes);
	rc = simt_move(gn_net_machine(net), count, zero, bytes, error);
	if (!rc)
		rc = spread_launch(net, kernel, threads, arguments, error);
	return rc ? rc : simt_move(gn_net_machine(net), counted, count, bytes, error);
}

/* One node alone, until its kernel finds nothing more. */
static int until_idle(struct gn_net *net, const struct simt_kernel *kernel, const void *arguments,
                      uint64_t *changes, uint64_t *changed, struct gn_error *error)
{
	uint64_t now;
	int rc;

	*changed = 0;
	do {
		rc = spread_launch_counting(net, kernel, 0, arguments, changes, 1, &now, error);
		*changed += now;
	} while (!rc && now);
	return rc;
}

int spread_until_still(struct gn_net *net, const struct simt_kernel *kernel, const void *arguments,
                       uint64_t *changes, uint64_t *total, uint64_t *rounds, struct gn_error *error)
{
	uint64_t changed;
	int rc;

	*total = *rounds = 0;
	do {
		rc = until_idle(net, kernel, arguments, changes, &changed, error);
		*total += changed;
		if (!rc)
			rc = gn_net_barrier(gn_net_host(net));
		if (!rc)
			rc = gn_net_reduce_u64(gn_net_host(net), GN_ADD, &changed, 1);
		++*rounds;
	} while (!rc && changed);
	return rc;
}

void spread_count_begin(const struct gn_net *net, struct gn_net_statistics *stats)
{
	gn_net_get_statistics(net, stats);
}

/* All members are counts, but the last. */
void spread_count_end(const struct gn_net *net, struct gn_net_statistics *stats)
{
	struct gn_net_statistics now;
	const uint64_t *after = (const uint64_t *)&now;
	uint64_t *word = (uint64_t *)stats;

	gn_net_get_statistics(net, &now);
	for (size_t k = 0; k < offsetof(struct gn_net_statistics, buffer_bytes) / sizeof *word; k++)
		word[k] = after[k] - word[k];
	stats->buffer_bytes = now.buffer_bytes;
}

double spread_clock(void)
{
	return 1e-9 * (double)simt_clock_ns();
}
