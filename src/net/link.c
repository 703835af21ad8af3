/* SPDX-License-Identifier: Apache-2.0 */
/* link.c - collects messages in packets by destination, and decides when a packet is sent. */
#include <net/node.h>

#include <stdlib.h>
#include <string.h>

/* ---- packets ---- */

static struct gn_parcel *parcel_make(void)
{
	struct gn_parcel *p = (struct gn_parcel *)calloc(1, sizeof *p);

	if (p && posix_memalign((void **)&p->packet, 4096, sizeof *p->packet)) {
		free(p);
		return NULL;
	}
	return p;
}

static struct gn_parcel *parcel_take(struct gn_net *net, uint32_t class_)
{
	struct gn_pool *pool = &net->pool[class_];
	struct gn_parcel *p = pool->free;

	if (p) {
		pool->free = p->next;
		return p;
	}
	if (pool->made >= pool->most + net->beyond)
		return NULL;
	p = parcel_make();
	pool->made += p != NULL;
	return p;
}

static void parcel_give(struct gn_net *net, struct gn_parcel *p)
{
	struct gn_pool *pool = &net->pool[p->class_];

	if (pool->made > pool->most) { /* a packet made beyond the limit for handlers */
		free(p->packet);
		free(p);
		pool->made--;
		return;
	}
	p->next = pool->free;
	pool->free = p;
}

uint32_t gn__collect(struct gn_net *net)
{
	struct gn_parcel **at = &net->sent;
	uint32_t away = 0;

	while (*at) {
		struct gn_parcel *p = *at;

		if (net->transport->ops->sent(net->transport, p)) {
			*at = p->next;
			parcel_give(net, p);
		} else {
			at = &p->next;
			away++;
		}
	}
	return away;
}

/* ---- links ---- */

static void begin_packet(struct gn_net *net, const struct gn_link *l, struct gn_parcel *p)
{
	struct gn_packet *packet = p->packet;

	p->class_ = l->class_;
	p->peer = l->peer;
	p->opened_ns = net->now;
	p->next = NULL;
	memset(packet, 0, GN_PACKET_HEAD);
	packet->magic = gn_packet_magic;
	packet->version = GN_PACKET_VERSION;
	packet->class_ = (uint16_t)l->class_;
	packet->session = net->transport->session;
	packet->source = (uint16_t)net->route.node;
	packet->target = (uint16_t)l->peer;
}

static void link_open(struct gn_net *net, struct gn_link *l, struct gn_parcel *p)
{
	struct gn_packet *packet = p->packet;

	begin_packet(net, l, p);
	l->open = p;
	l->at = packet->word;
	l->end = packet->word + net->most_words;
	l->urgent = l->sealed = 0;
	l->newer = NULL;
	if (net->newest)
		net->newest->newer = l;
	else
		net->oldest = l;
	net->newest = l;
}

/* Remove a link from the list of open links. A linear search: the link is rarely far from the oldest. */
static void link_unlist(struct gn_net *net, struct gn_link *l)
{
	struct gn_link *before = NULL, *at = net->oldest;

	while (at != l) {
		before = at;
		at = at->newer;
	}
	if (before)
		before->newer = l->newer;
	else
		net->oldest = l->newer;
	if (net->newest == l)
		net->newest = before;
}

static uint32_t log2_of(uint64_t value)
{
	uint32_t log2 = 0;

	while (value >>= 1)
		log2++;
	return log2;
}

static void count_packet(struct gn_net *net, const struct gn_packet *packet, uint64_t *reason)
{
	const uint64_t bytes = gn_packet_bytes(packet);

	gn__count(&net->statistics.packets, 1);
	gn__count(&net->statistics.packet_bytes, bytes);
	gn__count(&net->statistics.message_bytes, 8ull * packet->words);
	gn__count(&net->statistics.size[log2_of(bytes) < 16 ? log2_of(bytes) : 16], 1);
	gn__count(reason, 1);
}

/* The number of words of the packet that is being filled. */
static uint32_t link_words(const struct gn_link *l)
{
	return (uint32_t)(l->at - l->open->packet->word);
}

/* The transport has refused a packet for good, which is the network's failure. */
static int fail_to_send(struct gn_net *net, uint32_t peer, int rc)
{
	struct gn_error error;

	gn_error_set(&error, rc, "node %u cannot be reached by %s: %s", peer, net->transport->name,
	             net->transport->error.text);
	return gn__network_fail(net, peer, &error);
}

/* Send the open packet of a link. Returns 0, or -GN_EAGAIN: the transport has no room now. */
static int link_send(struct gn_net *net, struct gn_link *l, uint64_t *reason)
{
	struct gn_parcel *p = l->open;
	int rc;

	if (!l->sealed) {
		p->packet->words = (uint16_t)link_words(l);
		l->at = l->end = NULL;
		p->packet->sequence = l->sequence++;
		gn_packet_seal(p->packet, net->scratch);
		count_packet(net, p->packet, reason);
		l->sealed = 1;
	}
	if (l->waiting) /* its sequence comes before */
		return -GN_EAGAIN;
	rc = net->transport->ops->send(net->transport, p);
	if (rc == -GN_EAGAIN)
		return rc;
	link_unlist(net, l);
	l->open = NULL;
	if (rc) {
		fail_to_send(net, p->peer, rc);
		parcel_give(net, p);
		return 0;
	}
	p->next = net->sent;
	net->sent = p;
	return 0;
}

void gn__flush(struct gn_net *net, int all, int idle)
{
	struct gn_link *l = net->oldest, *newer;

	for (; l; l = newer) {
		newer = l->newer;
		if (l->sealed || all || l->urgent & GN_LINK_NOW || (l->urgent && idle))
			link_send(net, l, &net->statistics.urgent);
		else if (gn_rule_is_old(net->now - l->open->opened_ns, link_words(l), net->options.flush_ns,
		                        idle))
			link_send(net, l, &net->statistics.aged);
	}
}

