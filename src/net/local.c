/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local.c - the transport of nodes that are threads of one process: a packet is handed over without a copy.
 */
#include <net/transport.h>

#include <grapnel/ring.h>
#include <stdlib.h>

/* The most packets of one class that wait at a node; if there are more, senders wait. */
enum { MAILBOX_DEPTH = 64 };

struct mailbox {
	struct gn_ring ring;
	uint32_t turn[MAILBOX_DEPTH];
	struct gn_parcel *parcel[MAILBOX_DEPTH];
};

struct gn_local_world {
	uint32_t nodes;
	uint32_t session;
	/*
	 * nodes that have something to do, and packets that are under way. A node that takes a packet has
	 * something to do before the packet is released, so this is 0 when no packet can come any more
	 */
	uint32_t work;
	struct mailbox (*mailbox)[GN_PACKET_CLASSES]; /* of each node */
};

struct local {
	struct gn_transport transport; /* first */
	struct gn_local_world *world;
	int rests; /* it is not counted in work */
};

static int local_send(struct gn_transport *t, struct gn_parcel *parcel)
{
	struct mailbox *box = &((struct local *)t)->world->mailbox[parcel->peer][parcel->class_];
	uint32_t ticket;

	if (gn_ring_reserve(&box->ring, &ticket))
		return -GN_EAGAIN;
	parcel->bytes = gn_packet_bytes(parcel->packet);
	parcel->peer = t->node; /* for the receiver */
	simt_store_relaxed_dev_u32(&parcel->away, 1);
	simt_add_acq_rel_dev_u32(&((struct local *)t)->world->work, 1);
	box->parcel[gn_ring_slot(&box->ring, ticket)] = parcel;
	gn_ring_commit(&box->ring, ticket);
	return 0;
}

static int local_sent(struct gn_transport *t, struct gn_parcel *parcel)
{
	(void)t;
	return !simt_load_acquire_dev_u32(&parcel->away);
}

static struct gn_parcel *local_receive(struct gn_transport *t, uint32_t class_)
{
	struct local *l = (struct local *)t;
	struct mailbox *box = &((struct local *)t)->world->mailbox[t->node][class_];
	struct gn_parcel *parcel;
	uint32_t ticket;

	if (gn_ring_take(&box->ring, &ticket))
		return NULL;
	if (l->rests)
		simt_add_acq_rel_dev_u32(&l->world->work, 1);
	l->rests = 0;
	parcel = box->parcel[gn_ring_slot(&box->ring, ticket)];
	gn_ring_release(&box->ring, ticket);
	return parcel;
}

static void local_release(struct gn_transport *t, struct gn_parcel *parcel)
{
	simt_store_release_dev_u32(&parcel->away, 0);
	simt_add_acq_rel_dev_u32(&((struct local *)t)->world->work, ~0u);
}

static int local_leave(struct gn_transport *t)
{
	struct local *l = (struct local *)t;

	if (!l->rests)
		simt_add_acq_rel_dev_u32(&l->world->work, ~0u);
	l->rests = 1;
	return !simt_load_acquire_dev_u32(&l->world->work);
}

static void local_close(struct gn_transport *t)
{
	free(t);
}

static const struct gn_transport_ops local_ops = {local_send,  local_sent,  local_receive, local_release,
                                                  local_leave, local_close, NULL};

int gn_local_world_create(struct gn_local_world **world, uint32_t nodes, struct gn_error *error)
{
	struct gn_local_world *w = (struct gn_local_world *)calloc(1, sizeof *w);

	if (w)
		w->mailbox = (struct mailbox(*)[GN_PACKET_CLASSES])calloc(nodes, sizeof *w->mailbox);
	if (!w || !w->mailbox) {
		free(w);
		return gn_error_set(error, -GN_ENOMEM, "out of host memory for the mailboxes of %u nodes",
		                    nodes);
	}
	w->nodes = w->work = nodes;
	w->session = (uint32_t)simt_clock_ns() | 1;
	for (uint32_t node = 0; node < nodes; node++)
		for (uint32_t k = 0; k < GN_PACKET_CLASSES; k++) {
			struct mailbox *box = &w->mailbox[node][k];

			gn_ring_init(&box->ring, box->turn, box->turn, MAILBOX_DEPTH, 0);
		}
	*world = w;
	return 0;
}

void gn_local_world_destroy(struct gn_local_world *world)
{
	if (!world)
		return;
	free(world->mailbox);
	free(world);
}

int gn_local_open(struct gn_transport **transport, struct gn_local_world *world, uint32_t node,
                  struct gn_error *error)
{
	struct local *l = (struct local *)calloc(1, sizeof *l);

	if (!l)
		return gn_error_set(error, -GN_ENOMEM, "node %u: out of host memory", node);
	l->transport.ops = &local_ops;
	l->transport.name = "local";
	l->transport.node = node;
	l->transport.nodes = l->transport.same_host = world->nodes;
	l->transport.session = world->session;
	l->world = world;
	*transport = &l->transport;
	return 0;
}
