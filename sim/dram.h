/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dram.h - channels and banks of HBM: when an access that arrives now is over. In the order of arrival; times
 * are JEDEC's.
 */
#ifndef SIM_DRAM_H
#define SIM_DRAM_H

#include <sim/config.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sim_dram_bank {
	uint64_t ready;  /* cycle of the next activate, or of the next read of the open row */
	uint64_t opened; /* cycle of the last activate */
	uint64_t row;    /* open; UINT64_MAX: none */
};

struct sim_dram {
	struct sim_dram_bank *bank;
	uint64_t bus;      /* cycle from which the data bus is free */
	uint64_t activate; /* cycle of the next activate of any bank */
	uint64_t busy;     /* cycles of the bus */
};

/* sim_dram_init - a channel. Returns 0 or -GN_ENOMEM. */
int sim_dram_init(struct sim_dram *d, const struct sim_config *c);
void sim_dram_fini(struct sim_dram *d);

/*
 * sim_dram_access - of the channel's line number `place`. Returns the cycle in which its data has been moved.
 */
uint64_t sim_dram_access(struct sim_dram *d, const struct sim_config *c, uint64_t now, uint64_t place,
                         int write);

#ifdef __cplusplus
}
#endif

#endif
