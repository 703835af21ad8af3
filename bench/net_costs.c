/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_costs.c - what each step of a message costs a node, by itself: one JSON object on stdout. One node of
 * many is made, with all its buffers. What it sends is thrown away, and what it receives was made before.
 * Times are of processors: what else the machine does is no cost of a message.
 *
 * Nanoseconds of an update that a kernel makes; of a message sorted into packets, by how many nodes there are
 * and how they stand; of a message applied; of a packet and of a byte of it at each end, plain and
 * compressed.
 */
#include <net/node.h>
#include <net/packet.h>
#include <net/sink.h>
#include <stdlib.h>
#include <string.h>

#include "gups/kernels.h"
#include "support/engine.h"

enum {
	REPEATS = 5,
	CHUNK = 32768,
	CHUNKS = 32,
	PART_WORDS = 1 << 20,
	PACKETS = 64,
	FULL = GN_PACKET_WORDS / 2
};

static const struct {
	uint32_t nodes, columns;
} grids[] = {{2, 1},    {16, 1},   {16, 4},    {64, 1},   {64, 8},   {256, 1},
             {256, 16}, {1024, 1}, {1024, 32}, {4096, 1}, {4096, 64}};

/* What other programs leave of the processor's caches is chance: the least has most of them. */
static void keep_least(double *least, double value)
{
	*least = value < *least ? value : *least;
}

static struct gn_net *make_node(struct gn_transport *t, uint32_t columns, uint64_t packet_bytes)
{
	struct gn_net_options config;
	struct gn_net *net = NULL;
	struct gn_error e = {0, ""};

	bench_must(!t, "no memory");
	memset(&config, 0, sizeof config);
	config.machine.name = "cpu";
	config.machine.threads = 1;
	config.columns = columns;
	config.heap_bytes = 8 * PART_WORDS + 65536;
	config.log_bytes = 1 << 20;
	config.packet_bytes = packet_bytes;
	config.flush_ns = 1000000000;
	config.timeout_ns = 1000000000;
	bench_must(gn__node_create(&net, &config, t, &e), e.text);
	return net;
}

/* ---- updates, and their messages sorted ---- */

struct sorted {
	double update_ns, sort_ns;
};

/* A chunk of the updates of grapnel gups, then a drained log; some of the updates stay here. */
static struct sorted sort(struct gn_net *net, struct gups_update_args *a)
{
	struct sorted of = {0, 0};
	const uint64_t before = net->statistics.sent;

	for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
		const struct simt_grid grid = {1, 1, 0};

		of.update_ns -= bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		bench_launch(net->machine, &gups_update_kernel, grid, a);
		of.update_ns += bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		a->first += a->updates;
		of.sort_ns -= bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		while (gn__drain(net))
			;
		of.sort_ns += bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	}
	of.update_ns /= (double)CHUNKS * CHUNK;
	of.sort_ns /= (double)(net->statistics.sent - before);
	return of;
}

static struct sorted measure_sort(uint32_t nodes, uint32_t columns, uint64_t packet_bytes)
{
	struct gn_net *net = make_node(gn__sink_create(0, nodes, 0), columns, packet_bytes);
	struct gups_update_args a;
	struct sorted of;

	memset(&a, 0, sizeof a);
	a.net = gn_net_device(net);
	a.table = (uint64_t *)gn_net_alloc(net, 8 * PART_WORDS, NULL);
	a.part_mask = PART_WORDS - 1;
	a.updates = CHUNK;
	while (1u << a.part_log2 < PART_WORDS)
		a.part_log2++;
	bench_must(!a.table, "no memory");
	sort(net, &a); /* buffers are made */
	of = sort(net, &a);
	for (uint32_t k = 1; k < REPEATS; k++) {
		const struct sorted again = sort(net, &a);

		keep_least(&of.update_ns, again.update_ns);
		keep_least(&of.sort_ns, again.sort_ns);
	}
	gn__node_destroy(net);
	return of;
}

/* ---- open packets, looked at ---- */

/* Whether one of many open packets is old, which none is. */
static double measure_look(void)
{
	enum { NODES = 1024, TIMES = 1000 };
	struct gn_net *net = make_node(gn__sink_create(0, NODES, 0), 1, GN_PACKET_BYTES);
	uint64_t *word = (uint64_t *)gn_net_alloc(net, 64, NULL);
	double least = 1e30;

	for (uint32_t to = 1; to < NODES; to++)
		gn_net_inc_u64(gn_net_host(net), to, word);
	while (gn__drain(net))
		;
	net->now = 0;
	for (uint32_t k = 0; k < REPEATS; k++) {
		const double began = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);

		for (uint32_t time = 0; time < TIMES; time++)
			gn__flush(net, 0, 0);
		keep_least(&least, (bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) / TIMES / (NODES - 1));
	}
	bench_must(net->statistics.packets != 0, "a packet has left");
	gn__node_destroy(net);
	return least;
}

