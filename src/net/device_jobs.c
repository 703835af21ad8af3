/* SPDX-License-Identifier: Apache-2.0 */
/* device_jobs.c - makes jobs of the messages of packets for the kernel, and replies of their results. */
#include <net/device.h>
#include <net/node.h>

#include <string.h>

/*
 * The ring for the jobs of a packet. All packets of one stream of one source go to one ring, which keeps them
 * in order. Others are spread over the rings.
 */
static uint32_t ring_of(const struct gn_device *d, const struct gn_packet *packet)
{
	return (packet->source + (packet->form & GN_PACKET_STREAM)) % d->teams;
}

/* ---- packets and messages ---- */

/*
 * Submit a job of a packet.
 * @parcel  released when the job is done; NULL: none
 */
static void submit_packet(struct gn_net *net, const struct gn_packet *packet, struct gn_parcel *parcel,
                          uint32_t kind, uint32_t words)
{
	struct gn_device *d = net->device;
	const uint32_t ring = ring_of(d, packet);
	struct gn_device_ring *r = &d->ring[ring];

	r->source[r->next % GN_DEVICE_DEPTH] = packet->source;
	r->parcel[r->next % GN_DEVICE_DEPTH] = parcel;
	d->under_way[packet->source]++;
	gn__device_submit(d, ring, kind, words);
}

int gn__device_take_plain(struct gn_net *net, const struct gn_packet *packet, struct gn_parcel *parcel)
{
	struct gn_device *d = net->device;
	const uint32_t ring = ring_of(d, packet), messages = packet->words / 2;
	struct gn_device_job *job = gn__device_job(d, ring, d->ring[ring].next);

	if (gn__device_is_full(&d->ring[ring]))
		return 0;
	job->from = packet->word;
	if (!parcel) {
		job->from = job->word;
		memcpy(job->word, packet->word, 16ull * messages);
	}
	job->bad = 0;
	net->peer[packet->source].applied += messages;
	gn__count(&net->statistics.applied, messages);
	submit_packet(net, packet, parcel, GN_DEVICE_PLAIN, 2 * messages);
	return 1;
}

/* Is this message for the heap, and complete? */
static int is_for_heap(const struct gn_net *net, const uint64_t *word, uint32_t left)
{
	const uint64_t head = word[0], heap = net->options.heap_bytes;
	const uint32_t words = gn__message_words(head), kind = gn__message_kind(head);
	const uint64_t place = gn__message_place(head);

	if (!words || words > left)
		return 0;
	if (kind == GN__MESSAGE_BYTES)
		return word[1] < heap && place <= heap - word[1];
	return kind < GN__MESSAGE_BYTES && place * 4 < heap && !(gn__message_is_wide(head) && place % 2);
}

/* The messages that are copied from a packet into a job. */
struct taking {
	struct gn_net *net;
	const struct gn_packet *packet;
	struct gn_device_job *job;
	int passed;
	uint32_t at;             /* the next word of the packet */
	uint32_t words, results; /* words of the job, and of its results */
	uint32_t messages;
};

/* The node that wrote a message. Returns 0 if the message is not for this node or from none. */
static int origin_of(const struct taking *t, uint64_t head, uint32_t *origin)
{
	const uint32_t peer = gn__message_peer(head);

	*origin = t->passed ? t->packet->source : peer;
	return *origin < t->net->route.nodes && (!t->passed || peer == t->net->route.node);
}

/*
 * Take consecutive changes by one operand that return nothing; most messages are of this kind. They are
 * copied as they are, because nobody looks for the sender of such a message. Returns the number of words.
 */
static uint32_t take_plain(struct taking *t)
{
	const uint64_t *const from = t->packet->word + t->at, *const end = t->packet->word + t->packet->words;
	const uint64_t most = t->net->options.heap_bytes / 4;
	const uint64_t *word = from;
	uint32_t origin;

	for (; word + 1 < end; word += 2) {
		const uint32_t op = gn__message_op(word[0]), wide = op & GN__MESSAGE_WIDE;
		const uint32_t how = op - wide - GN__MESSAGE_CHANGE;
		const uint64_t place = gn__message_place(word[0]);

		if (how >= GN_GET || how == GN_CAS || place >= most || (wide && place % 2) ||
		    !origin_of(t, word[0], &origin))
			break;
		t->net->peer[origin].applied++;
		t->messages++;
	}
	memcpy(t->job->word + t->words, from, (size_t)((const char *)word - (const char *)from));
	t->words += (uint32_t)(word - from);
	t->at += (uint32_t)(word - from);
	return (uint32_t)(word - from);
}

