/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/net/view.h - net as a thread sees it: plain data, passed to kernels by value.
 *
 * A node has two views, one for the kernels of its machine and one for its host threads; the functions of
 * detail/net/send.h and detail/net/fetch.h take either. Symmetric memory has two parts: the heap and, at the
 * addresses behind it, the data. If the machine is a GPU, the heap is in the GPU's memory, which the host
 * does not reach, and the data is in the host's memory. A thread changes a part of its own node that it does
 * not reach by a message to its own node.
 */
#ifndef GRAPNEL_NET_VIEW_H
#define GRAPNEL_NET_VIEW_H

#include <grapnel/detail/net/log.h>
#include <grapnel/ring.h>

enum gn_net_slot_state {
	GN_NET_SLOT_FREE,
	GN_NET_SLOT_WAITING,
	GN_NET_SLOT_DONE,
	GN_NET_SLOT_LOST /* the waiting thread has given up: the reply frees the slot */
};

/*
 * A slot, in which a thread waits for a reply. A token names a slot and the number of its uses, so a reply
 * that comes late or twice does not match.
 *
 * Edges:  R3 (the reply: compare-and-swap WAITING -> DONE, release) pairs with A3 (gn__net_slot_wait:
 *         acquire).
 *         R13 (an unwaited get is armed: release) pairs with A13 (gn__net_give_up: acquire), which sees its
 *         memory.
 *         R14 (a slot is freed: release) pairs with A14 (gn__net_give_up: acquire): the reply's bytes are
 *         copied.
 */
struct gn_net_slot {
	uint64_t value;
	uint64_t to;       /* address that receives the bytes of a get; 0: the reply is a value */
	uint32_t bytes;    /* expected number of bytes at to */
	uint32_t state;    /* bits 1..0: enum gn_net_slot_state; above: uses of the slot */
	int32_t code;      /* of the operation, when DONE */
	uint32_t unwaited; /* 1: a get for which only a quiet waits; the reply frees the slot */
};

/*
 * The first failure of a node's operations.
 *
 * Edges:  R6 (another node's program has failed, or messages are lost: ended, release, behind the rest)
 *         pairs with A6 (gn__net_ended: acquire).
 */
struct gn_net_fault {
	uint32_t state; /* 0: none, 1: being written, 2: complete */
	int32_t code;
	uint32_t peer;
	uint32_t op; /* gn__message_op of the failed message */
	/* not 0: the network or the program of a node has failed with this code, so all waits end */
	uint32_t ended;
};

/* Parts of symmetric memory. */
enum gn__net_part_of { GN__NET_HEAP = 1, GN__NET_DATA = 2 };

struct gn_net_group;

/* A node as its threads see it. Plain data. */
struct gn_net_view {
	struct gn__log *log; /* [logs], `each` for each processor */
	uint32_t logs, each;
	uint32_t node, nodes;
	char *heap;
	uint64_t heap_bytes;
	char *data; /* the program's static data, or memory that host and machine both reach; NULL: none */
	uint64_t data_bytes;
	/* enum gn__net_part_of: parts of the own symmetric memory that this view's threads do not reach */
	uint32_t far;
	/* [nodes] the heap of a node if this view's threads load and store it, else NULL; NULL: none is */
	char *const *mapped;
	struct gn_net_group *group;
	struct gn_net_slot *slot; /* [slots], of both views */
	struct gn_ring *free_slot;
	uint32_t *free_id;
	/*
	 * [slots][GN__MESSAGE_MOST_BYTES] where the bytes of a get arrive if the network does not reach the
	 * thread's memory; else NULL
	 */
	char *stage;
	struct gn_net_fault *fault;
	uint64_t timeout_ns;
	uint32_t slots;
};

/* ---- symmetric addresses ---- */

/*
 * gn_net_address - the symmetric address of `bytes` bytes of the own memory. Returns 0, or -GN_ERANGE: the
 * memory is not symmetric.
 */
