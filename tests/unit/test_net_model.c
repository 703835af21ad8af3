/* SPDX-License-Identifier: Apache-2.0 */
/* The model of the network against nodes that really run, and against itself. */
#include "unit.h"

#include <net/node.h>
#include <net/sink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gups/gups.h"
#include "net_model/model.h"
#include "net_model/node.h"

/*
 * Instrumented nodes keep more memory than those that the model describes. They are slow, so they send less;
 * then the few packets that barriers send before they are full count for more.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { INSTRUMENTED = 1 };
#else
enum { INSTRUMENTED = 0 };
#endif

/* ---- nodes that run: no packet is sent for its age, which depends on what else the machine does ---- */

struct shape {
	uint32_t nodes, columns, compressed;
	uint64_t packet_bytes;
};

static const struct shape shapes[] = {{2, 1, 0, 65536}, {4, 1, 0, 65536}, {4, 2, 0, 65536},
                                      {8, 1, 0, 65536}, {8, 3, 0, 65536}, {8, 2, 0, 4096},
                                      {2, 1, 1, 65536}, {4, 2, 1, 65536}, {8, 3, 1, 16384}};

enum { UPDATES = INSTRUMENTED ? 100000 : 400000, PART_WORDS = 1 << 17 };
static const uint64_t patience_ns = 100000000000;

struct measured {
	struct gn_net_statistics stats;
	uint32_t lock;
	int rc;
};

static int measure_node(struct gn_net *net, void *argument)
{
	struct measured *all = (struct measured *)argument;
	struct gups g;
	struct gups_result r;
	int rc;

	memset(&g, 0, sizeof g);
	g.part_words = PART_WORDS;
	g.updates = UPDATES;
	rc = gups_run(net, &g, &r, NULL);
	if (!rc && r.wrong)
		rc = -GN_EBADMSG;
	if (!rc)
		rc = gn_net_reduce_u64(gn_net_host(net), GN_ADD, (uint64_t *)&r.stats, sizeof r.stats / 8);
	if (!gn_net_node(net))
		all->stats = r.stats;
	return rc;
}

static struct gn_net_statistics measure(const struct shape *s)
{
	struct gn_net_options options;
	struct measured all;
	struct gn_error error;

	memset(&options, 0, sizeof options);
	memset(&all, 0, sizeof all);
	options.transport = "local";
	options.nodes = s->nodes;
	options.columns = s->columns;
	options.machine.threads = 1;
	options.packet_bytes = s->packet_bytes;
	options.flush_ns = patience_ns;
	options.heap_bytes = PART_WORDS * 8 + (1 << 20);
	options.compress = s->compressed ? GN_NET_COMPRESS : GN_NET_COMPRESS_NOT;
	if (gn_net_run(&options, measure_node, &all, &error))
		fail_msg("%u nodes in %u columns: %s", s->nodes, s->columns, error.text);
	return all.stats;
}

/* So many updates that as many go away: the sequence of random places begins with those of one node. */
static struct net_model model_of(const struct shape *s, uint64_t sent)
{
	struct net_model m = net_model_of(s->nodes, s->columns);

	m.packet_bytes = s->packet_bytes;
	m.flush_ns = patience_ns;
	m.compressed = s->compressed;
	m.updates = sent / (s->nodes - 1);
	m.part_words = PART_WORDS;
	m.cores = 2;
	return m;
}

static double ratio(uint64_t a, uint64_t b)
{
	return (double)a / (double)b;
}

/* What a model says must be within so much of what is. */
static void assert_close(const struct shape *s, const char *what, double modelled, double is, double within)
{
	within *= INSTRUMENTED ? 4 : 1;
	if (!(modelled >= is * (1 - within) && modelled <= is * (1 + within)))
		fail_msg("%u nodes in %u columns, packets of %llu%s: %s is %g, the model says %g", s->nodes,
		         s->columns, (unsigned long long)s->packet_bytes, s->compressed ? ", compressed" : "",
		         what, is, modelled);
}

