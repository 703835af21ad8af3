/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that a kernel sorts and applies, as on a GPU: each arrives once, those of a thread in their order,
 * and what must come after what is before it is marked.
 */
#include <net/node.h>
#include <simt/machine.h>
#include <stdlib.h>
#include <string.h>

#include "node_check.h"
#include "unit.h"

enum { SMALL = 8 * GN_SORT_LEAST_WORDS + GN_PACKET_HEAD }; /* the smallest packets that a kernel fills */

/* ---- the packets of one node ---- */

enum { LOGS = 3 * GN_SORT_CPU_LOGS, PEER = 1, MOST = 700, MOST_PACKETS = 64 };

static const uint64_t PATIENCE_NS = 120000000000;
static struct gn_packet *sent[MOST_PACKETS];
static uint32_t packets, room = ~0u; /* packets that the transport accepts */

static int keep(struct gn_transport *t, struct gn_parcel *parcel)
{
	(void)t;
	if (packets == room)
		return -GN_EAGAIN;
	assert_true(packets < MOST_PACKETS);
	sent[packets] = (struct gn_packet *)malloc(sizeof **sent);
	assert_non_null(sent[packets]);
	*sent[packets++] = *parcel->packet;
	return 0;
}

static int is_sent(struct gn_transport *t, struct gn_parcel *parcel)
{
	(void)t;
	(void)parcel;
	return 1;
}

static void close_it(struct gn_transport *t)
{
	free(t);
}

static const struct gn_transport_ops keeping = {keep, is_sent, NULL, NULL, NULL, close_it, NULL};

static struct gn_net *a_node_of(uint32_t nodes, uint32_t threads, uint32_t width)
{
	struct gn_transport *t = (struct gn_transport *)calloc(1, sizeof *t);
	struct gn_net_options options;
	struct gn_net *net = NULL;
	struct gn_error error = {0, ""};

	assert_non_null(t);
	t->ops = &keeping;
	t->nodes = nodes;
	memset(&options, 0, sizeof options);
	options.machine.name = "cpu";
	options.machine.threads = threads;
	options.machine.warp_width = width;
	options.by_kernel = 1;
	options.columns = 1;
	options.heap_bytes = options.shared_bytes = 1 << 16;
	options.log_bytes = 1 << 20;
	options.packet_bytes = SMALL;
	options.flush_ns = 1000000000000;
	options.timeout_ns = 1000000000000;
	if (gn__node_create(&net, &options, t, &error))
		fail_msg("%s", error.text);
	assert_int_equal(net->sort != NULL, nodes <= GN_SORT_MOST_NODES);
	assert_int_equal(gn__device_start(net), 0);
	return net;
}

static struct gn_net *a_node(uint32_t threads, uint32_t width)
{
	return a_node_of(2, threads, width);
}

/* Message number k of a log says so in its operand. */
static void write_to_log(struct gn_net *net, uint32_t log, uint64_t *word, uint32_t k)
{
	struct gn_net_view v = *gn_net_host(net);

	v.log = &net->view.log[log];
	assert_int_equal(gn_net_add_u64(&v, PEER, word, (uint64_t)log << 32 | k), 0);
}

static uint32_t begin_flush(struct gn_net *net)
{
	assert_int_equal(gn__device_ask_tails(net), 0);
	while (!gn__device_tails(net))
		simt_relax();
	return gn__device_flush(net);
}

static void end_flush(struct gn_net *net, uint32_t number)
{
	const uint64_t deadline = simt_clock_ns() + PATIENCE_NS;

	while (!gn__sort_is_flushed(net, number)) {
		if (simt_clock_ns() > deadline)
			fail_msg("flush %u does not end", number);
		gn__sort_drain(net);
		simt_relax();
	}
}

static void flush(struct gn_net *net)
{
	end_flush(net, begin_flush(net));
}

static void end(struct gn_net *net)
{
	while (packets)
		free(sent[--packets]);
	room = ~0u;
	gn__device_stop(net);
	gn__node_destroy(net);
}

