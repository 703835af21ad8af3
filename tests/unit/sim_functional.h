/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_functional.h - run a workload without time: group after group, with caches that see one group after the
 * other. What does not depend on time must come out as in the timing model, and as MGPUSim counted it.
 */
#ifndef GN_TESTS_SIM_FUNCTIONAL_H
#define GN_TESTS_SIM_FUNCTIONAL_H

#include <sim/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sim_counts {
	uint64_t launches, groups, waves;
	uint64_t instructions;
	uint64_t read_hits, read_misses, writes; /* lines at the vector caches */
	uint64_t remote;                         /* lines that a GPU asks another one for */
};

/* sim_functional - create, run, check. Returns 0, or what went wrong first. */
int sim_functional(const char *name, const struct sim_request *request, uint32_t gpus,
                   struct sim_counts *counts, struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
