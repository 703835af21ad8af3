/* SPDX-License-Identifier: Apache-2.0 */
/* sort.c - the host's side of sort.h: sends the packets that kernels have filled. */
#include <net/node.h>

#include <stdlib.h>

/* ---- how many ---- */

int gn__sort_is_possible(const struct gn_net_options *options, uint32_t nodes)
{
	return !options->host_sorts && options->form == GN_NET_COMBINED && options->columns == 1 &&
	       nodes <= GN_SORT_MOST_NODES && gn_rule_words(options->packet_bytes) >= GN_SORT_LEAST_WORDS;
}

/*
 * Streams and packets of a way: the more nodes, the fewer, so that the packets take at most 16 MiB.
 */
static void choose(struct gn_sort_args *a, uint32_t nodes, uint32_t most)
{
	const uint32_t fit = GN_SORT_MOST_NODES / nodes;

	a->streams = fit < most ? fit : most;
	a->slots = nodes <= 8 ? 4 : 2;
}

static uint32_t ways_of(const struct gn_net *net)
{
	return net->sort->args.streams * net->route.nodes;
}

/* ---- memory ---- */

static void *piece(char **at, uint64_t bytes)
{
	char *piece = *at;

	*at += (bytes + 127) / 128 * 128;
	return piece;
}

/* Places in memory of the host; with at NULL they are only measured. Returns the number of bytes. */
static uint64_t place_pinned(struct gn_net *net, char *base)
{
	struct gn_sort_args *a = &net->sort->args;
	const uint32_t ways = ways_of(net), packets = ways * a->slots;
	char *at = base;

	a->packet = (struct gn_packet *)piece(&at, packets * sizeof *a->packet);
	a->sorted = (struct gn_sorted *)piece(&at, packets * sizeof *a->sorted);
	a->freed = (uint32_t *)piece(&at, ways * sizeof *a->freed);
	a->done = (uint32_t *)piece(&at, a->streams * 128ull);
	return (uint64_t)(at - base);
}

static uint64_t place_apart(struct gn_net *net, char *base)
{
	struct gn_sort_args *a = &net->sort->args;
	char *at = base;

	a->orders = (struct gn_sort_orders *)piece(&at, sizeof *a->orders);
	a->wanted = (uint64_t *)piece(&at, net->logs * sizeof *a->wanted);
	a->reader = (struct gn__log_reader *)piece(&at, net->logs * sizeof *a->reader);
	return (uint64_t)(at - base);
}

static int host_memory(struct gn_net *net)
{
	struct gn_sort *s = net->sort;
	const uint32_t ways = ways_of(net), packets = ways * s->args.slots;

	s->parcel = (struct gn_parcel *)calloc(packets, sizeof *s->parcel);
	s->lost = (uint8_t *)calloc(packets, sizeof *s->lost);
	s->taken = (uint32_t *)calloc(ways, sizeof *s->taken);
	s->freed = (uint32_t *)calloc(ways, sizeof *s->freed);
	s->until = (uint32_t *)calloc(ways, sizeof *s->until);
	if (!s->parcel || !s->lost || !s->taken || !s->freed || !s->until)
		return -GN_ENOMEM;
	for (uint32_t k = 0; k < packets; k++)
		s->parcel[k].packet = &s->args.packet[k];
	return 0;
}

static int device_memory(struct gn_net *net, const struct gn__log_reader *reader, struct gn_error *error)
{
	struct gn_sort *s = net->sort;
	const uint64_t pinned = place_pinned(net, NULL), apart = place_apart(net, NULL);

	s->pinned = simt_alloc(net->machine, pinned, SIMT_PINNED, NULL);
	s->apart = simt_alloc(net->machine, apart, SIMT_DEVICE, NULL);
	if (!s->pinned || !s->apart)
		return -GN_ENOMEM;
	place_pinned(net, (char *)s->pinned);
	place_apart(net, (char *)s->apart);
	net->statistics.buffer_bytes += pinned;
	return simt_move(net->machine, s->args.reader, reader, net->logs * sizeof *reader, error);
}

int gn__sort_create(struct gn_net *net, const struct gn__log_reader *reader, struct gn_error *error)
{
	struct simt_info info;
	int rc = 0;

	net->sort = (struct gn_sort *)calloc(1, sizeof *net->sort);
	if (!net->sort)
		return gn_error_set(error, -GN_ENOMEM, "node %u: out of host memory", net->route.node);
	simt_describe(net->machine, &info);
	choose(&net->sort->args, net->route.nodes, gn__device_half(net, &info));
	net->sort->args.words = net->most_words;
	net->sort->args.flush_ns = net->options.flush_ns;
	rc = device_memory(net, reader, error);
	if (!rc)
		rc = host_memory(net);
	if (rc == -GN_ENOMEM)
		return gn_error_set(error, rc,
		                    "cannot allocate the packets of %u ways for the kernels of node %u; give "
		                    "fewer nodes, or more columns",
		                    ways_of(net), net->route.node);
	return gn_error_prefix(error, rc, "node %u cannot make its packets", net->route.node);
}

/* Have all packets left that were taken from the sorters? */
static int all_left(const struct gn_net *net)
{
	const struct gn_sort *s = net->sort;

	for (uint32_t k = 0; k < ways_of(net); k++)
		if (s->taken[k] != s->freed[k])
			return 0;
	return 1;
}

