/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quiet.c - quiet: waits until all that was sent is done; and replies to threads that wait.
 *
 * Messages keep their order from log to packet to memory. A node sorts its logs and then sends a mark on its
 * way to another node. When the answer to the mark comes, all messages before the mark have been applied
 * there, and their replies, which precede the answer, have come. The answer holds the number of messages
 * applied, which must equal the number sent. Threads that ask during a round are served by the next round.
 */
#include <net/node.h>

#include <string.h>

enum { IDLE, LOOKING, SORTING, MARKING, ANSWERS };

/*
 * Free a lost slot. Only a GPU's threads take and give the slots of the GPU's view: such a slot stays lost
 * for the rest of the run, which has failed.
 */
static void slot_free(struct gn_net *net, uint32_t id)
{
	if (!net->device || id >= GN_NET_SLOTS)
		gn__net_slot_disarm(&net->host, id);
}

/* Fill a slot for which a thread waits, or waited until just now. */
static void slot_fill(struct gn_net *net, uint32_t id, uint32_t waiting, int code, uint64_t value,
                      const void *bytes, uint32_t count)
{
	struct gn_net_slot *s = &net->host.slot[id];

	s->value = value;
	s->code = (bytes != NULL) == (s->to != NULL) && count == s->bytes ? code : -GN_EBADMSG;
	if (bytes && !s->code)
		memcpy(s->to, bytes, count);
	/* R3 */
	if (s->unwaited ||
	    simt_cas_acq_rel_dev_u32(&s->state, waiting, (waiting & ~3u) | GN_NET_SLOT_DONE) != waiting)
		slot_free(net, id);
}

void gn__slot_reply(struct gn_net *net, uint64_t token, int code, uint64_t value, const void *bytes,
                    uint32_t count)
{
	const uint32_t id = token & 0xffff, waiting = (uint32_t)(token >> 16) << 2 | GN_NET_SLOT_WAITING;
	uint32_t state;

	if (id >= net->slots)
		return;
	state = simt_load_acquire_dev_u32(&net->host.slot[id].state);
	if (state == waiting)
		slot_fill(net, id, waiting, code, value, bytes, count);
	else if (state == ((waiting & ~3u) | GN_NET_SLOT_LOST))
		slot_free(net, id);
	/* otherwise the reply is late or came twice, and no thread waits for it */
}

void gn__asked(struct gn_net *net, uint32_t peer)
{
	struct gn_peer *p = &net->peer[peer];

	if (!p->asked)
		simt_store_relaxed_dev_u64(&p->since_ns, net->now);
	simt_store_relaxed_dev_u32(&p->asked, p->asked + 1);
}

void gn__answered(struct gn_net *net, uint32_t peer)
{
	struct gn_peer *p = &net->peer[peer];

	if (p->asked)
		gn__count(&p->waited_ns, net->now - p->since_ns);
	simt_store_relaxed_dev_u64(&p->since_ns, net->now);
	if (p->asked)
		simt_store_relaxed_dev_u32(&p->asked, p->asked - 1);
}

int gn__quiet_is_idle(const struct gn_net *net)
{
	return net->quiet.stage == IDLE;
}

int gn__quiet_sorts(const struct gn_net *net)
{
	return net->quiet.stage == SORTING;
}

void gn__quiet_ask(struct gn_net *net, uint64_t token)
{
	struct gn_quiet *q = &net->quiet;

	q->token[q->waiting++] = token;
}

/* Record how far the logs are written now. @tail  tails of logs that the host cannot read itself */
static void look(struct gn_net *net, const uint64_t *tail)
{
	for (uint32_t k = 0; k < net->sources; k++) {
		struct gn_source *s = &net->source[k];

		s->wanted = s->tail ? simt_load_acquire_dev_u64(s->tail) : tail[k];
	}
	net->quiet.stage = SORTING;
}

/* Begin a round for the threads that wait: first, all messages that are in the logs now must be sorted. */
static void begin(struct gn_net *net)
{
	struct gn_quiet *q = &net->quiet;

	q->served = q->waiting;
	q->code = 0;
	q->deadline = net->now + net->options.timeout_ns;
	if (!net->device) {
		look(net, NULL);
		return;
	}
	gn__device_tails(net); /* drop an answer for an abandoned round */
	q->stage = gn__device_ask_tails(net) ? IDLE : LOOKING;
}

