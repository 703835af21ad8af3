/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - where the heap is a GPU's, a kernel changes it: one that stays for the whole run, because the
 * GPU may be full of threads that wait until just that is done.
 *
 * The network thread copies the messages for the heap out of packets into jobs, in memory that both reach;
 * each warp of the kernel does the jobs of its own ring, one after the other. Packets of one sender go to one
 * ring, so its messages stay in order. A warp fetches a job, does its messages side by side, and passes a
 * fence where one comes behind what is before it (gn__message_first): messages of different logs, and those
 * that lanes had appended together, have no order among them. Everything else, marks, replies and calls, and
 * changes of the data that the host reaches, the network thread does itself, but not before the jobs of that
 * sender. A job never waits for anything, so the order of kinds (packet.h) holds as it is: a packet of
 * requests is taken in when its replies have room, which now is noticed behind the job instead of before it.
 *
 * Edges:  R4 (the host: turn, release) pairs with A4 (the kernel: acquire): the messages are there. R5 (the
 *         kernel: done, release) pairs with A5 (the host: acquire): they are done, their results are there.
 */
#ifndef GN_NET_DEVICE_H
#define GN_NET_DEVICE_H

#include <grapnel/net.h>
#include <net/packet.h>
#include <net/resident.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gn_net;

enum { GN_DEVICE_WARPS = 16, GN_DEVICE_DEPTH = 4 };

enum gn_device_kind {
	GN_DEVICE_APPLY, /* messages */
	GN_DEVICE_TAILS, /* results: how far each log of the kernels' is written */
	GN_DEVICE_END
};

struct gn_device_job {
	uint32_t turn; /* ticket + 1, when it is to be done */
	uint32_t kind;
	uint32_t words;
	uint32_t pad[29];
	uint32_t done; /* ticket + 1 */
	uint32_t pad_done[31];
	uint64_t word[GN_PACKET_WORDS];   /* messages, their peer who wrote them */
	uint64_t result[GN_PACKET_WORDS]; /* of those that fetch, one behind the other */
};

struct gn_device_args {
	struct gn_net_view net;    /* of the kernels */
	struct gn_device_job *job; /* [GN_DEVICE_WARPS][GN_DEVICE_DEPTH] */
	uint64_t *near;            /* [GN_DEVICE_WARPS][GN_PACKET_WORDS] in memory of the device */
};

SIMT_KERNEL_DECLARE(gn_device_work);

struct gn_device_zero_args {
	uint64_t *word;
	uint64_t words;
};

SIMT_KERNEL_DECLARE(gn_device_zero);

/* Words that the results of a fetching message take. */
SIMT_FN uint32_t gn_device_result_words(uint64_t head)
{
	return gn__message_kind(head) == GN__MESSAGE_BYTES ? (uint32_t)(gn__message_place(head) + 7) / 8 : 1;
}

/* Host: a ring of jobs of one warp. */
struct gn_device_ring {
	uint32_t next, oldest; /* tickets */
	uint32_t at, result;   /* of the oldest job: replies up to this word were posted */
};

struct gn_device {
	struct gn_resident kernel;
	struct gn_device_job *job;
	uint64_t *near;
	struct gn_device_ring ring[GN_DEVICE_WARPS];
};

/*
 * gn__device_create - memory and stream.
 * @lanes  of a warp of the node's machine. Codes of simt_stream_create, -GN_ENOMEM.
 */
int gn__device_create(struct gn_net *net, struct gn_error *error);
void gn__device_destroy(struct gn_net *net);

/*
 * gn__device_start, gn__device_stop - the network thread is the first and the last to use it. Codes of
 * simt_launch.
 */
int gn__device_start(struct gn_net *net);
void gn__device_stop(struct gn_net *net);

/*
 * gn__device_take - hand messages of a packet for the heap to the kernel.
 * @passed  1: the packet's messages name the node they go to, and its source wrote them
 * Returns the words taken; 0: not now, or the first is none for the heap (*other is 1), and was not looked at
 * closely.
 */
uint32_t gn__device_take(struct gn_net *net, const struct gn_packet *packet, int passed, uint32_t at,
                         uint32_t *messages, int *other);

/* gn__device_is_done - is everything done that was taken from packets of this source? */
int gn__device_is_done(const struct gn_net *net, uint32_t source);

/* gn__device_collect - post replies of jobs that are done. Returns how many jobs are not. */
uint32_t gn__device_collect(struct gn_net *net);

/*
 * gn__device_ask_tails - look how far the kernels' logs are written. Returns 0 or -GN_EAGAIN.
 * gn__device_tails - what was seen; NULL: not yet. Behind it others may ask again.
 */
int gn__device_ask_tails(struct gn_net *net);
const uint64_t *gn__device_tails(struct gn_net *net);

#ifdef __cplusplus
}
#endif

#endif
