/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The random sequence is HPCC's (RandomAccess): x = x << 1, xor POLY if a bit fell out; it repeats after
 * 1317624576693539401 numbers, and any place in it is found in 64 steps.
 */
#include "gups/kernels.h"

static const uint64_t poly = 7, period = 1317624576693539401ull;

SIMT_FN uint64_t random_next(uint64_t x)
{
	return x << 1 ^ ((int64_t)x < 0 ? poly : 0);
}

/* The number at a place: x^(2 n) mod the polynomial by squaring, as in HPCC's HPCC_starts. */
SIMT_FN uint64_t random_at(uint64_t place)
{
	uint64_t square[64], x = 1, sum;
	int bit = 62;

	place %= period;
	if (!place)
		return 1;
	for (int k = 0; k < 64; k++) {
		square[k] = x;
		x = random_next(random_next(x));
	}
	while (!(place >> bit & 1))
		bit--;
	x = 2;
	while (bit > 0) {
		sum = 0;
		for (int k = 0; k < 64; k++)
			if (x >> k & 1)
				sum ^= square[k];
		x = sum;
		if (place >> --bit & 1)
			x = random_next(x);
	}
	return x;
}

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

/* Each thread takes a run of the sequence, and stops to wait for its updates when it holds its share back. */
SIMT_FN void gups_update(const struct gups_update_args *a)
{
	const uint64_t threads = simt_global_threads(), thread = simt_global_thread();
	const uint64_t begin = a->updates * thread / threads, end = a->updates * (thread + 1) / threads;
	const uint64_t hold = a->hold ? (a->hold + threads - 1) / threads : ~0ull;
	uint64_t random = random_at(a->first + begin), ahead = random, held = 0;
	int rc = 0;

	for (uint32_t k = 0; k < AHEAD; k++)
		ahead = random_next(ahead);
	for (uint64_t k = begin; k < end && !rc; k++) {
		ahead = random_next(ahead);
		expect(a, ahead);
		random = random_next(random);
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
		mine += a->xors ? a->table[k] != a->first + k : a->table[k];
	simt_reduce_add_relaxed_dev_u64(a->count, mine);
}
SIMT_KERNEL(gups_count, struct gups_count_args)
