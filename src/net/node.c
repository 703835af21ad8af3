/* SPDX-License-Identifier: Apache-2.0 */
/* node.c - makes a node from its parts. */
#include <net/node.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Where the parts of a node lie: near, in memory that host and machine reach, or apart, in memory that only
 * the machine reaches.
 */
struct shared {
	char *heap, *data, *stage, *mapped;
	/* of the kernels' logs, and of the others */
	uint64_t *word[2], *released[2];
	struct gn__log_reader *reader; /* [logs] of the kernels' logs; of the host alone */
	struct gn__log *log;           /* of the kernels, apart */
	struct gn__log *host_log;      /* of the host and of handlers */
	struct gn_net_slot *slot;
	struct gn_ring *ring[2]; /* free slots; with a device [1] is the host's */
	uint32_t *turn[2], *id[2];
};

enum { NEAR, APART };

/* The words of a log, where so many logs share the room of one. */
static uint64_t log_capacity(const struct gn_net_options *options, uint32_t logs)
{
	uint64_t words = 4 * GN__MESSAGE_MOST_WORDS;
	uint64_t capacity = 1;

	if (options->log_bytes / 8 / logs > words)
		words = options->log_bytes / 8 / logs;
	while (capacity < words)
		capacity *= 2;
	return capacity;
}

/*
 * Allocates places in two pieces of memory. In a first pass base is NULL, and the pieces are only measured.
 */
struct layout {
	char *base[2];
	uint64_t total[2];
	uint32_t apart; /* the piece for parts that lie apart; without a device NEAR */
};

static void *place(struct layout *l, uint32_t piece, uint64_t bytes)
{
	const uint32_t k = piece == APART ? l->apart : (uint32_t)NEAR;
	char *at = l->base[k] ? l->base[k] + l->total[k] : NULL;

	l->total[k] += (bytes + 127) / 128 * 128;
	return at;
}

/* The words of a log of the kernels (0) or of another one (1). */
static uint64_t log_words(const struct gn_net *net, uint32_t other)
{
	return log_capacity(&net->options, !other && net->each ? net->each : 1);
}

static void lay_out(struct gn_net *net, struct shared *s, struct layout *l)
{
	const uint64_t slots = GN_NET_SLOTS;
	const uint32_t sorts = net->each ? APART : NEAR; /* who sorts the kernels' logs reaches them */

	s->heap = (char *)place(l, APART, net->options.heap_bytes);
	s->log = (struct gn__log *)place(l, APART, net->logs * sizeof *s->log);
	s->mapped = (char *)place(l, APART, net->route.nodes * sizeof(char *));
	for (uint32_t k = 0; k < 2; k++) {
		const uint32_t logs = k ? 2 : net->logs, where = k ? (uint32_t)NEAR : sorts;

		s->word[k] = (uint64_t *)place(l, where, logs * log_words(net, k) * 8);
		s->released[k] = (uint64_t *)place(l, where, logs * 128ull);
	}
	s->host_log = (struct gn__log *)place(l, NEAR, 2 * sizeof *s->log);
	s->slot = (struct gn_net_slot *)place(l, NEAR, net->slots * sizeof *s->slot);
	net->fault = (struct gn_net_fault *)place(l, NEAR, sizeof *net->fault);
	for (uint32_t k = 0; k < 2; k++) {
		s->ring[k] = (struct gn_ring *)place(l, k ? NEAR : APART, sizeof *s->ring[k]);
		s->turn[k] = (uint32_t *)place(l, k ? NEAR : APART, slots * sizeof *s->turn[k]);
		s->id[k] = (uint32_t *)place(l, k ? NEAR : APART, slots * sizeof *s->id[k]);
	}
	if (!net->device)
		return;
	s->data = (char *)place(l, NEAR, net->options.shared_bytes);
	s->stage = (char *)place(l, NEAR, slots * GN__MESSAGE_MOST_BYTES);
}