/* Give a packet that a kernel has filled its head. */
static void seal_filled(struct gn_net *net, struct gn_link *l, struct gn_parcel *p, uint32_t form,
                        uint32_t words, uint64_t *reason)
{
	begin_packet(net, l, p);
	p->packet->form = (uint8_t)form;
	p->packet->words = (uint16_t)words;
	p->packet->sequence = l->sequence++;
	if (form & GN_PACKET_PLAIN && !net->transport->copies)
		gn_packet_seal_head(p->packet);
	else
		gn_packet_seal(p->packet, net->scratch);
	count_packet(net, p->packet, reason);
}

int gn__post_packet(struct gn_net *net, uint32_t to, struct gn_parcel *p, uint32_t form, uint32_t words,
                    uint64_t *reason)
{
	struct gn_link *l = net->peer[to].link;
	int rc;

	if (l->waiting && l->waiting != p)
		return -GN_EAGAIN;
	if (!l->waiting) {
		if (l->open && l->sealed && link_send(net, l, reason)) /* its sequence comes before */
			return -GN_EAGAIN;
		seal_filled(net, l, p, form, words, reason);
	}
	rc = net->transport->ops->send(net->transport, p);
	l->waiting = rc == -GN_EAGAIN ? p : NULL;
	return rc && rc != -GN_EAGAIN ? fail_to_send(net, to, rc) : rc;
}

static struct gn_link *link_of(struct gn_net *net, int reply, const struct gn_hop *hop)
{
	return &net->link[(reply ? GN_REPLIES : GN_REQUESTS) + hop->passed][hop->link];
}

/* Has the open packet room? A message larger than most_words is sent alone. */
static int has_room(const struct gn_link *l, uint32_t words)
{
	return l->at && (l->end - l->at >= (int64_t)words || !link_words(l));
}

/* Make room for `words` words in the open packet of a link. Returns 0 or -GN_EAGAIN. */
static int link_room(struct gn_net *net, struct gn_link *l, uint32_t words)
{
	struct gn_parcel *p;

	if (simt_likely(has_room(l, words)))
		return 0;
	if (l->open && link_send(net, l, &net->statistics.full))
		return -GN_EAGAIN;
	p = parcel_take(net, l->class_);
	if (!p) {
		gn__collect(net);
		p = parcel_take(net, l->class_);
	}
	if (!p)
		return -GN_EAGAIN;
	link_open(net, l, p);
	return 0;
}

int gn__post_room(struct gn_net *net, int reply, uint32_t to, uint32_t words)
{
	return !link_room(net, link_of(net, reply, &net->peer[to].hop), words);
}

int gn__post(struct gn_net *net, int reply, uint32_t to, uint32_t origin, const uint64_t *word,
             uint32_t words)
{
	struct gn_peer *peer = &net->peer[to];
	const struct gn_hop *hop = &peer->hop;
	struct gn_link *l = link_of(net, reply, hop);

	if (simt_unlikely(link_room(net, l, words))) {
		gn__count(&net->statistics.stalls, 1);
		return -GN_EAGAIN;
	}
	l->at[0] =
	    gn__message_readdress(word[0], hop->passed ? to : origin) | gn__first(net, peer, origin, word[0]);
	memcpy(l->at + 1, word + 1, 8ull * (words - 1));
	l->at += words;
	if (gn__message_kind(word[0]) >= GN__MESSAGE_MARK)
		l->urgent |= GN_LINK_NOW;
	else if (reply || gn__message_fetches(word[0]))
		l->urgent |= GN_LINK_SOON;
	return 0;
}

/* ---- all links ---- */

/* Set the way to every other node, and to this node if not all of its memory is reached directly. */
static void ways(struct gn_net *net)
{
	for (uint32_t to = 0; to < net->route.nodes; to++) {
		struct gn_hop *hop = &net->peer[to].hop;

		if (to == net->route.node && !net->device)
			continue;
		*hop = gn_route_hop(&net->route, to);
		for (uint32_t reply = 0; reply < 2; reply++)
			link_of(net, (int)reply, hop)->peer = hop->peer;
		net->peer[to].link = link_of(net, 0, hop);
		net->peer[to].named = hop->passed ? to : net->route.node;
	}
}

int gn__links_create(struct gn_net *net)
{
	net->most_words = gn_rule_words(net->options.packet_bytes);
	for (uint32_t class_ = 0; class_ < GN_PACKET_CLASSES; class_++) {
		const int passed = class_ & 1;
		const uint32_t links = gn_route_links(&net->route, passed);

		net->link[class_] = (struct gn_link *)calloc(links + 1, sizeof *net->link[class_]);
		if (!net->link[class_])
			return -GN_ENOMEM;
		for (uint32_t k = 0; k < links; k++)
			net->link[class_][k].class_ = class_;
		net->pool[class_].most = gn_rule_pool(links, class_);
		net->statistics.buffer_bytes += (uint64_t)net->pool[class_].most * GN_PACKET_BYTES;
	}
	ways(net);
	return 0;
}

static void parcels_free(struct gn_parcel *p)
{
	while (p) {
		struct gn_parcel *next = p->next;

		free(p->packet);
		free(p);
		p = next;
	}
}

void gn__links_destroy(struct gn_net *net)
{
	for (struct gn_link *l = net->oldest; l; l = l->newer)
		parcels_free(l->open);
	if (!net->transport->keeps)
		parcels_free(net->sent);
	for (uint32_t class_ = 0; class_ < GN_PACKET_CLASSES; class_++) {
		parcels_free(net->pool[class_].free);
		free(net->link[class_]);
	}
}
