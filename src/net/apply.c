/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - applies the messages of packets: to memory, to waiting threads and by handlers. */
#include <net/node.h>

#include <stdlib.h>
#include <string.h>

/* Memory is prefetched for the message this number of words ahead of the one that is applied. */
enum { AHEAD = 48 };

/* Post a reply to the origin of a message. The caller has tested that there is room. */
static void reply(struct gn_net *net, uint32_t to, const uint64_t *word, uint32_t words)
{
	struct gn_error error;

	if (!gn__post(net, 1, to, net->route.node, word, words))
		return;
	gn_error_set(&error, -GN_ENOBUFS,
	             "a reply to node %u was lost; this is a bug of Grapnel, please report it", to);
	gn__network_fail(net, to, &error);
}

/*
 * Change an element. A thread that sees the change also sees all that this thread has put before it. Inlined,
 * so that a change without an answer does not pay for one.
 */
SIMT_INLINE_FN uint64_t change(void *element, uint32_t how, uint64_t a, uint64_t b, uint32_t bytes,
                               int fetches)
{
	const uint64_t operand[2] = {a, b};

	if (simt_likely(how == GN_ADD))
		return bytes == 4 ? simt_add_acq_rel_dev_u32((uint32_t *)element, (uint32_t)a)
		                  : simt_add_acq_rel_dev_u64((uint64_t *)element, a);
	if (how == GN_XOR && bytes == 8)
		return simt_xor_acq_rel_dev_u64((uint64_t *)element, a);
	if (how != GN_PUT || fetches)
		return gn__change_element(element, (enum gn_change)how, operand, bytes);
	if (bytes == 4)
		simt_store_release_dev_u32((uint32_t *)element, (uint32_t)a);
	else
		simt_store_release_dev_u64((uint64_t *)element, a);
	return 0;
}

static int apply_change(struct gn_net *net, uint32_t origin, const uint64_t *word, uint32_t words)
{
	const uint64_t head = word[0];
	const uint32_t how = gn__message_kind(head) - GN__MESSAGE_CHANGE;
	const uint32_t bytes = gn__message_is_wide(head) ? 8 : 4;
	const uint32_t operands = gn__change_operands(how);
	const uint64_t a = operands > 0 ? word[1] : 0, b = operands > 1 ? word[2] : 0;
	char *element = gn_net_memory(&net->host, gn__message_place(head) * 4, bytes);
	uint64_t answer[2];

	if (simt_unlikely(!element || (uintptr_t)element % bytes))
		return -GN_EBADMSG;
	if (!gn__message_fetches(head)) {
		change(element, how, a, b, bytes, 0);
		return (int)words;
	}
	if (!gn__post_room(net, 1, origin, 2))
		return 0;
	/* the mask makes a valid head of any received word */
	answer[0] = gn__message_head(GN__MESSAGE_REPLY, 0, word[words - 1] & gn__message_most_place);
	answer[1] = change(element, how, a, b, bytes, 1);
	reply(net, origin, answer, 2);
	return (int)words;
}

static int apply_signal(struct gn_net *net, const uint64_t *word)
{
	char *count = gn_net_memory(&net->host, gn__message_place(word[0]) * 4, 8);

	if (!count || (uintptr_t)count % 8)
		return -GN_EBADMSG;
	change(count, GN_ADD, 1, 0, 8, 0);
	return 1;
}

static int apply_bytes(struct gn_net *net, uint32_t origin, const uint64_t *word, uint32_t words)
{
	const uint32_t bytes = (uint32_t)gn__message_place(word[0]);
	const uint32_t answer_words = 2 + (bytes + 7) / 8;
	char *memory = gn_net_memory(&net->host, word[1], bytes);
	uint64_t answer[GN__MESSAGE_MOST_WORDS];

	if (!memory)
		return -GN_EBADMSG;
	if (!gn__message_fetches(word[0])) {
		memcpy(memory, word + 2, bytes);
		return (int)words;
	}
	if (!gn__post_room(net, 1, origin, answer_words))
		return 0;
	answer[0] = gn__message_head(GN__MESSAGE_REPLY | GN__MESSAGE_WIDE, 0, bytes);
	answer[1] = word[2];
	answer[answer_words - 1] = 0;
	memcpy(answer + 2, memory, bytes);
	reply(net, origin, answer, answer_words);
	return (int)words;
}

