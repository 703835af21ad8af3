/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks that damage, drop, repeat or withhold packets: whoever waits learns of it in time, and of whom;
 * what came is never wrong. The in-process transport is compiled into this program with one function
 * replaced.
 */
#include "unit.h"

#include <net/transport.h>

#define gn_local_open honest_local_open
int honest_local_open(struct gn_transport **transport, struct gn_local_world *world, uint32_t node,
                      struct gn_error *error);
#include <net/local.c>
#undef gn_local_open
#include <grapnel/net.h>
#include <stdlib.h>
#include <string.h>

enum fault { NONE, DAMAGE, DROP, REPEAT, SILENT };

static struct {
	enum fault fault;
	uint32_t from; /* whose packets */
	uint32_t at;   /* which of its requests; of SILENT: and all behind it */
	uint32_t sent;
	uint32_t stops; /* 1: the program of a node whose wait has failed ends with that code */
} plan;

static struct gn_transport_ops faulty_ops;

/* The one that is repeated lies in memory of its own. */
static void repeat(struct gn_transport *t, const struct gn_parcel *parcel)
{
	static struct gn_packet packet;
	static struct gn_parcel again;

	packet = *parcel->packet;
	again = *parcel;
	again.packet = &packet;
	local_send(t, &again);
}

static int faulty_send(struct gn_transport *t, struct gn_parcel *parcel)
{
	const int hit = t->node == plan.from && parcel->class_ == GN_REQUESTS && plan.sent++ >= plan.at;
	const int now = hit && (plan.sent == plan.at + 1 || plan.fault == SILENT);

	if (now && plan.fault == DAMAGE)
		parcel->packet->word[parcel->packet->words / 2] ^= 1u << 20;
	if (now && plan.fault == REPEAT)
		repeat(t, parcel);
	if (now && (plan.fault == DROP || plan.fault == SILENT))
		return 0;
	return local_send(t, parcel);
}

int gn_local_open(struct gn_transport **transport, struct gn_local_world *world, uint32_t node,
                  struct gn_error *error)
{
	const int rc = honest_local_open(transport, world, node, error);

	faulty_ops = local_ops;
	faulty_ops.send = faulty_send;
	if (!rc)
		(*transport)->ops = &faulty_ops;
	return rc;
}

/* ---- node 0 adds to node 1 and node 2, and waits ---- */

enum { ADDS = 50000 };

struct outcome {
	uint32_t have_begun; /* nodes whose memory is there: without messages, which may be lost */
	/* nodes to which nothing more comes that should, or that know that something is missing */
	uint32_t have_heard;
	uint32_t has_waited;
	int quiet_rc, failure[3];
	int await_rc[3];       /* of a wait that began when the node's network had failed */
	uint64_t took_ns;      /* from node 0's first message until it gave up */
	uint64_t waited_ns[3]; /* of node 0 for the others, afterwards */
	uint32_t peer;         /* whom node 0 names */
	char text[3][512];
	uint64_t arrived[3];
	int ended[3]; /* the code with which waits of a node end */
	int run_rc;
	char run_text[512];
};

static uint64_t sum(const uint64_t *cell)
{
	uint64_t total = 0;

	for (uint32_t k = 0; k < 8; k++)
		total += simt_load_relaxed_dev_u64(&cell[k]);
	return total;
}

static void wait_for(const uint32_t *count, uint32_t value)
{
	while (simt_load_acquire_dev_u32(count) < value)
		simt_relax();
}

/* Until all has come, or it is known that not all does. Who is cut off knows nothing. */
static void hear(struct gn_net *net, const uint64_t *cell, struct outcome *o)
{
	struct gn_net_view n = *gn_net_host(net);
	struct gn_net_fault fault;

	while (plan.fault != SILENT && sum(cell) < ADDS / 2 && !gn_net_failure(net, &fault, NULL))
		simt_relax();
	n.timeout_ns = 1000000000000; /* the wait ends because the network has failed */
	if (gn_net_failure(net, &fault, NULL))
		o->await_rc[n.node] = gn_net_wait_until_ge_u64(&n, cell, ~0ull);
}

static void add_and_wait(struct gn_net *net, uint64_t *cell, struct outcome *o)
{
	struct gn_net_view n = *gn_net_host(net);
	const uint64_t began = simt_clock_ns();

	for (uint32_t k = 0; k < ADDS; k++)
		gn_net_inc_u64(&n, 1 + k % 2, &cell[k % 8]);
	wait_for(&o->have_heard, 2); /* who answers, answers at once: who does not is the one that is named */
	n.timeout_ns = 1000000000000; /* it is the network that gives up, however late it comes to it */
	o->quiet_rc = gn_net_quiet(&n);
	o->took_ns = simt_clock_ns() - began;
	gn_net_waits(net, o->waited_ns);
}