/* ---- packets, sealed and received ---- */

/* A transport that hands over packets that were made before. */
struct feed {
	struct gn_transport transport; /* first */
	struct gn_parcel parcel[PACKETS];
	uint32_t at, end, class_, columns;
};

/*
 * Additions to random words by node 1, as they go to node 0; or, in a grid, to random nodes of its column, to
 * which it passes them on.
 */
static void fill(const struct feed *f, struct gn_packet *p, uint32_t messages, uint32_t sequence,
                 uint64_t *random)
{
	memset(p, 0, GN_PACKET_HEAD);
	p->magic = gn_packet_magic;
	p->version = GN_PACKET_VERSION;
	p->class_ = (uint16_t)f->class_;
	p->source = 1;
	p->sequence = sequence;
	p->words = (uint16_t)(2 * messages);
	for (uint32_t k = 0; k < messages; k++) {
		uint32_t peer = 1;

		*random = *random * 6364136223846793005ull + 1442695040888963407ull;
		if (f->columns > 1)
			peer = f->columns *
			       (1 + (uint32_t)((*random >> 44) % (f->transport.nodes / f->columns - 1)));
		p->word[2 * k] = gn__message_head(GN__MESSAGE_CHANGE | GN__MESSAGE_WIDE, peer,
		                                  2 * ((*random >> 20) % PART_WORDS));
		p->word[2 * k + 1] = 1;
	}
}

static struct gn_parcel *feed_receive(struct gn_transport *t, uint32_t class_)
{
	struct feed *f = (struct feed *)t;

	return class_ == f->class_ && f->at < f->end ? &f->parcel[f->at++] : NULL;
}

static void feed_release(struct gn_transport *t, struct gn_parcel *parcel)
{
	(void)t;
	(void)parcel;
}

static const struct gn_transport_ops feed_ops = {gn__sink_send, gn__sink_gone,  feed_receive, feed_release,
                                                 NULL,          gn__sink_close, NULL};

static struct feed *feed_create(uint32_t nodes, uint32_t columns)
{
	struct feed *f = (struct feed *)calloc(1, sizeof *f);

	bench_must(!f, "no memory");
	f->transport.ops = &feed_ops;
	f->transport.name = "feed";
	f->transport.nodes = nodes;
	f->columns = columns;
	f->class_ = columns > 1 ? GN_REQUESTS_PASSED : GN_REQUESTS;
	for (uint32_t k = 0; k < PACKETS; k++) {
		f->parcel[k].peer = 1;
		f->parcel[k].class_ = f->class_;
		bench_must(posix_memalign((void **)&f->parcel[k].packet, 4096, GN_PACKET_BYTES), "no memory");
	}
	return f;
}

struct ends {
	double seal, receive; /* of a packet */
};

/* Make packets of so many messages, seal them, and let a node receive them. */
static struct ends pass(struct gn_net *net, struct feed *f, uint32_t messages, struct gn_packet *scratch,
                        uint32_t *sequence, uint64_t *random)
{
	struct ends of;
	const uint64_t before = net->statistics.applied + net->statistics.passed;

	for (uint32_t k = 0; k < PACKETS; k++)
		fill(f, f->parcel[k].packet, messages, (*sequence)++, random);
	of.seal = -bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (uint32_t k = 0; k < PACKETS; k++)
		gn_packet_seal(f->parcel[k].packet, scratch);
	of.seal = (of.seal + bench_clock_ns(CLOCK_THREAD_CPUTIME_ID)) / PACKETS;
	for (uint32_t k = 0; k < PACKETS; k++)
		f->parcel[k].bytes = gn_packet_bytes(f->parcel[k].packet);
	f->at = 0;
	f->end = PACKETS;
	of.receive = -bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	while (gn__receive(net))
		;
	of.receive = (of.receive + bench_clock_ns(CLOCK_THREAD_CPUTIME_ID)) / PACKETS;
	bench_must(net->statistics.applied + net->statistics.passed - before != (uint64_t)PACKETS * messages,
	           "messages are lost");
	return of;
}

/* The least of many passes. @messages  of a packet */
static struct ends measure_ends(uint32_t nodes, uint32_t columns, uint32_t messages, int compressed)
{
	enum { PASSES = 15 };
	struct feed *f = feed_create(nodes, columns);
	struct gn_net *net = make_node(&f->transport, columns, GN_PACKET_BYTES);
	struct gn_packet *scratch = (struct gn_packet *)malloc(sizeof *scratch), *packet[PACKETS];
	struct ends of = {1e30, 1e30};
	uint32_t sequence = 0;
	uint64_t random = 1;

