/* SPDX-License-Identifier: Apache-2.0 */
#include "gups/kernels.h"

#include "gups/sequence.h"

/* Which node, and which word of its part. */
SIMT_FN uint32_t node_of(const struct gups_update_args *a, uint64_t random)
{
	const uint32_t nodes = a->net.nodes;

	return nodes & (nodes - 1) ? (uint32_t)((random >> 32) * nodes >> 32)
	                           : (uint32_t)(random >> a->part_log2) & (nodes - 1);
}

SIMT_FN int update(const struct gups_update_args *a, uint64_t random)
{
	uint64_t *word = &a->table[random & a->part_mask];
	const uint32_t pe = node_of(a, random);

	return a->xors ? gn_net_xor_u64(&a->net, pe, word, random) : gn_net_inc_u64(&a->net, pe, word);
}

/*
 * Updates of the own node are done at once, each a wait for memory; so their words are fetched so many
 * updates before. Those of other nodes are fetched where they arrive.
 */
enum { AHEAD = 12 };

SIMT_FN void expect(const struct gups_update_args *a, uint64_t random)
{
	const uint64_t own = node_of(a, random) == a->net.node; /* no branch: it could not be foretold */

	simt_prefetch(&a->table[random & a->part_mask & (0 - own)]);
}

/*
 * Each thread takes a run of the sequence, and stops to wait for its updates when it holds its share back. On
 * a GPU lanes that have waited for room are apart from the rest of their warp; here they meet it again,
 * because messages that are appended together cost a fraction of those that are appended alone.
 */
SIMT_FN void gups_update(const struct gups_update_args *a)
{
	const uint64_t threads = simt_global_threads(), thread = simt_global_thread();
	const uint64_t begin = a->updates * thread / threads, end = a->updates * (thread + 1) / threads;
	const uint64_t most = a->updates / threads + 1; /* of any thread */
	const uint64_t hold = a->hold ? (a->hold + threads - 1) / threads : ~0ull;
	uint64_t random = gups_at(a->first + begin), ahead = random, held = 0;
	int rc = 0;

	for (uint32_t k = 0; k < AHEAD; k++)
		ahead = gups_next(ahead);
	for (uint64_t k = 0; k < most; k++) {
		if (SIMT_ON_CUDA)
			simt_warp_sync(simt_whole_warp());
		if (rc || begin + k >= end)
			continue;
		ahead = gups_next(ahead);
		expect(a, ahead);
		random = gups_next(random);
		rc = update(a, random);
		if (++held == hold && !rc) {
			rc = gn_net_quiet(&a->net);
			held = 0;
		}
	}
}
SIMT_KERNEL(gups_update, struct gups_update_args)

SIMT_FN void gups_fill(const struct gups_fill_args *a)
{
	for (uint64_t k = simt_global_thread(); k < a->words; k += simt_global_threads())
		a->table[k] = a->first + k;
}
SIMT_KERNEL(gups_fill, struct gups_fill_args)

SIMT_FN void gups_count(const struct gups_count_args *a)
{
	uint64_t mine = 0;

	for (uint64_t k = simt_global_thread(); k < a->words; k += simt_global_threads())
		mine += a->table[k] != a->first + k;
	simt_reduce_add_relaxed_dev_u64(a->count, mine);
}
SIMT_KERNEL(gups_count, struct gups_count_args)
