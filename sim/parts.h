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

#ifdef __cplusplus
extern "C" {
#endif

struct sim_gpu {
	struct sim_dispatcher dispatch; /* first */
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
};

struct sim_machine {
	struct sim_config config;
	struct sim_stats stats;
	struct sim_clock clock;
	struct sim_network network;
	struct sim_mmu mmu;
	struct sim_migrate migrate;
	struct sim_gpu *gpu;
	struct sim_decision decision[SIM_MOST_GPUS];
	struct sim_memory *memory;
	struct sim_waves *waves;

	struct sim_access *pool, *free_access; /* linked by rest */
	uint64_t pool_size, pool_used, accesses;

	const struct sim_launch *launch;
	uint32_t groups, groups_done, next_group;
	uint64_t last_end;                  /* cycle in which the last work-group ended */
	uint64_t in_flight, in_flight_since; /* lines of all compute units, since that cycle */
	int stop;            /* the code that ends the run */
	struct gn_error why; /* and its message */
};

/* sim_access_new - all its members are 0. There is one for each line that compute units may have under way. */
struct sim_access *sim_access_new(struct sim_machine *m);
void sim_access_free(struct sim_machine *m, struct sim_access *a);

#ifdef __cplusplus
}
#endif

#endif