SIMT_FN int gn_net_address(const struct gn_net_view *n, const void *memory, uint64_t bytes, uint64_t *address)
{
	const uint64_t at = (uint64_t)((const char *)memory - n->heap);
	const uint64_t beyond = (uint64_t)((const char *)memory - n->data);

	if (simt_likely(at < n->heap_bytes && bytes <= n->heap_bytes - at)) {
		*address = at;
		return 0;
	}
	if (!n->data || beyond >= n->data_bytes || bytes > n->data_bytes - beyond)
		return -GN_ERANGE;
	*address = n->heap_bytes + beyond;
	return 0;
}

/* gn_net_memory - the own memory at a symmetric address; NULL: it has fewer than `bytes` bytes there. */
SIMT_FN char *gn_net_memory(const struct gn_net_view *n, uint64_t address, uint64_t bytes)
{
	const uint64_t beyond = address - n->heap_bytes;

	if (simt_likely(address < n->heap_bytes))
		return bytes <= n->heap_bytes - address ? n->heap + address : 0;
	return beyond < n->data_bytes && bytes <= n->data_bytes - beyond ? n->data + beyond : 0;
}

/* Do this view's threads load and store the own memory at a symmetric address? */
SIMT_FN int gn__net_is_near(const struct gn_net_view *n, uint64_t address)
{
	return !(n->far & (address < n->heap_bytes ? GN__NET_HEAP : GN__NET_DATA));
}

/* Another node's memory at a symmetric address, if this view's threads reach it; else NULL. */
SIMT_FN char *gn__net_mapped(const struct gn_net_view *n, uint32_t pe, uint64_t address)
{
	char *heap = n->mapped && address < n->heap_bytes ? n->mapped[pe] : 0;

	return heap ? heap + address : 0;
}

/* ---- failures ---- */

/* Keep the first failure. Returns its code. */
SIMT_FN int gn__net_fail(const struct gn_net_view *n, int code, uint32_t peer, uint32_t op)
{
	if (simt_cas_relaxed_sys_u32(&n->fault->state, 0, 1) == 0) {
		n->fault->code = code;
		n->fault->peer = peer;
		n->fault->op = op;
		simt_store_release_sys_u32(&n->fault->state, 2);
	}
	return code;
}

/* The code with which the network here, or the program on a node, has failed; 0: neither. A6. */
SIMT_FN int gn__net_ended(const struct gn_net_view *n)
{
	return (int)simt_load_acquire_sys_u32(&n->fault->ended);
}

/*
 * gn__net_ended in one of 64 tries, the first among them; else 0. For a thread that waits for something else:
 * the word is in the host's memory, and thousands of threads of a GPU may wait.
 * @tries  the number of tries before this one
 */
SIMT_FN int gn__net_ended_by(const struct gn_net_view *n, uint32_t tries)
{
	return tries % 64 ? 0 : gn__net_ended(n);
}

/* ---- to the node's log ---- */

/* The log of this thread's warp: one of those of its processor. */
SIMT_FN struct gn__log *gn__net_log(const struct gn_net_view *n)
{
	uint32_t log = simt_processor();

	if (n->each > 1)
		log = log * n->each + simt_thread() / simt_warp_width() % n->each;
	return &n->log[log < n->logs ? log : 0];
}

/*
 * Pause in a wait. Returns -GN_EAGAIN (go on waiting), -GN_ETIMEDOUT, or the code of gn__net_ended. Deadline
 * and end are tested only in every 1024th try: a GPU reads gn__net_ended over PCIe, many threads may wait for
 * one thing, and most waits are short.
 * @deadline   0 before the first call
 * @doublings  the longest pause is 20 nanoseconds doubled so often
 */
