/* SPDX-License-Identifier: Apache-2.0 */
/* net.c - a node is put together. */
#include <net/node.h>

#include <stdlib.h>
#include <string.h>

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
	const uint64_t alignment = gn__heap_alignment(net->config.heap_bytes);
	char *memory = (char *)simt_alloc(net->machine, total + alignment, SIMT_SHARED);

	if (!memory)
		return gn_error_set(error, -GN_ENOMEM, "no %llu MiB for the heap and the logs of node %u",
				    (unsigned long long)(total >> 20), net->route.node);
	net->shared = memory;
	memory += (alignment - (uintptr_t)memory % alignment) % alignment;
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
	v->data = (char *)net->config.data;
	v->data_bytes = net->config.data_bytes;
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
	if (net->config.squeeze == GN_NET_SQUEEZE || (net->config.squeeze == GN_NET_SQUEEZE_COPIES && net->transport->copies))
		net->scratch = (struct gn_packet *)malloc(sizeof *net->scratch);
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

void gn__node_destroy(struct gn_net *net)
{
	gn__links_destroy(net);
	gn__heap_destroy(net->heap);
	for (uint32_t k = 0; k < GN_PACKET_CLASSES; k++) {
		free(net->intake[k].sequence);
		free(net->intake[k].plain);
	}
	free(net->scratch);
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

int gn__node_create(struct gn_net **net, const struct gn_net_config *config, struct gn_transport *transport,
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
		gn__node_destroy(n);
	else
		*net = n;
	return rc;
}
