/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - a program is run on all nodes of this process. */
#include <net/node.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_TIMEOUT_S = 30, DEFAULT_FLUSH_NS = 125000 };

/* From so many nodes on, messages go two ways. */
enum { TWO_WAYS_FROM = 65 };

static const uint64_t default_heap_bytes = 64ull << 20, default_log_bytes = 1ull << 20;

struct run {
	struct gn_net *net;
	int (*node)(struct gn_net *net, void *argument);
	void *argument;
	int rc, network_rc;
	pthread_t thread, network;
	int started, network_started;
};

static void *run_network(void *argument)
{
	struct run *r = (struct run *)argument;

	r->network_rc = gn__network(r->net);
	return NULL;
}

static void *run_node(void *argument)
{
	struct run *r = (struct run *)argument;

	r->rc = r->node(r->net, r->argument);
	simt_store_release_dev_u32(&r->net->stop, 1);
	return NULL;
}

static uint32_t square_root(uint32_t value)
{
	uint32_t root = 1;

	while ((root + 1) * (root + 1) <= value)
		root++;
	return root;
}

/* Defaults, and what cannot be. */
static int settle_config(struct gn_net_config *c, uint32_t nodes, struct gn_error *error)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (!nodes || nodes > GN_NET_MOST_NODES)
		return gn_error_set(error, -GN_EINVAL, "%u nodes: from 1 to %d can be", nodes, GN_NET_MOST_NODES);
	if (c->columns > nodes)
		return gn_error_set(error, -GN_EINVAL, "%u columns of %u nodes: not more columns than nodes", c->columns, nodes);
	if (!c->columns)
		c->columns = nodes < TWO_WAYS_FROM ? 1 : square_root(nodes);
	if (!c->machine.name)
		c->machine.name = "cpu";
	if (!c->machine.threads)
		c->machine.threads = cores > (long)nodes ? (unsigned)(cores / (long)nodes) : 1;
	c->heap_bytes = c->heap_bytes ? (c->heap_bytes + 4095) / 4096 * 4096 : default_heap_bytes;
	c->log_bytes = c->log_bytes ? c->log_bytes : default_log_bytes;
	c->packet_bytes = c->packet_bytes && c->packet_bytes < GN_PACKET_BYTES ? c->packet_bytes : (uint64_t)GN_PACKET_BYTES;
	c->flush_ns = c->flush_ns ? c->flush_ns : (uint64_t)DEFAULT_FLUSH_NS;
	c->timeout_ns = c->timeout_ns ? c->timeout_ns : DEFAULT_TIMEOUT_S * 1000000000ull;
	if (c->heap_bytes / 4 > gn_message_most_place)
		return gn_error_set(error, -GN_EINVAL, "a heap of %llu bytes: at most 512 GiB can be addressed",
				    (unsigned long long)c->heap_bytes);
	return 0;
}

static int start(struct run *r, struct gn_error *error)
{
	r->network_started = !pthread_create(&r->network, NULL, run_network, r);
	r->started = r->network_started && !pthread_create(&r->thread, NULL, run_node, r);
	if (r->started)
		return 0;
	simt_store_release_dev_u32(&r->net->stop, 1);
	return gn_error_set(error, -GN_ENOMEM, "no thread for node %u", r->net->route.node);
}

static void finish(struct run *r)
{
	if (r->started)
		pthread_join(r->thread, NULL);
	if (r->network_started)
		pthread_join(r->network, NULL);
}

static int run_all(struct run *run, uint32_t nodes, struct gn_error *error)
{
	int rc = 0;

	for (uint32_t k = 0; k < nodes; k++) {
		const int one = start(&run[k], error);

		rc = rc ? rc : one;
	}
	for (uint32_t k = 0; k < nodes; k++)
		finish(&run[k]);
	for (uint32_t k = 0; k < nodes && !rc; k++)
		rc = run[k].rc;
	for (uint32_t k = 0; k < nodes && !rc; k++)
		if (run[k].network_rc)
			rc = gn_error_set(error, run[k].network_rc, "other nodes did not end within %llu ms of node %u",
					  (unsigned long long)(run[k].net->config.timeout_ns / 1000000), k);
	return rc;
}

static int run_local(const struct gn_net_config *config, struct run *run, struct gn_error *error)
{
	struct gn_local_world *world;
	uint32_t made = 0;
	int rc = gn_local_world_create(&world, config->nodes, error);

	if (rc)
		return rc;
	for (; made < config->nodes; made++) {
		struct gn_transport *transport;

		rc = gn_local_open(&transport, world, made, error);
		if (!rc)
			rc = gn__node_create(&run[made].net, config, transport, error);
		if (rc)
			break;
	}
	if (!rc)
		rc = run_all(run, made, error);
	/* a packet lies in the memory of who sent it: all end first */
	while (made)
		gn__node_destroy(run[--made].net);
	gn_local_world_destroy(world);
	return rc;
}

int gn_net_run(const struct gn_net_config *config, int (*node)(struct gn_net *net, void *argument), void *argument,
	       struct gn_error *error)
{
	struct gn_net_config c = *config;
	struct run *run;
	int rc;

	if (!c.transport)
		c.transport = "local";
	if (strcmp(c.transport, "local"))
		return gn_error_set(error, -GN_ENODEV, "there is no transport \"%s\"; use local", c.transport);
	c.nodes = c.nodes ? c.nodes : 1;
	rc = settle_config(&c, c.nodes, error);
	if (rc)
		return rc;
	run = (struct run *)calloc(c.nodes, sizeof *run);
	if (!run)
		return gn_error_set(error, -GN_ENOMEM, "no memory for %u nodes", c.nodes);
	for (uint32_t k = 0; k < c.nodes; k++) {
		run[k].node = node;
		run[k].argument = argument;
	}
	rc = run_local(&c, run, error);
	free(run);
	return rc;
}
