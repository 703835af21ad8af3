/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - what the host hands to the kernels that count triangles.
 */
#ifndef GN_TC_KERNELS_H
#define GN_TC_KERNELS_H

#include "graph/scan.h"

enum {
	GN_TC_PAGES = 8,   /* of the cache, for each warp that runs */
	GN_TC_CHUNK = 128, /* edges of a vertex that a warp takes in one go: each has two lists to compare */
	GN_TC_PIECE = 1 << 26 /* elements of a lane's list that a warp shares out at once: 32 fit a u32 */
};

/* scan.shared->found counts triangles. */
struct gn_tc_args {
	struct gn_scan scan; /* items: all vertices, or chunks */
	uint64_t *looked_up; /* elements of shorter lists that were looked for in longer ones */
};

/* Count the triangles whose largest vertex has the list. Lists, and chunks. */
GN_SCAN_KERNEL_DECLARE(gn_tc_count);
GN_SCAN_KERNEL_DECLARE(gn_tc_count_chunks);

#endif
