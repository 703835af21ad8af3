/* SPDX-License-Identifier: Apache-2.0 */
#include <net/node.h>
#include <net/relay.h>

#include <stdlib.h>
#include <string.h>

enum { BLOCK_WARPS = 4 };

/* Rings that come to a node: from each log of each other node. */
static uint32_t rings_to(struct gn_net **net, uint32_t nodes, uint32_t to)
{
	uint32_t rings = 0;

	for (uint32_t k = 0; k < nodes; k++)
		rings += k == to ? 0 : net[k]->view.logs;
	return rings;
}

/* ---- memory ---- */

static int allocate(struct gn_net *net, uint32_t rings, struct gn_error *error)
{
	const uint64_t outs = (uint64_t)net->view.logs * net->route.nodes, slots = (uint64_t)rings * GN_RELAY_SLOTS;
	struct gn_relays *r = (struct gn_relays *)calloc(1, sizeof *r);
	int rc;

	net->relays = r;
	if (net->view.logs + 2 * outs > GN_PACKET_WORDS)
		return gn_error_set(error, -GN_EINVAL, "%u nodes are too many for the relay; use the route packets or direct",
				    net->route.nodes);
	rc = r ? gn__resident_open(&r->kernel, net, error) : gn_error_set(error, -GN_ENOMEM, "no memory for node %u", net->route.node);
	if (rc)
		return rc;
	r->readers = rings;
	r->wanted = (uint64_t *)calloc(outs, sizeof *r->wanted);
	r->out = (struct gn_relay *)simt_alloc(net->machine, outs * sizeof *r->out, SIMT_DEVICE);
	r->slot = (struct gn_relay_slot *)simt_alloc(net->machine, (slots ? slots : 1) * sizeof *r->slot, SIMT_DEVICE);
	r->reader = (struct gn_relay_reader *)simt_alloc(net->machine, (rings ? rings : 1) * sizeof *r->reader, SIMT_DEVICE);
	r->stop = (uint32_t *)simt_alloc(net->machine, sizeof *r->stop, SIMT_SHARED);
	if (!r->wanted || !r->out || !r->slot || !r->reader || !r->stop)
		return gn_error_set(error, -GN_ENOMEM, "no %llu MiB of the device for the rings that come to node %u",
				    (unsigned long long)(slots * sizeof *r->slot >> 20), net->route.node);
	return 0;
}

void gn__relays_destroy(struct gn_net *net)
{
	struct gn_relays *r = net->relays;

	if (!r)
		return;
	simt_free(net->machine, r->out);
	simt_free(net->machine, r->slot);
	simt_free(net->machine, r->reader);
	simt_free(net->machine, r->stop);
	free(r->wanted);
	gn__resident_close(&r->kernel);
	free(r);
}

/* ---- who writes where ---- */

/* Rings of one node come to another from `first` on. */
struct joint {
	struct gn_net *from, *to;
	uint32_t first;
};

static void join(const struct joint *j, struct gn_relay *out, struct gn_relay_reader *in)
{
	const uint32_t nodes = j->from->route.nodes;

	for (uint32_t log = 0; log < j->from->view.logs; log++) {
		const uint64_t k = (uint64_t)log * nodes + j->to->route.node;
		struct gn_relay *o = &out[k];
		struct gn_relay_reader *i = &in[j->first + log];

		o->slot = i->slot = j->to->relays->slot + (uint64_t)(j->first + log) * GN_RELAY_SLOTS;
		o->capacity = i->capacity = GN_RELAY_SLOTS;
		i->released = &j->from->relays->out[k].released;
	}
}

static int reach(const struct joint *j, struct gn_error *error)
{
	if (!simt_reach(j->from->machine, j->to->machine) && !simt_reach(j->to->machine, j->from->machine))
		return 0;
	return gn_error_set(error, -GN_ENOTSUP, "the GPUs of nodes %u and %u do not reach each other's memory; use the route packets",
			    j->from->route.node, j->to->route.node);
}

/* Images of what lies in memory of the devices: of all nodes, because a ring belongs to two. */
struct images {
	struct gn_relay **out;
	struct gn_relay_reader **in;
};

