/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a run, and what is left of a function that failed: no message is lost without a word, no reply
 * writes into memory that is the caller's again, and no later result is wrong.
 */
#include <grapnel/net.h>

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

enum { BYTES = 64 << 10, PATTERN = 0x5a };

static struct gn_error error;
static uint32_t flag[4];
static char buffer[BYTES];

static void raise(uint32_t *word)
{
	simt_add_acq_rel_dev_u32(word, 1);
}

static void await(uint32_t *word, uint32_t value)
{
	const uint64_t began = simt_clock_ns();

	while (simt_load_acquire_dev_u32(word) < value) {
		assert_true(simt_clock_ns() - began < 100000000000u);
		sched_yield();
	}
}

/* Node 0 goes on when the programs of all others are about to end. */
static int outlives_others(const struct gn_net_view *n)
{
	if (n->node)
		raise(&flag[1]);
	else
		await(&flag[1], n->nodes - 1);
	return !n->node;
}

static int run(uint32_t nodes, uint32_t columns, uint64_t timeout_ns,
               int (*node)(struct gn_net *net, void *argument), void *argument)
{
	struct gn_net_options options;

	memset(&options, 0, sizeof options);
	memset(&error, 0, sizeof error);
	memset(flag, 0, sizeof flag);
	options.transport = "local";
	options.nodes = nodes;
	options.columns = columns;
	options.machine.threads = 1;
	options.heap_bytes = 1 << 20;
	options.timeout_ns = timeout_ns;
	return gn_net_run(&options, node, argument, &error);
}

/* ---- messages on the way when the programs end ---- */

static void count(const struct gn_net_incoming *message, void *context)
{
	(void)message;
	raise((uint32_t *)context);
}

/* A handler that sends to the last node. */
static void pass_on(const struct gn_net_incoming *message, void *context)
{
	(void)context;
	gn_net_call(message->net, message->net->nodes - 1, 0, message->payload, message->bytes);
}

/* Node 0 calls the last node, and node 1 so that this one does; all the others have ended before. */
static int call_last(struct gn_net *net, void *argument)
{
	const struct gn_net_view *n = gn_net_host(net);
	const uint64_t word = 7;
	int rc;

	(void)argument;
	assert_int_equal(gn_net_handler(net, "count", count, &flag[0], &error), 0);
	assert_int_equal(gn_net_handler(net, "pass_on", pass_on, NULL, &error), 1);
	rc = gn_net_barrier(n);
	if (rc || !outlives_others(n))
		return rc;
	rc = gn_net_call(n, n->nodes - 1, 0, &word, sizeof word);
	return rc ? rc : gn_net_call(n, 1, 1, &word, sizeof word);
}

static void the_last_messages_arrive(void **state)
{
	(void)state;
	for (int k = 0; k < few_drawn(20, 300); k++) {
		assert_int_equal(run(4, 1 + k % 2, 0, call_last, NULL), 0);
		assert_int_equal(flag[0], 2);
	}
}

/* ---- a node refuses a message after its program has ended well ---- */

static int call_nobody(struct gn_net *net, void *argument)
{
	const struct gn_net_view *n = gn_net_host(net);
	const uint64_t word = 7;
	int rc;

	(void)argument;
	assert_int_equal(gn_net_handler(net, "count", count, &flag[0], &error), 0);
	rc = gn_net_barrier(n);
	if (rc || !outlives_others(n))
		return rc;
	rc = gn_net_call(n, 1, 5, &word, sizeof word);             /* there is no handler 5 */
	return rc ? rc : gn_net_call(n, 1, 0, &word, sizeof word); /* lost behind it */
}

static void a_refused_message_is_a_failure_of_the_run(void **state)
{
	(void)state;
	assert_int_equal(run(2, 1, 0, call_nobody, NULL), -GN_EBADMSG);
	assert_non_null(strstr(error.text, "handlers"));
	assert_int_equal(flag[0], 0);
}

/* ---- a get that has failed ---- */

static void hold(const struct gn_net_incoming *message, void *context)
{
	(void)message;
	(void)context;
	raise(&flag[0]);
	await(&flag[1], 1);
}

