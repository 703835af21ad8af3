/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_cache.h - DualOpt's cache of remote data (section 4.2), before the RDMA engine of a GPU: for all its
 * compute units.
 *
 * It is filled by replies, and keeps writes of whole lines (rdma_cache.write_allocate); a write of some bytes
 * stays if its line is in the cache, and goes to the home GPU if not. At the end of a kernel what it holds is
 * written back and forgotten.
 */
#ifndef SIM_REMOTE_CACHE_H
#define SIM_REMOTE_CACHE_H

#include <sim/bank.h>

struct sim_rc {
	struct sim_bank *bank; /* NULL: the GPU has none */
	uint32_t banks;
	uint32_t writing; /* lines that are being written back */
};

/* Returns 0 or -GN_ENOMEM. */
int sim_rc_init(struct sim_domain *m, struct sim_gpu *g);

void sim_rc_accept(struct sim_domain *m, struct sim_access *a);
void sim_rc_fill(struct sim_domain *m, struct sim_access *a);    /* what a leads is there */
void sim_rc_written(struct sim_domain *m, struct sim_access *a); /* a line is written back */

/*
 * sim_rc_flush - dirty lines go to their homes, as many as the write buffer takes; the others become clean.
 * Returns whether there are more.
 */
bool sim_rc_flush(struct sim_domain *m, struct sim_gpu *g);

#endif
