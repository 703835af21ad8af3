/* SPDX-License-Identifier: Apache-2.0 */
/* device_kernels.c - the kernel that applies messages to a heap that the host does not reach. */
#include <net/device.h>

/* ---- changes: unordered messages are applied in parallel ---- */

/* A warp at its job. */
struct work {
	const struct gn_net_view *net;
	const uint64_t *word; /* messages of the job, in memory of the device */
	uint32_t words;
	uint64_t *result; /* the next result */
	uint32_t mask;    /* all lanes of the warp */
};

/*
 * The number of messages from `at` on that have the form of the first and may be applied in parallel with it.
 * Each lane tests one word as the head of its message; further on the word may be no head.
 */
SIMT_FN uint32_t alike(const struct work *w, uint32_t at)
{
	const uint64_t head = w->word[at];
	const uint32_t words = gn__message_words(head), mine = at + simt_lane() * words;
	int fits = mine + words <= w->words;
	uint32_t others;

	if (fits && simt_lane()) {
		const uint64_t other = w->word[mine];

		fits = gn__message_words(other) == words && gn__message_kind(other) < GN__MESSAGE_BYTES &&
		       gn__message_fetches(other) == gn__message_fetches(head) &&
		       !gn__message_is_first(other);
	}
	others = w->mask & ~simt_ballot(w->mask, fits);
	return others ? simt_first_lane(others) : simt_popcount(w->mask);
}

SIMT_FN uint64_t change(const struct gn_net_view *n, const uint64_t *word)
{
	const uint32_t how = gn__message_kind(word[0]) - GN__MESSAGE_CHANGE,
	               bytes = gn__message_is_wide(word[0]) ? 8 : 4;
	const int fetches = gn__message_fetches(word[0]);
	const uint32_t operands = gn__change_operands(how);
	const uint64_t a = operands > 0 ? word[1] : 0, b = operands > 1 ? word[2] : 0;
	char *element = n->heap + gn__message_place(word[0]) * 4;

	if (n->mapped) /* other nodes change this heap directly */
		return gn__net_change_there(element, how, a, b, bytes, fetches);
	return gn__net_change_here(element, how, a, b, bytes, fetches);
}

/* Apply changes in parallel. Returns the number of words of the applied messages. */
SIMT_FN uint32_t change_some(struct work *w, uint32_t at)
{
	const uint64_t head = w->word[at];
	const uint32_t words = gn__message_words(head), count = alike(w, at), lane = simt_lane();

	if (lane < count) {
		const uint64_t before = change(w->net, w->word + at + lane * words);

		if (gn__message_fetches(head))
			w->result[lane] = before;
	}
	if (gn__message_fetches(head))
		w->result += count;
	return count * words;
}

/* ---- bytes ---- */

SIMT_FN void copy_bytes(char *to, const char *from, uint32_t bytes)
{
	for (uint32_t k = simt_lane(); k < bytes; k += simt_warp_width())
		to[k] = from[k];
}

/* Copy bytes, by whole words if both addresses are aligned. */
SIMT_FN void copy(char *to, const char *from, uint32_t bytes)
{
	uint64_t *target = (uint64_t *)(void *)to;
	const uint64_t *source = (const uint64_t *)(const void *)from;
	const uint32_t words = ((uintptr_t)to | (uintptr_t)from) % 8 ? 0 : bytes / 8;

	for (uint32_t k = simt_lane(); k < words; k += simt_warp_width())
		target[k] = source[k];
	copy_bytes(to + 8 * words, from + 8 * words, bytes - 8 * words);
}

SIMT_FN uint32_t move_bytes(struct work *w, uint32_t at)
{
	const uint64_t head = w->word[at];
	const uint32_t bytes = (uint32_t)gn__message_place(head);
	char *memory = w->net->heap + w->word[at + 1];

	if (gn__message_fetches(head)) {
		copy((char *)w->result, memory, bytes);
		w->result += gn_device_result_words(head);
	} else {
		copy(memory, (const char *)(w->word + at + 2), bytes);
	}
	return gn__message_words(head);
}

/* ---- jobs ---- */

/*
 * Order the next step behind this one: a thread that sees a change of the next step, by any lane, also sees
 * all changes of this step. The lanes synchronise first, so that each lane's fence also releases the changes
 * of the others.
 */
SIMT_FN void step_on(const struct work *w)
{
	simt_warp_sync(w->mask);
	if (w->net->mapped)
		simt_fence_acq_rel_sys();
	else
		simt_fence_acq_rel_dev();
}

/*
 * Apply the messages of a job.
 * @near  receives a copy of the messages first: reading them from host memory word by word would cost a round
 *        trip for each
 */
SIMT_FN void apply(const struct gn_net_view *n, struct gn_device_job *job, uint64_t *near, uint32_t mask)
{
	struct work w = {n, near, job->words, job->result, mask};

	simt_copy(mask, near, job->word, (8 * w.words + 15) & ~15u);
	for (uint32_t at = 0; at < w.words;) {
		if (gn__message_is_first(w.word[at]))
			step_on(&w);
		at += gn__message_kind(w.word[at]) == GN__MESSAGE_BYTES ? move_bytes(&w, at)
		                                                        : change_some(&w, at);
	}
	step_on(&w);
}

SIMT_FN void look_at_tails(const struct gn_net_view *n, struct gn_device_job *job)
{
	for (uint32_t k = simt_lane(); k < n->logs; k += simt_warp_width())
		job->result[k] = simt_load_acquire_dev_u64(&n->log[k].tail);
}

/* Wait for the next job of this warp. Returns its kind. */
SIMT_FN uint32_t next_job(struct gn_device_job *job, uint32_t ticket, uint32_t mask)
{
	uint32_t kind = 0;

	if (!simt_lane()) {
		while (simt_load_acquire_sys_u32(&job->turn) != ticket + 1) /* A4: pairs with R4 */
			simt_relax();
		kind = job->kind;
	}
	simt_warp_sync(mask);
	return simt_shfl_u32(mask, kind, 0);
}

SIMT_FN void gn_device_work(const struct gn_device_args *a)
{
	const uint32_t width = simt_warp_width(), mask = width == 32 ? ~0u : (1u << width) - 1;
	const uint64_t warp = simt_thread() / width;
	struct gn_device_job *ring = a->job + warp * GN_DEVICE_DEPTH;
	uint32_t kind = GN_DEVICE_APPLY;

	for (uint32_t ticket = 0; kind != GN_DEVICE_END; ticket++) {
		struct gn_device_job *job = &ring[ticket % GN_DEVICE_DEPTH];

		kind = next_job(job, ticket, mask);
		if (kind == GN_DEVICE_APPLY)
			apply(&a->net, job, a->near + warp * GN_PACKET_WORDS, mask);
		else if (kind == GN_DEVICE_TAILS)
			look_at_tails(&a->net, job);
		simt_warp_sync(mask);
		if (!simt_lane())
			simt_store_release_sys_u32(&job->done, ticket + 1); /* R5 */
	}
}
SIMT_KERNEL(gn_device_work, struct gn_device_args)

SIMT_FN void gn_device_zero(const struct gn_device_zero_args *a)
{
	for (uint64_t k = simt_global_thread(); k < a->words; k += simt_global_threads())
		a->word[k] = 0;
}
SIMT_KERNEL(gn_device_zero, struct gn_device_zero_args)
