/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_kernels.c - the kernel that applies messages to a heap that the host does not reach, and sorts the
 * messages of other kernels.
 */
#include <net/device.h>
#include <net/sorter.h>

/* Messages of a plain packet that a thread loads at once. */
enum { PLAIN_EACH = 8 };

/* ---- a team: a block that does the jobs of one ring ---- */

/* In the shared memory of a team's block. */
struct meeting {
	uint32_t kind, words; /* of the job */
	const uint64_t *from;
	uint32_t least[2][GN_DEVICE_MOST_WARPS]; /* of each warp, in this and in the next step */
};

/* A team at its job; the same in all of its threads. */
struct work {
	const struct gn_net_view *net;
	const uint64_t *word; /* messages of the job, in memory of the device */
	uint32_t words;
	uint32_t step;    /* counts steps */
	uint64_t *result; /* the next result */
	struct meeting *meeting;
};

/* The least value of all threads. Collective over the block. */
SIMT_FN uint32_t least_of_all(struct work *w, uint32_t mine)
{
	const uint32_t width = simt_warp_width(), warps = simt_block_threads() / width;
	uint32_t *least = w->meeting->least[w->step++ % 2];

	if (!simt_lane())
		least[simt_thread() / width] = mine;
	simt_block_sync();
	for (uint32_t k = 0; k < warps; k++)
		mine = least[k] < mine ? least[k] : mine;
	return mine;
}

/* ---- changes: unordered messages are applied side by side ---- */

/*
 * The number of messages from `at` on that have the form of the first and may be applied side by side with
 * it. Each thread tests one word as the head of its message; behind a message of another form the word may be
 * no head, but then an earlier thread has found that message.
 */
