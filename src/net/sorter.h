/* SPDX-License-Identifier: Apache-2.0 */
/* sorter.h - the device's side of sort.h: a block that sorts the messages of its logs into packets. */
#ifndef GN_NET_SORTER_H
#define GN_NET_SORTER_H

#include <net/sort_way.h>

enum {
	SORT_ITEMS = 3, /* reservations that a warp takes side by side, each from another log */
	SORT_SETS = 32  /* a warp looks at so many sets of logs at once; a set has a log for each lane */
};

/* A reservation that a warp sorts. */
struct sort_item {
	struct gn__log_reader *log; /* NULL: none */
	uint64_t at;
	uint64_t head, operand; /* of the message of this lane */
	uint32_t lanes, words;  /* of the reservation, and of each message */
	uint32_t waits;         /* 1: the message of this lane is not in a packet yet */
	uint32_t plain;         /* 1: all are changes of the heap by one operand */
};

/* ---- taking messages from logs ---- */

/* The reader of log number k of this warp; NULL: it has no such log. */
SIMT_FN struct gn__log_reader *sort_log(const struct sorter *s, uint32_t k)
{
	const uint32_t log = s->stream + s->args->streams * (s->warp + s->warps * k);

	return log < s->net->logs ? &s->args->reader[log] : (struct gn__log_reader *)0;
}

/* Is this a change of the heap by one operand, without a reply? */
SIMT_FN int sort_is_plain(const struct gn_net_view *n, uint64_t head)
{
	const uint32_t op = gn__message_op(head), wide = op & GN__MESSAGE_WIDE;
	const uint32_t how = op - wide - GN__MESSAGE_CHANGE;
	const uint64_t place = gn__message_place(head);

	return how < GN_GET && how != GN_CAS && place < n->heap_bytes / 4 && !(wide && place % 2);
}

SIMT_FN uint64_t sort_word(const struct sort_item *i, uint32_t lane, uint32_t word)
{
	return i->log->word[(i->at + word * i->lanes + lane) & (i->log->capacity - 1)];
}

/* Load the messages of a reservation, one to a lane. Collective over the warp. */
SIMT_FN void sort_load(const struct sorter *s, struct sort_item *i, uint64_t first)
{
	i->waits = 0;
	i->plain = 0;
	if (!i->log)
		return;
	i->lanes = gn__message_lanes(first);
	i->words = gn__message_words(first);
	i->waits = simt_lane() < i->lanes;
	if (i->waits) {
		i->head = sort_word(i, simt_lane(), 0);
		i->operand = i->words > 1 ? sort_word(i, simt_lane(), 1) : 0;
	}
	i->plain = !simt_ballot(simt_whole_warp(), i->waits && !sort_is_plain(s->net, i->head));
}

/*
 * Which of the warp's logs from number k on have a message: bit b of a lane is for its log of set b.
 * Collective over the warp; its lanes look side by side, because most logs may be empty.
 */
SIMT_FN uint32_t sort_ready(const struct sorter *s, uint32_t k)
{
	const struct gn__log_reader *log;
	uint32_t ready = 0;

	for (uint32_t set = 0; set < SORT_SETS; set++) {
		log = sort_log(s, k + set * simt_warp_width() + simt_lane());
		if (!log)
			break;
		if (simt_load_relaxed_dev_u64(&log->word[log->at & (log->capacity - 1)]))
			ready |= 1u << set;
	}
	simt_warp_sync(simt_whole_warp());
	return ready;
}

/* The next log that sort_ready found, which is struck off; NULL: there is none. Collective over the warp. */
SIMT_FN struct gn__log_reader *sort_next(const struct sorter *s, uint32_t k, uint32_t *ready)
{
	const uint32_t whole = simt_whole_warp(), lanes = simt_ballot(whole, *ready != 0);
	uint32_t lane, set;

	if (!lanes)
		return (struct gn__log_reader *)0;
	lane = simt_first_lane(lanes);
	set = simt_first_lane(simt_shfl_u32(whole, *ready, lane)); /* the lowest bit */
	if (simt_lane() == lane)
		*ready &= *ready - 1;
	return sort_log(s, k + set * simt_warp_width() + lane);
}

