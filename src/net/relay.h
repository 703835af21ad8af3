/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.h - rings from the kernels of each node to the GPU of each other (net/relay.h), and the kernel that reads those
 * that come to a node.
 */
#ifndef GN_NET_SRC_RELAY_H
#define GN_NET_SRC_RELAY_H

#include <grapnel/net.h>
#include <net/resident.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GN_RELAY_SLOTS = 4096 }; /* of a ring: 64 KiB */

struct gn_relay_args {
	struct gn_net_view net; /* of the kernels */
	struct gn_relay_reader *reader;
	uint32_t readers;
	const uint32_t *stop; /* the host's: not 0: end, when nothing is left */
};

SIMT_KERNEL_DECLARE(gn_relay_work);

struct gn_relays {
	struct gn_resident kernel;
	struct gn_relay *out;           /* [logs][nodes], in memory of the producers' machine */
	struct gn_relay_slot *slot;     /* of all rings that come here: [nodes][logs of theirs][GN_RELAY_SLOTS] */
	struct gn_relay_reader *reader; /* one a ring */
	uint32_t readers;
	uint32_t *stop;
	uint64_t *wanted; /* [logs * nodes] a quiet waits until so much was released */
};

/*
 * gn__relays_create - all nodes of the process, whose kernels reach each other's memory, get rings to each other.
 * Returns 0 or a code that error explains; what was made belongs to the nodes.
 */
int gn__relays_create(struct gn_net **net, uint32_t nodes, struct gn_error *error);
void gn__relays_destroy(struct gn_net *net);

/* gn__relays_start, gn__relays_stop - by the network thread. */
int gn__relays_start(struct gn_net *net);
void gn__relays_stop(struct gn_net *net);

/*
 * gn__relays_want - keep how far the rings of this node are written. @seen  [2 * logs * nodes]: their tails, then what is
 * released. gn__relays_are_done - has all that was wanted been released?
 */
void gn__relays_want(struct gn_net *net, const uint64_t *seen);
int gn__relays_are_done(const struct gn_net *net, const uint64_t *seen);

#ifdef __cplusplus
}
#endif

#endif
