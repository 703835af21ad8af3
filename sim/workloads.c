/* SPDX-License-Identifier: Apache-2.0 */
#include <sim/workloads/support.h>

#include <string.h>

/*
 * In the order of the paper's table 2: cache-insensitive, cache-friendly, local; the example; what changes;
 * and what is recorded.
 */
static const struct sim_workload *const all[] = {
    &sim__atax,        &sim__bfs, &sim__bicg, &sim__pr, &sim__spmv, &sim__km,  &sim__mm,  &sim__mm_right,
    &sim__mt,          &sim__st,  &sim__bs,   &sim__sc, &sim__aes,  &sim__fir, &sim__add, &sim__phases,
#ifdef GN_OBSERVE
    &sim__grapnel_bfs,
#endif
    &sim__stream};

enum { COUNT = sizeof all / sizeof *all };

const struct sim_workload *sim_workload_at(uint32_t k)
{
	return k < COUNT ? all[k] : NULL;
}

const struct sim_workload *sim_workload_find(const char *name)
{
	for (uint32_t k = 0; k < COUNT; k++)
		if (!strcmp(all[k]->name, name))
			return all[k];
	return NULL;
}
