/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - the kernel that a tier runs for the host: a sweep over lines of its fast level. */
#ifndef GN_STORE_TIER_KERNELS_H
#define GN_STORE_TIER_KERNELS_H

#include <grapnel/store.h>

/* Lines that could not be written; in pinned memory, zeroed before the sweep. */
struct gn_tier_failure {
	uint32_t count;
	uint32_t taken; /* 1: the first has noted what follows */
	uint32_t late;  /* 1: the slow store did not answer in time */
	uint32_t reserved;
	struct gn_store_status status;
	uint64_t line;
};

struct gn_tier_sweep_args {
	struct gn_store_view view;
	uint64_t first, lines; /* which lines */
	uint64_t items;        /* lines, or all ways if they are fewer */
	uint32_t by_line;
	uint32_t drops; /* 1: forget them, too */
	struct gn_tier_failure *failure;
};

SIMT_KERNEL_DECLARE(gn_tier_sweep); /* write dirty lines to the slow store */

#endif