static int images_make(struct images *m, struct gn_net **net, uint32_t nodes)
{
	int rc = 0;

	m->out = (struct gn_relay **)calloc(nodes, sizeof *m->out);
	m->in = (struct gn_relay_reader **)calloc(nodes, sizeof *m->in);
	if (!m->out || !m->in)
		return -GN_ENOMEM;
	for (uint32_t k = 0; k < nodes; k++) {
		m->out[k] = (struct gn_relay *)calloc((uint64_t)net[k]->view.logs * nodes, sizeof **m->out);
		m->in[k] = (struct gn_relay_reader *)calloc(net[k]->relays->readers + 1, sizeof **m->in);
		rc = m->out[k] && m->in[k] ? rc : -GN_ENOMEM;
	}
	return rc;
}

static int images_move(const struct images *m, struct gn_net *net, uint32_t k, struct gn_error *error)
{
	const struct gn_relays *r = net->relays;
	const uint64_t outs = (uint64_t)net->view.logs * net->route.nodes;
	int rc = simt_move(net->machine, r->out, m->out[k], outs * sizeof **m->out);

	if (!rc && r->readers)
		rc = simt_move(net->machine, r->reader, m->in[k], r->readers * sizeof **m->in);
	net->view.relay = r->out;
	return rc ? gn_error_set(error, rc, "node %u cannot fill its memory: %s", net->route.node, simt_message(net->machine)) : 0;
}

static void images_free(struct images *m, uint32_t nodes)
{
	for (uint32_t k = 0; k < nodes && m->out && m->in; k++) {
		free(m->out[k]);
		free(m->in[k]);
	}
	free(m->out);
	free(m->in);
}

static int join_all(const struct images *m, struct gn_net **net, uint32_t nodes, struct gn_error *error)
{
	int rc = 0;

	for (uint32_t to = 0; to < nodes; to++) {
		uint32_t first = 0;

		for (uint32_t from = 0; from < nodes && !rc; from++) {
			const struct joint j = {net[from], net[to], first};

			if (from == to)
				continue;
			rc = reach(&j, error);
			join(&j, m->out[from], m->in[to]);
			first += net[from]->view.logs;
		}
	}
	return rc;
}

int gn__relays_create(struct gn_net **net, uint32_t nodes, struct gn_error *error)
{
	struct images m = {NULL, NULL};
	int rc = 0;

	for (uint32_t k = 0; k < nodes && !rc; k++)
		rc = allocate(net[k], rings_to(net, nodes, k), error);
	if (!rc && images_make(&m, net, nodes))
		rc = gn_error_set(error, -GN_ENOMEM, "no memory for %u nodes", nodes);
	if (!rc)
		rc = join_all(&m, net, nodes, error);
	for (uint32_t k = 0; k < nodes && !rc; k++)
		rc = images_move(&m, net[k], k, error);
	images_free(&m, nodes);
	return rc;
}

/* ---- the kernel that reads ---- */

int gn__relays_start(struct gn_net *net)
{
	struct gn_relays *r = net->relays;
	const struct gn_relay_args a = {net->view, r->reader, r->readers, r->stop};
	struct simt_info info;
	struct simt_grid grid = {1, 0, 0};

	if (!r->readers)
		return 0;
	simt_describe(r->kernel.machine, &info);
	grid.block_threads = BLOCK_WARPS * info.warp_width;
	grid.blocks = (r->readers + BLOCK_WARPS - 1) / BLOCK_WARPS;
	return gn__resident_start(&r->kernel, net, &gn_relay_work_kernel, grid, &a);
}

void gn__relays_stop(struct gn_net *net)
{
	struct gn_relays *r = net->relays;

	simt_store_release_sys_u32(r->stop, 1);
	if (r->kernel.started)
		gn__resident_wait(&r->kernel, net);
}

/* ---- a quiet ---- */

void gn__relays_want(struct gn_net *net, const uint64_t *seen)
{
	memcpy(net->relays->wanted, seen, (uint64_t)net->view.logs * net->route.nodes * sizeof *seen);
}

int gn__relays_are_done(const struct gn_net *net, const uint64_t *seen)
{
	const uint64_t rings = (uint64_t)net->view.logs * net->route.nodes;

	for (uint64_t k = 0; k < rings; k++)
		if ((int64_t)(seen[rings + k] - net->relays->wanted[k]) < 0)
			return 0;
	return 1;
}