/* Where a stream is: in which step, and which message of each log came last, in which step. */
struct stream {
	uint32_t step, any;
	uint32_t next[LOGS], last[LOGS];
};

static void take_message(struct stream *s, const uint64_t *word)
{
	const uint32_t log = (uint32_t)(word[1] >> 32), k = (uint32_t)word[1];

	s->step += gn__message_is_first(word[0]);
	assert_true(log < LOGS);
	assert_int_equal(k, s->next[log]++);
	if (k) /* what a log has had before is in an earlier step */
		assert_true(s->last[log] < s->step);
	s->last[log] = s->step;
	s->any = 1;
}

/* Eight logs of one warp have messages: more than it takes in a round, and more than it has lanes. */
static void the_messages_of_a_log_are_in_steps_of_their_own(void **state)
{
	static const uint32_t some[][2] = {{0, MOST}, {1, 1},     {3, MOST - 9}, {4, 300},
	                                   {5, MOST}, {6, 200},   {12, MOST},    {18, 150},
	                                   {24, 1},   {30, MOST}, {36, 3},       {42, 90}};
	uint32_t count[LOGS] = {0};
	struct stream stream[GN_DEVICE_CPU_TEAMS];
	struct gn_net *net = a_node(3, 4);
	uint64_t *word = (uint64_t *)(void *)net->host.heap;
	uint32_t most = 0, all = 0;

	(void)state;
	assert_int_equal(net->logs, LOGS);
	for (uint32_t k = 0; k < sizeof some / sizeof *some; k++)
		count[some[k][0]] = some[k][1];
	for (uint32_t k = 0; k < MOST; k++)
		for (uint32_t log = 0; log < LOGS; log++)
			if (k < count[log])
				write_to_log(net, log, word, k);
	flush(net);
	memset(stream, 0, sizeof stream);
	for (uint32_t p = 0; p < packets; p++) {
		struct stream *s = &stream[(sent[p]->form & GN_PACKET_STREAM) - 1];

		assert_true(sent[p]->form & GN_PACKET_PLAIN);
		assert_int_equal(sent[p]->sequence, p);
		assert_true(sent[p]->words <= gn_rule_words(SMALL));
		s->step++; /* a kernel ends a packet before it begins the next */
		for (uint32_t at = 0; at < sent[p]->words; at += 2)
			take_message(s, sent[p]->word + at);
	}
	for (uint32_t log = 0; log < LOGS; log++) {
		assert_int_equal(stream[log % GN_DEVICE_CPU_TEAMS].next[log], count[log]);
		all += count[log];
	}
	for (uint32_t k = 0; k < GN_DEVICE_CPU_TEAMS; k++)
		most = stream[k].step > most ? stream[k].step : most;
	assert_true(most <= MOST + packets); /* logs go side by side */
	assert_int_equal(net->peer[PEER].sent, all);
	end(net);
}

/*
 * The transport has no room for a packet of a sorter. A mark that is posted then counts it, and goes before
 * the packet of another sorter.
 */
static void a_mark_counts_the_packets_before_it(void **state)
{
	struct gn_net *net = a_node(3, 4);
	uint64_t *word = (uint64_t *)(void *)net->host.heap;
	uint64_t mark[2] = {gn__message_head(GN__MESSAGE_MARK, 0, 0), 0};
	uint32_t number;

	(void)state;
	for (uint32_t k = 0; k < 10; k++)
		write_to_log(net, 0, word, k);
	for (uint32_t k = 0; k < 20; k++)
		write_to_log(net, 1, word, k);
	room = 0;
	number = begin_flush(net);
	while (!net->peer[PEER].link->waiting) {
		gn__sort_drain(net);
		simt_relax();
	}
	mark[1] = net->peer[PEER].sent;
	assert_int_equal(gn__post(net, 0, PEER, 0, mark, 2), 0);
	gn__flush(net, 1, 0);
	room = ~0u;
	end_flush(net, number);
	assert_int_equal(packets, 3);
	for (uint32_t p = 0; p < packets; p++)
		assert_int_equal(sent[p]->sequence, p);
	assert_int_equal(gn__message_kind(sent[1]->word[0]), GN__MESSAGE_MARK);
	assert_int_equal(sent[1]->word[1], sent[0]->words / 2);
	assert_int_equal(net->peer[PEER].sent, 30);
	end(net);
}

