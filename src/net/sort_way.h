/* SPDX-License-Identifier: Apache-2.0 */
/* sort_way.h - the device's side of sort.h: the packets that a sorter fills, and when it closes them. */
#ifndef GN_NET_SORT_WAY_H
#define GN_NET_SORT_WAY_H

#include <net/rule.h>
#include <net/sort.h>

static const uint32_t sort_none = ~0u;

/* When ways are settled: there is work; none has come; a message has no room; or all packets must go. */
enum sort_when { SORT_BUSY, SORT_IDLE, SORT_STUCK, SORT_ALL };

/*
 * While a message waits for a packet of its way no others come, so the packets of the other ways do not grow.
 * They age at one of so many parts of the speed meanwhile: short packets take as long as full ones on their
 * way, and the wait longer.
 */
enum { SORT_SLOWER = 16 };

/* A way with its open packet, in shared memory. Between two meetings of the block one thread has it. */
struct sort_way {
	uint64_t claim;  /* words that messages have claimed; more than room: some found none */
	uint64_t counts; /* of messages in the packet, as in gn_sorted */
	uint64_t *word;  /* of the open packet; NULL: none is open */
	uint64_t opened_ns;
	uint32_t room; /* words of the open packet */
	uint32_t cut;  /* where the first message that found no room would begin */
	uint32_t mark; /* where the first message of this epoch goes; sort_none: it is there */
	uint32_t closed, freed;
};

/* What the threads of a sorter share; the ways lie behind it. */
struct sort_meeting {
	uint64_t before, now;                 /* times, when ways were settled last and are settled next */
	uint64_t moved, waited, more, behind; /* counts that all threads add to */
	uint32_t flush, quit;
};

/* The shared memory of a block that sorts. */
SIMT_FN uint32_t gn_sort_shared_bytes(uint32_t nodes)
{
	return (uint32_t)(sizeof(struct sort_meeting) + nodes * sizeof(struct sort_way));
}

/* A sorter; the same in all of its threads. */
struct sorter {
	const struct gn_net_view *net;
	const struct gn_sort_args *args;
	struct sort_meeting *meeting;
	struct sort_way *way;  /* [nodes] */
	uint64_t waited, more; /* of the meeting, as last seen */
	uint32_t stream, warp, warps;
	uint32_t quit;    /* thread 0: does the run end? */
	uint32_t flushed; /* number of the last flush that is done */
};

SIMT_FN uint32_t sort_way_number(const struct sorter *s, uint32_t node)
{
	return s->stream * s->net->nodes + node;
}

/* Hand the open packet of a way to the host. R7. */
SIMT_FN void sort_close(const struct sorter *s, uint32_t node, uint32_t words, uint32_t reason)
{
	struct sort_way *w = &s->way[node];
	struct gn_sorted *to =
	    &s->args->sorted[sort_way_number(s, node) * s->args->slots + w->closed % s->args->slots];

	to->words = words;
	to->reason = reason;
	to->counts = w->counts;
	simt_store_release_sys_u32(&to->turn, ++w->closed);
	w->word = (uint64_t *)0;
	w->room = 0;
	w->counts = 0;
	w->mark = w->mark == sort_none ? sort_none : 0;
}

/* Open the next packet of a way, if it is free. A8: pairs with R8. */
SIMT_FN void sort_open(const struct sorter *s, uint32_t node)
{
	struct sort_way *w = &s->way[node];
	const uint32_t number = sort_way_number(s, node), slots = s->args->slots;

	if (w->closed - w->freed == slots)
		w->freed = simt_load_acquire_sys_u32(&s->args->freed[number]);
	if (w->closed - w->freed == slots)
		return;
	w->word = s->args->packet[number * slots + w->closed % slots].word;
	w->room = s->args->words;
	w->opened_ns = s->meeting->now;
}

/* Why an open packet must be closed, though it is not full; sort_none: it need not. */
SIMT_FN uint32_t sort_why(const struct sorter *s, const struct sort_way *w, uint32_t words,
                          enum sort_when when)
{
	const uint64_t age = s->meeting->now > w->opened_ns ? s->meeting->now - w->opened_ns : 0;

	if (!words)
		return sort_none;
	if (when == SORT_ALL || w->counts >> GN_SORT_NOW ||
	    (when == SORT_IDLE && gn_sort_count(w->counts, GN_SORT_FETCHES)))
		return GN_SORT_URGENT;
	return gn_rule_is_old(age, words, s->args->flush_ns, when == SORT_IDLE) ? (uint32_t)GN_SORT_AGED
	                                                                        : sort_none;
}

/* Let a packet be younger after a time in which a message waited, unless a thread waits for a reply to it. */
SIMT_FN void sort_keep_young(const struct sorter *s, struct sort_way *w)
{
	const uint64_t since = s->meeting->now - s->meeting->before;

	if (!gn_sort_count(w->counts, GN_SORT_FETCHES))
		w->opened_ns += since - since / SORT_SLOWER;
}

/* Settle a way after messages were put into its packet. */
SIMT_FN void sort_settle_way(const struct sorter *s, uint32_t node, enum sort_when when)
{
	struct sort_way *w = &s->way[node];
	const uint32_t claimed = (uint32_t)w->claim, full = claimed > w->room;
	const uint32_t words = full ? w->cut : claimed;

	if (w->word && w->mark != sort_none && words > w->mark)
		w->mark = sort_none;
	if (w->word && when == SORT_STUCK)
		sort_keep_young(s, w);
	w->claim = words;
	if (w->word) {
		const uint32_t why = full ? (uint32_t)GN_SORT_FULL : sort_why(s, w, words, when);

		if (why != sort_none)
			sort_close(s, node, words, why);
	}
	if (!w->word)
		w->claim = 0;
	if (!w->word && full)
		sort_open(s, node);
}

/* Before the block meets: read the clock, and whether the run ends. */
SIMT_FN void sort_look(struct sorter *s)
{
	if (simt_thread())
		return;
	s->meeting->before = s->meeting->now;
	s->meeting->now = simt_clock_ns();
	s->quit = simt_load_relaxed_dev_u32(&s->args->orders->quit);
}

/* Settle all ways, after the block has met. Collective over the block. */
SIMT_FN void sort_settle(const struct sorter *s, enum sort_when when)
{
	for (uint32_t node = simt_thread(); node < s->net->nodes; node += simt_block_threads())
		sort_settle_way(s, node, when);
	if (!simt_thread())
		s->meeting->quit = s->quit;
	simt_block_sync();
}

#endif