/* Take the oldest reservation of each of SORT_ITEMS logs that are ready, from number k on. A1. */
SIMT_FN void sort_take(const struct sorter *s, struct sort_item *item, uint32_t k, uint32_t *ready)
{
	const uint32_t whole = simt_whole_warp(), lane = simt_lane(), width = simt_warp_width();
	uint64_t first[SORT_ITEMS];

	SIMT_UNROLL
	for (uint32_t j = 0; j < SORT_ITEMS; j++) {
		item[j].log = sort_next(s, k, ready);
		item[j].at = item[j].log ? item[j].log->at : 0;
		first[j] = 0;
		/* each head is read by another lane, so that the loads are under way together */
		if (item[j].log && lane == j % width)
			first[j] = simt_load_acquire_dev_u64(
			    &item[j].log->word[item[j].at & (item[j].log->capacity - 1)]);
	}
	simt_warp_sync(whole);
	SIMT_UNROLL
	for (uint32_t j = 0; j < SORT_ITEMS; j++) {
		first[j] = simt_shfl_u64(whole, first[j], j % width);
		if (!first[j])
			item[j].log = (struct gn__log_reader *)0;
		sort_load(s, &item[j], first[j]);
	}
}

/* Empty a reservation whose messages are all in packets, and release its room. R2. Collective. */
SIMT_FN void sort_release(struct sort_item *i)
{
	const uint64_t last = i->log ? i->log->capacity - 1 : 0;
	const uint32_t words = i->log ? i->lanes * i->words : 0;

	for (uint32_t k = simt_lane(); k < words; k += simt_warp_width())
		i->log->word[(i->at + k) & last] = 0;
	simt_warp_sync(simt_whole_warp());
	if (i->log && !simt_lane()) {
		i->log->at = i->at + words;
		simt_store_release_dev_u64(i->log->released, i->at + words);
	}
	simt_warp_sync(simt_whole_warp());
}

/* ---- putting them into packets ---- */

/* Count messages of any kind that a lane has put into the packet of its way. */
SIMT_FN void sort_count(const struct sorter *s, struct sort_way *way, uint64_t head)
{
	const uint32_t kind = gn__message_kind(head);
	const int mark = kind == GN__MESSAGE_MARK;
	uint64_t counts = !mark;

	if (gn__message_fetches(head) && !mark)
		counts |= 1ull << GN_SORT_FETCHES;
	if (kind == GN__MESSAGE_CALL)
		counts |= 1ull << GN_SORT_CALLS;
	if (sort_is_plain(s->net, head))
		counts |= 1ull << GN_SORT_PLAIN;
	if (kind >= GN__MESSAGE_MARK)
		counts |= 1ull << GN_SORT_NOW;
	simt_add_relaxed_any_u64(&way->counts, counts);
}

/* Write the message of this lane. The words behind the second of a lone message are written by the whole
 * warp. */
SIMT_FN void sort_write(const struct sorter *s, const struct sort_way *way, const struct sort_item *i,
                        uint32_t at)
{
	const uint64_t head =
	    gn__message_readdress(i->head, s->net->node) | (at == way->mark ? gn__message_first : 0);
	uint64_t *to = way->word + at;

	if (i->words > 1 && at % 2 == 0) {
		simt_store_two_u64(to, head, i->operand);
	} else {
		to[0] = head;
		if (i->words > 1)
			to[1] = i->operand;
	}
	for (uint32_t k = 2; i->lanes > 1 && k < i->words; k++)
		to[k] = sort_word(i, simt_lane(), k);
}

