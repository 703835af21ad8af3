/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heaps of nodes that are other processes: which of them a node takes for its own to change, and which it
 * sends to.
 */
#include <net/node.h>
#include <net/sink.h>
#include <string.h>

#include "unit.h"

enum { SELF, BESIDE, ELSEWHERE, NODES };

/* As if the node beside had the same heap, and the third were on another host, or had none to give. */
static int same_and_none(struct gn_transport *t, const void *own, void *all, uint32_t bytes,
                         struct gn_error *error)
{
	(void)t;
	(void)error;
	memset(all, 0, (size_t)NODES * bytes);
	memcpy((char *)all + SELF * bytes, own, bytes);
	memcpy((char *)all + BESIDE * bytes, own, bytes);
	return 0;
}

static int elsewhere(struct gn_transport *t, const void *own, void *all, uint32_t bytes,
                     struct gn_error *error)
{
	same_and_none(t, own, all, bytes, error);
	memcpy((char *)all + ELSEWHERE * bytes, own, bytes);
	/* what is said begins with it */
	((struct simt_exported *)(void *)((char *)all + ELSEWHERE * bytes))->host[0] ^= 1;
	return 0;
}

static int nobody_answers(struct gn_transport *t, const void *own, void *all, uint32_t bytes,
                          struct gn_error *error)
{
	(void)t;
	(void)own;
	(void)all;
	(void)bytes;
	return gn_error_set(error, -GN_ETIMEDOUT, "nobody answers");
}

static struct gn_transport_ops ops;

static struct gn_net *node_with(int (*gather)(struct gn_transport *, const void *, void *, uint32_t,
                                              struct gn_error *),
                                uint32_t by_kernel)
{
	struct gn_transport *t = gn__sink_create(SELF, NODES, 0);
	struct gn_net_options options;
	struct gn_net *net = NULL;
	struct gn_error error = {0, ""};

	ops = *t->ops;
	ops.gather = gather;
	t->ops = &ops;
	memset(&options, 0, sizeof options);
	options.machine.name = "cpu";
	options.machine.threads = 1;
	options.by_kernel = by_kernel;
	options.host_sorts = 1; /* the kernel is not started */
	options.columns = 1;
	options.heap_bytes = options.shared_bytes = options.log_bytes = 1 << 16;
	options.packet_bytes = GN_PACKET_BYTES;
	options.flush_ns = options.timeout_ns = 1000000000;
	options.route = GN_NET_DIRECT;
	if (gn__node_create(&net, &options, t, &error))
		fail_msg("%s", error.text);
	return net;
}

static void heaps_of_this_host_are_changed_and_others_sent_to(void **state)
{
	struct gn_error error;

	(void)state;
	for (uint32_t k = 0; k < 4; k++) {
		struct gn_net *net = node_with(k % 2 ? elsewhere : same_and_none, k / 2);
		struct gn_net_view n = gn_net_device(net);
		uint64_t *word = (uint64_t *)gn_net_alloc(net, 8, &error);

		assert_int_equal(gn__peers_map(net, &error), 0);
		n = gn_net_device(net);
		assert_ptr_equal(n.mapped[SELF], n.heap);
		assert_true(n.mapped[BESIDE] && n.mapped[BESIDE] != n.heap);
		assert_null(n.mapped[ELSEWHERE]);
		assert_int_equal(gn_net_add_u64(&n, BESIDE, word, 5), 0);
		assert_int_equal(*word, 5);
		assert_int_equal(gn__drain(net), 0);
		assert_int_equal(gn_net_add_u64(&n, ELSEWHERE, word, 5), 0);
		assert_int_equal(*word, 5);
		assert_int_equal(gn__drain(net), 1);
		gn__node_destroy(net);
	}
}

static void who_hears_nothing_says_so(void **state)
{
	struct gn_net *net = node_with(nobody_answers, 0);
	struct gn_error error;

	(void)state;
	assert_int_equal(gn__peers_map(net, &error), -GN_ETIMEDOUT);
	assert_string_equal(error.text, "nobody answers");
	gn__node_destroy(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(heaps_of_this_host_are_changed_and_others_sent_to),
	    cmocka_unit_test(who_hears_nothing_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
