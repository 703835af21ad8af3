/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - if the heap is in a GPU's memory, a kernel changes it. The kernel stays for the whole run,
 * because the GPU may be full of threads that wait for these changes.
 *
 * A team, which is a block of the kernel, does the jobs of its own ring, one after the other. Packets of one
 * sender's stream (packet.h) go to one ring, so their messages stay in order. A plain packet is a job as it
 * is: if it is handed over in its memory, the team reads it there. Of other packets the network thread copies
 * the messages for the heap into a job, in memory that host and GPU reach. A team applies the messages of a
 * job side by side. It passes a fence before a message that must come after those before it
 * (gn__message_first): messages of different logs, and messages that lanes have appended together, are
 * unordered. The teams never wait for each other. The network thread itself applies all other messages:
 * marks, replies, calls, and changes of the data that the host reaches. It does so only after the jobs of the
 * same sender. A job never waits, so the order of classes (packet.h) holds: the room for the replies to a
 * packet of requests is now tested after the job instead of before it.
 *
 * Edges:  R4 (the host: turn, release) pairs with A4 (the kernel: acquire): the messages are there. R5 (the
 *         kernel: done, release) pairs with A5 (the host: acquire): the messages are applied, and their
 * results are there.
 */
#ifndef GN_NET_DEVICE_H
#define GN_NET_DEVICE_H

#include <grapnel/net.h>
#include <net/packet.h>
#include <net/resident.h>
#include <net/sort.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gn_net;

/*
 * The kernel has a block of threads for each ring of jobs, for each stream that it sorts, and one more. On a
 * GPU each takes a multiprocessor, and those of all nodes that share it together take a quarter of it at
 * most, unless there are so many nodes that each has the fewest. All blocks must be there at once. The
 * processors of a host emulate the threads, so there they are few, also because a thread sanitizer has room
 * for 256.
 */
enum {
	GN_DEVICE_TEAMS = 8,
	GN_DEVICE_CPU_TEAMS = 2,
	GN_DEVICE_SHARE = 4, /* of so many multiprocessors the kernels of all nodes take one */
	GN_DEVICE_RINGS = GN_DEVICE_TEAMS + 1, /* one more, for tails */
	GN_DEVICE_MOST_WARPS = 16,             /* of a block */
	GN_DEVICE_CPU_WARPS = 3,
	GN_DEVICE_DEPTH = 4 /* jobs of a ring */
};

enum gn_device_kind {
	GN_DEVICE_APPLY, /* messages, in word */
	GN_DEVICE_PLAIN, /* messages of a plain packet, at from */
	GN_DEVICE_TAILS, /* results: how far each log of the kernels is written */
	GN_DEVICE_END
};

struct gn_device_job {
	uint32_t turn; /* ticket + 1: the job is submitted */
	uint32_t kind;
	uint32_t words;
	uint32_t pad;
	const uint64_t *from; /* of the messages of a plain packet: word, or in the memory of the sender */
	uint32_t pad_from[26];
	uint32_t done; /* ticket + 1: the job is done */
	uint32_t bad;  /* 1: a message of the plain packet was none; it was not applied */
	uint32_t pad_done[30];
	uint64_t word[GN_PACKET_WORDS];   /* messages; their peer is the node that wrote them */
	uint64_t result[GN_PACKET_WORDS]; /* results of the messages that fetch, packed */
};

struct gn_device_args {
	struct gn_net_view net;    /* of the kernels */
	struct gn_device_job *job; /* [teams + 1][GN_DEVICE_DEPTH] */
	uint64_t *near;            /* [teams][GN_PACKET_WORDS] in memory of the device */
	uint32_t teams;            /* the first blocks; behind them are the sorters, then a block for tails */
	struct gn_sort_args sort;
};

SIMT_KERNEL_DECLARE(gn_device_work);

/* gn__device_shared_bytes - the shared memory of a block of gn_device_work. */
uint32_t gn__device_shared_bytes(uint32_t nodes);

struct gn_device_zero_args {
	uint64_t *word;
	uint64_t words;
};

SIMT_KERNEL_DECLARE(gn_device_zero);

/* The number of words of the result of a message that fetches. */
SIMT_FN uint32_t gn_device_result_words(uint64_t head)
{
	return gn__message_kind(head) == GN__MESSAGE_BYTES ? (uint32_t)(gn__message_place(head) + 7) / 8 : 1;
}

