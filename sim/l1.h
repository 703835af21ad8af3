/* SPDX-License-Identifier: Apache-2.0 */
/*
 * l1.h - a private cache: the vector cache of a compute unit, or the scalar cache of a shader engine.
 *
 * Accesses go through a directory in their order: what finds no MSHR, or no way of its set that may be given
 * away, holds up those behind it. Writes go on to the next level and change a line only if it is there.
 * Remote reads may be told not to enter at all (DualOpt's selective bypass): they need an MSHR, but no way.
 * If replies carry only words (fine) and reads do enter, a line is there in part: a read of other words of it
 * is a miss into the same way, and waits while words are on their way there.
 */
#ifndef SIM_L1_H
#define SIM_L1_H

#include <sim/config.h>
#include <sim/mshr.h>
#include <sim/tlb.h>

struct sim_cu;

/* What an access looks at lies in one of the host's lines for each of its steps: entry, directory, TLB. */
struct sim_l1 {
	struct sim_event retry; /* first: the head of the directory is looked at again */
	uint64_t retry_at;      /* 0: not waiting */
	struct sim_gpu *gpu;
	struct sim_cu *cu; /* NULL: a scalar cache */
	const struct sim_config_l1 *size;
	uint32_t active; /* transactions */

	struct sim_fifo directory; /* behind one that cannot go on */
	struct sim_tags tags;

	struct sim_fifo entry; /* before it: too many transactions */
	struct sim_mshr mshr;
	struct sim_tlb tlb;
} __attribute__((aligned(64)));

/* sim_l1_init - of a compute unit, or NULL. Returns 0 or -GN_ENOMEM. */
int sim_l1_init(struct sim_l1 *l, struct sim_arena *arena, struct sim_gpu *gpu, struct sim_cu *cu,
                const struct sim_config *c);

/* sim_l1_accept - an access arrives, translated (an event). */
void sim_l1_accept(struct sim_domain *m, struct sim_event *e);

/* sim_l1_answer - what it asked the next level for is there, or written (an event). */
void sim_l1_answer(struct sim_domain *m, struct sim_event *e);

/* sim_l1_flush - it forgets its lines, but for those that are on their way, and its TLB all pages. */
void sim_l1_flush(struct sim_domain *m, struct sim_l1 *l);

#endif