static int all_sorted(const struct gn_net *net)
{
	for (uint32_t k = 0; k < net->sources; k++)
		if ((int64_t)(net->source[k].reader.at - net->source[k].wanted) < 0)
			return 0;
	return 1;
}

/* Send a mark to every node to which messages were sent since its last mark. */
static void mark(struct gn_net *net)
{
	struct gn_quiet *q = &net->quiet;
	uint64_t word[2] = {gn__message_head(GN__MESSAGE_MARK, 0, 0), 0};

	for (; q->next < net->route.nodes; q->next++) {
		struct gn_peer *p = &net->peer[q->next];

		if (p->sent == p->marked && !p->awaited)
			continue;
		word[1] = p->sent;
		if (gn__post(net, 0, q->next, net->route.node, word, 2))
			return;
		p->marked = p->sent;
		p->awaited = 1;
		gn__asked(net, q->next);
		q->marks++;
	}
	q->stage = ANSWERS;
}

void gn__quiet_answered(struct gn_net *net, uint32_t from, uint64_t mark, uint64_t applied)
{
	struct gn_peer *p = &net->peer[from];
	struct gn_error error;

	gn__answered(net, from);
	if (!p->awaited || mark != (p->marked & gn__message_most_place))
		return; /* the answer is for an abandoned round */
	p->awaited = 0;
	if (net->quiet.marks)
		net->quiet.marks--;
	if (applied == p->marked)
		return;
	gn_error_set(&error, -GN_EIO, "node %u applied %llu messages, but %llu were sent to it", from,
	             (unsigned long long)applied, (unsigned long long)p->marked);
	net->quiet.code = gn__network_fail(net, from, &error);
}

/* End the round: reply to its threads; the others wait for the next round. */
static void end(struct gn_net *net)
{
	struct gn_quiet *q = &net->quiet;

	for (uint32_t k = 0; k < q->served; k++)
		gn__slot_reply(net, q->token[k], q->code, 0, NULL, 0);
	q->waiting -= q->served;
	memmove(q->token, q->token + q->served, q->waiting * sizeof *q->token);
	q->served = 0;
	q->stage = IDLE;
	gn__exchange_end(net);
}

/* The round's deadline has passed: report the node that did not answer. The next round marks it again. */
static void expire(struct gn_net *net)
{
	struct gn_quiet *q = &net->quiet;
	uint32_t late = net->route.node;
	struct gn_error error;

	for (uint32_t k = net->route.nodes; k-- > 0;)
		late = net->peer[k].awaited ? k : late;
	if (q->stage == ANSWERS)
		gn_error_set(&error, -GN_ETIMEDOUT,
		             "node %u did not answer node %u within %llu ms, and %u other nodes did not "
		             "either; it has ended, or its network thread does not run",
		             late, net->route.node, (unsigned long long)(net->options.timeout_ns / 1000000),
		             q->marks - 1);
	else
		gn_error_set(&error, -GN_ETIMEDOUT,
		             "messages could not be sent within %llu ms; node %u has not received the "
		             "messages sent to it",
		             (unsigned long long)(net->options.timeout_ns / 1000000), late);
	q->code = gn__network_fail(net, late, &error);
	q->marks = 0;
	end(net);
}

void gn__quiet_go_on(struct gn_net *net)
{
	struct gn_quiet *q = &net->quiet;

	if (q->stage == IDLE && (q->waiting || gn__exchange_is_due(net)))
		begin(net);
	if (q->stage == LOOKING) {
		const uint64_t *tail = gn__device_tails(net);

		if (tail)
			look(net, tail);
	}
	if (q->stage == SORTING && all_sorted(net)) {
		q->next = 0;
		q->stage = MARKING;
	}
	if (q->stage == MARKING) {
		mark(net);
		gn__flush(net, 1, 0);
	}
	if (q->stage == ANSWERS && !q->marks)
		end(net);
	if (q->stage != IDLE && net->now > q->deadline)
		expire(net);
}