static void nodes_send_as_the_model_says(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k += few_drawn(4, 1)) {
		const struct shape *s = &shapes[k];
		const struct gn_net_statistics is = measure(s);
		const struct net_model m = model_of(s, is.sent);
		struct net_model_result r;

		assert_int_equal(net_model_run(&m, &r), 0);
		assert_close(s, "messages", (double)r.stats.sent, (double)is.sent, 0.001);
		assert_close(s, "messages of a packet", ratio(r.stats.sent, r.stats.packets),
		             ratio(is.sent, is.packets), 0.06);
		/* compressed, it depends on whose messages meet in a packet, which is chance */
		assert_close(s, "bytes of a message", ratio(r.stats.packet_bytes, r.stats.sent),
		             ratio(is.packet_bytes, is.sent), s->compressed && s->columns > 1 ? 0.12 : 0.04);
		assert_close(s, "share of full packets", ratio(r.stats.full, r.stats.packets),
		             ratio(is.full, is.packets), 0.08);
		assert_close(s, "messages passed on", 1 + ratio(r.stats.passed, r.stats.sent),
		             1 + ratio(is.passed, is.sent), 0.03);
	}
}

/* ---- the model itself ---- */

static void a_few_nodes_stand_for_all(void **state)
{
	static const uint32_t columns[] = {1, 8};

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		const struct shape s = {64, columns[k], 1, 4096};
		struct net_model m = net_model_of(64, columns[k]);
		struct net_model_result all, one;

		m.packet_bytes = s.packet_bytes;
		m.flush_ns = 10000000;
		m.compressed = 1;
		m.updates = 100000;
		m.link_bytes_ns = 12.5;
		m.latency_ns = 2000;
		assert_int_equal(net_model_run(&m, &all), 0);
		m.simulated = 1;
		assert_int_equal(net_model_run(&m, &one), 0);
		assert_close(&s, "messages of a packet", ratio(one.stats.sent, one.stats.packets),
		             ratio(all.stats.sent, all.stats.packets), 0.05);
		assert_close(&s, "bytes of a message", ratio(one.stats.packet_bytes, one.stats.sent),
		             ratio(all.stats.packet_bytes, all.stats.sent), 0.05);
		assert_close(&s, "time", one.seconds, all.seconds, 0.1);
	}
}

static void everything_arrives_and_the_same_happens_again(void **state)
{
	struct net_model m = net_model_of(100, 0);
	struct net_model_result a, b;

	(void)state;
	m.simulated = 3;
	m.updates = 50000;
	m.link_bytes_ns = 1;
	m.cores = 4;
	assert_int_equal(net_model_run(&m, &a), 0);
	assert_int_equal(net_model_run(&m, &b), 0);
	assert_memory_equal(&a, &b, sizeof a);
	assert_int_equal(a.stats.sent, a.stats.applied);
	assert_int_equal(a.stats.packets, a.stats.full + a.stats.aged + a.stats.urgent);
	assert_true(a.made_bytes <= net_model_buffers(&m));
}

/* A message a packet: a pool of them goes at a time, and no packet is free before word of it is back. */
static void a_far_node_takes_what_the_pools_hold(void **state)
{
	enum { LATENCY_NS = 1000000, EACH = 400 };
	struct net_model m = net_model_of(4, 1);
	struct net_model_result r;
	double rounds;

	(void)state;
	m.packet_bytes = 1;
	m.updates = EACH;
	m.link_bytes_ns = 1000;
	m.latency_ns = LATENCY_NS;
	assert_int_equal(net_model_run(&m, &r), 0);
	rounds = (double)(r.stats.sent / m.nodes) / gn_rule_pool(m.nodes, GN_REQUESTS);
	assert_true(r.seconds >= 1e-9 * LATENCY_NS * 2 * (rounds - 1));
	assert_true(r.seconds <= 1e-9 * LATENCY_NS * 2 * (rounds + 4));
}

/* ---- parts of the model: what happens when is computed by hand ---- */

enum { TICK_NS = 100 };

static void parts_begin(struct model *s, struct net_model *m)
{
	memset(s, 0, sizeof *s);
	s->m = m;
	s->simulated = m->nodes;
	s->most_words = gn_rule_words(m->packet_bytes);
	s->node = (struct node *)calloc(m->nodes, sizeof *s->node);
	assert_non_null(s->node);
	for (uint32_t k = 0; k < m->nodes; k++)
		assert_int_equal(net_model_node_init(s, &s->node[k], k), 0);
}

static void parts_end(struct model *s)
{
	for (uint32_t k = 0; k < s->simulated; k++)
		net_model_node_fini(&s->node[k]);
	net_model_parcels_free(s->spare);
	free(s->node);
}

