/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of somebody who uses net: how many nodes there are, and that they add up. Prints one line, on
 * node 0.
 */
#include <grapnel/net.h>
#include <stdio.h>

static int node_main(struct gn_net *net, void *unused)
{
	uint64_t sum = gn_net_node(net) + 1;
	const int rc = gn_net_reduce_u64(gn_net_host(net), GN_ADD, &sum, 1);

	(void)unused;
	if (!rc && !gn_net_node(net))
		printf("%u nodes, sum %llu\n", gn_net_nodes(net), (unsigned long long)sum);
	return rc;
}

int main(void)
{
	struct gn_net_options options = {.timeout_ns = 20000000000};
	struct gn_error error;
	const int rc = gn_net_run(&options, node_main, NULL, &error);

	if (rc)
		fprintf(stderr, "%s\n", error.text);
	return rc != 0;
}
