/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - runs a program on all nodes of this process. */
#include <net/node.h>

#include <simt/machine.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_TIMEOUT_S = 30 };

static const uint64_t default_heap_bytes = 64ull << 20, default_log_bytes = 1ull << 20,
                      default_shared_bytes = 1ull << 20;

/* Defined only in programs that are linked with grapnel-mpi. */
extern int gn_mpi_open(struct gn_transport **transport, const struct gn_net_options *options,
                       struct gn_error *error) __attribute__((weak));

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

/* The kernels of the network must be there before those of the program. */
static void await_network(const struct gn_net *net)
{
	while (!simt_load_acquire_dev_u32(&net->begun))
		simt_relax();
}

static void *run_node(void *argument)
{
	struct run *r = (struct run *)argument;

	await_network(r->net);
	r->rc = r->node(r->net, r->argument);
	r->net->outcome = r->rc;
	simt_store_release_dev_u32(&r->net->stop, 1);
	return NULL;
}

/* ---- before and after a run ---- */

/* Round up to whole pages. A size that would pass 2^64 is returned as it is; settle_options refuses it. */
static uint64_t round_up(uint64_t bytes)
{
	return bytes > UINT64_MAX - 4095 ? bytes : (bytes + 4095) / 4096 * 4096;
}

static void set_defaults(struct gn_net_options *c)
{
	if (!c->machine.name)
		c->machine.name = "cpu";
	c->heap_bytes = c->heap_bytes ? round_up(c->heap_bytes) : default_heap_bytes;
	if (!c->log_bytes)
		c->log_bytes =
		    strncmp(c->machine.name, "cuda", 4) ? default_log_bytes : default_log_bytes / 4;
	c->shared_bytes = c->shared_bytes ? round_up(c->shared_bytes) : default_shared_bytes;
	c->packet_bytes = c->form == GN_NET_MESSAGE_PER_LANE ? 1 : c->packet_bytes;
	c->packet_bytes = c->packet_bytes && c->packet_bytes < GN_PACKET_BYTES ? c->packet_bytes
	                                                                       : (uint64_t)GN_PACKET_BYTES;
	c->flush_ns = c->flush_ns ? c->flush_ns : (uint64_t)GN_RULE_FLUSH_NS;
	c->timeout_ns = c->timeout_ns ? c->timeout_ns : DEFAULT_TIMEOUT_S * 1000000000ull;
}

/*
 * Set the options that depend on the number of nodes, and of nodes on this host; refuse options that are not
 * possible.
 */
static int settle_options(struct gn_net_options *c, uint32_t nodes, uint32_t same_host,
                          struct gn_error *error)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	const uint64_t most = gn__message_most_place;

	if (!nodes || nodes > GN_NET_MOST_NODES)
		return gn_error_set(error, -GN_EINVAL, "%u nodes are not possible; give 1 to %d", nodes,
		                    GN_NET_MOST_NODES);
	if ((uintptr_t)c->data % 8)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "symmetric data at address %p is not aligned; begin it at a multiple of 8 bytes",
		    c->data);
	if (c->columns > nodes)
		return gn_error_set(error, -GN_EINVAL,
		                    "%u columns are more than the %u nodes; give at most one column a node",
		                    c->columns, nodes);
	if (!c->columns)
		c->columns = gn_rule_columns(nodes);
	if (!c->machine.threads)
		c->machine.threads = cores > (long)same_host ? (unsigned)(cores / (long)same_host) : 1;
	/* each alone first: the sum may pass 2^64 */
	if (c->heap_bytes / 4 > most || c->shared_bytes / 4 > most || c->data_bytes / 4 > most ||
	    (c->heap_bytes + c->shared_bytes + c->data_bytes) / 4 > most)
		return gn_error_set(error, -GN_EINVAL,
		                    "a heap of %llu bytes is too large; heap, shared data and symmetric data "
		                    "together can have at most 512 GiB",
		                    (unsigned long long)c->heap_bytes);
	if (c->log_bytes / 4 > most)
		return gn_error_set(error, -GN_EINVAL, "a log of %llu bytes is too large; give less",
		                    (unsigned long long)c->log_bytes);
	return 0;
}

/* The result of a node's run, with its message. */
static int outcome(const struct run *r, struct gn_error *error)
{
	struct gn_net_fault fault;
	int failed;

	/* Messages of others may be lost here though the program has ended well; heard: they know it
	 * themselves. */
	if (!r->rc && !r->network_rc && (r->net->heard || !simt_load_acquire_dev_u32(&r->net->fault->ended)))
		return 0;
	failed = gn_net_failure(r->net, &fault, error);
	if (!r->rc && !simt_load_acquire_dev_u32(&r->net->failed))
		return gn_error_set(
		    error, r->network_rc,
		    "not all other nodes ended within %llu ms after node %u; let all nodes do "
		    "about the same work, or give a longer timeout",
		    (unsigned long long)(r->net->options.timeout_ns / 1000000), r->net->route.node);
	if (failed) {
		if (error)
			error->code = r->rc ? r->rc : r->net->failure.code;
		return r->rc ? r->rc : r->net->failure.code;
	}
	return gn_error_set(error, r->rc, "the program of node %u returned %d (%s)", r->net->route.node,
	                    r->rc, gn_error_name(r->rc));
}

static int no_thread(struct run *r, struct gn_error *error)
{
	simt_store_release_dev_u32(&r->net->stop, 1);
	return gn_error_set(error, -GN_ENOMEM, "the system has no thread left for node %u; start fewer nodes",
	                    r->net->route.node);
}

/* ---- nodes that are threads of this process ---- */

static int start_network(struct run *r, struct gn_error *error)
{
	r->network_started = !pthread_create(&r->network, NULL, run_network, r);
	return r->network_started ? 0 : no_thread(r, error);
}

