/* SPDX-License-Identifier: Apache-2.0 */
/* drain.c - sorts the messages in the logs of a node's threads into packets. */
#include <net/node.h>

/* Handlers cannot wait, so their messages may take this number of packets above the pool's limit. */
enum { BEYOND = 1024 };

/* Sort a message to the own node: a quiet, or a call. Returns 0 or -GN_EAGAIN. */
static int sort_own(struct gn_net *net, const uint64_t *word, uint32_t words)
{
	struct gn_error error;
	int rc;

	if (gn__message_kind(word[0]) == GN__MESSAGE_MARK) {
		gn__quiet_ask(net, gn__message_place(word[0]));
		return 0;
	}
	rc = gn__apply(net, net->route.node, word, words);
	if (!rc)
		return -GN_EAGAIN;
	gn__count(&net->statistics.calls, !gn__message_is_wide(word[0]));
	if (rc < 0) {
		gn_error_set(&error, rc,
		             "node %u calls handler %llu of its own, but has not registered it; register "
		             "every handler before the first call",
		             net->route.node, (unsigned long long)gn__message_place(word[0]) & 0xffff);
		gn__network_fail(net, net->route.node, &error);
	}
	return 0;
}

/* Sort one message of a log. Returns 0 or -GN_EAGAIN. */
static int sort_one(struct gn_net *net, const uint64_t *word, uint32_t words)
{
	const uint32_t to = gn__message_peer(word[0]), self = net->route.node;
	const uint32_t kind = gn__message_kind(word[0]);
	const int fetches = gn__message_fetches(word[0]);

	if (simt_unlikely(to == self) && (!net->device || kind == GN__MESSAGE_MARK))
		return sort_own(net, word, words);
	if (fetches || kind == GN__MESSAGE_SIGNAL || !gn__post_quickly(net, to, word, words)) {
		if (gn__post(net, 0, to, self, word, words))
			return -GN_EAGAIN;
	}
	net->peer[to].sent++;
	if (fetches)
		gn__asked(net, to);
	if (kind == GN__MESSAGE_CALL)
		gn__count(&net->statistics.calls, !gn__message_is_wide(word[0]));
	return 0;
}

/*
 * Sort the messages of the oldest reservation, from s->lane on. Returns the number of messages sorted.
 * @stuck  receives 1 if a message could not be sorted
 */
static __attribute__((noinline)) uint32_t sort_lanes(struct gn_net *net, struct gn_source *s, uint64_t head,
                                                     int *stuck)
{
	const uint32_t lanes = gn__message_lanes(head), words = gn__message_words(head);
	uint64_t copy[GN__MESSAGE_MOST_WORDS];
	uint32_t sorted = 0;

	for (; s->lane < lanes; s->lane++, sorted++) {
		for (uint32_t k = 0; k < words; k++)
			copy[k] = gn__log_word(&s->reader, lanes, s->lane, k);
		if (simt_unlikely(sort_one(net, copy, words))) {
			*stuck = 1;
			return sorted;
		}
	}
	s->lane = 0;
	gn__log_empty(&s->reader, lanes * words);
	return sorted;
}

/*
 * Sort consecutive messages of one lane each directly from the log, because their words are adjacent. Returns
 * the number of messages sorted.
 */
static uint32_t sort_neighbours(struct gn_net *net, struct gn__log_reader *r, uint32_t most, int *stuck)
{
	uint32_t sorted = 0;

	for (; sorted < most; sorted++) {
		const uint64_t at = r->at & (r->capacity - 1), head = gn__log_peek(r);
		uint32_t words;

		if (!head || simt_unlikely(gn__message_lanes(head) > 1))
			break;
		words = gn__message_words(head);
		if (simt_unlikely(at + words > r->capacity))
			break;
		net->group++; /* each message is ordered after the one before */
		if (simt_unlikely(sort_one(net, r->word + at, words))) {
			*stuck = 1;
			break;
		}
		gn__log_empty(r, words);
	}
	return sorted;
}

static uint32_t drain_one(struct gn_net *net, struct gn_source *s, uint32_t most, int release)
{
	const uint64_t from = s->reader.at;
	uint32_t sorted = 0;
	uint64_t head;
	int stuck = 0;

	while (!stuck && sorted < most && (head = gn__log_peek(&s->reader)) != 0) {
		if (!s->lane)
			sorted += sort_neighbours(net, &s->reader, most - sorted, &stuck);
		head = gn__log_peek(&s->reader);
		if (head && !stuck && sorted < most) {
			net->group++;
			sorted += sort_lanes(net, s, head, &stuck);
		}
	}
	if (s->reader.at != from && release)
		gn__log_release(&s->reader);
	gn__count(&net->statistics.sent, sorted);
	return sorted;
}