SIMT_FN void sort_write_rest(const struct sort_item *i, uint64_t *to)
{
	for (uint32_t k = 2 + simt_lane(); k < i->words; k += simt_warp_width())
		to[k] = sort_word(i, 0, k);
}

/*
 * Claim room for the messages of an item that wait. Returns the word of this lane's message in the packet of
 * its way. Collective over the warp.
 * @same  receives the lanes whose messages go the same way
 */
SIMT_FN uint32_t sort_claim(const struct sorter *s, const struct sort_item *i, uint32_t *same)
{
	const uint32_t whole = simt_whole_warp();
	const uint32_t peer = i->waits ? gn__message_peer(i->head) : (uint32_t)GN_NET_MOST_NODES;
	uint64_t start = 0;
	uint32_t leader;

	*same = simt_match_any_u64(whole, peer);
	leader = simt_first_lane(*same);
	if (i->waits && simt_lane() == leader)
		start =
		    simt_add_relaxed_any_u64(&s->way[peer].claim, (uint64_t)i->words * simt_popcount(*same));
	return (uint32_t)simt_shfl_u64(whole, start, leader) + i->words * simt_rank(*same);
}

/* Put the messages of an item into packets, as far as they have room. Collective over the warp. */
SIMT_FN void sort_put(const struct sorter *s, struct sort_item *i)
{
	const uint32_t whole = simt_whole_warp();
	struct sort_way *way;
	uint32_t same, start, put;

	if (!i->log || !simt_ballot(whole, (int)i->waits))
		return;
	start = sort_claim(s, i, &same);
	way = &s->way[i->waits ? gn__message_peer(i->head) : 0];
	put = i->waits && start + i->words <= way->room;
	if (put)
		sort_write(s, way, i, start);
	else if (i->waits && start <= way->room)
		way->cut = start; /* claims are contiguous, so there is one such message */
	if (i->lanes == 1 && i->words > 2 && simt_ballot(whole, (int)put))
		sort_write_rest(i, (uint64_t *)(uintptr_t)simt_shfl_u64(
		                       whole, put ? (uint64_t)(uintptr_t)(way->word + start) : 0, 0));
	if (i->plain) {
		same &= simt_ballot(whole, (int)put);
		if (put && simt_lane() == simt_first_lane(same))
			simt_add_relaxed_any_u64(&way->counts,
			                         simt_popcount(same) * (1 | 1ull << GN_SORT_PLAIN));
	} else if (put) {
		sort_count(s, way, i->head);
	}
	i->waits &= !put;
}

/* ---- the block ---- */

/* Put messages into packets, then settle. Returns 0 if messages wait for a packet. Collective over the block.
 */
SIMT_FN int sort_pass(struct sorter *s, struct sort_item *item)
{
	uint32_t waits = 0;
	uint64_t waited;

	sort_look(s);
	SIMT_UNROLL
	for (uint32_t j = 0; j < SORT_ITEMS; j++) {
		sort_put(s, &item[j]);
		waits |= item[j].waits;
	}
	if (waits)
		simt_add_relaxed_any_u64(&s->meeting->waited, 1);
	simt_block_sync();
	s->more = s->meeting->more; /* nothing is added to it before the block has met again */
	waited = s->meeting->waited;
	waits = waited != s->waited;
	sort_settle(s, waits ? SORT_STUCK : SORT_BUSY);
	s->waited = waited;
	return !waits;
}

/* Sort a reservation of each of SORT_ITEMS logs that are ready. Returns 0 if the run ends. Collective. */
SIMT_FN int sort_round(struct sorter *s, uint32_t k, uint32_t *ready)
{
	struct sort_item item[SORT_ITEMS];
	uint32_t took = 0;

	sort_take(s, item, k, ready);
	if (simt_ballot(simt_whole_warp(), *ready != 0) && !simt_lane())
		simt_add_relaxed_any_u64(&s->meeting->more, 1);
	while (!sort_pass(s, item)) {
		if (s->meeting->quit)
			return 0;
		simt_relax();
	}
	SIMT_UNROLL
	for (uint32_t j = 0; j < SORT_ITEMS; j++) {
		took |= item[j].log != 0;
		sort_release(&item[j]);
	}
	if (took && !simt_lane())
		simt_add_relaxed_any_u64(&s->meeting->moved, 1);
	return 1;
}