/*
 * Returns 1 if there is room in the handlers' log for messages of a handler, else 0: it must not be called
 * yet. Sorted messages are released first. While the handlers' log is sorted (beyond) there is always room:
 * calls that handlers make to their own node fill that log and would wait for themselves, but each frees the
 * room it took.
 */
static int make_room_for_handler(const struct gn_net *net)
{
	const struct gn_source *s = &net->source[net->sources - 1];
	const uint64_t used = simt_load_relaxed_dev_u64(&s->log->tail) - s->reader.at;

	gn__log_release(&s->reader);
	return net->beyond || used <= s->log->capacity / 2;
}

/* Apply messages of the network itself that have the kind of a call. */
static int apply_said(struct gn_net *net, uint32_t origin, const uint64_t *word, uint32_t words)
{
	const uint64_t place = gn__message_place(word[0]);

	if (gn__message_is_wide(word[0]))
		gn__hear_name(net, origin, place & 0xffff, (const char *)(word + 1), (uint32_t)(place >> 16));
	else if (words == 2)
		gn__hear_end(net, origin, word[1]);
	return (int)words;
}

static int apply_call(struct gn_net *net, uint32_t origin, const uint64_t *word, uint32_t words)
{
	const uint64_t place = gn__message_place(word[0]);
	const uint32_t id = place & 0xffff;
	struct gn_net_incoming incoming = {&net->handler_view, origin, (uint32_t)(place >> 16), word + 1};
	struct gn_error error;

	if (gn__message_is_wide(word[0]) || gn__message_fetches(word[0]))
		return apply_said(net, origin, word, words);
	if (id >= simt_load_acquire_dev_u32(&net->handlers)) {
		gn_error_set(&error, -GN_EBADMSG,
		             "node %u called handler %u, which is not registered on node %u; register the "
		             "same handlers on all nodes before one is called",
		             origin, id, net->route.node);
		return gn__network_fail(net, origin, &error);
	}
	if (!make_room_for_handler(net))
		return 0;
	net->handler[id].run(&incoming, net->handler[id].context);
	gn__count(&net->statistics.called, 1);
	return (int)words;
}

static int apply_mark(struct gn_net *net, uint32_t origin, const uint64_t *word, uint32_t words)
{
	uint64_t answer[2];

	if (gn__message_fetches(word[0])) {
		/* a thread asks for a quiet; the kernel that sorts sends that to its own node */
		if (origin != net->route.node || !net->sort || net->quiet.waiting == net->slots)
			return -GN_EBADMSG;
		gn__quiet_ask(net, gn__message_place(word[0]));
		return (int)words;
	}
	if (gn__message_is_wide(word[0])) {
		gn__quiet_answered(net, origin, gn__message_place(word[0]), word[1]);
		return (int)words;
	}
	if (!gn__post_room(net, 1, origin, 2))
		return 0;
	answer[0] =
	    gn__message_head(GN__MESSAGE_MARK | GN__MESSAGE_WIDE, 0, word[1] & gn__message_most_place);
	answer[1] = net->peer[origin].applied;
	reply(net, origin, answer, 2);
	return (int)words;
}

static int apply_reply(struct gn_net *net, uint32_t origin, const uint64_t *word, uint32_t words)
{
	gn__answered(net, origin);
	if (gn__message_is_wide(word[0]))
		gn__slot_reply(net, word[1], 0, 0, word + 2, (uint32_t)gn__message_place(word[0]));
	else
		gn__slot_reply(net, gn__message_place(word[0]), 0, word[1], NULL, 0);
	return (int)words;
}

int gn__apply(struct gn_net *net, uint32_t origin, const uint64_t *word, uint32_t left)
{
	const uint32_t words = gn__message_words(word[0]);
	const uint32_t kind = gn__message_kind(word[0]);

	if (simt_unlikely(!words || words > left || origin >= net->route.nodes))
		return -GN_EBADMSG;
	if (simt_likely(kind < GN__MESSAGE_BYTES))
		return apply_change(net, origin, word, words);
	switch (kind) {
	case GN__MESSAGE_BYTES: return apply_bytes(net, origin, word, words);
	case GN__MESSAGE_CALL: return apply_call(net, origin, word, words);
	case GN__MESSAGE_MARK: return apply_mark(net, origin, word, words);
	case GN__MESSAGE_SIGNAL: return apply_signal(net, word);
	default: return apply_reply(net, origin, word, words);
	}
}

