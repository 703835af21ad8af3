/* SPDX-License-Identifier: Apache-2.0 */
#include "mer/mer.h"

#include <stdlib.h>

#include "mer/kernels.h"
#include "spread/run.h"

uint64_t mer_heap(uint64_t capacity)
{
	return capacity * sizeof(struct mer_entry) + (1u << 20);
}

/* ---- where k-mers arrive ---- */

/* The entry of a k-mer, or a free one for it. */
static struct mer_entry *find(struct mer_table *t, uint64_t kmer)
{
	uint64_t at = spread_mix(kmer) & (t->capacity - 1);

	while (t->entry[at].kmer && t->entry[at].kmer != kmer + 1)
		at = (at + 1) & (t->capacity - 1);
	return &t->entry[at];
}

static void add(const struct gn_net_incoming *message, void *context)
{
	struct mer_table *t = (struct mer_table *)context;
	const struct mer_message *m = (const struct mer_message *)message->payload;
	struct mer_entry *e = find(t, m->kmer);

	if (!e->kmer) {
		if (t->used >= t->capacity - t->capacity / 8) {
			t->lost++;
			return;
		}
		t->used++;
		e->kmer = m->kmer + 1;
	}
	e->count++;
	if (m->left != MER_BREAK)
		e->left[m->left]++;
	if (m->right != MER_BREAK)
		e->right[m->right]++;
}

/* ---- where they come from ---- */

/* This node's share, with what lies beside it, in memory of its machine. */
static int load_share(struct gn_net *net, const struct mer_reads *reads, struct mer_args *a, uint8_t **to,
                      struct gn_error *error)
{
	const uint64_t node = gn_net_node(net), nodes = gn_net_nodes(net);
	const uint64_t first = reads->count * node / nodes, end = reads->count * (node + 1) / nodes;
	const uint64_t bytes = 1 + end - first + a->k, behind = reads->count - first;
	uint8_t *share = (uint8_t *)malloc(bytes);
	int rc = -GN_ENOMEM;

	*to = (uint8_t *)simt_alloc(gn_net_machine(net), bytes, SIMT_DEVICE, error);
	if (share && *to) {
		memset(share, MER_BREAK, bytes);
		if (first)
			share[0] = reads->base[first - 1];
		memcpy(share + 1, reads->base + first, behind < bytes - 1 ? behind : bytes - 1);
		rc = simt_move(gn_net_machine(net), *to, share, bytes, error);
	}
	free(share);
	a->base = *to;
	a->count = end - first;
	return rc;
}

/* ---- what there is in the end ---- */

static uint32_t kinds(const uint32_t counts[4])
{
	return !!counts[0] + !!counts[1] + !!counts[2] + !!counts[3];
}

static int collect(struct gn_net *net, const struct mer_table *t, uint64_t sent, struct mer_result *result)
{
	uint64_t sums[5] = {sent, t->used, 0, 0, t->lost};
	int rc;

	for (uint64_t k = 0; k < t->capacity; k++) {
		sums[2] += t->entry[k].count == 1;
		sums[3] += kinds(t->entry[k].left) == 1 && kinds(t->entry[k].right) == 1;
	}
	rc = gn_net_reduce_u64(gn_net_host(net), GN_ADD, sums, 5);
	result->kmers = sums[0];
	result->distinct = sums[1];
	result->once = sums[2];
	result->unique = sums[3];
	return rc ? rc : sums[4] ? -GN_ENOBUFS : 0;
}

static int run(struct gn_net *net, const struct mer_args *a, const struct mer_table *t,
               struct mer_result *result, struct gn_error *error)
{
	int rc = gn_net_barrier(gn_net_host(net)); /* all have their table and its handler */
	uint64_t sent = 0;

	spread_count_begin(net, &result->stats);
	result->seconds = -spread_clock();
	if (!rc)
		rc = spread_launch_counting(net, &mer_send_kernel, 0, a, a->sent, 1, &sent, error);
	if (!rc)
		rc = gn_net_settle(net, error);
	result->seconds += spread_clock();
	spread_count_end(net, &result->stats);
	return rc ? rc : collect(net, t, sent, result);
}

int mer_build(struct gn_net *net, const struct mer_reads *reads, uint32_t k, uint64_t capacity,
              struct mer_table **table, struct mer_result *result, struct gn_error *error)
{
	/*
	 * in the host's memory, where handlers run; symmetric memory lives as long as the network thread,
	 * which may still call the handler after a failure
	 */
	struct mer_table *t = (struct mer_table *)gn_net_alloc_shared(net, sizeof *t, error);
	struct mer_entry *entry =
	    (struct mer_entry *)gn_net_alloc_shared(net, capacity * sizeof *entry, error);
	uint8_t *share = NULL;
	struct mer_args a;
	int handler, rc;

	memset(&a, 0, sizeof a);
	memset(result, 0, sizeof *result);
	if (!t || !entry)
		return -GN_ENOMEM;
	t->entry = entry;
	t->capacity = capacity;
	*table = t;
	handler = gn_net_handler(net, "mer", add, t, error);
	if (handler < 0)
		return handler;
	a.net = gn_net_device(net);
	a.k = k;
	a.handler = (uint32_t)handler;
	a.sent = (uint64_t *)simt_alloc(gn_net_machine(net), sizeof *a.sent, SIMT_DEVICE, error);
	rc = a.sent ? load_share(net, reads, &a, &share, error) : -GN_ENOMEM;
	if (!rc)
		rc = run(net, &a, t, result, error);
	simt_free(gn_net_machine(net), share);
	simt_free(gn_net_machine(net), a.sent);
	return rc;
}
