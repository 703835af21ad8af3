/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h - a transport carries packets: a table of functions, used only by the network thread of a node.
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

/* A packet with the state that the node keeps for it. */
struct gn_parcel {
	struct gn_packet *packet;
	struct gn_parcel *next; /* in the list that it is on */
	uint64_t opened_ns;     /* when its first message came */
	uint64_t bytes;         /* of a received packet: number of bytes that arrived */
	/* the destination; of a received packet the sender, as the transport knows it */
	uint32_t peer;
	uint32_t class_;
	uint32_t away; /* used by the transport: 1 while the packet must not be changed */
	void *carrier; /* used by the transport */
};

struct gn_transport;

struct gn_transport_ops {
	/*
	 * Begin to send a sealed packet to parcel->peer. Returns 0, -GN_EAGAIN (not now; nothing was
	 * changed), -GN_EIO (it cannot be sent; error holds the cause).
	 */
	int (*send)(struct gn_transport *t, struct gn_parcel *parcel);
	/* Has a packet that was sent left its memory? Returns 1 or 0. */
	int (*sent)(struct gn_transport *t, struct gn_parcel *parcel);
	/* The oldest packet of a class that has arrived; NULL: none. Give it back by release. */
	struct gn_parcel *(*receive)(struct gn_transport *t, uint32_t class_);
	void (*release)(struct gn_transport *t, struct gn_parcel *parcel);
	/*
	 * This node has nothing to send, and will not have unless it gets a packet. Called repeatedly while
	 * that is so; returns 1 when it is so for all nodes and every packet was released: none will come.
	 */
	int (*leave)(struct gn_transport *t);
	void (*close)(struct gn_transport *t);
	/*
	 * All-gather of `bytes` bytes of each node, in the order of nodes. Called before any packet, while
	 * nothing else uses the transport. Waits for all nodes. Returns 0, -GN_ENOMEM, -GN_EIO,
	 * -GN_ETIMEDOUT. NULL: the nodes share a process.
	 */
	int (*gather)(struct gn_transport *t, const void *own, void *all, uint32_t bytes,
	              struct gn_error *error);
};

struct gn_transport {
	const struct gn_transport_ops *ops;
	const char *name;
	uint32_t node, nodes;
	uint32_t same_host; /* number of nodes on this host, with this one */
	uint32_t session;
	uint32_t copies; /* 1: packets are copied on their way, so short packets arrive sooner */
	/* 1: packets that have not left may be read even after close, so their memory must stay */
	uint32_t keeps;
	struct gn_error error; /* the first failure of the carrier itself */
};

/*
 * In-process: nodes are threads of one program, and packets are handed over without a copy.
 * gn_local_world_create - make a world of `nodes` nodes; gn_local_open gives each its transport. Returns 0 or
 * -GN_ENOMEM.
 */
struct gn_local_world;
int gn_local_world_create(struct gn_local_world **world, uint32_t nodes, struct gn_error *error);
void gn_local_world_destroy(struct gn_local_world *world);
int gn_local_open(struct gn_transport **transport, struct gn_local_world *world, uint32_t node,
                  struct gn_error *error);

/*
 * gn_mpi_open - the transport of this process among all that the MPI launcher started. All nodes call it, and
 * it waits for all of them.
 * @options  timeout_ns of the wait; heap_bytes, columns and route, which must be the same on all nodes
 * Returns 0, -GN_ENOMEM, -GN_EIO, -GN_EINVAL, -GN_ENOTSUP, -GN_ETIMEDOUT as gn_net_run. It exists only in
 * programs that are linked with grapnel-mpi.
 */
int gn_mpi_open(struct gn_transport **transport, const struct gn_net_options *options,
                struct gn_error *error);

/*
 * gn_mpi_abort - end all processes of the program with this status, now. Called by the network thread or a
 * handler. Does not return.
 */
void gn_mpi_abort(int status);

#ifdef __cplusplus
}
#endif

#endif