/* ---- packets ---- */

/* Count a message for the node that wrote it; replies and marks are not counted. */
static void count_applied(struct gn_net *net, uint32_t origin, uint64_t head)
{
	const uint32_t kind = gn__message_kind(head);

	if (kind != GN__MESSAGE_REPLY && kind != GN__MESSAGE_MARK) {
		net->peer[origin].applied++;
		gn__count(&net->statistics.applied, 1);
	}
}

/* Apply or pass on one message of a packet. Returns its number of words, 0: not now, or -GN_EBADMSG. */
static int take_in(struct gn_net *net, const struct gn_packet *packet, uint32_t class_, uint32_t at)
{
	const uint64_t *word = packet->word + at;
	const uint32_t left = packet->words - at, peer = gn__message_peer(word[0]);
	uint32_t origin = peer;
	int words;

	if (class_ & 1) { /* the message must be sorted again, unless it is for this node */
		origin = packet->source;
		if (peer != net->route.node) {
			words = (int)gn__message_words(word[0]);
			if (!words || (uint32_t)words > left || peer >= net->route.nodes)
				return -GN_EBADMSG;
			gn__count(&net->statistics.passed, 1);
			return gn__post(net, class_ < GN_REQUESTS, peer, origin, word, (uint32_t)words)
			           ? 0
			           : words;
		}
	}
	if (net->device && gn__message_kind(word[0]) != GN__MESSAGE_REPLY &&
	    !gn__device_is_done(net, packet->source))
		return 0;
	words = gn__apply(net, origin, word, left);
	if (words > 0)
		count_applied(net, origin, word[0]);
	return words;
}

static void refuse(struct gn_net *net, uint32_t from, uint32_t at)
{
	struct gn_error error;

	gn_error_set(&error, -GN_EBADMSG,
	             "word %u of a packet from node %u does not begin a valid message; run the same program "
	             "on all nodes and register the same handlers on each",
	             at, from);
	gn__network_fail(net, from, &error);
}

static void close_packet(struct gn_net *net, struct gn_intake *in)
{
	if (in->parcel)
		net->transport->ops->release(net->transport, in->parcel);
	in->parcel = NULL;
	in->packet = NULL;
}

/*
 * Apply consecutive changes of 8-byte words of the heap that return nothing; most messages are of this kind.
 * Returns their number. The word taken for a later message's head may be none; then its prefetch is useless.
 */
static uint32_t apply_wide(struct gn_net *net, const struct gn_packet *packet, uint32_t *at)
{
	const uint64_t most = net->options.heap_bytes / 8;
	char *const heap = net->host.heap;
	uint32_t done = 0;

	while (*at + 1 < packet->words) {
		const uint64_t *word = packet->word + *at;
		const uint32_t op = gn__message_op(word[0]), how = op - GN__MESSAGE_WIDE - GN__MESSAGE_CHANGE;
		const uint32_t origin = gn__message_peer(word[0]);
		const uint64_t place = gn__message_place(word[0]);

		if (simt_unlikely(how >= GN_GET || how == GN_CAS || place % 2 || place / 2 >= most ||
		                  origin >= net->route.nodes))
			break;
		if (*at + AHEAD < packet->words)
			simt_prefetch(heap + gn__message_place(word[AHEAD]) * 4);
		change(heap + place * 4, how, word[1], 0, 8, 0);
		net->peer[origin].applied++;
		*at += 2;
		done++;
	}
	gn__count(&net->statistics.applied, done);
	return done;
}

/*
 * Apply the current packet of a class, from where it was left. Returns the number of messages.
 * @stuck  receives 1 if the packet is not finished
 */
