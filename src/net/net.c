/* SPDX-License-Identifier: Apache-2.0 */
/* net.c - a node is put together, a program is run on all nodes of this process. */
#include <net/node.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_TIMEOUT_S = 30, DEFAULT_FLUSH_NS = 125000 };

/* From so many nodes on, messages go two ways. */
enum { TWO_WAYS_FROM = 65 };

static const uint64_t default_heap_bytes = 64ull << 20, default_log_bytes = 1ull << 20;

/* ---- what nodes say of themselves ---- */

uint32_t gn_net_node(const struct gn_net *net)
{
	return net->route.node;
}

uint32_t gn_net_nodes(const struct gn_net *net)
{
	return net->route.nodes;
}

struct simt_machine *gn_net_machine(const struct gn_net *net)
{
	return net->machine;
}

struct gn_net_view gn_net_device(const struct gn_net *net)
{
	return net->view;
}

const struct gn_net_view *gn_net_host(const struct gn_net *net)
{
	return &net->host;
}

int gn_net_failure(const struct gn_net *net, struct gn_net_fault *fault)
{
	memset(fault, 0, sizeof *fault);
	if (simt_load_acquire_sys_u32(&net->fault.state) == 2)
		*fault = net->fault;
	return fault->code;
}

const char *gn_net_message(const struct gn_net *net)
{
	return simt_load_acquire_dev_u32(&net->failed) ? net->failure.text : "";
}

void gn_net_count(const struct gn_net *net, struct gn_net_stats *stats)
{
	const uint64_t *from = (const uint64_t *)&net->stats;
	uint64_t *to = (uint64_t *)stats;

	for (size_t k = 0; k < sizeof *stats / sizeof *to; k++)
		to[k] = simt_load_relaxed_dev_u64(&from[k]);
}

void gn_net_waits(const struct gn_net *net, uint64_t *ns)
{
	const uint64_t now = simt_clock_ns();

	for (uint32_t k = 0; k < net->route.nodes; k++) {
		const uint64_t since = simt_load_relaxed_dev_u64(&net->peer[k].since_ns);

		ns[k] = simt_load_relaxed_dev_u32(&net->peer[k].asked) && now > since ? now - since : 0;
	}
}

int gn_net_handler(struct gn_net *net, const char *name, gn_net_handler_fn *handler, void *context)
{
	const uint32_t id = net->handlers;
	const struct gn_handler entry = {name, handler, context};

	for (uint32_t k = 0; k < id; k++)
		if (!strcmp(net->handler[k].name, name))
			return -GN_EINVAL;
	if (id == GN_NET_MOST_HANDLERS)
		return -GN_ENOBUFS;
	net->handler[id] = entry;
	simt_store_release_dev_u32(&net->handlers, id + 1);
	return (int)id;
}

int gn_net_settle(struct gn_net *net)
{
	uint64_t before = ~0ull, now[2];
	int rc;

	/*
	 * Twice the same, and as many run as sent: none was under way in between (Mattern's four counters). A barrier has
	 * every log sorted and so counted. What handlers sent beside calls is done behind the last one.
	 */
	for (;;) {
		rc = gn_net_barrier(&net->host);
		now[0] = simt_load_relaxed_dev_u64(&net->stats.calls);
		now[1] = simt_load_relaxed_dev_u64(&net->stats.called);
		if (!rc)
			rc = gn_net_reduce_u64(&net->host, GN__ADD, now, 2);
		if (rc)
			return rc;
		if (now[0] == now[1] && now[0] == before)
			return gn_net_barrier(&net->host);
		before = now[0];
	}
}

/* ---- a node ---- */

struct shared {
	struct gn_log *log;
	uint64_t *released;
	uint64_t *word;
	struct gn_ring *free_slot;
	uint32_t *turn, *free_id;
	struct gn_net_slot *slot;
};

static uint64_t log_capacity(const struct gn_net_config *config)
{
	uint64_t words = 4 * GN_MESSAGE_MOST_WORDS;
	uint64_t capacity = 1;

	if (config->log_bytes / 8 > words)
		words = config->log_bytes / 8;
	while (capacity < words)
		capacity *= 2;
	return capacity;
}

static uint64_t place(uint64_t *total, uint64_t bytes)
{
	const uint64_t at = *total;

	*total += (bytes + 127) / 128 * 128;
	return at;
}

/* One piece of the machine's memory holds the heap, and behind it logs and slots. */
static int share(struct gn_net *net, struct shared *s, struct gn_error *error)
{
	const uint64_t capacity = log_capacity(&net->config);
	uint64_t total = 0;
	const uint64_t heap = place(&total, net->config.heap_bytes);
	const uint64_t words = place(&total, net->sources * capacity * 8);
	const uint64_t logs = place(&total, net->sources * sizeof *s->log);
	const uint64_t released = place(&total, net->sources * 128ull);
	const uint64_t slots = place(&total, GN_NET_SLOTS * sizeof *s->slot);
	const uint64_t ring = place(&total, sizeof *s->free_slot);
	const uint64_t turns = place(&total, GN_NET_SLOTS * sizeof *s->turn);
	const uint64_t ids = place(&total, GN_NET_SLOTS * sizeof *s->free_id);
	char *memory = (char *)simt_alloc(net->machine, total, SIMT_SHARED);

	if (!memory)
		return gn_error_set(error, -GN_ENOMEM, "no %llu MiB for the heap and the logs of node %u",
				    (unsigned long long)(total >> 20), net->route.node);
	net->shared = memory;
	net->host.heap = memory + heap;
	s->word = (uint64_t *)(memory + words);
	s->log = (struct gn_log *)(memory + logs);
	s->released = (uint64_t *)(memory + released);
	s->slot = (struct gn_net_slot *)(memory + slots);
	s->free_slot = (struct gn_ring *)(memory + ring);
	s->turn = (uint32_t *)(memory + turns);
	s->free_id = (uint32_t *)(memory + ids);
	return 0;
}

