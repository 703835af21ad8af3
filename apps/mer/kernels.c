/* SPDX-License-Identifier: Apache-2.0 */
#include "mer/kernels.h"

/* A window of k bases that moves along: as they are, and as the other strand has them. */
struct window {
	uint64_t forward, reverse;
	uint32_t known; /* bases in a row, up to here */
};

SIMT_FN void move_on(struct window *w, uint32_t base, uint32_t k)
{
	if (base == MER_BREAK) {
		w->known = 0;
		return;
	}
	w->forward = (w->forward << 2 | base) & ((1ull << 2 * k) - 1);
	w->reverse = w->reverse >> 2 | (uint64_t)(3 - base) << 2 * (k - 1);
	w->known++;
}

SIMT_FN uint32_t complement(uint32_t base)
{
	return base == MER_BREAK ? base : 3 - base;
}

SIMT_FN int send_kmer(const struct mer_args *a, const struct window *w, uint32_t before, uint32_t behind)
{
	struct mer_message m;

	if (w->forward < w->reverse) {
		m.kmer = w->forward;
		m.left = before;
		m.right = behind;
	} else {
		m.kmer = w->reverse;
		m.left = complement(behind);
		m.right = complement(before);
	}
	return gn_net_call(&a->net, mer_owner(spread_mix(m.kmer), a->net.nodes), a->handler, &m, sizeof m);
}

/*
 * Each thread takes those that begin in a run of the share. On a GPU the lanes of a warp meet in each turn,
 * so that they append their messages together (apps/gups).
 */
SIMT_FN void mer_send(const struct mer_args *a)
{
	const uint64_t threads = simt_global_threads(), thread = simt_global_thread();
	const uint64_t begin = a->count * thread / threads, end = a->count * (thread + 1) / threads;
	const uint64_t most = a->count / threads + a->k; /* turns of any thread */
	const uint8_t *base = a->base + 1;
	struct window w = {0, 0, 0};
	uint64_t sent = 0;
	int rc = 0;

	for (uint64_t at = begin; at < begin + most; at++) {
		if (SIMT_ON_CUDA)
			simt_warp_sync(simt_whole_warp());
		if (rc || begin == end || at >= end + a->k - 1)
			continue;
		move_on(&w, base[at], a->k);
		if (w.known < a->k)
			continue;
		rc = send_kmer(a, &w, a->base[at + 1 - a->k], base[at + 1]);
		sent++;
	}
	simt_reduce_add_relaxed_dev_u64(a->sent, sent);
}
SIMT_KERNEL(mer_send, struct mer_args)
