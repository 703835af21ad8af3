/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quiet.c - quiet: a thread waits until all messages that were sent before are done; and the replies that
 * wake threads.
 *
 * A node's network thread serves the waiting threads in rounds. Threads that ask during a round are served by
 * the next one. A round:
 *
 *   1. notes how far each log is written, on a GPU by asking the GPU;
 *   2. waits until the network thread, or the kernel of sort.h, has sorted all logs up to there into packets;
 *   3. sends each node, behind these messages, a mark: a message that says how many were sent to the node;
 *   4. waits for the answers to the marks, and then replies to the round's threads.
 *
 * Messages keep their order from log to packet to memory. So when the answer to a mark comes, the other node
 * has applied all messages before the mark, and replies to them have come before the answer. The answer holds
 * the number of messages applied, which must be the number sent.
 */
#include <net/node.h>

#include <string.h>

/* What a round waits for: a device's answer, the sorting of the logs, room for marks, answers to marks. */
enum { NO_ROUND, LOG_ENDS, SORTING, MARKING, ANSWERS };

/*
 * Free the slot of a thread that has given up waiting. A GPU's slots are taken and given back by the GPU's
 * threads alone: such a slot stays lost for the rest of the run, which has failed.
 */
static void slot_free(struct gn_net *net, uint32_t id)
{
	if (!net->device || id >= GN_NET_SLOTS)
		gn__net_slot_disarm(&net->host, id);
}

/*
 * Fill a slot for which a thread waits, or waited until just now.
 * @waiting  the slot's state while its thread waits
 */
static void slot_fill(struct gn_net *net, uint32_t id, uint32_t waiting, int code, uint64_t value,
                      const void *bytes, uint32_t count)
{
	struct gn_net_slot *s = &net->host.slot[id];
	const uint32_t done = (waiting & ~3u) | GN_NET_SLOT_DONE;
	const int unwaited = simt_load_relaxed_dev_u32(&s->unwaited) != 0;
	/* the memory of a get that a quiet waits for is the thread's again when it has given the get up */
	int given_up = unwaited && simt_cas_acq_rel_dev_u32(&s->state, waiting, done) != waiting;

	s->value = value;
	s->code = (bytes != NULL) == (s->to != 0) && count == s->bytes ? code : -GN_EBADMSG;
	if (bytes && !s->code && !given_up)
		memcpy((void *)(uintptr_t)s->to, bytes, count);
	/* R3, of the network's edges in docs/memory-model.md: the thread sees value, code and bytes */
	if (!unwaited)
		given_up = simt_cas_acq_rel_dev_u32(&s->state, waiting, done) != waiting;
	if (unwaited || given_up)
		slot_free(net, id);
}

void gn__slot_reply(struct gn_net *net, uint64_t token, int code, uint64_t value, const void *bytes,
                    uint32_t count)
{
	/* a token is the slot's number, and above it how often the slot was used */
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
	return net->quiet.stage == NO_ROUND;
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

/* Note how far the logs are written now: they are to be sorted up to there. @tail  ends of a device's logs */
static void note_log_ends(struct gn_net *net, const uint64_t *tail)
{
	for (uint32_t k = 0; k < net->sources; k++) {
		struct gn_source *s = &net->source[k];

		s->wanted = s->tail ? simt_load_acquire_dev_u64(s->tail) : tail[k];
	}
	net->quiet.stage = SORTING;
}

/* Begin a round for all threads that wait now. */
static void begin_round(struct gn_net *net)
{
	struct gn_quiet *q = &net->quiet;

	q->served = q->waiting;
	q->code = 0;
	q->deadline = net->now + net->options.timeout_ns;
	if (!net->device) {
		note_log_ends(net, NULL);
		return;
	}
	gn__device_tails(net); /* what the GPU answered to a round that ran out of time is too old */
	q->stage = gn__device_ask_tails(net) ? NO_ROUND : LOG_ENDS;
	q->flush = gn__device_flush(net);
}

static int all_sorted(struct gn_net *net)
{
	for (uint32_t k = 0; k < net->sources; k++)
		if ((int64_t)(net->source[k].reader.at - net->source[k].wanted) < 0)
			return 0;
	return !net->sort || gn__sort_is_flushed(net, net->quiet.flush);
}

/* Send a mark to every node to which messages were sent since its last mark, or which owes an answer. */
static void send_marks(struct gn_net *net)
{
	struct gn_quiet *q = &net->quiet;
	uint64_t message[2] = {gn__message_head(GN__MESSAGE_MARK, 0, 0), 0};

	for (; q->next < net->route.nodes; q->next++) {
		struct gn_peer *p = &net->peer[q->next];

		if (p->sent == p->marked && !p->awaited)
			continue;
		message[1] = p->sent;
		if (gn__post(net, 0, q->next, net->route.node, message, 2))
			return; /* no packet is free: go on here in the next turn of the loop */
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
		return; /* the answer is to a mark of a round that ran out of time */
	p->awaited = 0;
	if (net->quiet.marks)
		net->quiet.marks--;
	if (applied == p->marked)
		return;
	gn_error_set(&error, -GN_EIO, "node %u applied %llu messages, but %llu were sent to it", from,
	             (unsigned long long)applied, (unsigned long long)p->marked);
	net->quiet.code = gn__network_fail(net, from, &error);
}

/* Reply to the round's threads; the others wait for the next round. */
static void end_round(struct gn_net *net)
{
	struct gn_quiet *q = &net->quiet;

	for (uint32_t k = 0; k < q->served; k++)
		gn__slot_reply(net, q->token[k], q->code, 0, NULL, 0);
	q->waiting -= q->served;
	memmove(q->token, q->token + q->served, q->waiting * sizeof *q->token);
	q->served = 0;
	q->stage = NO_ROUND;
	gn__exchange_end(net);
}

/*
 * The round's deadline has passed: its threads fail, and the message names a node that is late. The next
 * round sends such a node another mark.
 */
static void give_up_round(struct gn_net *net)
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
	q->code = gn__network_late(net, late, &error);
	q->marks = 0;
	end_round(net);
}

void gn__quiet_go_on(struct gn_net *net)
{
	struct gn_quiet *q = &net->quiet;

	if (q->stage == NO_ROUND && (q->waiting || gn__exchange_is_due(net)))
		begin_round(net);
	if (q->stage == LOG_ENDS) {
		const uint64_t *tail = gn__device_tails(net);

		if (tail)
			note_log_ends(net, tail);
	}
	if (q->stage == SORTING && all_sorted(net)) {
		q->next = 0;
		q->stage = MARKING;
	}
	if (q->stage == MARKING) {
		send_marks(net);
		gn__flush(net, 1, 0);
	}
	if (q->stage == ANSWERS && !q->marks)
		end_round(net);
	if (q->stage != NO_ROUND && net->now > q->deadline)
		give_up_round(net);
}