/*
 * Does a log hold messages? Without a tail that the host can read, this is called after the kernel has
 * ended.
 */
static int holds(const struct gn_source *s)
{
	return s->tail ? s->reader.at != simt_load_relaxed_dev_u64(s->tail) : gn__log_peek(&s->reader) != 0;
}

int gn__is_drained(struct gn_net *net)
{
	for (uint32_t k = 0; k < net->sources; k++)
		if (holds(&net->source[k]))
			return 0;
	return gn__quiet_is_idle(net) && (!net->sort || gn__sort_is_empty(net));
}

/* How far a log is written; if the host cannot read its tail, how far its messages are complete. */
static uint64_t written(struct gn_source *s)
{
	struct gn__log_reader ahead = s->reader;
	uint64_t head;

	if (s->tail)
		return simt_load_relaxed_dev_u64(s->tail);
	if ((int64_t)(s->whole - s->reader.at) > 0)
		ahead.at = s->whole;
	while (ahead.at - s->reader.at < ahead.capacity && (head = gn__log_peek(&ahead)) != 0)
		ahead.at += gn__message_lanes(head) * gn__message_words(head);
	return s->whole = ahead.at;
}

int gn__exchange_is_due(struct gn_net *net)
{
	uint64_t all = 0, kept = 0;
	int full = 0;

	if (net->options.form != GN_NET_COPROCESSOR)
		return 0;
	for (uint32_t k = 0; k + 1 < net->sources; k++) {
		struct gn_source *s = &net->source[k];
		const uint64_t to = written(s), used = to - s->reader.at;

		all += to;
		kept += used;
		full |= used > s->reader.capacity / 8 * 7;
	}
	if (all != net->written) {
		net->written = all;
		net->written_ns = net->now;
	}
	return kept && (full || net->now - net->written_ns >= net->options.flush_ns);
}

void gn__exchange_end(struct gn_net *net)
{
	for (uint32_t k = 0; net->options.form == GN_NET_COPROCESSOR && k + 1 < net->sources; k++)
		gn__log_release(&net->source[k].reader);
}

/*
 * Drain the logs in rounds: a round takes the oldest reservation of each log. A thread has one log, so the
 * messages of a round are unordered, and a kernel that applies them passes one fence for a round. Logs that
 * held messages take part in the next round.
 */
static uint32_t drain_rounds(struct gn_net *net, int release)
{
	const uint32_t logs = net->sources - 1;
	uint32_t holding = logs, sorted = 0;
	int stuck = 0;

	for (uint32_t k = 0; k < logs; k++)
		net->turn[k] = (net->first_turn + k) % logs;
	while (holding && !stuck && sorted < GN_RULE_APPLIED) {
		uint32_t still = 0;

		net->group++;
		for (uint32_t k = 0; k < holding && !stuck; k++) {
			struct gn_source *s = &net->source[net->turn[k]];
			const uint64_t head = gn__log_peek(&s->reader);

			if (!head)
				continue;
			sorted += sort_lanes(net, s, head, &stuck);
			if (release)
				gn__log_release(&s->reader);
			net->first_turn = net->turn[k]; /* this log is first when there is room again */
			net->turn[still++] = net->turn[k];
		}
		holding = still;
	}
	gn__count(&net->statistics.sent, sorted);
	return sorted;
}

/* Drain the logs of threads, but not the handlers' log. */
static uint32_t drain_threads(struct gn_net *net)
{
	const int coprocessor = net->options.form == GN_NET_COPROCESSOR,
	          coalesced = net->options.form == GN_NET_COALESCED;
	uint32_t sorted = 0;

	if (coprocessor && !gn__quiet_sorts(net))
		return 0;
	if (net->device && !coalesced)
		return drain_rounds(net, !coprocessor);
	for (uint32_t k = 0; k + 1 < net->sources; k++) {
		const uint32_t some = drain_one(net, &net->source[k],
		                                coalesced ? GN_RULE_COALESCED : GN_RULE_SORTED, !coprocessor);

		sorted += some;
		if (coalesced && some)
			gn__flush(net, 1, 0);
	}
	return sorted;
}

uint32_t gn__drain(struct gn_net *net)
{
	uint32_t sorted = net->sort ? gn__sort_drain(net) : 0;

	sorted += drain_threads(net);

	net->beyond = BEYOND;
	sorted += drain_one(net, &net->source[net->sources - 1], GN_RULE_SORTED, 1);
	net->beyond = 0;
	return sorted;
}
