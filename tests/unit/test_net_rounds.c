/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages for a heap that a kernel changes: which of them are marked as coming behind what is before them.
 */
#include <net/node.h>
#include <net/sink.h>
#include <string.h>

#include "unit.h"

enum { LOGS = 3, PE = 1 };

static struct gn_net *node_of_three_logs(void)
{
	struct gn_transport *t = gn__sink_create(0, 2, 1);
	struct gn_net_options options;
	struct gn_net *net = NULL;
	struct gn_error error = {0, ""};

	memset(&options, 0, sizeof options);
	options.machine.name = "cpu";
	options.machine.threads = LOGS;
	options.by_kernel = options.host_sorts = 1;
	options.columns = 1;
	options.heap_bytes = options.shared_bytes = options.log_bytes = 1 << 16;
	options.packet_bytes = GN_PACKET_BYTES;
	options.flush_ns = options.timeout_ns = 1000000000;
	if (gn__node_create(&net, &options, t, &error))
		fail_msg("%s", error.text);
	assert_int_equal(net->sources, LOGS + 2);
	return net;
}

/* Add 1 to a word of the other node, by a thread whose messages are in this log. */
static void send(struct gn_net *net, uint32_t log, uint64_t *word)
{
	struct gn_net_view v = *gn_net_host(net);

	v.log = net->source[log].log;
	assert_int_equal(gn_net_inc_u64(&v, PE, word), 0);
}

/*
 * The messages of the open packet, in order: which word of the heap, and 100 more if it is behind what is
 * before it.
 */
static void assert_sent(const struct gn_net *net, const uint64_t *word, const uint32_t *expected,
                        uint32_t count)
{
	const struct gn_link *l = net->peer[PE].link;
	const uint64_t *at = l->open->packet->word;

	for (uint32_t k = 0; k < count; k++, at += 2) {
		const uint64_t *to =
		    (const uint64_t *)(const void *)(net->host.heap + 4 * gn__message_place(at[0]));

		assert_true(at < l->at);
		assert_int_equal((uint32_t)(to - word) + (gn__message_is_first(at[0]) ? 100 : 0),
		                 expected[k]);
	}
	assert_ptr_equal(at, l->at);
}

static void logs_take_turns_and_a_round_has_one_mark(void **state)
{
	static const uint32_t first[] = {100, 3, 4, 101, 5, 102},
	                      then[] = {100, 3, 4, 101, 5, 102, 106, 107, 8};
	struct gn_net *net = node_of_three_logs();
	uint64_t *word = (uint64_t *)gn_net_alloc(net, 16 * sizeof *word, NULL);

	(void)state;
	assert_non_null(word);
	for (uint32_t k = 0; k < 3; k++)
		send(net, 0, &word[k]);
	send(net, 1, &word[3]);
	send(net, LOGS, &word[4]); /* a host thread */
	send(net, LOGS, &word[5]);
	assert_int_equal(gn__drain(net), 6);
	assert_sent(net, word, first, 6);
	send(net, 2, &word[6]);
	assert_int_equal(gn__drain(net), 1);
	send(net, 0, &word[7]);
	send(net, 1, &word[8]);
	assert_int_equal(gn__drain(net), 2);
	assert_sent(net, word, then, 9);
	gn__node_destroy(net);
}

/* What handlers send is drained by itself: each behind the one before. */
static void what_handlers_send_has_an_order(void **state)
{
	static const uint32_t expected[] = {100, 1, 102, 103};
	struct gn_net *net = node_of_three_logs();
	uint64_t *word = (uint64_t *)gn_net_alloc(net, 16 * sizeof *word, NULL);

	(void)state;
	send(net, 0, &word[0]);
	send(net, 1, &word[1]);
	send(net, LOGS + 1, &word[2]);
	send(net, LOGS + 1, &word[3]);
	assert_int_equal(gn__drain(net), 4);
	assert_sent(net, word, expected, 4);
	gn__node_destroy(net);
}

/*
 * Where packets have no room, the log that found none is the first to have it: the others do not starve it.
 */
static void who_found_no_room_comes_first(void **state)
{
	struct gn_net *net = node_of_three_logs();
	uint64_t *word = (uint64_t *)gn_net_alloc(net, 16 * sizeof *word, NULL);
	uint64_t left[LOGS];
	uint32_t k = 0;

	(void)state;
	for (k = 0; k < 2; k++)
		send(net, 0, &word[0]); /* so that packets are full in the middle of a round */
	assert_int_equal(gn__drain(net), 2);
	do { /* the sink keeps every packet */
		for (k = 0; k < LOGS; k++)
			send(net, k, &word[k]);
	} while (gn__drain(net) == LOGS);
	for (k = 0; k < LOGS; k++)
		left[k] = net->source[k].reader.at;
	k = net->first_turn;
	assert_in_range(k, 0, LOGS - 1);
	for (uint32_t l = 0; l < LOGS; l++)
		/* it was this one that found none */
		assert_true(left[k] - (k ? 0 : 4) <= left[l] - (l ? 0 : 4));
	assert_int_equal(gn__drain(net), 0);
	assert_int_equal(net->first_turn, k);
	for (uint32_t l = 0; l < LOGS; l++)
		assert_int_equal(net->source[l].reader.at, left[l]); /* and nothing was lost */
	gn__node_destroy(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(logs_take_turns_and_a_round_has_one_mark),
	    cmocka_unit_test(what_handlers_send_has_an_order),
	    cmocka_unit_test(who_found_no_room_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
