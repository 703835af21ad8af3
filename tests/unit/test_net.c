/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between nodes of one process: what each operation does, from kernels and from hosts, in one way
 * and in two.
 */
#include "net_cases.h"
#include "node_check.h"
#include "unit.h"

#include <string.h>
#include <time.h>

struct shape {
	uint32_t nodes, columns, width;
	enum gn_net_form form;
	uint64_t flush_ns; /* 0: as it is if nothing is said */
};

/* The ways in which operations reach memory. */
struct way {
	const char *name;
	enum gn_net_route route;
	uint32_t by_kernel;
};

static const struct way ways[] = {{"packets", GN_NET_PACKETS, 0},
                                  {"direct", GN_NET_DIRECT, 0},
                                  {"by kernel", GN_NET_PACKETS, 1},
                                  {"direct, by kernel", GN_NET_DIRECT, 1}};

/* The first seven have every form, and a grid whose last row is not full: enough where few are run. */
static const struct shape shapes[] = {
    {1, 1, 1, GN_NET_COMBINED, 0},         {2, 1, 1, GN_NET_COMBINED, 0},    {3, 1, 4, GN_NET_COMBINED, 0},
    {5, 2, 32, GN_NET_COMBINED, 0},        {3, 1, 4, GN_NET_COPROCESSOR, 0}, {4, 2, 8, GN_NET_COALESCED, 0},
    {3, 2, 1, GN_NET_MESSAGE_PER_LANE, 0}, {7, 3, 32, GN_NET_COMBINED, 0},   {8, 3, 2, GN_NET_COMBINED, 0},
    {9, 3, 1, GN_NET_COMBINED, 0},         {7, 3, 32, GN_NET_COPROCESSOR, 0}};

#ifdef __SANITIZE_ADDRESS__
enum { SHAPES = 7 };
#else
#define SHAPES few_drawn(7, sizeof shapes / sizeof *shapes)
#endif

/* The order of the direct route rests on fences, of which the thread sanitizer knows nothing. */
#ifdef __SANITIZE_THREAD__
enum { SEES_FENCES = 0 };
#else
enum { SEES_FENCES = 1 };
#endif

/* The time-out where nothing is to run into it: longer than the test may take. */
static const uint64_t forever_ns = 1000000000000;

static void run_by(const struct way *w, const struct shape *s, int (*node)(struct gn_net *, void *),
                   void *argument)
{
	struct gn_net_options options;
	struct gn_error error = {0, ""};
	int rc;

	if (w->by_kernel && s->nodes > 3) /* one more kernel a node: too many for a small machine */
		return;
	if (strcmp(net_machine_name(), "cpu") &&
	    (w->by_kernel || s->nodes > 5)) /* it is always so there; nodes are slow to begin */
		return;
	if (w->route != GN_NET_PACKETS && !SEES_FENCES)
		return;
	memset(&options, 0, sizeof options);
	options.machine.name = net_machine_name();
	options.timeout_ns = strcmp(net_machine_name(), "cpu") ? 10000000000 : forever_ns;
	options.route = w->route;
	options.by_kernel = w->by_kernel;
	options.nodes = s->nodes;
	options.columns = s->columns;
	options.machine.warp_width = s->width;
	options.form = s->form;
	options.flush_ns = s->flush_ns;
	options.machine.threads = 1;
	options.heap_bytes = 1 << 20;
	rc = gn_net_run(&options, node, argument, &error);
	if (rc)
		fail_msg("%s, %u nodes in %u columns, warps of %u, form %d: %s %s", w->name, s->nodes,
		         s->columns, s->width, (int)s->form, gn_error_name(rc), error.text);
}

static void run_on(const struct shape *s, int (*node)(struct gn_net *, void *), void *argument)
{
	/* many nodes take long */
	for (size_t k = 0; k < (s->nodes > 3 ? 1 : sizeof ways / sizeof *ways); k++)
		run_by(&ways[k], s, node, argument);
}

static void run_all(int (*node)(struct gn_net *, void *))
{
	for (size_t k = 0; k < SHAPES; k++)
		run_on(&shapes[k], node, NULL);
}

#include "net_all.h" /* uses run_all */

static void who_waits_does_not_wait_for_packets_to_grow_old(void **state)
{
	static const struct shape never[] = {{2, 1, 1, GN_NET_COMBINED, 1000000000000},
	                                     {7, 3, 32, GN_NET_COMBINED, 1000000000000}};

	(void)state;
	for (size_t k = 0; k < sizeof never / sizeof *never; k++)
		run_on(&never[k], net_together, NULL);
}

static void teams_meet_at_the_same_time(void **state)
{
	(void)state;
	run_all(net_teams);
}