/*
 * Sort a reservation of each log from number k of each warp on that has one. A warp whose logs are done goes
 * on with the others. Returns 0 if the run ends. Collective.
 */
SIMT_FN int sort_rounds(struct sorter *s, uint32_t k)
{
	uint32_t ready = sort_ready(s, k);
	uint64_t before;

	do {
		before = s->more;
		if (!sort_round(s, k, &ready))
			return 0;
	} while (s->more != before);
	return 1;
}

/* Begin an epoch: note where the first message of each way goes, and whether a flush is wanted. A9. */
SIMT_FN void sort_begin(const struct sorter *s)
{
	struct sort_meeting *m = s->meeting;

	for (uint32_t node = simt_thread(); node < s->net->nodes; node += simt_block_threads())
		s->way[node].mark = s->way[node].word ? (uint32_t)s->way[node].claim : 0;
	if (!simt_thread()) {
		m->moved = m->behind = 0;
		m->flush = simt_load_acquire_dev_u32(&s->args->orders->flush);
	}
	simt_block_sync();
}

/* Count the logs that are not sorted as far as the flush wants. */
SIMT_FN void sort_look_behind(const struct sorter *s)
{
	struct gn__log_reader *log;

	for (uint32_t k = simt_lane(); (log = sort_log(s, k)) != 0; k += simt_warp_width())
		if ((int64_t)(log->at - s->args->wanted[log - s->args->reader]) < 0)
			simt_add_relaxed_any_u64(&s->meeting->behind, 1);
}

/* End an epoch: close packets whose time has come. R10. */
SIMT_FN void sort_end(struct sorter *s)
{
	const struct sort_meeting *m = s->meeting;
	const uint32_t flush = m->flush;
	int all;

	sort_look(s);
	if (flush != s->flushed)
		sort_look_behind(s);
	simt_block_sync();
	all = flush != s->flushed && !m->behind;
	sort_settle(s, all ? SORT_ALL : m->moved ? SORT_BUSY : SORT_IDLE);
	if (!all)
		return;
	s->flushed = flush;
	if (!simt_thread())
		simt_store_release_sys_u32(&s->args->done[32 * s->stream], flush);
}

SIMT_FN void sort_zero(const struct sorter *s)
{
	uint32_t *word = (uint32_t *)(void *)s->meeting;

	for (uint32_t k = simt_thread(); k < gn_sort_shared_bytes(s->net->nodes) / 4;
	     k += simt_block_threads())
		word[k] = 0;
	simt_block_sync();
}

/* Sort until the run ends. Collective over the block. */
SIMT_FN void sort_all(const struct gn_net_view *n, const struct gn_sort_args *a, uint32_t stream)
{
	struct sort_meeting *m = (struct sort_meeting *)simt_shared();
	struct sorter s = {n, a, m, (struct sort_way *)(void *)(m + 1), 0, 0, stream, 0, 0, 0, 0};
	uint32_t logs;
	int goes_on = 1;

	s.warp = simt_thread() / simt_warp_width();
	s.warps = simt_block_threads() / simt_warp_width();
	logs = (n->logs + a->streams * s.warps - 1) / (a->streams * s.warps);
	sort_zero(&s);
	while (goes_on) {
		sort_begin(&s);
		for (uint32_t k = 0; goes_on && k < logs; k += SORT_SETS * simt_warp_width())
			goes_on = sort_rounds(&s, k);
		if (!goes_on)
			break;
		sort_end(&s);
		goes_on = !m->quit;
		if (!m->moved)
			simt_relax();
		simt_block_sync();
	}
}

#endif