static uint32_t apply_packet(struct gn_net *net, uint32_t class_, int *stuck)
{
	struct gn_intake *in = &net->intake[class_];
	const struct gn_packet *packet = in->packet;
	uint32_t done = 0;
	int words = 1;

	while (in->at < packet->words) {
		if (net->device && class_ >= GN_REQUESTS) {
			uint32_t messages;
			int other;
			const uint32_t taken =
			    gn__device_take(net, packet, class_ & 1, in->at, &messages, &other);

			in->at += taken;
			done += messages;
			if (taken)
				continue;
			if (!other) {
				words = 0;
				break;
			}
		} else if (class_ == GN_REQUESTS) {
			done += apply_wide(net, packet, &in->at);
			if (in->at == packet->words)
				break;
		}
		words = take_in(net, packet, class_, in->at);
		if (simt_unlikely(words <= 0))
			break;
		in->at += (uint32_t)words;
		done++;
	}
	if (words < 0)
		refuse(net, packet->source, in->at);
	*stuck = words == 0;
	if (words)
		close_packet(net, in);
	return done;
}

/* Hand a plain packet to the kernel. Returns as apply_packet. */
static uint32_t pass_plain(struct gn_net *net, uint32_t class_, int *stuck)
{
	struct gn_intake *in = &net->intake[class_];
	const struct gn_packet *packet = in->packet;
	const uint32_t messages = packet->words / 2;
	/* the kernel reads a packet that is handed over in memory that all machines of the process reach */
	struct gn_parcel *parcel = net->transport->copies ? NULL : in->parcel;

	*stuck = !gn__device_take_plain(net, packet, parcel);
	if (*stuck)
		return 0;
	if (parcel)
		in->parcel = NULL;
	close_packet(net, in);
	return messages;
}

static int is_plain(const struct gn_net *net, const struct gn_packet *packet)
{
	return net->device && packet->form & GN_PACKET_PLAIN && packet->class_ == GN_REQUESTS &&
	       packet->words % 2 == 0;
}

/*
 * Returns an accepted packet with its messages decompressed. NULL: they are damaged, or there is no memory
 * for them.
 */
static const struct gn_packet *open_packet(struct gn_net *net, struct gn_intake *in, struct gn_parcel *p)
{
	const struct gn_packet *packet;

	if (!in->plain && p->packet->body != 8u * p->packet->words)
		in->plain = (struct gn_packet *)malloc(sizeof *in->plain);
	packet = gn_packet_open(p->packet, in->plain);
	if (packet == p->packet)
		in->parcel = p;
	else
		net->transport->ops->release(net->transport, p);
	return packet;
}

/* Is this the next packet expected from the node from which the transport received it? */
static int is_wanted(struct gn_net *net, const struct gn_intake *in, uint32_t class_,
                     const struct gn_parcel *p)
{
	const struct gn_packet_wanted wanted = {
	    net->transport->session, class_, p->peer, net->route.node, in->sequence[p->peer],
	    !net->transport->copies};
	struct gn_error error;

	if (!gn_packet_check(p->packet, p->bytes, &wanted, &error))
		return 1;
	gn__network_fail(net, p->peer, &error);
	return 0;
}

/* Take the next packet of a class, if it is valid. Returns 0 if there is none. */
static int next_packet(struct gn_net *net, uint32_t class_)
{
	struct gn_intake *in = &net->intake[class_];
	struct gn_parcel *p = net->transport->ops->receive(net->transport, class_);
	uint32_t from;

	if (!p)
		return 0;
	from = p->peer;
	if (!is_wanted(net, in, class_, p)) {
		net->transport->ops->release(net->transport, p);
		return 1;
	}
	in->sequence[from]++;
	in->at = 0;
	in->packet = open_packet(net, in, p);
	if (!in->packet)
		refuse(net, from, 0);
	return 1;
}

uint32_t gn__receive(struct gn_net *net)
{
	uint32_t applied = net->device ? gn__device_collect(net) : 0;

	for (uint32_t class_ = 0; class_ < GN_PACKET_CLASSES; class_++) {
		uint32_t turn = 0;
		int stuck = 0;

		while (!stuck && turn < GN_RULE_APPLIED &&
		       (net->intake[class_].packet || next_packet(net, class_)))
			if (net->intake[class_].packet)
				turn += is_plain(net, net->intake[class_].packet)
				            ? pass_plain(net, class_, &stuck)
				            : apply_packet(net, class_, &stuck);
		applied += turn;
	}
	return applied;
}