/* Not one for each node: it passes on what has come. */
static int gather_by_few(struct gn_net *net, void *unused)
{
	const struct gn_net_view *n = gn_net_host(net);
	const uint32_t node = gn_net_node(net), nodes = gn_net_nodes(net);
	uint32_t *all = (uint32_t *)gn_net_alloc(net, nodes * sizeof *all, NULL);
	struct gn_net_statistics before, after;

	(void)unused;
	CHECK(all != NULL);
	CHECK_EQUAL(gn_net_barrier(n), 0);
	gn_net_get_statistics(net, &before);
	CHECK_EQUAL(gn_net_all_gather(n, all, &node, sizeof node), 0);
	gn_net_get_statistics(net, &after);
	CHECK(after.sent - before.sent < nodes);
	for (uint32_t k = 0; k < nodes; k++)
		CHECK_EQUAL(all[k], k);
	return gn_net_barrier(n);
}

static void all_gather_takes_few_messages(void **state)
{
	static const struct shape shape = {48, 1, 1, GN_NET_COMBINED, 0};

	(void)state;
	run_by(&ways[0], &shape, gather_by_few, NULL);
}

static void memory_is_aligned_as_asked(void **state)
{
	(void)state;
	run_all(net_alignment);
}

/* ---- what cannot be ---- */

static int nothing(struct gn_net *net, void *unused)
{
	(void)net;
	(void)unused;
	return 0;
}

static void nodes_may_end_at_once(void **state)
{
	(void)state;
	for (int k = 0; k < 3; k++)
		run_all(nothing);
}

static void what_cannot_be_is_refused_and_kept(void **state)
{
	const struct shape two = {2, 1, 1, GN_NET_COMBINED, 0};
	struct gn_net_options options;
	struct gn_error error;

	(void)state;
	run_on(&two, net_refused, NULL);
	memset(&options, 0, sizeof options);
	options.transport = "pigeon";
	assert_int_equal(gn_net_run(&options, net_refused, NULL, &error), -GN_ENODEV);
	assert_non_null(strstr(error.text, "pigeon"));
	options.transport = "mpi";
	assert_int_equal(gn_net_run(&options, net_refused, NULL, &error), -GN_ENODEV);
	assert_non_null(strstr(error.text, "link it with grapnel-mpi"));
	options.transport = NULL;
	options.nodes = 3;
	options.columns = 4;
	assert_int_equal(gn_net_run(&options, net_refused, NULL, &error), -GN_EINVAL);
}

/* ---- a node that does not answer ---- */