static void part_send(struct model *s, uint32_t from, uint32_t to, uint32_t bytes)
{
	struct parcel *p = net_model_parcel(s);

	assert_non_null(p);
	p->class_ = GN_REQUESTS;
	p->source = from;
	net_model_carry(s, &s->node[from], p, &s->node[to], bytes);
}

/* Until then all nodes look at their links every TICK_NS. */
static void part_time(struct model *s, double until)
{
	for (; s->now <= until; s->now += TICK_NS)
		for (uint32_t k = 0; k < s->simulated; k++)
			net_model_arrivals(s, &s->node[k]);
}

/*
 * Nodes 1 to 3 send a packet of 1000 bytes to node 0, and node 1 then one to node 2, at a byte a ns and a
 * latency of 100 ns. All reach the link of node 0 at 1100, and pass it until 1100, 2100 and 3100. The word of
 * each is back 100 ns later, if node 0 sends nothing. If it sends 5000 bytes before, its words leave behind
 * them. The second packet of node 1 is at node 2 at 2100, so its buffer is free at 2200 either way.
 */
static void a_buffer_is_free_when_its_receiver_has_said_so(void **state)
{
	static const struct {
		uint32_t own, at, released[4];
	} cases[] = {
	    {0, 1100, {0, 0, 0, 0}},    {0, 1200, {0, 1, 0, 0}},    {0, 2100, {0, 1, 0, 0}},
	    {0, 2200, {0, 2, 1, 0}},    {0, 3100, {0, 2, 1, 0}},    {0, 3200, {0, 2, 1, 1}},
	    {5000, 2100, {0, 0, 0, 0}}, {5000, 2200, {0, 1, 0, 0}}, {5000, 5000, {0, 1, 0, 0}},
	    {5000, 5100, {0, 2, 1, 1}}, {5000, 5200, {1, 2, 1, 1}},
	};
	struct net_model m = net_model_of(4, 1);

	(void)state;
	m.link_bytes_ns = 1;
	m.latency_ns = 100;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct model s;

		parts_begin(&s, &m);
		if (cases[k].own)
			part_send(&s, 0, 3, cases[k].own);
		for (uint32_t from = 1; from < 4; from++)
			part_send(&s, from, 0, 1000);
		part_send(&s, 1, 2, 1000);
		part_time(&s, cases[k].at);
		for (uint32_t node = 0; node < 4; node++)
			assert_int_equal(s.node[node].pool[GN_REQUESTS].released, cases[k].released[node]);
		parts_end(&s);
	}
}

/* Nobody applies the packets: a receive is open for 8 of them, and for the ninth when the first is applied.
 */
static void a_packet_waits_for_an_open_receive(void **state)
{
	struct net_model m = net_model_of(2, 1);
	struct model s;

	(void)state;
	m.link_bytes_ns = 1;
	parts_begin(&s, &m);
	for (uint32_t k = 0; k < GN_RULE_RECEIVES + 2; k++)
		part_send(&s, 1, 0, 100);
	part_time(&s, 10000);
	assert_int_equal(s.node[1].pool[GN_REQUESTS].released, GN_RULE_RECEIVES);
	net_model_release(&s, &s.node[0], s.node[0].come[GN_REQUESTS].first);
	part_time(&s, 20000);
	assert_int_equal(s.node[1].pool[GN_REQUESTS].released, GN_RULE_RECEIVES + 1);
	parts_end(&s);
}

/* Messages leave the log in their order: once the first finds no buffer, none behind it takes its place. */
static void a_message_without_room_stays_the_first(void **state)
{
	struct net_model m = net_model_of(4, 1);
	struct model s;

	(void)state;
	m.link_bytes_ns = 1e-9; /* no buffer comes back */
	m.flush_ns = 10000000;  /* no packet is old */
	parts_begin(&s, &m);
	s.node->logged = 1 << 20;
	while (net_model_turn(&s, s.node))
		;
	for (uint32_t k = 0; k < 1000; k++)
		assert_int_equal(net_model_turn(&s, s.node), 0);
	assert_true(s.node->oldest != NULL); /* a packet that others would fill */
	parts_end(&s);
}