static int share(struct gn_net *net, struct shared *s, struct gn_error *error)
{
	const uint64_t alignment = gn__heap_alignment(net->options.heap_bytes);
	const int exported = net->options.route == GN_NET_DIRECT && net->transport->ops->gather;
	struct layout l;

	memset(&l, 0, sizeof l);
	memset(s, 0, sizeof *s);
	l.apart = net->device ? APART : NEAR;
	lay_out(net, s, &l);
	l.total[l.apart] += alignment;
	net->shared = simt_alloc(net->machine, l.total[NEAR],
	                         exported && !net->device ? SIMT_EXPORTED : SIMT_PINNED, error);
	net->apart = net->device ? simt_alloc(net->machine, l.total[APART],
	                                      exported ? SIMT_EXPORTED : SIMT_DEVICE, error)
	                         : NULL;
	if (!net->shared || (net->device && !net->apart))
		return gn_error_set(error, -GN_ENOMEM,
		                    "cannot allocate %llu MiB of host memory and %llu MiB of device memory "
		                    "for node %u; give a smaller heap",
		                    (unsigned long long)(l.total[NEAR] >> 20),
		                    (unsigned long long)(l.total[APART] >> 20), net->route.node);
	l.base[NEAR] = (char *)net->shared;
	l.base[APART] = (char *)net->apart;
	/* the heap is the first in its piece */
	l.base[l.apart] += (alignment - (uintptr_t)l.base[l.apart] % alignment) % alignment;
	l.total[NEAR] = l.total[APART] = 0;
	lay_out(net, s, &l);
	return 0;
}

/* Make an image of parts that may lie apart, then move it there. */
static int slots_init(struct gn_net *net, const struct shared *s, uint32_t k, struct gn_error *error)
{
	uint32_t *turn = (uint32_t *)calloc(2 * GN_NET_SLOTS, sizeof *turn), *id = turn + GN_NET_SLOTS,
	         ticket;
	struct gn_ring ring;
	int rc;

	if (!turn)
		return gn_error_set(error, -GN_ENOMEM, "out of host memory for a node; start fewer nodes");
	gn_ring_init(&ring, turn, turn, GN_NET_SLOTS, 0);
	for (uint32_t n = 0; n < GN_NET_SLOTS && !gn_ring_reserve(&ring, &ticket); n++) {
		id[gn_ring_slot(&ring, ticket)] = n + k * GN_NET_SLOTS;
		gn_ring_commit(&ring, ticket);
	}
	ring.turn = s->turn[k];
	rc = simt_move(net->machine, s->ring[k], &ring, sizeof ring, error);
	if (!rc)
		rc = simt_move(net->machine, s->turn[k], turn, GN_NET_SLOTS * sizeof *turn, error);
	if (!rc)
		rc = simt_move(net->machine, s->id[k], id, GN_NET_SLOTS * sizeof *id, error);
	free(turn);
	return rc;
}

/* Fill images of the kernels' logs, and move them to the machine. The readers stay here. */
static int kernel_logs_init(struct gn_net *net, const struct shared *s, struct gn_error *error)
{
	const uint64_t words = log_words(net, 0);
	struct gn__log *image = (struct gn__log *)calloc(net->logs, sizeof *image);
	int rc;

	if (!image)
		return gn_error_set(error, -GN_ENOMEM, "out of host memory for a node; start fewer nodes");
	for (uint32_t k = 0; k < net->logs; k++) {
		uint64_t released; /* stands for the word of the log, which may be apart; it is 0 there */

		gn__log_init(&image[k], &s->reader[k], s->word[0] + k * words, &released, words, 0);
		image[k].released = s->reader[k].released = s->released[0] + k * 16ull;
		image[k].here = net->each != 0;
	}
	rc = simt_move(net->machine, s->log, image, net->logs * sizeof *image, error);
	free(image);
	return rc;
}

static int logs_init(struct gn_net *net, const struct shared *s, struct gn_error *error)
{
	const uint64_t words = log_words(net, 1);
	const uint32_t kernels = net->sources - 2;
	int rc;

	for (uint32_t k = 0; k < 2; k++) {
		struct gn_source *source = &net->source[kernels + k];

		source->log = &s->host_log[k];
		source->tail = &source->log->tail;
		gn__log_init(source->log, &source->reader, s->word[1] + k * words, s->released[1] + k * 16ull,
		             words, 0);
	}
	rc = kernel_logs_init(net, s, error);
	if (rc)
		return rc;
	for (uint32_t k = 0; k < kernels; k++) {
		net->source[k].log = &s->log[k];
		net->source[k].reader = s->reader[k];
		net->source[k].tail = net->device ? NULL : &s->log[k].tail;
	}
	return 0;
}