/* A flush does not wait for packets that are closed after it. */
static void a_flush_ends_while_kernels_go_on(void **state)
{
	struct gn_net *net = a_node(3, 4);
	uint64_t *word = (uint64_t *)(void *)net->host.heap;
	uint32_t number;

	(void)state;
	write_to_log(net, 0, word, 0);
	number = begin_flush(net);
	while (net->sort->noted != number) {
		assert_false(gn__sort_is_flushed(net, number));
		simt_relax();
	}
	for (uint32_t k = 1; k < MOST; k++) /* more than a packet holds */
		write_to_log(net, 0, word, k);
	room = 1;
	while (!net->peer[PEER].link->waiting) {
		gn__sort_drain(net);
		simt_relax();
	}
	assert_int_equal(packets, 1);
	assert_int_equal(sent[0]->words, 2);
	assert_true(gn__sort_is_flushed(net, number));
	end(net);
}

/* A packet that says it is plain, and is not: its other messages are applied, and the network has failed. */
static void a_message_that_is_none_is_refused(void **state)
{
	static struct gn_packet packet;
	struct gn_net *net = a_node(1, 1);
	uint64_t *word = (uint64_t *)(void *)net->host.heap;
	const uint64_t good = gn__message_head(GN__MESSAGE_CHANGE + GN_ADD + GN__MESSAGE_WIDE, PEER, 2);
	const uint64_t bad[] = {gn__message_head(GN__MESSAGE_CHANGE + GN_ADD + GN__MESSAGE_WIDE, PEER,
	                                         net->options.heap_bytes / 4),
	                        gn__message_head(GN__MESSAGE_CHANGE + GN_ADD + GN__MESSAGE_WIDE, PEER, 1),
	                        gn__message_head(GN__MESSAGE_CHANGE + GN_ADD + GN__MESSAGE_FETCH, PEER, 2),
	                        gn__message_head(GN__MESSAGE_CALL, PEER, 2),
	                        gn__message_head(GN__MESSAGE_CHANGE + GN_CAS, PEER, 2)};
	const uint32_t kinds = sizeof bad / sizeof *bad;

	(void)state;
	packet.source = PEER;
	packet.form = GN_PACKET_PLAIN + 1;
	for (uint32_t k = 0; k <= kinds; k++) { /* the first packet is right */
		packet.word[0] = packet.word[4] = good;
		packet.word[2] = k ? bad[k - 1] : good;
		packet.word[1] = packet.word[3] = packet.word[5] = 1;
		packet.words = 6;
		net->failed = 0;
		assert_int_equal(gn__device_take_plain(net, &packet, NULL), 1);
		assert_false(gn__device_is_done(net, PEER));
		while (gn__device_collect(net))
			simt_relax();
		assert_true(gn__device_is_done(net, PEER));
		assert_int_equal(net->failed, k > 0);
		assert_int_equal(word[1], 3 + 2 * k);
	}
	assert_non_null(strstr(net->failure.text, "node 1"));
	gn__device_stop(net);
	gn__node_destroy(net);
}

/* The ways of a sorter for so many nodes would not fit into a block's shared memory. */
static void a_kernel_that_does_not_sort_starts_for_any_number_of_nodes(void **state)
{
	(void)state;
	end(a_node_of(GN_NET_MOST_NODES, 1, 1));
}

