/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migrate.h - pages that go where they are used: what DualOpt is compared with (sections 2.3 and 6.3).
 *
 * The IOMMU sees a GPU ask for a page that another holds. A driver takes some time, the owner drops what it
 * knows (its pipelines stand still meanwhile), every TLB forgets the page, its lines cross the network, and
 * the walk is answered then. Under "page" that happens each time; under "first_touch" the first GPU that asks
 * gets the page, and others access it line by line from then on. If too many pages move already, the walk
 * waits, and then the page moves. Under "griffin" see griffin.h.
 */
#ifndef SIM_MIGRATE_H
#define SIM_MIGRATE_H

#include <sim/access.h>
#include <sim/config.h>
#include <sim/griffin.h>

enum { SIM_PAGE_LINES = SIM_PAGE_BYTES / SIM_LINE_BYTES };

struct sim_walk;

struct sim_machine;
struct sim_move;

struct sim_move_line {
	struct sim_message message; /* first */
	struct sim_move *move;
};

/* A page that is on its way. */
struct sim_move {
	struct sim_message message; /* first: what happens to it next; at the end, the word to the IOMMU */
	uint64_t page;              /* 0: free */
	uint8_t from, to;
	uint32_t arrived;        /* lines */
	uint64_t drains_since;   /* Griffin: accesses to it are under way; 0: none, or it has left */
	struct sim_fifo waiting; /* walks */
	struct sim_move_line line[SIM_PAGE_LINES];
};

struct sim_migrate {
	struct sim_move *move;
	uint32_t moves, active;
	struct sim_fifo waiting; /* walks, for a move to be free */
	uint8_t *touched;        /* of each page: enum sim_touch */
	uint64_t pages;
	struct sim_griffin griffin;
};

/* Returns 0 or -GN_ENOMEM. */
int sim_migrate_init(struct sim_machine *m);
void sim_migrate_fini(struct sim_machine *m);

/* sim_migrate_begin - before a launch: memory may have grown. Returns 0 or -GN_ENOMEM. */
int sim_migrate_begin(struct sim_machine *m);

/*
 * sim_migrate_takes - whether the page that a walk is for moves first; the walk is then answered by
 * sim_walk_answer later.
 */
bool sim_migrate_takes(struct sim_domain *m, struct sim_walk *w);

/*
 * sim_migrate_page - it moves without being asked for. False: too many do. sim_migrate_drained - a page may
 * leave, if it waits for that.
 */
bool sim_migrate_page(struct sim_domain *m, uint64_t page, uint8_t to);
void sim_migrate_drained(struct sim_domain *m, uint64_t page);

#endif
