/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dram.h - a channel of HBM: banks with rows, a data bus, and the controller that chooses what goes next.
 *
 * First ready, first come: of the oldest dram.queue requests goes the one whose data can move earliest, the
 * oldest of equals. A bank opens another row when no request in this window wants its open row. Requests to
 * an open row therefore overtake older ones, but only for as long as lines of that row come: a row has
 * dram.row / 64. Times are JEDEC's.
 */
#ifndef SIM_DRAM_H
#define SIM_DRAM_H

#include <sim/arena.h>
#include <sim/config.h>
#include <sim/divide.h>
#include <sim/event.h>
#include <stdbool.h>

struct sim_dram;

struct sim_dram_bank {
	uint64_t row;       /* open; UINT64_MAX: none */
	uint64_t ready;     /* cycle of the next activate, or of the next read or write of the open row */
	uint64_t precharge; /* cycle from which the open row may be closed */
	uint64_t wanted;    /* the look of the controller that found a request for the open row */
};

struct sim_dram_request {
	struct sim_event event; /* first: the controller looks again, for this request */
	struct sim_dram *channel;
	struct sim_dram_request *next; /* younger; or the next free one */
	struct sim_event *done;        /* a read: what happens when its line has come */
	sim_event_fn *fire;
	uint64_t row;
	uint32_t bank;
	bool write;
	bool gone; /* its line moves, but its event has not happened yet */
};

struct sim_dram {
	struct sim_divisor lines, banks; /* of a row; of the channel */
	struct sim_dram_bank *bank;
	struct sim_dram_request *all, *free, *oldest;
	uint64_t bus;      /* cycle from which the data bus is free */
	uint64_t activate; /* cycle of the next activate of any bank */
	uint64_t looks;    /* of the controller */
	uint32_t writes;   /* lines in the write buffer */
	void *owner;
	void (*write_left)(struct sim_domain *m, struct sim_dram *d); /* there is room; NULL: nobody asks */
};

/* sim_dram_init - a channel, of zeroes. Returns 0 or -GN_ENOMEM. */
int sim_dram_init(struct sim_dram *d, struct sim_arena *arena, const struct sim_config *c);

/* sim_dram_has_room - may a write come? */
static inline bool sim_dram_has_room(const struct sim_dram *d, const struct sim_config *c)
{
	return d->writes < c->dram_write_buffer;
}

/*
 * sim_dram_read - the channel's line number `place`; done happens when its data has moved. At most l2.mshr at
 * a time. sim_dram_write - the same, for which nobody waits; there must be room.
 */
void sim_dram_read(struct sim_domain *m, struct sim_dram *d, uint64_t place, struct sim_event *done,
                   sim_event_fn *fire);
void sim_dram_write(struct sim_domain *m, struct sim_dram *d, uint64_t place);

#endif
