/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h - what carries packets: a table of functions, used by the network thread of one node only.
 *
 * Packets of one class from one node to another arrive in the order in which they were sent, whole, once, or
 * not at all.
 */
#ifndef GN_NET_TRANSPORT_H
#define GN_NET_TRANSPORT_H

#include <grapnel/net.h>
#include <net/packet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A packet, and what the node that holds it knows of it. */
struct gn_parcel {
	struct gn_packet *packet;
	struct gn_parcel *next; /* in the list of whoever holds it */
	uint64_t opened_ns;     /* when its first message came */
	uint64_t bytes;         /* arrived; of a received one */
	/* where it goes; of a received one: the node it comes from, as the transport knows */
	uint32_t peer;
	uint32_t class_;
	uint32_t away; /* the transport's: 1 while it must not be touched */
	void *carrier; /* the transport's */
};

struct gn_transport;

struct gn_transport_ops {
	/*
	 * Begin to send a sealed packet to parcel->peer. Returns 0, -GN_EAGAIN (not now: nothing was
	 * changed), -GN_EIO (it cannot be sent; error says why).
	 */
	int (*send)(struct gn_transport *t, struct gn_parcel *parcel);
	/* Has a packet that was sent left its memory? Returns 1 or 0. */
	int (*sent)(struct gn_transport *t, struct gn_parcel *parcel);
	/* The oldest packet of a class that has arrived; NULL: none. Give it back by release. */
	struct gn_parcel *(*receive)(struct gn_transport *t, uint32_t class_);
	void (*release)(struct gn_transport *t, struct gn_parcel *parcel);
	/*
	 * This node has sent all it will ever send. Asked again and again; returns 1 when that is true of all
	 * nodes.
	 */
	int (*leave)(struct gn_transport *t);
	void (*close)(struct gn_transport *t);
	/*
	 * Before any packet, and while nothing else uses the transport: what every node says, so many bytes
	 * each, to all, in the order of nodes. Waits for all of them. Returns 0, -GN_ENOMEM, -GN_EIO,
	 * -GN_ETIMEDOUT. NULL: nodes share a process.
	 */
	int (*gather)(struct gn_transport *t, const void *own, void *all, uint32_t bytes,
	              struct gn_error *error);
};

struct gn_transport {
	const struct gn_transport_ops *ops;
	const char *name;
	uint32_t node, nodes;
	uint32_t same_host; /* nodes on this host, this one among them */
	uint32_t session;
	uint32_t copies; /* 1: packets are copied on their way, so that short ones are sooner there */
	/* 1: if it were closed now, packets that have not left may still be read: their memory must stay */
	uint32_t keeps;
	struct gn_error error; /* the first failure of the carrier itself */
};

/*
 * In-process: nodes are threads of one program, packets are handed over without a copy.
 * gn_local_world_create - a world of so many nodes; gn_local_open gives each its end. -GN_ENOMEM.
 */
struct gn_local_world;
int gn_local_world_create(struct gn_local_world **world, uint32_t nodes, struct gn_error *error);
void gn_local_world_destroy(struct gn_local_world *world);
int gn_local_open(struct gn_transport **transport, struct gn_local_world *world, uint32_t node,
                  struct gn_error *error);

/*
 * gn_mpi_open - this process's end of all that the MPI launcher started. All nodes call it; waits for them.
 * @options  timeout_ns of the wait; heap_bytes, columns and route, which must be the same on all nodes
 * Returns 0, -GN_ENOMEM, -GN_EIO, -GN_EINVAL, -GN_ENOTSUP, -GN_ETIMEDOUT as gn_net_run says. Only there in
 * programs that are linked with grapnel-mpi.
 */
int gn_mpi_open(struct gn_transport **transport, const struct gn_net_options *options,
                struct gn_error *error);

/*
 * gn_mpi_abort - end all processes of the program with this status, now. Network thread, a handler. Does not
 * return.
 */
void gn_mpi_abort(int status);

#ifdef __cplusplus
}
#endif

#endif