static int start(struct run *r, struct gn_error *error)
{
	if (!r->network_started)
		return 0;
	r->started = !pthread_create(&r->thread, NULL, run_node, r);
	return r->started ? 0 : no_thread(r, error);
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

	for (uint32_t k = 0; k < nodes; k++)
		rc = start_network(&run[k], error) ? -GN_ENOMEM : rc;
	for (uint32_t k = 0; k < nodes; k++)
		if (run[k].network_started) /* nodes may share a GPU */
			await_network(run[k].net);
	for (uint32_t k = 0; k < nodes; k++)
		rc = start(&run[k], error) ? -GN_ENOMEM : rc;
	for (uint32_t k = 0; k < nodes; k++)
		finish(&run[k]);
	for (int heard = 0; heard < 2; heard++) /* first those that did not merely hear of a failure */
		for (uint32_t k = 0; k < nodes && !rc; k++)
			if ((run[k].net->heard != 0) == heard)
				rc = outcome(&run[k], error);
	return rc;
}

/* Map the heaps of nodes of this process whose machines reach each other. */
static int map_all(struct run *run, uint32_t nodes, struct gn_error *error)
{
	char **heap = (char **)calloc(nodes, sizeof *heap);
	int rc = heap ? 0 : gn_error_set(error, -GN_ENOMEM, "out of host memory for %u nodes", nodes);

	for (uint32_t k = 0; k < nodes && !rc; k++) {
		for (uint32_t other = 0; other < nodes; other++) {
			const int can = !simt_enable_peer(run[k].net->machine, run[other].net->machine, NULL);

			heap[other] = can ? run[other].net->host.heap : NULL;
		}
		rc = gn__heaps_map(run[k].net, heap, error);
	}
	free(heap);
	return rc;
}

static int run_local(struct gn_net_options *options, const struct run *node, struct gn_error *error)
{
	struct gn_local_world *world = NULL;
	struct run *run;
	uint32_t made = 0;
	int rc;

	options->nodes = options->nodes ? options->nodes : 1;
	if (options->data && options->nodes > 1)
		return gn_error_set(error, -GN_EINVAL,
		                    "%u nodes of one process cannot have symmetric data: a process has its "
		                    "static data once; give 1 node or use the transport mpi",
		                    options->nodes);
	rc = settle_options(options, options->nodes, options->nodes, error);
	if (rc)
		return rc;
	run = (struct run *)calloc(options->nodes, sizeof *run);
	rc = run ? gn_local_world_create(&world, options->nodes, error)
	         : gn_error_set(error, -GN_ENOMEM, "out of host memory for %u nodes", options->nodes);
	for (; !rc && made < options->nodes; made += !rc) {
		struct gn_transport *transport;

		run[made] = *node;
		rc = gn_local_open(&transport, world, made, error);
		if (!rc)
			rc = gn__node_create(&run[made].net, options, transport, error);
	}
	if (!rc && options->route == GN_NET_DIRECT)
		rc = map_all(run, made, error);
	if (!rc)
		rc = run_all(run, made, error);
	/* a packet lies in its sender's memory, so all nodes have ended before the first is destroyed */
	while (made)
		gn__node_destroy(run[--made].net);
	gn_local_world_destroy(world);
	free(run);
	return rc;
}

/* ---- a node that is this process ---- */

/* Run this process's node. The calling thread becomes the network thread, because only it may call MPI. */
static int run_one(struct run *r, struct gn_error *error)
{
	int rc = 0;

	r->started = !pthread_create(&r->thread, NULL, run_node, r);
	if (!r->started)
		rc = no_thread(r, error);
	run_network(r);
	finish(r);
	return rc ? rc : outcome(r, error);
}

static int run_mpi(struct gn_net_options *options, const struct run *node, struct gn_error *error)
{
	struct run run = *node;
	struct gn_transport *transport;
	int rc = gn_mpi_open(&transport, options, error);

	if (rc)
		return rc;
	rc = settle_options(options, transport->nodes, transport->same_host, error);
	if (rc) {
		transport->ops->close(transport);
		return rc;
	}
	rc = gn__node_create(&run.net, options, transport, error);
	if (rc)
		return rc;
	if (options->route == GN_NET_DIRECT)
		rc = gn__peers_map(run.net, error);
	if (!rc)
		rc = run_one(&run, error);
	gn__node_destroy(run.net);
	return rc;
}

/* ---- choose ---- */

/* Are there variables of Open MPI, of MPICH and its derivatives, or of Slurm? */
static int launched_by_mpi(void)
{
	return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK");
}

int gn_net_run(const struct gn_net_options *options, int (*node)(struct gn_net *net, void *argument),
               void *argument, struct gn_error *error)
{
	const struct run run = {NULL, node, argument, 0, 0, 0, 0, 0, 0};
	struct gn_net_options c = *options;

	set_defaults(&c);
	if (!strncmp(c.machine.name, "cuda", 4))
		simt__expect_residents();
	if (!c.transport)
		c.transport = gn_mpi_open && launched_by_mpi() ? "mpi" : "local";
	if (!strcmp(c.transport, "local"))
		return run_local(&c, &run, error);
	if (strcmp(c.transport, "mpi"))
		return gn_error_set(error, -GN_ENODEV, "there is no transport \"%s\"; use local or mpi",
		                    c.transport);
	if (!gn_mpi_open)
		return gn_error_set(
		    error, -GN_ENODEV,
		    "this program has no transport \"mpi\"; link it with grapnel-mpi "
		    "(pkg-config: grapnel-mpi, CMake: grapnel::mpi), which is built where MPI is installed");
	return run_mpi(&c, &run, error);
}