static void slots_init(const struct shared *s)
{
	uint32_t ticket;

	gn_ring_init(s->free_slot, s->turn, s->turn, GN_NET_SLOTS, 0);
	for (uint32_t id = 0; id < GN_NET_SLOTS && !gn_ring_reserve(s->free_slot, &ticket); id++) {
		s->free_id[gn_ring_slot(s->free_slot, ticket)] = id;
		gn_ring_commit(s->free_slot, ticket);
	}
}

static void logs_init(struct gn_net *net, const struct shared *s)
{
	const uint64_t capacity = log_capacity(&net->config);

	for (uint32_t k = 0; k < net->sources; k++) {
		struct gn_source *source = &net->source[k];

		source->log = &s->log[k];
		gn_log_init(source->log, &source->reader, s->word + k * capacity, s->released + k * 16ull, capacity, 0);
	}
}

/* What the machine's threads, host threads and handlers see differs in the log, and in how long they wait. */
static void views_init(struct gn_net *net, const struct shared *s)
{
	struct gn_net_view *v = &net->host;

	v->node = net->route.node;
	v->nodes = net->route.nodes;
	v->heap_bytes = net->config.heap_bytes;
	v->slot = s->slot;
	v->free_slot = s->free_slot;
	v->free_id = s->free_id;
	v->fault = &net->fault;
	v->timeout_ns = net->config.timeout_ns;
	v->logs = 1;
	v->log = &s->log[net->sources - 2];
	net->view = net->handler_view = *v;
	net->view.log = s->log;
	net->view.logs = net->sources - 2;
	net->handler_view.log = &s->log[net->sources - 1];
	net->handler_view.timeout_ns = 0;
}

static int node_memory(struct gn_net *net, struct gn_error *error)
{
	const uint32_t nodes = net->route.nodes;
	int rc = 0;

	net->source = (struct gn_source *)calloc(net->sources, sizeof *net->source);
	net->peer = (struct gn_peer *)calloc(nodes, sizeof *net->peer);
	net->quiet.token = (uint64_t *)calloc(GN_NET_SLOTS, sizeof *net->quiet.token);
	if (!net->source || !net->peer || !net->quiet.token)
		rc = -GN_ENOMEM;
	for (uint32_t k = 0; k < GN_PACKET_CLASSES; k++) {
		net->intake[k].sequence = (uint32_t *)calloc(nodes, sizeof *net->intake[k].sequence);
		rc = net->intake[k].sequence ? rc : -GN_ENOMEM;
	}
	if (!rc)
		rc = gn__links_create(net);
	return rc ? gn_error_set(error, rc, "no memory for node %u", net->route.node) : 0;
}

static void node_destroy(struct gn_net *net)
{
	gn__links_destroy(net);
	gn__heap_destroy(net->heap);
	for (uint32_t k = 0; k < GN_PACKET_CLASSES; k++)
		free(net->intake[k].sequence);
	free(net->quiet.token);
	free(net->peer);
	free(net->source);
	if (net->machine) {
		simt_free(net->machine, net->shared);
		simt_close(net->machine);
	}
	if (net->transport)
		net->transport->ops->close(net->transport);
	free(net);
}

static int node_fill(struct gn_net *net, struct gn_error *error)
{
	struct simt_info info;
	struct shared s;
	int rc = simt_open(&net->machine, &net->config.machine, error);

	if (rc)
		return rc;
	simt_describe(net->machine, &info);
	if (info.is_cuda)
		return gn_error_set(error, -GN_ENOTSUP, "net runs on the cpu machine only; open it with the machine \"cpu\"");
	net->sources = info.processors + 2;
	rc = node_memory(net, error);
	if (!rc)
		rc = share(net, &s, error);
	if (rc)
		return rc;
	slots_init(&s);
	logs_init(net, &s);
	views_init(net, &s);
	rc = gn__heap_create(&net->heap, net->host.heap, net->config.heap_bytes);
	return rc ? gn_error_set(error, rc, "a heap of %llu bytes is too small", (unsigned long long)net->config.heap_bytes)
		  : 0;
}

/* @transport  becomes the node's, also when this fails */
static int node_create(struct gn_net **net, const struct gn_net_config *config, struct gn_transport *transport,
		       struct gn_error *error)
{
	struct gn_net *n = (struct gn_net *)calloc(1, sizeof *n);
	int rc;

	if (!n) {
		transport->ops->close(transport);
		return gn_error_set(error, -GN_ENOMEM, "no memory for a node");
	}
	n->transport = transport;
	n->config = *config;
	n->route.node = transport->node;
	n->route.nodes = transport->nodes;
	n->route.columns = config->columns;
	rc = node_fill(n, error);
	if (rc)
		node_destroy(n);
	else
		*net = n;
	return rc;
}

/* ---- a run ---- */

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
			rc = node_create(&run[made].net, config, transport, error);
		if (rc)
			break;
	}
	if (!rc)
		rc = run_all(run, made, error);
	/* a packet lies in the memory of who sent it: all end first */
	while (made)
		node_destroy(run[--made].net);
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
