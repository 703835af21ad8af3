/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cu.h - a compute unit: wavefronts in slots, which issue their instructions in order, and its vector memory
 * unit.
 *
 * A vector unit is busy for cu.valu_issue cycles with an instruction, the scalar, local and vector memory
 * units for one; who comes first is served first. A wavefront runs on past loads and stores until it waits
 * for them. Lines go through a pipe, one a cycle, into the reorder buffer, and come back in order.
 */
#ifndef SIM_CU_H
#define SIM_CU_H

#include <sim/access.h>
#include <sim/arena.h>
#include <sim/config.h>
#include <sim/stats.h>
#include <sim/wave.h>

struct sim_cu;
struct sim_gpu;

/* A work-group on a compute unit. */
struct sim_resident {
	struct sim_resident *next_free;
	struct sim_group *group;
	struct sim_slot *slots; /* its wavefronts */
	uint32_t live, arrived; /* wavefronts that have not ended; that are at the barrier */
	uint32_t waves;         /* for which room was taken */
};

enum sim_slot_state { SIM_SLOT_ISSUE, SIM_SLOT_MEMORY, SIM_SLOT_SCALAR, SIM_SLOT_BARRIER, SIM_SLOT_ROOM };

struct sim_slot {
	struct sim_event event; /* first: it issues */
	struct sim_cu *cu;
	struct sim_resident *resident; /* NULL: the slot is free */
	struct sim_slot *next;         /* of the same work-group */
	struct sim_slot *next_stuck;   /* behind it, for room in the vector memory unit */
	struct sim_wave *wave;
	struct sim_op op;
	uint32_t left;      /* instructions of op that have not been issued */
	uint32_t under_way; /* loads and stores */
	uint32_t simd;
	enum sim_slot_state state;
	uint64_t since, begun; /* cycles: in this state; on this compute unit */
};

struct sim_cu {
	struct sim_gpu *gpu;
	struct sim_l1 *l1v, *l1s;
	struct sim_slot *slot; /* of the vector units, one behind the other */
	struct sim_resident *resident, *free_resident;
	uint64_t *simd_free, salu_free, lds_free, vmem_free; /* cycles from which units are free */
	uint64_t pipe_free;   /* cycle in which the next line enters the pipe */
	uint32_t *simd_waves; /* wavefronts on each vector unit */
	uint32_t waves, groups;
	uint32_t in_flight;      /* lines */
	struct sim_access **rob; /* a ring */
	uint32_t rob_first, rob_count;
	struct sim_fifo pipe; /* lines at its end, for which the reorder buffer had no room */
	struct sim_slot *stuck, **stuck_end;
	uint64_t busy_since;  /* cycle from which it has not been empty */
	uint32_t busy_groups; /* that have begun since */
	struct sim_cu_stats stats;
};

/* Returns 0 or -GN_ENOMEM. */
int sim_cu_init(struct sim_cu *cu, struct sim_arena *arena, struct sim_gpu *gpu, const struct sim_config *c);

/* sim_cu_refuses - why no compute unit can ever hold a work-group of a launch; NULL: one can. */
const char *sim_cu_refuses(const struct sim_config *c, const struct sim_launch *launch);

/* sim_cu_has_room - for a work-group of the launch, now. */
bool sim_cu_has_room(const struct sim_domain *m, const struct sim_cu *cu);

/* sim_cu_begin - a work-group begins to run. */
void sim_cu_begin(struct sim_domain *m, struct sim_cu *cu, struct sim_group *group);

/* sim_cu_done - an access of a vector cache is over (vmem.c). sim_cu_scalar_done - of a scalar cache. */
void sim_cu_done(struct sim_domain *m, struct sim_access *a);
void sim_cu_scalar_done(struct sim_domain *m, struct sim_access *a);

/* ---- between cu.c and vmem.c ---- */

/* sim_cu_charge - the wavefront is in another state from now on. sim_cu_go_on - it issues in that cycle. */
void sim_cu_charge(struct sim_domain *m, struct sim_slot *s, enum sim_slot_state state);
void sim_cu_go_on(struct sim_domain *m, struct sim_slot *s, uint64_t cycle);

/*
 * sim_cu_take - the cycle in which a unit takes an instruction, if it is free from *free_at on and then busy
 * for so many.
 */
uint64_t sim_cu_take(const struct sim_domain *m, uint64_t *free_at, uint64_t cycles);

/*
 * sim_vmem_issue - a load or store issues, or waits for room. sim_cu_instruction_done - all its lines are
 * back.
 */
void sim_vmem_issue(struct sim_domain *m, struct sim_slot *s);
void sim_cu_instruction_done(struct sim_domain *m, struct sim_slot *s);

#endif