/* Node 2 answers node 1's get when node 1 has given it up, because node 0's program has failed. */
static int get_late(struct gn_net *net, void *argument)
{
	const struct gn_net_view *n = gn_net_host(net);
	char *memory = (char *)gn_net_alloc(net, BYTES, &error);
	int rc;

	(void)argument;
	assert_int_equal(gn_net_handler(net, "hold", hold, NULL, &error), 0);
	rc = gn_net_barrier(n);
	if (rc || n->node == 2)
		return rc;
	if (n->node == 0) {
		await(&flag[2], 1);
		return -GN_ENOENT;
	}
	assert_int_equal(gn_net_call(n, 2, 0, memory, 4), 0);
	await(&flag[0], 1); /* node 2's network thread is held */
	raise(&flag[2]);
	rc = gn_net_get(n, 2, memory, buffer, BYTES);
	memset(buffer, PATTERN, BYTES); /* it is used for something else */
	raise(&flag[1]);
	return rc;
}

static void a_get_that_failed_writes_no_more(void **state)
{
	(void)state;
	assert_int_equal(run(3, 1, 0, get_late, NULL), -GN_ENOENT);
	for (uint32_t k = 0; k < BYTES; k++)
		assert_int_equal(buffer[k], PATTERN);
}

/* ---- a sum that has failed ---- */

static int add_late(struct gn_net *net, void *argument)
{
	const struct gn_net_view *n = gn_net_host(net);
	uint64_t word = 1 + n->node;
	int *rc = (int *)argument + 2 * n->node;

	if (n->node)
		await(&flag[0], 1); /* node 0 waits for nobody any more */
	rc[0] = gn_net_reduce_u64(n, GN_ADD, &word, 1);
	raise(&flag[0]);
	await(&flag[0], n->node ? 2 : 1);
	word = 10 + n->node;
	rc[1] = gn_net_reduce_u64(n, GN_ADD, &word, 1);
	raise(&flag[1]);
	await(&flag[1], 2); /* both programs end at once */
	return 0;
}

/* The second one of node 0 does not take what node 1 adds to the first. */
static void a_group_that_failed_gives_no_result(void **state)
{
	int rc[4] = {1, 1, 1, 1};

	(void)state;
	assert_int_equal(run(2, 1, 300000000u, add_late, rc), 0);
	for (int k = 0; k < 4; k++)
		assert_int_equal(rc[k], -GN_ETIMEDOUT);
}

/* ---- what a run is asked for ---- */

static int nothing(struct gn_net *net, void *argument)
{
	(void)net;
	(void)argument;
	return 0;
}

static void sizes_beyond_64_bits_are_refused(void **state)
{
	struct gn_net_options options;

	(void)state;
	for (int k = 0; k < 4; k++) {
		memset(&options, 0, sizeof options);
		options.transport = "local";
		*(k == 0   ? &options.heap_bytes
		  : k == 1 ? &options.shared_bytes
		  : k == 2 ? &options.data_bytes
		           : &options.log_bytes) = UINT64_MAX - 8191 + 8191 * (uint64_t)(k & 1);
		assert_int_equal(gn_net_run(&options, nothing, NULL, &error), -GN_EINVAL);
		assert_non_null(strstr(error.text, "too large"));
	}
}

static int name_handlers(struct gn_net *net, void *argument)
{
	char name[32];

	(void)argument;
	for (int k = 0; k < 2; k++) {
		snprintf(name, sizeof name, "handler %d", k);
		assert_int_equal(gn_net_handler(net, name, count, NULL, &error), k);
	}
	return 0;
}

static void a_handlers_name_may_change(void **state)
{
	(void)state;
	assert_int_equal(run(1, 1, 0, name_handlers, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_last_messages_arrive),
	    cmocka_unit_test(a_refused_message_is_a_failure_of_the_run),
	    cmocka_unit_test(a_get_that_failed_writes_no_more),
	    cmocka_unit_test(a_group_that_failed_gives_no_result),
	    cmocka_unit_test(sizes_beyond_64_bits_are_refused),
	    cmocka_unit_test(a_handlers_name_may_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
