/* SPDX-License-Identifier: Apache-2.0 */
/* queue_disk.h - a host thread that serves queue pairs over memory, as src/queue/port.h lets it. */
#ifndef GN_TESTS_QUEUE_DISK_H
#define GN_TESTS_QUEUE_DISK_H

#include "../model/draw.h"

#include <pthread.h>
#include <stdlib.h>
#include <queue/port.h>

enum { DISK_BLOCK = 512, DISK_MOST_HELD = 4096, DISK_MOST_QUEUES = 4, DISK_WITHHELD_NS = 8000000 };

/* Chances in percent. */
struct disk_faults {
	uint32_t reorder; /* of those it has, the next is any */
	uint32_t duplicate;
	uint32_t withhold;  /* complete only after up to DISK_WITHHELD_NS, when hasty users have given up */
	uint32_t fail_each; /* commands whose first block is a multiple of this fail; 0: none */
};

struct disk_held {
	struct gn_nvme_command command;
	uint64_t until_ns; /* withheld until then; 0: not withheld */
	uint32_t executed; /* only a completion is missing: the first one, or a second */
	uint32_t second;
	uint32_t status;
};

struct disk_port {
	struct gn_nvme_port port;
	struct disk_held held[DISK_MOST_HELD];
	uint32_t count;
};

struct disk {
	struct disk_port port[DISK_MOST_QUEUES];
	uint32_t ports;
	char *bytes;
	uint64_t blocks;
	struct disk_faults faults;
	uint64_t random, served, repeated;
	uint64_t now_ns; /* at the beginning of the turn */
	uint32_t hurry;  /* 1: withhold nothing any more */
	uint32_t stop;
	uint32_t bad_address; /* commands past the end */
	pthread_t thread;
};

/* Move data between the disk and the pages that a command names (Base Specification 2.0, 4.1.1). */
static inline void disk_move(struct disk *d, const struct gn_nvme_command *c)
{
	uint32_t bytes = ((c->cdw12 & 0xffff) + 1) * DISK_BLOCK;
	const uint64_t *list = (const uint64_t *)(uintptr_t)c->prp2;
	char *at = d->bytes + c->lba * DISK_BLOCK;

	for (uint32_t page = 0, left = bytes; left; page++) {
		uint32_t part = left < GN_NVME_PAGE ? left : (uint32_t)GN_NVME_PAGE;
		uint64_t address = page == 0 ? c->prp1 : bytes <= 2 * GN_NVME_PAGE ? c->prp2 : list[page - 1];

		if (c->opcode == GN_NVME_READ)
			memcpy((void *)(uintptr_t)address, at, part);
		else
			memcpy(at, (const void *)(uintptr_t)address, part);
		at += part;
		left -= part;
	}
}

static inline uint32_t disk_execute(struct disk *d, const struct gn_nvme_command *c)
{
	if (c->opcode == GN_NVME_FLUSH)
		return GN_NVME_OK;
	if (c->lba + (c->cdw12 & 0xffff) >= d->blocks) {
		d->bad_address++;
		return GN_NVME_LBA_OUT_OF_RANGE;
	}
	if (d->faults.fail_each && c->lba % d->faults.fail_each == 0)
		return c->opcode == GN_NVME_READ ? GN_NVME_UNRECOVERED_READ : GN_NVME_WRITE_FAULT;
	disk_move(d, c);
	return GN_NVME_OK;
}

static inline int disk_fetch(struct disk *d, struct disk_port *p)
{
	struct disk_held *h = &p->held[p->count];

	if (p->count == DISK_MOST_HELD || gn_nvme_port_fetch(&p->port, &h->command))
		return 0;
	h->executed = h->second = 0;
	/*
	 * A time, not a number of turns: beside other programs each turn without work costs a slice of
	 * theirs.
	 */
	h->until_ns = draw_chance(&d->random, d->faults.withhold)
	                  ? d->now_ns + draw_below(&d->random, DISK_WITHHELD_NS)
	                  : 0;
	p->count++;
	return 1;
}

/*
 * Returns 0 while the completion queue is full. A second completion says what the first did: either may win.
 */
static inline int disk_complete(struct disk *d, struct disk_port *p, uint32_t k)
{
	struct disk_held *h = &p->held[k];

	if (!h->executed) {
		h->status = disk_execute(d, &h->command);
		h->executed = 1;
	}
	if (gn_nvme_port_complete(&p->port, h->command.cid, h->status))
		return 0;
	d->served += !h->second;
	d->repeated += h->second;
	if (!h->second && draw_chance(&d->random, d->faults.duplicate))
		h->second = 1;
	else
		*h = p->held[--p->count];
	return 1;
}

static inline int disk_turn(struct disk *d, struct disk_port *p, int hurry)
{
	int moved = disk_fetch(d, p);
	uint32_t first;

	if (!p->count)
		return moved;
	first = draw_chance(&d->random, d->faults.reorder) ? draw_below(&d->random, p->count) : 0;
	for (uint32_t k = 0; k < p->count; k++) {
		uint32_t at = (first + k) % p->count;

		if (hurry || p->held[at].until_ns <= d->now_ns)
			return disk_complete(d, p, at) | moved;
	}
	return moved;
}

static inline void *disk_serve(void *user)
{
	struct disk *d = (struct disk *)user;

	while (!simt_load_acquire_dev_u32(&d->stop)) {
		int hurry = (int)simt_load_acquire_dev_u32(&d->hurry);
		int moved = 0;

		d->now_ns = simt_clock_ns();
		for (uint32_t k = 0; k < d->ports; k++)
			moved |= disk_turn(d, &d->port[k], hurry);
		if (!moved)
			simt_relax();
	}
	return NULL;
}

#endif
