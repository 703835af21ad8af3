/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reuse.h - whole pages, some far more often than others: Zipf's law with exponent 0.99, as YCSB draws it
 * (Gray et al., "Quickly generating billion-record synthetic databases", SIGMOD 1994). The ranks are
 * scattered over the data. Each kernel compares every word of each page, each time.
 */
#ifndef GN_BASELINES_REUSE_H
#define GN_BASELINES_REUSE_H

#include "baselines/data.h"

struct gn_base_reuse_args {
	struct gn_array array;  /* u32, in a cache with pages of page_bytes */
	const uint32_t *memory; /* the words themselves, for the way by pointer */
	uint32_t *trace;        /* [touches]: the page of each touch, in the machine's own memory */
	uint64_t touches;
	struct gn_base_order order; /* from ranks to pages */
	double zeta, eta, alpha;    /* gn_base_zipf */
	uint64_t *wrong;
	uint32_t page_bytes;
	uint32_t seed;
};

#ifdef __cplusplus
extern "C" {
#endif

/* gn_base_zipf - prepare to draw from a->order.count pages with this exponent, not 1. Host. */
void gn_base_zipf(struct gn_base_reuse_args *a, double exponent);

#ifdef __cplusplus
}
#endif

SIMT_KERNEL_DECLARE(gn_base_reuse_draw);    /* fill the trace */
SIMT_KERNEL_DECLARE(gn_base_reuse_pointer); /* each page of the trace in place, 16 bytes a lane */
SIMT_KERNEL_DECLARE(gn_base_reuse_cached);  /* each page of the trace by page reference */

#endif