SIMT_FN uint32_t alike(struct work *w, uint32_t at)
{
	const uint64_t head = w->word[at];
	const uint32_t words = gn__message_words(head), thread = simt_thread();
	const uint32_t mine = at + thread * words, before = thread - simt_lane();
	int fits = mine + words <= w->words;
	uint32_t others;

	if (fits && thread) {
		const uint64_t other = w->word[mine];

		fits = gn__message_words(other) == words && gn__message_kind(other) < GN__MESSAGE_BYTES &&
		       gn__message_fetches(other) == gn__message_fetches(head) &&
		       !gn__message_is_first(other);
	}
	others = simt_whole_warp() & ~simt_ballot(simt_whole_warp(), fits);
	return least_of_all(w, others ? before + simt_first_lane(others) : simt_block_threads());
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

/* Apply changes side by side. Returns the number of words of the applied messages. */
SIMT_FN uint32_t change_some(struct work *w, uint32_t at)
{
	const uint64_t head = w->word[at];
	const uint32_t words = gn__message_words(head), count = alike(w, at), thread = simt_thread();

	if (thread < count) {
		const uint64_t before = change(w->net, w->word + at + thread * words);

		if (gn__message_fetches(head))
			w->result[thread] = before;
	}
	if (gn__message_fetches(head))
		w->result += count;
	return count * words;
}

/* ---- bytes ---- */

SIMT_FN void copy_bytes(char *to, const char *from, uint32_t bytes)
{
	for (uint32_t k = simt_thread(); k < bytes; k += simt_block_threads())
		to[k] = from[k];
}

/* Copy bytes, by whole words if both addresses are aligned. */
SIMT_FN void copy(char *to, const char *from, uint32_t bytes)
{
	uint64_t *target = (uint64_t *)(void *)to;
	const uint64_t *source = (const uint64_t *)(const void *)from;
	const uint32_t words = ((uintptr_t)to | (uintptr_t)from) % 8 ? 0 : bytes / 8;

	for (uint32_t k = simt_thread(); k < words; k += simt_block_threads())
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

/* ---- steps ---- */

/*
 * Order the next step behind this one: a thread that sees a change of the next step, by any thread of the
 * team, also sees all changes of this step. The threads synchronise first, so that each thread's fence also
 * releases the changes of the others.
 */
SIMT_FN void step_on(const struct work *w)
{
	simt_block_sync();
	if (w->net->mapped)
		simt_fence_acq_rel_sys();
	else
		simt_fence_acq_rel_dev();
}

/* ---- plain packets ---- */

/* Messages number base + k * (threads of the block) + (this thread) of a plain packet. */
struct some {
	uint32_t base, count; /* number of messages of the packet */
	uint64_t head[PLAIN_EACH], value[PLAIN_EACH];
};

SIMT_FN uint32_t number_of(const struct some *m, uint32_t k)
{
	return m->base + k * simt_block_threads() + simt_thread();
}

/* Load messages; heads behind the last one are 0. */
SIMT_FN void load_some(const uint64_t *from, struct some *m)
{
	SIMT_UNROLL
	for (uint32_t k = 0; k < PLAIN_EACH; k++) {
		const uint32_t at = number_of(m, k);

		m->head[k] = 0;
		if (at < m->count)
			simt_load_two_relaxed_sys_u64(from + 2 * at, &m->head[k], &m->value[k]);
	}
}

/*
 * The first message behind number `at` that must come after those before it; ~0: none of these. Collective
 * over the block.
 */
SIMT_FN uint32_t next_first(struct work *w, const struct some *m, uint32_t at)
{
	const uint32_t whole = simt_whole_warp();
	uint32_t set = 0, first = ~0u;

	SIMT_UNROLL
	for (uint32_t k = 0; k < PLAIN_EACH; k++)
		set |= (uint32_t)(gn__message_is_first(m->head[k]) && number_of(m, k) > at) << k;
	for (uint32_t k = 0, any = simt_or_u32(whole, set); any >> k; k++) {
		if (!(any >> k & 1))
			continue;
		/* messages of a warp with the same k have consecutive numbers, and those with a larger k
		 * larger ones */
		first =
		    number_of(m, k) - simt_lane() + simt_first_lane(simt_ballot(whole, (int)(set >> k & 1)));
		break;
	}
	return least_of_all(w, first);
}

/* Apply a message of a plain packet. Returns 0, or 1: it is none, and nothing was done. */
SIMT_FN int apply_plain(const struct gn_net_view *n, uint64_t head, uint64_t value)
{
	const uint64_t word[3] = {head, value, 0}; /* as long as the longest change */

	if (!sort_is_plain(n, head))
		return 1;
	change(n, word);
	return 0;
}

/* Apply the loaded messages, in steps that are ordered. Returns 1 if one was none. Collective over the block.
 */
SIMT_FN int apply_some(struct work *w, const struct some *m)
{
	uint32_t from = m->base, end;
	int bad = 0;

	do {
		end = next_first(w, m, from);
		SIMT_UNROLL
		for (uint32_t k = 0; k < PLAIN_EACH; k++) {
			const uint32_t at = number_of(m, k);

			if (at >= from && at < end && at < m->count)
				bad |= apply_plain(w->net, m->head[k], m->value[k]);
		}
		if (end != ~0u)
			step_on(w);
		from = end;
	} while (end != ~0u);
	return bad;
}

/* Apply the messages of a plain packet. Collective over the block. */
SIMT_FN void apply_packet(const struct gn_net_view *n, struct gn_device_job *job, struct meeting *meeting)
{
	struct work w = {n, meeting->from, meeting->words, 0, 0, meeting};
	struct some m;

	m.count = w.words / 2;
	for (m.base = 0; m.base < m.count; m.base += PLAIN_EACH * simt_block_threads()) {
		load_some(w.word, &m);
		if (m.base && gn__message_is_first(w.word[2 * m.base]))
			step_on(&w);
		if (apply_some(&w, &m))
			simt_store_relaxed_sys_u32(&job->bad, 1);
	}
	step_on(&w);
}

/* ---- jobs ---- */

/* Fetch the messages of a job: each warp takes a part of them. Collective over the block. */
SIMT_FN void fetch(uint64_t *near, const uint64_t *word, uint32_t words)
{
	const uint32_t width = simt_warp_width(), warps = simt_block_threads() / width;
	const uint32_t part = (words / warps + 2) & ~1u, from = simt_thread() / width * part;

	if (from < words)
		simt_copy(simt_whole_warp(), near + from, word + from,
		          (8 * (words - from < part ? words - from : part) + 15) & ~15u);
	simt_block_sync();
}

/*
 * Apply the messages of a job.
 * @near  receives a copy of the messages first: reading them from host memory word by word would cost a round
 *        trip for each
 */
SIMT_FN void apply(const struct gn_net_view *n, struct gn_device_job *job, uint64_t *near, struct meeting *m)
{
	struct work w = {n, near, m->words, 0, job->result, m};

	fetch(near, job->word, w.words);
	for (uint32_t at = 0; at < w.words;) {
		if (gn__message_is_first(w.word[at]))
			step_on(&w);
		at += gn__message_kind(w.word[at]) == GN__MESSAGE_BYTES ? move_bytes(&w, at)
		                                                        : change_some(&w, at);
	}
	step_on(&w);
}

/* Wait for the next job of a ring. A4: pairs with R4. */
SIMT_FN void await(struct gn_device_job *job, uint32_t ticket)
{
	while (simt_load_acquire_sys_u32(&job->turn) != ticket + 1)
		simt_relax();
}

/* The threads of a team do the jobs of their ring, one after the other, until the last. */
SIMT_FN void do_jobs(const struct gn_net_view *n, struct gn_device_job *ring, uint64_t *near)
{
	struct meeting *m = (struct meeting *)simt_shared();
	uint32_t kind = GN_DEVICE_APPLY;

	for (uint32_t ticket = 0; kind != GN_DEVICE_END; ticket++) {
		struct gn_device_job *job = &ring[ticket % GN_DEVICE_DEPTH];

		if (!simt_thread()) {
			await(job, ticket);
			m->kind = job->kind;
			m->words = job->words;
			m->from = job->from;
		}
		simt_block_sync();
		kind = m->kind;
		if (kind == GN_DEVICE_APPLY)
			apply(n, job, near, m);
		if (kind == GN_DEVICE_PLAIN)
			apply_packet(n, job, m);
		simt_block_sync();
		if (!simt_thread())
			simt_store_release_sys_u32(&job->done, ticket + 1); /* R5 */
	}
}

/* Note how far the logs are written, for the host and, if there are sorters, for a flush. */
SIMT_FN void look_at_tails(const struct gn_device_args *a, struct gn_device_job *job)
{
	for (uint32_t k = simt_lane(); k < a->net.logs; k += simt_warp_width()) {
		job->result[k] = simt_load_acquire_dev_u64(&a->net.log[k].tail);
		if (a->sort.streams)
			a->sort.wanted[k] = job->result[k];
	}
}

/* Tell the sorters to flush the messages before the tails, or to end. R9. */
SIMT_FN void order_sorters(const struct gn_sort_args *sort, uint32_t kind, uint32_t number)
{
	if (!sort->streams)
		return;
	if (kind == GN_DEVICE_END)
		simt_store_release_dev_u32(&sort->orders->quit, 1);
	else
		simt_store_release_dev_u32(&sort->orders->flush, number);
}

/* A warp answers how far the logs are written, until the last job. */
SIMT_FN void report_tails(const struct gn_device_args *a, struct gn_device_job *ring)
{
	uint32_t kind = GN_DEVICE_TAILS;

	for (uint32_t ticket = 0; kind != GN_DEVICE_END; ticket++) {
		struct gn_device_job *job = &ring[ticket % GN_DEVICE_DEPTH];

		if (!simt_lane()) {
			await(job, ticket);
			kind = job->kind;
		}
		simt_warp_sync(simt_whole_warp());
		kind = simt_shfl_u32(simt_whole_warp(), kind, 0);
		if (kind == GN_DEVICE_TAILS)
			look_at_tails(a, job);
		simt_warp_sync(simt_whole_warp());
		if (!simt_lane()) {
			order_sorters(&a->sort, kind, ticket + 1);
			simt_store_release_sys_u32(&job->done, ticket + 1); /* R5 */
		}
	}
}

/* A block does the jobs of a ring, sorts a stream, or reports tails; of that block one warp has work. */
SIMT_FN void gn_device_work(const struct gn_device_args *a)
{
	const uint32_t block = simt_block();

	if (block < a->teams)
		do_jobs(&a->net, a->job + block * GN_DEVICE_DEPTH, a->near + block * GN_PACKET_WORDS);
	else if (block + 1 < simt_blocks())
		sort_all(&a->net, &a->sort, block - a->teams);
	else if (simt_thread() < simt_warp_width())
		report_tails(a, a->job + a->teams * GN_DEVICE_DEPTH);
}
SIMT_KERNEL_SMALL(gn_device_work, struct gn_device_args)

uint32_t gn__device_shared_bytes(uint32_t nodes)
{
	const uint32_t sorter = gn_sort_shared_bytes(nodes), team = sizeof(struct meeting);

	return sorter > team ? sorter : team;
}

SIMT_FN void gn_device_zero(const struct gn_device_zero_args *a)
{
	for (uint64_t k = simt_global_thread(); k < a->words; k += simt_global_threads())
		a->word[k] = 0;
}
SIMT_KERNEL(gn_device_zero, struct gn_device_zero_args)