/* The mark or answer of a round, for which all nodes may stand still: also if the node has other work. */
static void what_nodes_wait_for_leaves_at_once(void **state)
{
	struct net_model m = net_model_of(2, 1);
	struct model s;
	struct way *w;

	(void)state;
	parts_begin(&s, &m);
	w = &s.node->way[GN_REQUESTS][1];
	assert_true(net_model_room(&s, s.node, w));
	w->open->load.updates = w->open->load.marks = 1;
	net_model_flush(&s, s.node, 0, 0);
	assert_int_equal(s.stats.packets, 0);
	w->urgent = 1;
	net_model_flush(&s, s.node, 0, 0);
	assert_int_equal(s.stats.urgent, 1);
	parts_end(&s);
}

static void what_cannot_be_is_refused(void **state)
{
	struct net_model m = net_model_of(4, 5);
	struct net_model_result r;

	(void)state;
	assert_int_equal(net_model_run(&m, &r), -GN_EINVAL);
	m = net_model_of(1, 1);
	assert_int_equal(net_model_run(&m, &r), -GN_EINVAL);
	m = net_model_of(4, 1);
	m.simulated = 5;
	assert_int_equal(net_model_run(&m, &r), -GN_EINVAL);
}

/* ---- the buffers of one node of many, really made: nothing ever leaves it ---- */

static struct gn_net *sink_node(uint32_t nodes, uint32_t columns)
{
	struct gn_transport *t = gn__sink_create(nodes / 2, nodes, 1);
	struct gn_net_options options;
	struct gn_net *net = NULL;
	struct gn_error error;

	assert_non_null(t);
	memset(&options, 0, sizeof options);
	options.machine.name = "cpu";
	options.machine.threads = 1;
	options.columns = columns;
	options.heap_bytes = options.log_bytes = 1 << 20;
	options.packet_bytes = GN_PACKET_BYTES;
	options.flush_ns = patience_ns;
	options.timeout_ns = 1000 * patience_ns;
	if (gn__node_create(&net, &options, t, &error))
		fail_msg("%s", error.text);
	return net;
}

/* Messages and replies to all nodes, until no buffer is left for any; and what others would pass on here. */
static void fill(struct gn_net *net)
{
	static uint64_t word[GN__MESSAGE_MOST_WORDS];

	for (uint32_t reply = 0; reply < 2; reply++)
		for (uint32_t to = 0; to < net->route.nodes; to++) {
			word[0] =
			    gn__message_head(reply ? GN__MESSAGE_REPLY | GN__MESSAGE_WIDE : GN__MESSAGE_BYTES,
			                     to, GN__MESSAGE_MOST_BYTES);
			while (to != net->route.node &&
			       !gn__post(net, (int)reply, to, net->route.node, word, GN__MESSAGE_MOST_WORDS))
				;
		}
}

static uint64_t resident_bytes(void)
{
	unsigned long long pages[2] = {0, 0};
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%llu %llu", &pages[0], &pages[1]), 2);
	fclose(f);
	return pages[1] * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t buffers_of(uint32_t nodes, uint32_t columns)
{
	struct gn_net *net = sink_node(nodes, columns);
	const struct net_model m = net_model_of(nodes, columns);
	const uint64_t before = resident_bytes();
	uint64_t made = 0, grown;

	fill(net);
	grown = resident_bytes() - before;
	for (uint32_t class_ = 0; class_ < GN_PACKET_CLASSES; class_++)
		made += (uint64_t)net->pool[class_].made * GN_PACKET_BYTES;
	assert_int_equal(made, net_model_buffers(&m));
	assert_true(INSTRUMENTED || grown < made + made / 16 + (1 << 20));
	gn__node_destroy(net);
	return made;
}

static void buffers_are_what_the_model_says(void **state)
{
	(void)state;
	assert_true(buffers_of(1024, 32) < 16u << 20); /* the target of two ways */
	buffers_of(100, 7);
	buffers_of(64, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(buffers_are_what_the_model_says),
	    cmocka_unit_test(what_cannot_be_is_refused),
	    cmocka_unit_test(everything_arrives_and_the_same_happens_again),
	    cmocka_unit_test(a_buffer_is_free_when_its_receiver_has_said_so),
	    cmocka_unit_test(a_packet_waits_for_an_open_receive),
	    cmocka_unit_test(a_message_without_room_stays_the_first),
	    cmocka_unit_test(what_nodes_wait_for_leaves_at_once),
	    cmocka_unit_test(a_far_node_takes_what_the_pools_hold),
	    cmocka_unit_test(a_few_nodes_stand_for_all),
	    cmocka_unit_test(nodes_send_as_the_model_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
