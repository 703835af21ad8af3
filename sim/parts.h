/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - the machine and all its parts, for those that make it up. */
#ifndef SIM_PARTS_H
#define SIM_PARTS_H

#include <sim/codec.h>
#include <sim/cu.h>
#include <sim/decision.h>
#include <sim/dispatch.h>
#include <sim/l1.h>
#include <sim/l2.h>
#include <sim/machine.h>
#include <sim/migrate.h>
#include <sim/network.h>
#include <sim/rdma.h>
#include <sim/remote_cache.h>
#include <sim/tlb.h>
#include <sim/trace.h>
#include <sim/window.h>

/*
 * What one thread runs at a time: a GPU, or the core (switches, the IOMMU). Functions of parts get the domain
 * that they are in, as m. Only the core's turn (window.h) may look into another's.
 */
struct sim_domain {
	struct sim_machine *machine;
	/* what all share: of the machine */
	const struct sim_config *config;
	struct sim_memory *memory;
	struct sim_network *network;
	struct sim_gpu *gpu; /* all of them */

	struct sim_events sent; /* messages that reach the core at the end of the window */
	int stop;               /* the code that ends the run */
	struct sim_clock clock;
	struct sim_stats stats;
	struct sim_waves *waves;

	struct sim_access *pool, *free_access; /* linked by rest */
	uint64_t pool_used, accesses;

	uint32_t groups_done;
	uint64_t last_end;                   /* cycle in which the last work-group ended */
	uint64_t in_flight, in_flight_since; /* lines of all compute units, since that cycle */
	struct gn_error why;                 /* of stop */
};

struct sim_gpu {
	struct sim_dispatcher dispatch; /* first */
	struct sim_domain domain;
	uint8_t number;
	bool bypass, fine, coalesce, cache; /* what is used now */
	uint32_t cus, engines;
	uint64_t stalled; /* until that cycle no access goes on from its TLBs */
	struct sim_cu *cu;
	struct sim_l1 *l1; /* of compute units, then of shader engines */
	struct sim_tlb2 tlb2;
	struct sim_l2 l2;
	struct sim_rc rc;
	struct sim_codec codec;
	struct sim_decision decision;
};

struct sim_machine {
	struct sim_config config;
	struct sim_stats stats; /* of all domains, when a launch was last over */
	struct sim_domain core;
	struct sim_windows windows;
	struct sim_network network;
	struct sim_mmu mmu;
	struct sim_migrate migrate;
	struct sim_arena arena; /* of all that is as large as the configuration says */
	struct sim_gpu *gpu;
	struct sim_memory *memory;
	struct sim_trace *trace; /* NULL: nobody watches */

	const struct sim_launch *launch;
	uint32_t groups, next_group;
};

/* sim_machine_domain - of the core, 0, and of each GPU, 1 and on; NULL behind the last. */
struct sim_domain *sim_machine_domain(struct sim_machine *m, uint32_t k);

/* sim_machine_add_up - stats: the sum of what its domains have counted. */
void sim_machine_add_up(struct sim_machine *m);

/*
 * sim_held_check - nothing waits: has everything ended? Returns 0, or -GN_EDEADLK: why says what is held
 * where.
 */
int sim_held_check(const struct sim_machine *m, struct gn_error *why);

/*
 * sim_access_new - all its members are 0. A GPU has one for each line that its compute units may have under
 * way.
 */
struct sim_access *sim_access_new(struct sim_domain *m);
void sim_access_free(struct sim_domain *m, struct sim_access *a);

#endif