/* Take one message of any form. Returns its number of words, or 0: it is not for the heap, or has no room. */
static uint32_t take_one(struct taking *t)
{
	const uint64_t *word = t->packet->word + t->at;
	uint64_t *to = t->job->word + t->words;
	uint32_t words, origin, results = t->results;

	if (t->at >= t->packet->words || !is_for_heap(t->net, word, t->packet->words - t->at) ||
	    !origin_of(t, word[0], &origin))
		return 0;
	if (gn__message_fetches(word[0]))
		results += gn_device_result_words(word[0]);
	if (results > GN_PACKET_WORDS)
		return 0;
	words = gn__message_words(word[0]);
	memcpy(to, word, 8ull * words);
	to[0] = gn__message_readdress(word[0], origin) | (word[0] & gn__message_first);
	t->net->peer[origin].applied++;
	t->results = results;
	t->messages++;
	t->words += words;
	t->at += words;
	return words;
}

uint32_t gn__device_take(struct gn_net *net, const struct gn_packet *packet, int passed, uint32_t at,
                         uint32_t *messages, int *other)
{
	struct gn_device *d = net->device;
	const uint32_t ring = ring_of(d, packet);
	struct taking t = {net, packet, gn__device_job(d, ring, d->ring[ring].next), passed, at, 0, 0, 0};

	*messages = 0;
	*other = !is_for_heap(net, packet->word + at, packet->words - at);
	if (*other || gn__device_is_full(&d->ring[ring]))
		return 0;
	while (take_plain(&t) || take_one(&t))
		;
	*messages = t.messages;
	*other = !t.words;
	if (t.words)
		submit_packet(net, packet, NULL, GN_DEVICE_APPLY, t.words);
	gn__count(&net->statistics.applied, t.messages);
	return t.at - at;
}

int gn__device_is_done(const struct gn_net *net, uint32_t source)
{
	return !net->device->under_way[source];
}

/* ---- results ---- */

/* Post the reply to a message that fetched. Returns 0 or -GN_EAGAIN: there is no room now. */
static int answer(struct gn_net *net, const uint64_t *word, const uint64_t *result)
{
	const uint32_t words = gn__message_words(word[0]);
	const uint64_t token = word[words - 1];
	uint64_t reply[GN__MESSAGE_MOST_WORDS];

	if (gn__message_kind(word[0]) != GN__MESSAGE_BYTES) {
		reply[0] = gn__message_head(GN__MESSAGE_REPLY, 0, token & gn__message_most_place);
		reply[1] = result[0];
		return gn__post(net, 1, gn__message_peer(word[0]), net->route.node, reply, 2);
	}
	reply[0] = gn__message_head(GN__MESSAGE_REPLY | GN__MESSAGE_WIDE, 0, gn__message_place(word[0]));
	reply[1] = token;
	memcpy(reply + 2, result, 8ull * gn_device_result_words(word[0]));
	return gn__post(net, 1, gn__message_peer(word[0]), net->route.node, reply,
	                2 + gn_device_result_words(word[0]));
}

/* Post the replies of a job that is done, from where it was left. Returns 0 or -GN_EAGAIN. */
static int post_replies(struct gn_net *net, struct gn_device_ring *r, const struct gn_device_job *job)
{
	while (r->at < job->words) {
		const uint64_t *word = job->word + r->at;

		if (gn__message_fetches(word[0])) {
			if (answer(net, word, job->result + r->result))
				return -GN_EAGAIN;
			r->result += gn_device_result_words(word[0]);
		}
		r->at += gn__message_words(word[0]);
	}
	r->at = r->result = 0;
	return 0;
}

/* A job of a plain packet is done. */
static void end_plain(struct gn_net *net, const struct gn_device_job *job, uint32_t source,
                      struct gn_parcel *parcel)
{
	struct gn_error error;

	if (parcel)
		net->transport->ops->release(net->transport, parcel);
	if (!job->bad)
		return;
	gn_error_set(&error, -GN_EBADMSG,
	             "a packet from node %u has a message that is none; run the same program on all nodes",
	             source);
	gn__network_fail(net, source, &error);
}

/* End the oldest job of a ring, which is done. Returns 0 or -GN_EAGAIN: its replies have no room now. */
static int end_job(struct gn_net *net, uint32_t ring)
{
	struct gn_device_ring *r = &net->device->ring[ring];
	const struct gn_device_job *job = gn__device_job(net->device, ring, r->oldest);
	const uint32_t k = r->oldest % GN_DEVICE_DEPTH;

	if (job->kind == GN_DEVICE_PLAIN)
		end_plain(net, job, r->source[k], r->parcel[k]);
	else if (post_replies(net, r, job))
		return -GN_EAGAIN;
	net->device->under_way[r->source[k]]--;
	r->oldest++;
	return 0;
}

uint32_t gn__device_collect(struct gn_net *net)
{
	const struct gn_device *d = net->device;
	uint32_t left = 0;

	for (uint32_t k = 0; k < d->teams; k++) {
		while (gn__device_oldest_is_done(d, k) && !end_job(net, k))
			;
		left += d->ring[k].next - d->ring[k].oldest;
	}
	return left;
}