static void sleep_ms(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* What the nodes, which are threads of one process, tell each other beside the network. */
struct in_vain {
	uint32_t listens;  /* 1: node 1 has its handler */
	uint32_t released; /* 1: the handler may return */
	uint32_t over;     /* 1: node 1 may end */
	uint32_t seen;     /* 1: node 0 has seen all that it should */
};

static void sleep_until(const uint32_t *flag)
{
	while (!simt_load_acquire_dev_u32(flag))
		sleep_ms(1);
}

static void dawdle(const struct gn_net_incoming *message, void *context)
{
	(void)message;
	sleep_until(&((struct in_vain *)context)->released);
}

static int waits_in_vain(struct gn_net *net, struct in_vain *v)
{
	struct gn_net_view n = *gn_net_host(net);
	struct gn_net_fault fault;
	struct gn_error error;
	int rc;

	n.timeout_ns = forever_ns; /* the network gives up, however late it comes to it */
	CHECK_EQUAL(gn_net_call(&n, 1, 0, NULL, 0), 0);
	CHECK_EQUAL(gn_net_quiet(&n), -GN_ETIMEDOUT);
	CHECK_EQUAL(gn_net_failure(net, &fault, &error), -GN_ETIMEDOUT);
	CHECK_EQUAL(fault.peer, 1);
	CHECK(strstr(error.text, "node 1 did not answer node 0"));
	CHECK_EQUAL(gn_net_quiet(&n), -GN_ETIMEDOUT); /* it is not done by having been waited for */
	simt_store_release_dev_u32(&v->released, 1);
	do
		rc = gn_net_quiet(&n);
	while (rc == -GN_ETIMEDOUT); /* until node 1 comes to it */
	CHECK_EQUAL(rc, 0);
	simt_store_release_dev_u32(&v->seen, 1);
	return 0;
}

static int node_0_waits_in_vain(struct gn_net *net, void *argument)
{
	struct in_vain *v = (struct in_vain *)argument;
	int rc;

	CHECK_EQUAL(gn_net_handler(net, "dawdle", dawdle, v, NULL), 0);
	if (gn_net_node(net)) {
		simt_store_release_dev_u32(&v->listens, 1);
		sleep_until(&v->over);
		return 0;
	}
	sleep_until(&v->listens);
	rc = waits_in_vain(net, v);
	simt_store_release_dev_u32(&v->released, 1);
	simt_store_release_dev_u32(&v->over, 1);
	return rc;
}

static void a_node_that_does_not_answer_is_named(void **state)
{
	struct gn_net_options options;
	struct in_vain v = {0, 0, 0, 0};
	struct gn_error error;
	int rc;

	(void)state;
	memset(&options, 0, sizeof options);
	options.nodes = 2;
	options.machine.threads = 1;
	options.timeout_ns = 1000000000;
	rc = gn_net_run(&options, node_0_waits_in_vain, &v, &error);
	assert_true(!rc || rc == -GN_ETIMEDOUT); /* the nodes may end at times further apart than that */
	assert_int_equal(v.seen, 1);
}

/* ---- a program that fails on one node ---- */

static int fails_on_node_2(struct gn_net *net, void *unused)
{
	const struct gn_net_view *n = gn_net_host(net);
	struct gn_net_fault fault;
	struct gn_error error;
	int rc = gn_net_barrier(n);

	(void)unused;
	if (rc || gn_net_node(net) == 2)
		return rc ? rc : -GN_ENOSPC;
	rc = gn_net_barrier(n);
	CHECK_EQUAL(rc, -GN_ENOSPC);
	CHECK_EQUAL(gn_net_failure(net, &fault, &error), -GN_ENOSPC);
	CHECK_EQUAL(fault.peer, 2);
	CHECK(strstr(error.text, "failed on node 2"));
	rc = gn_net_quiet(n);
	CHECK(!rc || rc == -GN_ENOSPC); /* networks go on: it may be done before this thread sees the end */
	CHECK_EQUAL(gn_net_barrier(n), -GN_ENOSPC); /* nothing that does not come is waited for any more */
	return -GN_ENOSPC;
}

static void a_program_that_fails_on_one_node_ends_on_all(void **state)
{
	struct gn_net_options options;
	struct gn_error error;

	(void)state;
	memset(&options, 0, sizeof options);
	options.nodes = 4;
	options.machine.threads = 1;
	options.timeout_ns = forever_ns;
	for (options.columns = 1; options.columns < 3; options.columns++) {
		assert_int_equal(gn_net_run(&options, fails_on_node_2, NULL, &error), -GN_ENOSPC);
		assert_non_null(strstr(error.text, "node 2"));
	}
}

static int is_wrong_on_node_1(struct gn_net *net, void *unused)
{
	(void)unused;
	CHECK(gn_net_node(net) != 1);
	return gn_net_barrier(gn_net_host(net));
}

/* What these tests rest on. */
static void a_check_that_fails_on_a_node_ends_on_all(void **state)
{
	struct gn_net_options options;
	struct gn_error error;

	(void)state;
	memset(&options, 0, sizeof options);
	options.nodes = 3;
	options.machine.threads = 1;
	options.timeout_ns = forever_ns;
	assert_int_equal(gn_net_run(&options, is_wrong_on_node_1, NULL, &error), NODE_WRONG);
	assert_non_null(strstr(error.text, "node 1"));
}

static void whatever(const struct gn_net_incoming *message, void *context)
{
	(void)message;
	(void)context;
}

static int differ_in_handlers(struct gn_net *net, void *unused)
{
	int rc = gn_net_handler(net, "insert", whatever, NULL, NULL);

	(void)unused;
	if (rc >= 0)
		rc = gn_net_handler(net, gn_net_node(net) == 1 ? "delete" : "count", whatever, NULL, NULL);
	while (rc >= 0) /* until somebody finds it wrong */
		rc = gn_net_barrier(gn_net_host(net));
	return rc;
}

static void handlers_of_other_names_are_named(void **state)
{
	struct gn_net_options options;
	struct gn_error error;

	(void)state;
	memset(&options, 0, sizeof options);
	options.nodes = 3;
	options.machine.threads = 1;
	options.timeout_ns = forever_ns;
	assert_int_equal(gn_net_run(&options, differ_in_handlers, NULL, &error), -GN_EINVAL);
	assert_non_null(strstr(error.text, "handler 1"));
	assert_non_null(strstr(error.text, "\"delete\" on node 1"));
	assert_non_null(strstr(error.text, "\"count\""));
}

/* ---- calls that fail say why ---- */

static int says_why(struct gn_net *net, void *unused)
{
	struct gn_net_fault fault;
	struct gn_error error;

	(void)unused;
	CHECK_EQUAL(gn_net_handler(net, "whatever", whatever, NULL, NULL), 0);
	CHECK_EQUAL(gn_net_handler(net, "whatever", whatever, NULL, &error), -GN_EINVAL);
	CHECK(strstr(error.text, "\"whatever\""));
	CHECK(!gn_net_alloc(net, 1ull << 40, &error));
	CHECK_EQUAL(error.code, -GN_ENOMEM);
	CHECK(strstr(error.text, "1099511627776 bytes"));
	CHECK(!gn_net_alloc_aligned(net, 3, 100, &error));
	CHECK_EQUAL(error.code, -GN_EINVAL);
	CHECK(strstr(error.text, "alignment of 3 bytes"));
	CHECK_EQUAL(gn_net_failure(net, &fault, &error), 0);
	CHECK_EQUAL(gn_net_put_u64(gn_net_host(net), 7, NULL, 1), -GN_EINVAL);
	CHECK_EQUAL(gn_net_failure(net, &fault, &error), -GN_EINVAL);
	CHECK(strstr(error.text, "on node 7: GN_EINVAL"));
	return gn_net_barrier(gn_net_host(net));
}

static void calls_that_fail_say_why(void **state)
{
	struct gn_net_options options;
	struct gn_error error;

	(void)state;
	memset(&options, 0, sizeof options);
	options.nodes = 2;
	options.machine.threads = 1;
	options.timeout_ns = forever_ns;
	assert_int_equal(gn_net_run(&options, says_why, NULL, &error), 0);
}

/* ---- handlers whose calls come back to their own node ---- */

/* each fills half of the smallest log; and then as many again and again */
enum { FIRST = 2, AT_ONCE = 220, GO_ON = 40 };

struct echoed {
	uint64_t left;
	uint64_t rest[7];
};

struct echoes {
	uint64_t heard, refused; /* calls to it; by it, that failed */
};

static void echo(const struct gn_net_incoming *message, void *context)
{
	struct echoes *all = (struct echoes *)context;
	struct echoed e;

	memcpy(&e, message->payload, sizeof e);
	all->heard++;
	for (uint32_t k = e.left == GO_ON ? (uint32_t)AT_ONCE : 1; e.left && k > 0; k--) {
		struct echoed next = {e.left - 1, {0}};

		all->refused += gn_net_call(message->net, message->net->node, 0, &next, sizeof next) != 0;
	}
}

static int calls_itself(struct gn_net *net, void *unused)
{
	const struct echoed begin = {GO_ON, {0}};
	struct echoes all = {0, 0};

	(void)unused;
	CHECK_EQUAL(gn_net_handler(net, "echo", echo, &all, NULL), 0);
	CHECK_EQUAL(gn_net_barrier(gn_net_host(net)), 0);
	for (uint32_t k = 0; k < FIRST; k++)
		CHECK_EQUAL(gn_net_call(gn_net_host(net), gn_net_node(net), 0, &begin, sizeof begin), 0);
	CHECK_EQUAL(gn_net_settle(net, NULL), 0);
	CHECK_EQUAL(all.refused, 0);
	CHECK_EQUAL(all.heard, FIRST * (1 + AT_ONCE * GO_ON));
	return 0;
}

/* Calls that wait until the handlers' log is half empty may be what fills it. */
static void handlers_may_call_their_own_node(void **state)
{
	struct gn_net_options options;
	struct gn_error error;

	(void)state;
	memset(&options, 0, sizeof options);
	options.nodes = 2;
	options.machine.threads = 1;
	options.log_bytes = 1;
	options.timeout_ns = forever_ns;
	for (options.by_kernel = 0; options.by_kernel < 2; options.by_kernel++)
		assert_int_equal(gn_net_run(&options, calls_itself, NULL, &error), 0);
}

static void freed_memory_is_given_again(void **state)
{
	const struct shape two = {2, 1, 1, GN_NET_COMBINED, 0};

	(void)state;
	run_on(&two, net_memory, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(changes_add_up_on_every_node),
	    cmocka_unit_test(fetched_values_are_those_before_the_change),
	    cmocka_unit_test(hosts_do_what_kernels_do),
	    cmocka_unit_test(bytes_of_any_number_and_alignment_arrive),
	    cmocka_unit_test(calls_run_where_they_go_and_may_call_on),
	    cmocka_unit_test(nodes_meet_and_tell_each_other),
	    cmocka_unit_test(who_waits_does_not_wait_for_packets_to_grow_old),
	    cmocka_unit_test(teams_meet_at_the_same_time),
	    cmocka_unit_test(all_gather_takes_few_messages),
	    cmocka_unit_test(memory_is_aligned_as_asked),
	    cmocka_unit_test(nodes_may_end_at_once),
	    cmocka_unit_test(what_cannot_be_is_refused_and_kept),
	    cmocka_unit_test(a_node_that_does_not_answer_is_named),
	    cmocka_unit_test(a_program_that_fails_on_one_node_ends_on_all),
	    cmocka_unit_test(a_check_that_fails_on_a_node_ends_on_all),
	    cmocka_unit_test(handlers_of_other_names_are_named),
	    cmocka_unit_test(calls_that_fail_say_why),
	    cmocka_unit_test(handlers_may_call_their_own_node),
	    cmocka_unit_test(freed_memory_is_given_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
