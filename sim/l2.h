/* SPDX-License-Identifier: Apache-2.0 */
/*
 * l2.h - the banks of a GPU's L2 cache, each before its own channel of DRAM. Remote GPUs' requests come here
 * too.
 */
#ifndef SIM_L2_H
#define SIM_L2_H

#include <sim/bank.h>
#include <sim/dram.h>

struct sim_l2 {
	struct sim_bank *bank;
	struct sim_dram *dram;
	uint32_t banks;
};

/* Returns 0 or -GN_ENOMEM. */
int sim_l2_init(struct sim_domain *m, struct sim_gpu *g);

/* sim_l2_accept - an access arrives at the L2 of the GPU that holds its line (an event). */
void sim_l2_accept(struct sim_domain *m, struct sim_event *e);

#endif
