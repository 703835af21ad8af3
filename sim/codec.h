/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.h - DualOpt's coalescer of fine replies (section 4.1.3), at the GPU that sends them.
 *
 * A buffer for each other GPU. Words wait in it until they fill a packet, or until the time-out. Ready
 * buffers are served in turn; while a packet waits for the link the next is not made, so that it can still
 * grow. What does not fit into a buffer waits behind it. At the receiver a packet is taken apart by
 * sim_rdma_back.
 */
#ifndef SIM_CODEC_H
#define SIM_CODEC_H

#include <sim/access.h>
#include <sim/config.h>

struct sim_codec_buffer {
	struct sim_event timer; /* first */
	uint64_t due;           /* cycle of the time-out; of nobody while the buffer is empty */
	bool ticking;           /* the timer is set */
	uint8_t from, to;
	struct sim_fifo held;   /* responses, the oldest first */
	struct sim_fifo behind; /* that found the buffer full */
	uint32_t words, bytes;  /* of those held */
};

struct sim_codec {
	struct sim_codec_buffer buffer[SIM_MOST_GPUS]; /* by destination */
	uint32_t turn;
	bool packet_waits; /* for the link */
	uint32_t capacity; /* bytes of a packet for words and IDs */
};

void sim_codec_init(struct sim_codec *k, uint8_t gpu, const struct sim_config *c);

/* sim_codec_add - a fine reply. One with more words than a packet has goes as a line of its own. */
void sim_codec_add(struct sim_domain *m, struct sim_access *a);

/* sim_codec_left - a packet of that GPU has gone over its link: the next may be made. */
void sim_codec_left(struct sim_domain *m, uint8_t gpu);

#endif