static int node_main(struct gn_net *net, void *argument)
{
	struct outcome *o = (struct outcome *)argument;
	const uint32_t node = gn_net_node(net);
	uint64_t *cell = (uint64_t *)gn_net_alloc(net, 64, NULL);
	struct gn_net_fault fault;
	struct gn_error error = {0, ""};

	simt_add_acq_rel_dev_u32(&o->have_begun, 1);
	wait_for(&o->have_begun, 3);
	if (node) {
		hear(net, cell, o);
		simt_add_acq_rel_dev_u32(&o->have_heard, 1);
		gn_net_failure(net, &fault, &error);
		strcpy(o->text[node], error.text);
		if (plan.stops && o->await_rc[node])
			return o->await_rc[node];
	} else {
		add_and_wait(net, cell, o);
		simt_store_release_dev_u32(&o->has_waited, 1);
	}
	wait_for(&o->has_waited, 1);
	o->arrived[node] = sum(cell);
	o->failure[node] = gn_net_failure(net, &fault, &error);
	o->ended[node] = (int)fault.ended;
	if (!node)
		o->peer = fault.peer;
	strcpy(o->text[node], error.text);
	return plan.stops && !node ? o->quiet_rc : 0;
}

static struct outcome run(enum fault fault, uint32_t from, uint32_t at)
{
	struct gn_net_options options;
	struct gn_error error = {0, ""};
	struct outcome o;

	memset(&options, 0, sizeof options);
	memset(&o, 0, sizeof o);
	plan.fault = fault;
	plan.from = from;
	plan.at = at;
	plan.sent = 0;
	options.nodes = 3;
	options.heap_bytes = 1 << 20;
	options.packet_bytes = 4096;
	options.timeout_ns = fault == NONE ? 1000000000000u : 1500000000u;
	o.run_rc = gn_net_run(&options, node_main, &o, &error);
	strcpy(o.run_text, error.text);
	return o;
}

static void without_faults_all_arrives(void **state)
{
	const struct outcome o = run(NONE, 0, 0);

	(void)state;
	assert_int_equal(o.quiet_rc, 0);
	assert_int_equal(o.arrived[1] + o.arrived[2], ADDS);
	assert_int_equal(o.waited_ns[1], 0);
	assert_string_equal(o.text[0], "");
}

static void a_damaged_packet_is_refused_and_missed(void **state)
{
	const struct outcome o = run(DAMAGE, 0, 3);
	const int to = o.failure[1] ? 1 : 2;

	(void)state;
	assert_int_equal(o.quiet_rc, -GN_ETIMEDOUT);
	assert_int_equal(o.failure[to], -GN_EBADMSG);
	assert_int_equal(o.await_rc[to], -GN_EBADMSG);
	assert_int_equal(o.ended[to], -GN_EBADMSG);
	assert_non_null(strstr(o.text[to], "damaged"));
	assert_non_null(strstr(o.text[to], "node 0"));
	assert_int_equal(o.peer, to);
	assert_int_equal(o.arrived[3 - to], ADDS / 2); /* the other gets everything */
	assert_true(o.arrived[to] < ADDS / 2);
}

/* The run fails with the message of the node that refused the packet, not of one that heard of it. */
static void a_program_that_stops_says_why(void **state)
{
	struct outcome o;
	int to;

	(void)state;
	plan.stops = 1;
	o = run(DAMAGE, 0, 3);
	plan.stops = 0;
	to = strstr(o.text[1], "damaged") ? 1 : 2;
	assert_int_equal(o.await_rc[to], -GN_EBADMSG);
	assert_int_equal(o.run_rc, -GN_EBADMSG);
	assert_non_null(strstr(o.run_text, "damaged"));
	assert_int_equal(o.peer, to);
}

static void a_dropped_packet_is_missed(void **state)
{
	const struct outcome o = run(DROP, 0, 3);
	const int to = o.failure[1] ? 1 : 2;

	(void)state;
	assert_int_equal(o.quiet_rc, -GN_ETIMEDOUT);
	assert_non_null(strstr(o.text[to], "expected"));
	assert_true(o.arrived[to] < ADDS / 2);
}

static void a_repeated_packet_is_applied_once(void **state)
{
	const struct outcome o = run(REPEAT, 0, 3);

	(void)state;
	assert_true(o.arrived[1] <= ADDS / 2 && o.arrived[2] <= ADDS / 2);
	assert_true(o.failure[1] == -GN_EBADMSG || o.failure[2] == -GN_EBADMSG);
}

static void a_node_that_is_cut_off_is_named(void **state)
{
	const struct outcome o = run(SILENT, 0, 0);

	(void)state;
	assert_int_equal(o.quiet_rc, -GN_ETIMEDOUT);
	assert_int_equal(o.peer, 1); /* the first of both */
	assert_non_null(strstr(o.text[0], "node 1 did not answer"));
	assert_int_equal(o.ended[0], 0); /* its other waits go on */
	assert_in_range(o.waited_ns[1], 1, o.took_ns);
	assert_in_range(o.waited_ns[2], 1, o.took_ns);
	assert_int_equal(o.arrived[1] + o.arrived[2], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(without_faults_all_arrives),
	    cmocka_unit_test(a_damaged_packet_is_refused_and_missed),
	    cmocka_unit_test(a_program_that_stops_says_why),
	    cmocka_unit_test(a_dropped_packet_is_missed),
	    cmocka_unit_test(a_repeated_packet_is_applied_once),
	    cmocka_unit_test(a_node_that_is_cut_off_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
