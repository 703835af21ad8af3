/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - a line of one instruction on its way through the memory system and back.
 *
 * It is in one place at a time: an event of its own, or one queue. Between GPUs it is a message. All accesses
 * lie in one pool, made with the machine.
 */
#ifndef SIM_ACCESS_H
#define SIM_ACCESS_H

#include <sim/event.h>
#include <sim/op.h>
#include <stddef.h>

struct sim_slot;
struct sim_l1;
struct sim_link;

/* Requests never wait for replies: each has buffers of its own, so no cycle of waits can close. */
enum sim_channel { SIM_REQUESTS, SIM_REPLIES, SIM_CHANNELS };

struct sim_message {
	/* first: what happens to the message next; or, while none does, its place in a queue */
	struct sim_event event;
	struct sim_link *buffer; /* the link that it is on, or at whose end it waits; NULL: at its source */
	sim_event_fn *deliver;
	uint32_t bytes;
	uint16_t flits;
	uint8_t from, to; /* endpoints: GPUs, and behind the last GPU the IOMMU */
	uint8_t channel;
	bool packet; /* of a CoDec */
};

/* Messages in a row; memory of zeroes is an empty one. */
struct sim_fifo {
	struct sim_message *first, *last;
	uint32_t count;
};

static inline void sim_push(struct sim_fifo *f, struct sim_message *x)
{
	x->event.next = NULL;
	if (f->first)
		f->last->event.next = &x->event;
	else
		f->first = x;
	f->last = x;
	f->count++;
}

static inline void sim_push_front(struct sim_fifo *f, struct sim_message *x)
{
	x->event.next = f->first ? &f->first->event : NULL;
	if (!f->first)
		f->last = x;
	f->first = x;
	f->count++;
}

static inline struct sim_message *sim_pop(struct sim_fifo *f)
{
	struct sim_message *x = f->first;

	if (x) {
		f->first = (struct sim_message *)(void *)x->event.next;
		__builtin_prefetch(f->first);
		f->count--;
	}
	return x;
}

/* Two of the host's cache lines. Cycles are since it was issued. */
struct sim_access {
	struct sim_message message; /* first */
	uint16_t words;             /* of the line, one bit each 4 bytes */
	uint16_t mshr;              /* entry that it leads in L1 */
	uint8_t gpu, home;
	bool write : 1, whole : 1; /* whole: a write of all 64 bytes */
	bool last : 1;             /* of its instruction */
	bool counted : 1;          /* among the transactions of its L1 */
	bool bypass : 1, fine : 1; /* does not enter L1; its reply carries words only */
	bool cached : 1;           /* leads a fill of the remote cache */
	bool done : 1;
	bool left : 1; /* its GPU, for another */

	uint16_t bank_mshr; /* entry that it leads in a remote cache; l2_mshr: in L2 */
	uint16_t l2_mshr;
	uint32_t page;           /* virtual; for Griffin's counters */
	struct sim_l1 *l1;       /* that it goes through; NULL: a line that a remote cache writes back */
	struct sim_slot *slot;   /* the wavefront that waits */
	struct sim_access *rest; /* of a packet: the next response in it */
	/* virtual; once translated physical: the GPU from SIM_HOME_BIT on, then frame and place */
	uint64_t line;
	uint64_t issued;                       /* cycle, in the compute unit */
	uint32_t asked, there, answered, back; /* leaving the GPU, at the home, leaving it, back */
};

enum { SIM_HOME_BIT = 40 };

/* sim_access_age - cycles since it was issued. */
static inline uint32_t sim_access_age(const struct sim_access *a, uint64_t now)
{
	return (uint32_t)(now - a->issued);
}

static inline struct sim_access *sim_access_of(struct sim_event *e)
{
	return (struct sim_access *)(void *)e;
}

static inline struct sim_access *sim_first(const struct sim_fifo *f)
{
	return (struct sim_access *)(void *)f->first;
}

static inline struct sim_access *sim_take(struct sim_fifo *f)
{
	return (struct sim_access *)(void *)sim_pop(f);
}

/* sim_widen - the words that come if whole words of a granularity do. */
static inline uint32_t sim_widen(uint32_t words, uint64_t granularity)
{
	if (granularity >= 8)
		words = ((words | words >> 1) & 0x5555) * 3;
	if (granularity >= 16)
		words = ((words | words >> 2) & 0x3333) * 5;
	return words;
}

/* sim_granules - how many words of a granularity (4, 8, 16 bytes) hold the words of a mask. */
static inline uint32_t sim_granules(uint32_t words, uint64_t granularity)
{
	return (uint32_t)__builtin_popcount(sim_widen(words, granularity)) * 4 / (uint32_t)granularity;
}

#endif