SIMT_FN int gn__net_pause(const struct gn_net_view *n, uint32_t tries, uint32_t doublings, uint64_t *deadline)
{
	if (tries % 1024 == 1023) {
		const uint64_t now = simt_clock_ns();

		if (!*deadline)
			*deadline = now + n->timeout_ns;
		if (now > *deadline)
			return -GN_ETIMEDOUT;
		if (gn__net_ended(n))
			return gn__net_ended(n);
	}
	simt_backoff(tries, doublings);
	return -GN_EAGAIN;
}

/* gn__net_pause for something that the host stores: its store takes about 1.3 us to become visible. */
SIMT_FN int gn__net_backoff(const struct gn_net_view *n, uint32_t tries, uint64_t *deadline)
{
	return gn__net_pause(n, tries, 6, deadline);
}

struct gn__net_words {
	uint64_t head, a, b, c;
};

/* Write the words behind the head of one of `lanes` messages that lie together. */
SIMT_FN void gn__net_put(const struct gn__log *log, uint64_t ticket, uint32_t lanes, uint32_t words,
                         const struct gn__net_words *w)
{
	if (words > 1)
		gn__log_put(log, ticket + lanes, w->a);
	if (words > 2)
		gn__log_put(log, ticket + 2 * lanes, w->b);
	if (words > 3)
		gn__log_put(log, ticket + 3 * lanes, w->c);
}

/* Append the message of a lane that is alone, if there is room. Returns 0 or -GN_EAGAIN. */
SIMT_FN int gn__net_append_one(struct gn__log *log, uint32_t words, const struct gn__net_words *w)
{
	uint64_t ticket;
	const int rc = gn__log_reserve(log, words, &ticket);

	if (rc)
		return rc;
	gn__net_put(log, ticket, 1, words, w);
	gn__log_commit(log, ticket, w->head);
	return 0;
}

/*
 * Append the messages of all lanes of mask, if there is room. It does not wait for room, because lanes that
 * wait must not hold up other lanes of the warp that have got room. Returns 0 or -GN_EAGAIN.
 */
SIMT_FN int gn__net_append(struct gn__log *log, uint32_t mask, uint32_t words, const struct gn__net_words *w)
{
	const uint32_t leader = simt_first_lane(mask), lanes = simt_popcount(mask);
	uint64_t ticket = 0;
	int rc = 0;

	if (lanes == 1)
		return gn__net_append_one(log, words, w);
	if (simt_lane() == leader)
		rc = gn__log_reserve(log, lanes * words, &ticket);
	simt_warp_sync(mask); /* all lanes see the words empty that the first lane has reserved (A2) */
	rc = (int)simt_shfl_u32(mask, (uint32_t)rc, leader);
	if (rc)
		return rc;
	ticket = simt_shfl_u64(mask, ticket, leader) + simt_rank(mask);
	gn__net_put(log, ticket, lanes, words, w);
	if (simt_lane() != leader)
		gn__log_put(log, ticket, w->head);
	simt_warp_sync(mask);
	if (simt_lane() == leader)
		gn__log_commit(log, ticket, w->head | (uint64_t)(lanes - 1) << 53);
	return 0;
}

/*
 * Wait for room in a log. Returns 0 (there may be room now) or the code with which gn__net_pause ends.
 *
 * A full log holds work of many microseconds. Each look reads over PCIe or writes to the device's memory, and
 * so slows the messages. So a thread sleeps for about 20 us between two looks on a GPU. It sees the deadline,
 * and that a node has ended, 20 to 40 ms late.
 */
SIMT_FN int gn__net_await_room(const struct gn_net_view *n, struct gn__log *log, uint32_t words)
{
	uint64_t deadline = 0;
	uint32_t tries = 0;
	int rc = -GN_EAGAIN;

	while (rc == -GN_EAGAIN && gn__log_is_full(log, words))
		rc = gn__net_pause(n, tries++, 10, &deadline);
	return rc == -GN_EAGAIN ? 0 : rc;
}

/* The lanes of mask wait for room together, and try again, until they have appended. Returns as gn__net_push.
 */