/* A ring of jobs, as the host sees it: one for each team, and behind them one whose jobs read tails. */
struct gn_device_ring {
	uint32_t next, oldest;            /* tickets */
	uint32_t at, result;              /* words of the oldest job up to which replies were posted */
	uint32_t source[GN_DEVICE_DEPTH]; /* of each job: the node that sent the packet */
	struct gn_parcel *parcel[GN_DEVICE_DEPTH]; /* the packet that the job reads; NULL: none */
};

struct gn_device {
	struct gn_resident kernel;
	struct gn_device_job *job;
	uint64_t *near;
	uint32_t teams;
	uint32_t *under_way; /* [nodes] jobs of each node's packets */
	struct gn_device_ring ring[GN_DEVICE_RINGS];
};

static inline struct gn_device_job *gn__device_job(const struct gn_device *d, uint32_t ring, uint32_t ticket)
{
	return &d->job[ring * GN_DEVICE_DEPTH + ticket % GN_DEVICE_DEPTH];
}

/* Submit a job to its ring. R4. */
static inline void gn__device_submit(struct gn_device *d, uint32_t ring, uint32_t kind, uint32_t words)
{
	struct gn_device_ring *r = &d->ring[ring];
	struct gn_device_job *job = gn__device_job(d, ring, r->next);

	job->kind = kind;
	job->words = words;
	simt_store_release_sys_u32(&job->turn, ++r->next);
}

static inline int gn__device_is_full(const struct gn_device_ring *r)
{
	return r->next - r->oldest == GN_DEVICE_DEPTH;
}

/* A5: pairs with R5 */
static inline int gn__device_oldest_is_done(const struct gn_device *d, uint32_t ring)
{
	const struct gn_device_ring *r = &d->ring[ring];

	return r->oldest != r->next &&
	       simt_load_acquire_sys_u32(&gn__device_job(d, ring, r->oldest)->done) == r->oldest + 1;
}

/* gn__device_half - the number of teams, and the most streams, of the kernel of a node on this machine. */
uint32_t gn__device_half(const struct gn_net *net, const struct simt_info *info);

/*
 * gn__device_blocks - the most blocks of this kernel.
 * gn__device_fits - are those of all nodes on a GPU there at once, and is there room for other kernels?
 * @sorts  1: the kernel sorts, too
 */
uint32_t gn__device_blocks(const struct gn_net *net, const struct simt_info *info, int sorts);
int gn__device_fits(const struct gn_net *net, const struct simt_info *info, int sorts);

/*
 * gn__device_create - make memory and stream. Returns codes of simt_stream_create, -GN_ENOMEM, or -GN_EINVAL:
 * there are too many nodes on a GPU.
 */
int gn__device_create(struct gn_net *net, struct gn_error *error);
void gn__device_destroy(struct gn_net *net);

/*
 * gn__device_start, gn__device_stop - launch the kernel and end it; called by the network thread.
 * gn__device_start returns when the kernel runs, with 0, codes of simt_launch or -GN_ETIMEDOUT.
 */
int gn__device_start(struct gn_net *net);
void gn__device_stop(struct gn_net *net);

/*
 * gn__device_take - hand messages of a packet that are for the heap to the kernel.
 * @passed  1: the messages name the node they go to, and the packet's source wrote them
 * @other   receives 1 if the first message is not for the heap, or is invalid
 * Returns the number of words taken; 0: there is no room now, or *other is 1.
 */
uint32_t gn__device_take(struct gn_net *net, const struct gn_packet *packet, int passed, uint32_t at,
                         uint32_t *messages, int *other);

/*
 * gn__device_take_plain - hand a plain packet to the kernel, which applies it.
 * @parcel  holds the packet, and is released when the kernel has read it; NULL: the packet is copied
 * Returns 1, or 0: there is no room now.
 */
int gn__device_take_plain(struct gn_net *net, const struct gn_packet *packet, struct gn_parcel *parcel);

/* gn__device_is_done - are all messages applied that were taken from packets of this source? */
int gn__device_is_done(const struct gn_net *net, uint32_t source);

/* gn__device_collect - post replies of jobs that are done. Returns the number of jobs that are not done. */
uint32_t gn__device_collect(struct gn_net *net);

/*
 * gn__device_ask_tails - ask the kernel how far the kernels' logs are written. Returns 0 or -GN_EAGAIN.
 * gn__device_tails - the answer; NULL: it has not come yet. After that the tails may be asked for again.
 * gn__device_flush - the number of the last question: the sorters (sort.h) flush all messages before these
 * tails.
 */
uint32_t gn__device_flush(const struct gn_net *net);
int gn__device_ask_tails(struct gn_net *net);
const uint64_t *gn__device_tails(struct gn_net *net);

#ifdef __cplusplus
}
#endif

#endif