/* All blocks of the kernels on a GPU must be there at once, beside the program's. */
static void kernels_of_many_nodes_fit_or_do_not(void **state)
{
	static const struct fit {
		uint32_t sharing, processors, sorts, fits, blocks;
	} fits[] = {{1, 132, 1, 1, 17},  {1, 132, 0, 1, 9},  {8, 132, 1, 1, 3},  {43, 132, 1, 1, 3},
	            {44, 132, 1, 0, 3},  {44, 132, 0, 1, 2}, {65, 132, 0, 1, 2}, {66, 132, 0, 0, 2},
	            {100, 132, 0, 0, 2}, {1, 3, 1, 0, 3},    {1, 3, 0, 1, 2}};
	struct gn_net *net = (struct gn_net *)calloc(1, sizeof *net);
	struct simt_info info;

	(void)state;
	assert_non_null(net);
	memset(&info, 0, sizeof info);
	info.is_cuda = 1;
	for (size_t k = 0; k < sizeof fits / sizeof *fits; k++) {
		const struct fit *f = &fits[k];

		net->sharing = f->sharing;
		info.processors = f->processors;
		assert_int_equal(gn__device_fits(net, &info, (int)f->sorts), f->fits);
		assert_int_equal(gn__device_blocks(net, &info, (int)f->sorts), f->blocks);
	}
	free(net);
}

/* A grid of resident threads has room beside the kernel that stays. */
static void threads_beside_a_kernel_that_stays_are_fewer(void **state)
{
	struct simt_options options = {"cpu", 4, 8, SIMT_FAIR, 0};
	struct simt_machine *machine = NULL;
	struct simt_info all, some, least;

	(void)state;
	assert_int_equal(simt_open(&machine, &options, NULL), 0);
	simt_describe(machine, &all);
	simt__take_processors(machine, 1);
	simt_describe(machine, &some);
	simt__take_processors(machine, 9);
	simt_describe(machine, &least);
	assert_int_equal(some.processors, 4);
	assert_int_equal(some.resident_threads, all.resident_threads / 4 * 3);
	assert_int_equal(least.resident_threads, all.resident_threads / 4);
	simt_close(machine);
}

/* ---- nodes that send to each other ---- */

enum { THREADS = 16, BYTES = 40 };

struct talk {
	uint32_t rounds, asks; /* 1: threads also ask, and send bytes */
	uint64_t packet_bytes;
	uint32_t nodes, width, host_sorts;
	enum simt_schedule schedule;
	uint64_t seed;
	const struct simt_kernel *waits; /* NULL: talk_all */
};

struct talk_args {
	struct gn_net_view net;
	uint64_t *seen, *asked; /* [nodes][THREADS] the last round of each thread; the same, asked for */
	char *bytes;            /* [nodes][THREADS][BYTES] */
	uint64_t *sum, *wrong;
	uint32_t rounds, asks;
};

/* What a thread put is what it gets back: the one message is behind the other. */
SIMT_FN void ask(const struct talk_args *a, uint32_t pe, uint64_t mine, uint64_t round)
{
	uint64_t value = 0;
	char text[BYTES];

	gn_net_put_u64(&a->net, pe, &a->asked[mine], round);
	gn_net_get_u64(&a->net, pe, &a->asked[mine], &value);
	if (value != round)
		gn_net_inc_u64(&a->net, a->net.node, a->wrong);
	memset(text, (int)round, BYTES);
	gn_net_put(&a->net, pe, a->bytes + mine * BYTES, text, BYTES);
}

SIMT_FN void talk_all(const struct talk_args *a)
{
	const uint64_t thread = simt_global_thread(), mine = a->net.node * (uint64_t)THREADS + thread;

	for (uint64_t round = 1; round <= a->rounds; round++)
		for (uint32_t k = 0; k < a->net.nodes; k++) {
			const uint32_t pe = (uint32_t)(thread + k) % a->net.nodes;

			gn_net_put_u64(&a->net, pe, &a->seen[mine], round);
			if (thread % 3 != round % 3)
				gn_net_add_u64(&a->net, pe, a->sum, round);
			if (a->asks && (thread + round) % 5 == 0)
				ask(a, pe, mine, round);
		}
}
SIMT_KERNEL(talk_all, struct talk_args)

