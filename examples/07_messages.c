/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 07_messages - four nodes count together.
 *
 * A table of counters is spread over four nodes, here threads of this process. Each thread of each node draws
 * numbers and adds 1 to the counter of each, wherever it lies: one function call from the kernel, a message
 * if the counter is another node's. Then every node tells every other how much it counted.
 *
 *     cc -O2 07_messages.c $(pkg-config --cflags --libs grapnel) -o 07_messages && ./07_messages
 *
 * Linked with grapnel-mpi and started by mpirun, the nodes are processes.
 *
 * Expected output:
 *     4 nodes counted 400000 draws: 400000
 */
#include <stdio.h>
#include <string.h>

#include <grapnel/net.h>

enum { COUNTERS = 1000, DRAWS = 100000, THREADS = 50 };

struct count_args {
	struct gn_net_view net;
	uint64_t *counter; /* COUNTERS of this node's; every node's lie at the same place of its heap */
};

/* A kernel: plain C that every thread of the grid runs. */
SIMT_FN void count(const struct count_args *a)
{
	uint64_t random = a->net.node * THREADS + simt_global_thread() + 1;

	for (uint32_t k = 0; k < DRAWS / THREADS; k++) {
		uint32_t number;

		random = random * 6364136223846793005u + 1442695040888963407u;
		number = (uint32_t)(random >> 33) % (COUNTERS * a->net.nodes);
		gn_net_inc_u64(&a->net, number / COUNTERS, &a->counter[number % COUNTERS]);
	}
}
SIMT_KERNEL(count, struct count_args)

/* The program of each node. */
static int node_main(struct gn_net *net, void *unused)
{
	const struct gn_net_view *host = gn_net_host(net);
	const struct simt_grid grid = {1, THREADS, 0};
	struct count_args a;
	struct gn_error error = {0, ""};
	struct gn_net_fault fault;
	uint64_t sum = 0;
	int rc;

	(void)unused;
	a.net = gn_net_device(net);
	a.counter = (uint64_t *)gn_net_alloc(net, COUNTERS * sizeof *a.counter, &error);
	rc = a.counter ? 0 : error.code;
	if (!rc)
		rc = gn_net_barrier(host); /* the counters are there on every node */
	if (!rc)
		rc = simt_launch(gn_net_machine(net), &count_kernel, grid, &a, &error);
	if (!rc)
		rc = simt_wait(gn_net_machine(net), &error);
	if (!rc)
		rc = gn_net_barrier(host); /* all nodes' messages have arrived everywhere */
	for (uint32_t k = 0; !rc && k < COUNTERS; k++)
		sum += a.counter[k];
	if (!rc)
		rc = gn_net_reduce_u64(host, GN_ADD, &sum, 1);
	if (rc && !error.code)
		gn_net_failure(net, &fault, &error); /* why a wait for the others ended */
	if (rc)
		fprintf(stderr, "07_messages: node %u: %s %s\n", gn_net_node(net), gn_error_name(rc),
		        error.text);
	else if (!gn_net_node(net))
		printf("%u nodes counted %u draws: %llu\n", gn_net_nodes(net), DRAWS * gn_net_nodes(net),
		       (unsigned long long)sum);
	return rc;
}

int main(void)
{
	struct gn_net_options options;
	struct gn_error error;

	memset(&options, 0, sizeof options);
	memset(&error, 0, sizeof error);
	options.nodes = 4;
	options.heap_bytes = 1 << 20;
	if (!gn_net_run(&options, node_main, NULL, &error))
		return 0;
	fprintf(stderr, "07_messages: %s\n", error.code ? error.text : "a node failed");
	return 1;
}