SIMT_NOINLINE_FN int gn__net_append_late(const struct gn_net_view *n, struct gn__log *log, uint32_t mask,
                                         uint32_t words, const struct gn__net_words *w)
{
	const uint32_t leader = simt_first_lane(mask);
	int rc = 0;

	do {
		if (simt_lane() == leader)
			rc = gn__net_await_room(n, log, words * simt_popcount(mask));
		rc = (int)simt_shfl_u32(mask, (uint32_t)rc, leader); /* they give up together */
		if (!rc)
			rc = gn__net_append(log, mask, words, w);
	} while (rc == -GN_EAGAIN);
	return rc;
}

/*
 * Append a message of up to 4 words. Active lanes whose messages have the same number of words append them
 * together. The messages of one thread are appended in order. Returns 0, -GN_ETIMEDOUT (the log stayed full)
 * or the code with which a node's program has failed. If it fails, nothing was appended.
 *
 * The first try has no loop: on cuda a lane that runs a loop with an atomic yields in it, and the lanes of
 * its warp that wait where they meet again go on without it (simt_active). From then on they append apart.
 */
SIMT_FN int gn__net_push(const struct gn_net_view *n, uint32_t words, uint64_t head, uint64_t a, uint64_t b,
                         uint64_t c)
{
	const uint32_t mask = simt_match_any_u64(simt_active(), (uint64_t)(uintptr_t)n << 3 | words);
	const struct gn__net_words w = {head, a, b, c};
	struct gn__log *log = gn__net_log(n);
	const int rc = gn__net_append(log, mask, words, &w);

	return simt_likely(rc != -GN_EAGAIN) ? rc : SIMT_COLD(gn__net_append_late)(n, log, mask, words, &w);
}

enum { GN__NET_FEW_BYTES = 24 }; /* that gn__net_push takes behind a head */

/* Append a message of at most GN__NET_FEW_BYTES bytes behind its head, with those of the other active lanes.
 */
SIMT_FN int gn__net_push_few(const struct gn_net_view *n, uint64_t head, const char *from, uint32_t bytes)
{
	uint64_t word[GN__NET_FEW_BYTES / 8] = {0, 0, 0};

	if (bytes)
		memcpy(word, from, bytes);
	return gn__net_push(n, 1 + (bytes + 7) / 8, head, word[0], word[1], word[2]);
}

/* A message with bytes behind its first `fixed` words (head, address). */
struct gn__net_bytes {
	uint64_t head, a;
	uint32_t fixed, bytes;
	const char *from;
};

/* Append a message with bytes, if there is room, as gn__net_append. Returns 0 or -GN_EAGAIN. */
SIMT_FN int gn__net_append_bytes(struct gn__log *log, const struct gn__net_bytes *m)
{
	uint64_t ticket, word;
	const int rc = gn__log_reserve(log, m->fixed + (m->bytes + 7) / 8, &ticket);

	if (rc)
		return rc;
	if (m->fixed > 1)
		gn__log_put(log, ticket + 1, m->a);
	for (uint32_t at = 0; at < m->bytes; at += 8) {
		word = 0;
		memcpy(&word, m->from + at, m->bytes - at < 8 ? m->bytes - at : 8);
		gn__log_put(log, ticket + m->fixed + at / 8, word);
	}
	gn__log_commit(log, ticket, m->head);
	return 0;
}

/* Append a message with bytes; each lane appends its own. Returns as gn__net_push. */
SIMT_FN int gn__net_push_bytes(const struct gn_net_view *n, uint64_t head, uint32_t fixed, uint64_t a,
                               const char *from, uint32_t bytes)
{
	const struct gn__net_bytes m = {head, a, fixed, bytes, from};
	struct gn__log *log = gn__net_log(n);
	int rc;

	while ((rc = gn__net_append_bytes(log, &m)) == -GN_EAGAIN) {
		rc = gn__net_await_room(n, log, fixed + (bytes + 7) / 8);
		if (rc)
			break;
	}
	return rc;
}

#endif