static uint64_t expected_sum(uint64_t rounds, uint32_t nodes)
{
	uint64_t sum = 0;

	for (uint64_t round = 1; round <= rounds; round++)
		for (uint64_t thread = 0; thread < THREADS; thread++)
			sum += thread % 3 != round % 3 ? round : 0;
	return sum * nodes;
}

/* The last round in which a thread asks; 0: none. */
static uint64_t last_asked(const struct talk *t, uint64_t thread)
{
	for (uint64_t round = t->asks ? t->rounds : 0; round; round--)
		if ((thread + round) % 5 == 0)
			return round;
	return 0;
}

static int check_talk(struct gn_net *net, const struct talk *t, const struct talk_args *a)
{
	const struct gn_net_view *host = gn_net_host(net);
	uint64_t value[2];
	char text[BYTES];

	for (uint64_t k = 0; k < (uint64_t)t->nodes * THREADS; k++) {
		CHECK_EQUAL(gn_net_get_u64(host, host->node, &a->seen[k], &value[0]), 0);
		CHECK_EQUAL(gn_net_get_u64(host, host->node, &a->asked[k], &value[1]), 0);
		CHECK_EQUAL(gn_net_get(host, host->node, a->bytes + k * BYTES, text, BYTES), 0);
		CHECK_EQUAL(value[0], t->rounds);
		CHECK_EQUAL(value[1], last_asked(t, k % THREADS));
		CHECK_EQUAL((unsigned char)text[BYTES - 1], (unsigned char)value[1]);
	}
	CHECK_EQUAL(gn_net_get_u64(host, host->node, a->sum, &value[0]), 0);
	CHECK_EQUAL(gn_net_get_u64(host, host->node, a->wrong, &value[1]), 0);
	CHECK_EQUAL(value[0], t->waits ? 0 : expected_sum(t->rounds, t->nodes));
	CHECK_EQUAL(value[1], 0);
	return 0;
}

static int talk_node(struct gn_net *net, void *argument)
{
	const struct talk *t = (const struct talk *)argument;
	const struct simt_grid grid = {2, THREADS / 2, 0};
	const uint64_t words = (uint64_t)t->nodes * THREADS;
	struct talk_args a;

	CHECK_EQUAL(net->sort != NULL, !t->host_sorts);
	memset(&a, 0, sizeof a);
	a.net = gn_net_device(net);
	a.seen = (uint64_t *)gn_net_alloc(net, 8 * words, NULL);
	a.asked = (uint64_t *)gn_net_alloc(net, 8 * words, NULL);
	a.bytes = (char *)gn_net_alloc(net, words * BYTES, NULL);
	a.sum = (uint64_t *)gn_net_alloc(net, 8, NULL);
	a.wrong = (uint64_t *)gn_net_alloc(net, 8, NULL);
	a.rounds = t->rounds;
	a.asks = t->asks;
	CHECK(a.seen && a.asked && a.bytes && a.sum && a.wrong);
	CHECK_EQUAL(gn_net_barrier(gn_net_host(net)), 0);
	CHECK_EQUAL(simt_launch(gn_net_machine(net), t->waits ? t->waits : &talk_all_kernel, grid, &a, NULL),
	            0);
	CHECK_EQUAL(simt_wait(gn_net_machine(net), NULL), 0);
	CHECK_EQUAL(gn_net_barrier(gn_net_host(net)), 0);
	return check_talk(net, t, &a);
}