/*
 * Make the views of the machine's threads, of host threads and of handlers. They differ in their logs, in the
 * memory that they reach, and in how long they wait.
 */
static void views_init(struct gn_net *net, const struct shared *s)
{
	struct gn_net_view *v = &net->host;
	const uint32_t own = net->device ? 1 : 0; /* the host's slots */

	v->node = net->route.node;
	v->nodes = net->route.nodes;
	v->heap = s->heap;
	v->heap_bytes = net->options.heap_bytes;
	v->data = s->data ? s->data : (char *)net->options.data;
	v->data_bytes = s->data ? net->options.shared_bytes : net->options.data_bytes;
	v->group = (struct gn_net_group *)(void *)(s->data ? s->data : s->heap);
	v->slot = s->slot;
	v->slots = net->slots;
	v->free_slot = s->ring[own];
	v->free_id = s->id[own];
	v->fault = net->fault;
	v->timeout_ns = net->options.timeout_ns;
	v->logs = v->each = 1;
	v->log = &s->host_log[0];
	v->far = net->device ? GN__NET_HEAP : 0;
	net->view = net->handler_view = *v;
	net->view.log = s->log;
	net->view.logs = net->logs;
	net->view.each = net->each ? net->each : 1;
	net->view.far = net->device ? GN__NET_DATA : 0;
	net->view.free_slot = s->ring[0];
	net->view.free_id = s->id[0];
	net->view.stage = s->stage;
	net->handler_view.log = &s->host_log[1];
	net->handler_view.timeout_ns = 0;
	net->map = s->mapped;
}

static int node_memory(struct gn_net *net, struct gn_error *error)
{
	const uint32_t nodes = net->route.nodes;
	int rc = 0;

	net->source = (struct gn_source *)calloc(net->sources, sizeof *net->source);
	net->turn = (uint32_t *)calloc(net->sources, sizeof *net->turn);
	net->peer = (struct gn_peer *)calloc(nodes, sizeof *net->peer);
	net->quiet.token = (uint64_t *)calloc(net->slots, sizeof *net->quiet.token);
	if (net->options.compress == GN_NET_COMPRESS ||
	    (net->options.compress == GN_NET_COMPRESS_COPIES && net->transport->copies))
		net->scratch = (struct gn_packet *)malloc(sizeof *net->scratch);
	if (!net->source || !net->turn || !net->peer || !net->quiet.token)
		rc = -GN_ENOMEM;
	for (uint32_t k = 0; k < GN_PACKET_CLASSES; k++) {
		net->intake[k].sequence = (uint32_t *)calloc(nodes, sizeof *net->intake[k].sequence);
		rc = net->intake[k].sequence ? rc : -GN_ENOMEM;
	}
	if (!rc)
		rc = gn__links_create(net);
	return rc ? gn_error_set(error, rc, "node %u: out of host memory", net->route.node) : 0;
}

void gn__node_destroy(struct gn_net *net)
{
	gn__links_destroy(net);
	gn__heap_destroy(net->heap);
	gn__heap_destroy(net->data);
	gn__sort_destroy(net);
	gn__device_destroy(net);
	for (uint32_t k = 0; k < GN_PACKET_CLASSES; k++) {
		free(net->intake[k].sequence);
		free(net->intake[k].plain);
	}
	for (uint32_t k = 0; k < net->handlers; k++)
		free(net->handler[k].name);
	free(net->scratch);
	free(net->quiet.token);
	free(net->turn);
	free(net->peer);
	free(net->source);
	gn__peers_unmap(net);
	if (net->machine) {
		simt_free(net->machine, net->shared);
		simt_free(net->machine, net->apart);
		simt_close(net->machine);
	}
	if (net->transport)
		net->transport->ops->close(net->transport);
	free(net);
}

/* Nodes of one host whose machine is "cuda" share the host's GPUs. */
static void choose_machine(struct gn_net *net)
{
	uint32_t devices;

	net->sharing = net->transport->same_host ? net->transport->same_host : 1;
	if (strcmp(net->options.machine.name, "cuda"))
		return;
	devices = simt_devices("cuda");
	if (!devices)
		return;
	net->sharing = (net->sharing + devices - 1) / devices;
	snprintf(net->name, sizeof net->name, "cuda:%u", net->route.node % devices);
	net->options.machine.name = net->name;
}