	bench_must(!gn_net_alloc(net, 8 * PART_WORDS, NULL) || !scratch, "no memory");
	pass(net, f, messages, compressed ? scratch : NULL, &sequence, &random);
	for (uint32_t k = 0; k < PASSES; k++) {
		const struct ends again =
		    pass(net, f, messages, compressed ? scratch : NULL, &sequence, &random);

		keep_least(&of.seal, again.seal);
		keep_least(&of.receive, again.receive);
	}
	for (uint32_t k = 0; k < PACKETS; k++)
		packet[k] = f->parcel[k].packet;
	gn__node_destroy(net);
	for (uint32_t k = 0; k < PACKETS; k++)
		free(packet[k]);
	free(scratch);
	return of;
}

static json_t *all_ends(void)
{
	json_t *ends = json_array();

	for (int compressed = 0; compressed < 2; compressed++)
		for (uint32_t messages = 1; messages <= FULL; messages += FULL - 1) {
			const struct ends of = measure_ends(2, 1, messages, compressed);

			json_array_append_new(ends, json_pack("{s:i, s:b, s:f, s:f}", "messages",
			                                      (int)messages, "compressed", compressed,
			                                      "seal_ns", of.seal, "receive_ns", of.receive));
		}
	return ends;
}

/* ---- packets, carried ---- */

/* Defined only where there is an MPI. */
extern int gn_mpi_open(struct gn_transport **transport, const struct gn_net_options *options,
                       struct gn_error *error) __attribute__((weak));

/* What this process's MPI takes to send a packet and to receive it: the process sends to itself. */
static double carry(struct gn_transport *t, struct gn_parcel *p)
{
	enum { TIMES = 2000 };
	double ns = -bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct gn_parcel *come;

	for (uint32_t k = 0; k < TIMES; k++) {
		bench_must(t->ops->send(t, p), t->error.text);
		while (!(come = t->ops->receive(t, p->class_)))
			;
		t->ops->release(t, come);
		while (!t->ops->sent(t, p))
			;
	}
	ns += bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return ns / TIMES;
}

static json_t *measure_carriers(void)
{
	static const uint32_t bytes[] = {48, GN_PACKET_BYTES};
	json_t *rows = json_array();
	struct gn_net_options options;
	struct gn_transport *t = NULL;
	struct gn_error e = {0, ""};
	struct gn_parcel p;

	memset(&options, 0, sizeof options);
	memset(&p, 0, sizeof p);
	options.timeout_ns = 30000000000;
	bench_must(!gn_mpi_open, "built without MPI");
	bench_must(gn_mpi_open(&t, &options, &e), e.text);
	p.class_ = GN_REQUESTS;
	bench_must(posix_memalign((void **)&p.packet, 4096, GN_PACKET_BYTES), "no memory");
	memset(p.packet, 0, GN_PACKET_BYTES);
	for (uint32_t b = 0; b < 2; b++) {
		double least = 1e30;

		p.packet->body = (uint16_t)(bytes[b] - GN_PACKET_HEAD);
		for (uint32_t k = 0; k < REPEATS; k++)
			keep_least(&least, carry(t, &p));
		json_array_append_new(rows,
		                      json_pack("{s:i, s:f}", "bytes", (int)bytes[b], "both_ends_ns", least));
	}
	while (!t->ops->leave(t))
		;
	t->ops->close(t);
	free(p.packet);
	return rows;
}

/* ---- all of it ---- */

static json_t *measure_grids(void)
{
	json_t *rows = json_array();

	for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
		const uint32_t nodes = grids[g].nodes, columns = grids[g].columns;
		const struct sorted of = measure_sort(nodes, columns, GN_PACKET_BYTES);
		json_t *row = json_pack("{s:i, s:i, s:f, s:f}", "nodes", (int)nodes, "columns", (int)columns,
		                        "sort_ns", of.sort_ns, "update_ns", of.update_ns);

		if (columns > 1)
			json_object_set_new(row, "pass_ns",
			                    json_real(measure_ends(nodes, columns, FULL, 0).receive / FULL));
		json_array_append_new(rows, row);
	}
	return rows;
}

int main(int argc, char **argv)
{
	json_t *rows, *ends;
	struct sorted alone;

	bench_begin(argc, argv, "mpi");
	if (bench_number("mpi", 0)) {
		bench_print(json_pack("{s:o}", "mpi", measure_carriers()));
		return 0;
	}
	rows = measure_grids();
	ends = all_ends();
	alone = measure_sort(2, 1, GN_PACKET_HEAD + 16); /* each message in a packet of its own */
	bench_print(json_pack("{s:o, s:o, s:f, s:f}", "rows", rows, "ends", ends, "sort_alone_ns",
	                      alone.sort_ns, "look_ns", measure_look()));
	return 0;
}