void gn__sort_destroy(struct gn_net *net)
{
	struct gn_sort *s = net->sort;

	if (!s)
		return;
	if (!s->taken || !s->freed || !net->transport->keeps || all_left(net))
		simt_free(net->machine, s->pinned);
	simt_free(net->machine, s->apart);
	free(s->parcel);
	free(s->lost);
	free(s->taken);
	free(s->freed);
	free(s->until);
	free(s);
}

/* ---- packets ---- */

/* Count the messages of a packet when it gets its place among the packets to its node. */
static void count(struct gn_net *net, uint32_t to, const struct gn_sorted *e)
{
	const uint32_t messages = gn_sort_count(e->counts, 0);

	net->peer[to].sent += messages;
	gn__count(&net->statistics.sent, messages);
	gn__count(&net->statistics.calls, gn_sort_count(e->counts, GN_SORT_CALLS));
	for (uint32_t k = gn_sort_count(e->counts, GN_SORT_FETCHES); k; k--)
		gn__asked(net, to);
}

static uint64_t *reason_of(struct gn_net *net, uint32_t reason)
{
	return reason == GN_SORT_FULL   ? &net->statistics.full
	       : reason == GN_SORT_AGED ? &net->statistics.aged
	                                : &net->statistics.urgent;
}

/* Send the next packet of a way, if the sorter has closed it. A7. Returns 1, or 0: not now. */
static int send_next(struct gn_net *net, uint32_t stream, uint32_t to)
{
	struct gn_sort *s = net->sort;
	const uint32_t way = stream * net->route.nodes + to;
	const uint32_t k = way * s->args.slots + s->taken[way] % s->args.slots;
	const struct gn_sorted *e = &s->args.sorted[k];
	const struct gn_link *l = net->peer[to].link;
	const int again = l->waiting == &s->parcel[k];
	uint32_t form = 1 + stream;
	int rc;

	if (simt_load_acquire_sys_u32(&e->turn) != s->taken[way] + 1)
		return 0;
	if (2 * gn_sort_count(e->counts, GN_SORT_PLAIN) == e->words)
		form |= GN_PACKET_PLAIN;
	rc = gn__post_packet(net, to, &s->parcel[k], form, e->words, reason_of(net, e->reason));
	if (!again && (rc != -GN_EAGAIN || l->waiting == &s->parcel[k])) /* a mark behind it counts it */
		count(net, to, e);
	if (rc == -GN_EAGAIN)
		return 0;
	s->lost[k] = rc != 0;
	s->taken[way]++;
	return 1;
}

/* Give packets of a way that have left back to the sorter. R8. */
static void give_back(struct gn_net *net, uint32_t way)
{
	struct gn_sort *s = net->sort;
	const uint32_t before = s->freed[way];

	while (s->freed[way] != s->taken[way]) {
		const uint32_t k = way * s->args.slots + s->freed[way] % s->args.slots;

		if (!s->lost[k] && !net->transport->ops->sent(net->transport, &s->parcel[k]))
			break;
		s->freed[way]++;
	}
	if (s->freed[way] != before)
		simt_store_release_sys_u32(&s->args.freed[way], s->freed[way]);
}

uint32_t gn__sort_drain(struct gn_net *net)
{
	const uint64_t before = net->statistics.sent;

	for (uint32_t stream = 0; stream < net->sort->args.streams; stream++)
		for (uint32_t to = 0; to < net->route.nodes; to++) {
			give_back(net, stream * net->route.nodes + to);
			while (send_next(net, stream, to))
				;
		}
	return (uint32_t)(net->statistics.sent - before);
}

/* ---- flushes ---- */

/* The number of packets that the sorter has closed in a way. A7. */
static uint32_t closed(const struct gn_sort *s, uint32_t way)
{
	uint32_t packets = s->taken[way];

	for (uint32_t k = 0; k < s->args.slots; k++, packets++) {
		const struct gn_sorted *e = &s->args.sorted[way * s->args.slots + packets % s->args.slots];

		if (simt_load_acquire_sys_u32(&e->turn) != packets + 1)
			break;
	}
	return packets;
}

/*
 * Note which packets a flush must wait for, once all sorters have done it. Kernels may go on, so the sorters
 * always close more. Returns 0: it is not done. A10.
 */
static int note_closed(struct gn_net *net, uint32_t flush)
{
	struct gn_sort *s = net->sort;

	if (s->noted == flush)
		return 1;
	for (uint32_t k = 0; k < s->args.streams; k++)
		if ((int32_t)(simt_load_acquire_sys_u32(&s->args.done[32 * k]) - flush) < 0)
			return 0;
	for (uint32_t way = 0; way < ways_of(net); way++)
		s->until[way] = closed(s, way);
	s->noted = flush;
	return 1;
}

int gn__sort_is_flushed(struct gn_net *net, uint32_t flush)
{
	const struct gn_sort *s = net->sort;

	if (!note_closed(net, flush))
		return 0;
	for (uint32_t way = 0; way < ways_of(net); way++)
		if ((int32_t)(s->taken[way] - s->until[way]) < 0)
			return 0;
	return 1;
}

int gn__sort_is_empty(struct gn_net *net)
{
	struct gn_sort *s = net->sort;

	if (!net->device->kernel.started)
		return 1;
	gn__device_tails(net);
	if (!s->last) {
		if (!gn__device_ask_tails(net))
			s->last = gn__device_flush(net);
		return 0;
	}
	return gn__sort_is_flushed(net, s->last) && all_left(net);
}