static int heaps_create(struct gn_net *net, const struct shared *s, struct gn_error *error)
{
	const uint64_t group = sizeof(struct gn_net_group);
	int rc = gn__heap_create(&net->heap, net->device ? net->machine : NULL, s->heap,
	                         net->device ? 0 : group, net->options.heap_bytes);

	if (!rc && s->data)
		rc = gn__heap_create(&net->data, NULL, s->data, group, net->options.shared_bytes);
	return rc ? gn_error_set(error, rc,
	                         "a heap of %llu bytes is too small, or host memory is exhausted; give a "
	                         "larger heap_bytes",
	                         (unsigned long long)net->options.heap_bytes)
	          : 0;
}

/* How many logs the machine's threads have, and whether a kernel sorts them. */
static void choose_logs(struct gn_net *net, const struct simt_info *info, int apart)
{
	if (apart && gn__sort_is_possible(&net->options, net->route.nodes) && gn__device_fits(net, info, 1))
		net->each = info->is_cuda ? GN_SORT_LOGS : GN_SORT_CPU_LOGS;
	net->logs = info->processors * (net->each ? net->each : 1);
	net->sources = 2 + (net->each ? 0 : net->logs);
}

/* Allocate the node's memory and make what lies in it. */
static int node_place(struct gn_net *net, struct shared *s, struct gn_error *error)
{
	int rc = share(net, s, error);

	s->reader = (struct gn__log_reader *)calloc(net->logs, sizeof *s->reader);
	if (!rc && !s->reader)
		rc = gn_error_set(error, -GN_ENOMEM, "node %u: out of host memory", net->route.node);
	if (rc)
		return rc;
	rc = slots_init(net, s, 0, error);
	if (!rc)
		rc = slots_init(net, s, 1, error);
	if (!rc)
		rc = logs_init(net, s, error);
	if (rc)
		return gn_error_prefix(error, rc, "node %u cannot initialise its memory", net->route.node);
	return net->each ? gn__sort_create(net, s->reader, error) : 0;
}

static int node_fill(struct gn_net *net, struct gn_error *error)
{
	struct simt_info info;
	struct shared s;
	int rc, apart;

	choose_machine(net);
	rc = simt_open(&net->machine, &net->options.machine, error);
	if (rc)
		return rc;
	simt_describe(net->machine, &info);
	apart = info.is_cuda || net->options.by_kernel;
	choose_logs(net, &info, apart);
	if (apart && net->options.data)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "symmetric static data needs the machine cpu; leave options.data NULL on other machines");
	if (apart)
		rc = gn__device_create(net, error);
	net->slots = net->device ? 2 * GN_NET_SLOTS : GN_NET_SLOTS;
	if (!rc)
		rc = node_memory(net, error);
	if (rc)
		return rc;
	rc = node_place(net, &s, error);
	free(s.reader);
	if (rc)
		return rc;
	views_init(net, &s);
	return heaps_create(net, &s, error);
}

int gn__node_create(struct gn_net **net, const struct gn_net_options *options, struct gn_transport *transport,
                    struct gn_error *error)
{
	struct gn_net *n = (struct gn_net *)calloc(1, sizeof *n);
	int rc;

	if (!n) {
		transport->ops->close(transport);
		return gn_error_set(error, -GN_ENOMEM, "out of host memory for a node; start fewer nodes");
	}
	n->transport = transport;
	n->options = *options;
	n->route.node = transport->node;
	n->route.nodes = transport->nodes;
	n->route.columns = options->columns;
	rc = node_fill(n, error);
	if (rc)
		gn__node_destroy(n);
	else
		*net = n;
	return rc;
}

int gn__heaps_map(struct gn_net *net, char *const *heap, struct gn_error *error)
{
	const int rc = simt_move(net->machine, net->map, heap, net->route.nodes * sizeof *heap, error);

	if (rc)
		return gn_error_prefix(error, rc,
		                       "node %u cannot store the addresses of the other nodes' heaps",
		                       net->route.node);
	net->view.mapped = (char *const *)(void *)net->map;
	if (!net->device)
		net->host.mapped = net->handler_view.mapped = net->view.mapped;
	return 0;
}
