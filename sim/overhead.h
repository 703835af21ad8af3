/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overhead.h - what DualOpt's units take: area and power of the paper's Table 4 (28 nm), for those that a
 * configuration switches on.
 *
 * A bitmask unit, a bypass unit and the masks of the MSHRs for each vector L1 cache, a CoDec for each GPU.
 * All 64 of them and the CoDec are 0.157 mm2; the paper's 0.032 % are that of 489 mm2. The remote cache takes
 * its area from L2, and counts nothing.
 */
#ifndef SIM_OVERHEAD_H
#define SIM_OVERHEAD_H

#include <sim/config.h>

struct sim_overhead {
	double area_um2, power_mw; /* of a GPU */
	/* of all GPUs, for so many cycles of 1 ns in which no unit is switched off */
	double energy_uj;
};

struct sim_overhead sim_overhead_of(const struct sim_config *config, uint64_t cycles);

#endif
