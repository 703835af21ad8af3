/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.h - links and switches between GPUs and the IOMMU.
 *
 * A tree: GPUs at leaf switches, leaf switches and the IOMMU at a root switch. Each direction of a link is a
 * struct sim_link, with the input buffer at its end: one for requests and one for replies, each a queue whose
 * first message alone may go on, through a crossbar that serves its inputs in turn. A message leaves when the
 * buffer before it has room for all its flits (credits), and takes the link for as long as its flits need: an
 * interval, not a flit at a time. An event says that it has gone only where something waits for that; else it
 * is found out by who comes next.
 *
 * Switches, and links between them, are the core's (window.h). Of a GPU's link to its switch the GPU has the
 * near end, which sends, and the core the buffer at the far end: it says beforehand from when there is room
 * again.
 */
#ifndef SIM_NETWORK_H
#define SIM_NETWORK_H

#include <sim/access.h>
#include <sim/config.h>

struct sim_machine;

enum {
	SIM_PARTS = 64,         /* of a cycle, in which links count */
	SIM_SHORT_MESSAGE = 128 /* bytes */
};

/*
 * Flits that have left, or will leave, a buffer at the far end of a GPU's link: room for others from that
 * cycle on.
 */
struct sim_room {
	uint64_t cycle;
	uint32_t flits;
};

/* All that the GPU has not counted yet, the first cycle first: a ring. */
struct sim_rooms {
	struct sim_event event; /* first: there is room, and somebody waits for that */
	struct sim_link *link;
	struct sim_room *room; /* NULL: both ends are of the core, which needs none */
	uint32_t size, first, count;
	bool wanted; /* somebody waits, and there is nothing in the ring */
};

struct sim_link {
	struct sim_event wake; /* first: the last message has gone, and somebody waits for that */
	uint64_t free_at;      /* parts of a cycle: the last message has gone */
	struct sim_link *from; /* whose buffer that message leaves; NULL: none, or it has left */
	uint32_t from_flits;
	uint8_t from_channel;
	bool armed;  /* wake is set */
	bool packet; /* that message is one of a CoDec */
	uint32_t credits[SIM_CHANNELS];
	struct sim_fifo waiting[SIM_CHANNELS]; /* to go over it: the first of each input */
	struct sim_rooms rooms[SIM_CHANNELS];
	bool far; /* its near end is of a GPU, its far end of the core */
	/* at its end: behind the first, which waits for its next link */
	struct sim_fifo buffer[SIM_CHANNELS];
	bool occupied[SIM_CHANNELS];             /* there is a first */
	struct sim_link *crossing[SIM_CHANNELS]; /* the link that it is leaving by; NULL: it waits for one */
	uint8_t turn;                            /* which channel goes first */
	uint32_t gap;                            /* parts of a cycle before the next message */
	bool sink;                               /* ends at a GPU or the IOMMU, which take everything */
	/* the switch at its end: leaf switches from 0, then the root */
	int16_t end;
	char name[16];
	uint64_t messages, flits, bytes, busy; /* busy: parts of a cycle */
};

struct sim_network {
	uint32_t endpoints, leaves;
	uint32_t gpus_per_switch, cost; /* cost: parts of a cycle of a flit */
	uint64_t latency;               /* of a switch */
	uint64_t eject;
	uint32_t flit_bytes, encoding;
	uint32_t flits[SIM_SHORT_MESSAGE]; /* of messages by their bytes */
	/* up: of an endpoint to its switch, down: back; rise: of a leaf to the root, fall: back */
	struct sim_link up[SIM_MOST_GPUS + 1], down[SIM_MOST_GPUS + 1], rise[SIM_MOST_GPUS],
	    fall[SIM_MOST_GPUS];
};

/* Returns 0 or -GN_ENOMEM. */
int sim_network_init(struct sim_network *n, const struct sim_config *c);
void sim_network_fini(struct sim_network *n);

/*
 * sim_network_send - from, to, bytes, channel and deliver of the message are set; deliver is called where it
 * is going.
 */
void sim_network_send(struct sim_domain *m, struct sim_message *x);

/*
 * sim_network_collect - at the end of a window: what GPUs have sent is on its way to the core, in the order
 * of GPUs, then of sending.
 */
void sim_network_collect(struct sim_machine *m);

/* sim_network_link - all links, in a fixed order; NULL behind the last. */
struct sim_link *sim_network_link(struct sim_network *n, uint32_t k);

/* sim_network_flits - of a message of so many bytes: at least one. */
uint32_t sim_network_flits(const struct sim_network *n, uint64_t bytes);

/*
 * sim_network_settle - once nothing is on its way: buffers that nobody has looked at since are seen to be
 * empty.
 */
void sim_network_settle(struct sim_network *n);

#endif