static void run_talk(const struct talk *t)
{
	struct gn_net_options options;
	struct gn_error error = {0, ""};
	int rc;

	memset(&options, 0, sizeof options);
	options.machine.name = "cpu";
	options.machine.threads = 1;
	options.machine.warp_width = t->width;
	options.machine.schedule = t->schedule;
	options.machine.seed = t->seed;
	options.nodes = t->nodes;
	options.by_kernel = 1;
	options.host_sorts = t->host_sorts;
	options.packet_bytes = t->packet_bytes;
	options.heap_bytes = 1 << 20;
	options.timeout_ns = 1000000000000;
	rc = gn_net_run(&options, talk_node, (void *)(uintptr_t)t, &error);
	if (rc)
		fail_msg("%u nodes, warps of %u, seed %llu: %s %s", t->nodes, t->width,
		         (unsigned long long)t->seed, gn_error_name(rc), error.text);
}

static void threads_are_served_in_order(void **state)
{
	static const struct talk talks[] = {{8, 1, 0, 2, 1, 0, SIMT_FAIR, 0, NULL},
	                                    {5, 1, SMALL, 3, 4, 0, SIMT_FAIR, 0, NULL},
	                                    {5, 1, SMALL, 2, 32, 0, SIMT_FAIR, 0, NULL},
	                                    {5, 1, SMALL, 2, 8, 1, SIMT_FAIR, 0, NULL},
	                                    {5, 1, 0, 1, 4, 0, SIMT_FAIR, 0, NULL}};

	(void)state;
	for (size_t k = 0; k < few_drawn(2, sizeof talks / sizeof *talks); k++)
		run_talk(&talks[k]);
}

/* More messages than all packets of a way hold. */
static void packets_are_used_again(void **state)
{
	static const struct talk talk = {250, 0, SMALL, 2, 4, 0, SIMT_FAIR, 0, NULL};

	(void)state;
	run_talk(&talk);
}

/* ---- threads that wait for a quiet in a kernel ---- */

/* Threads put to all nodes, wait until all is done, and get what they put. */
SIMT_FN void put_and_wait(const struct talk_args *a)
{
	const uint64_t mine = a->net.node * (uint64_t)THREADS + simt_global_thread();

	for (uint64_t round = 1; round <= a->rounds; round++) {
		for (uint32_t pe = 0; pe < a->net.nodes; pe++)
			gn_net_put_u64(&a->net, pe, &a->seen[mine], round);
		if (gn_net_quiet(&a->net))
			gn_net_inc_u64(&a->net, a->net.node, a->wrong);
		for (uint32_t pe = 0; pe < a->net.nodes; pe++) {
			uint64_t value = 0;

			gn_net_get_u64(&a->net, pe, &a->seen[mine], &value);
			if (value != round)
				gn_net_inc_u64(&a->net, a->net.node, a->wrong);
		}
	}
}
SIMT_KERNEL(put_and_wait, struct talk_args)

static void kernels_wait_until_all_is_done(void **state)
{
	(void)state;
	for (uint32_t sorts = 0; sorts < 2; sorts++) {
		const struct talk talk = {6, 0, SMALL, 2, 4, sorts, SIMT_FAIR, 0, &put_and_wait_kernel};

		run_talk(&talk);
	}
}

static void random_schedules(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= (uint64_t)few_drawn(2, 3); seed++) {
		const struct talk talk = {
		    3, 1, SMALL, 2, seed % 3 == 0 ? 1u : seed % 3 == 1 ? 4u : 8u, 0, SIMT_RANDOM, seed, NULL};

		run_talk(&talk);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_messages_of_a_log_are_in_steps_of_their_own),
	    cmocka_unit_test(a_mark_counts_the_packets_before_it),
	    cmocka_unit_test(a_flush_ends_while_kernels_go_on),
	    cmocka_unit_test(a_message_that_is_none_is_refused),
	    cmocka_unit_test(a_kernel_that_does_not_sort_starts_for_any_number_of_nodes),
	    cmocka_unit_test(kernels_of_many_nodes_fit_or_do_not),
	    cmocka_unit_test(threads_beside_a_kernel_that_stays_are_fewer),
	    cmocka_unit_test(threads_are_served_in_order),
	    cmocka_unit_test(packets_are_used_again),
	    cmocka_unit_test(kernels_wait_until_all_is_done),
	    cmocka_unit_test(random_schedules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
