/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - what the host hands to the kernels of connected components.
 */
#ifndef GN_CC_KERNELS_H
#define GN_CC_KERNELS_H

#include "graph/scan.h"

enum {
	GN_CC_FIRST = 2,      /* neighbours of each vertex that Afforest links first */
	GN_CC_SAMPLES = 1024, /* labels among which Afforest looks for the most frequent one */
	GN_CC_NONE = -1       /* as a u32: no label */
};

/*
 * scan.shared->found counts hooks: each makes one tree of two. Labels only decrease, and label[v] is at most
 * v, so that the root of a tree is its least vertex.
 */
struct gn_cc_args {
	struct gn_scan scan;   /* items: all vertices, or chunks */
	struct gn_state label; /* u32: the vertex above v in its tree; a root has its own number */
	uint32_t *sample;      /* [GN_CC_SAMPLES] */
	uint64_t begin;        /* edges of each list that are read: from this one */
	uint64_t end;          /* up to, not including, this one */
	uint32_t skip;         /* vertices with this label are left out; GN_CC_NONE: none */
};

/* Shiloach and Vishkin: each edge hooks a root to the other end's tree, if it can. Lists, and chunks. */
GN_SCAN_LISTS_DECLARE(gn_cc_hook);
GN_SCAN_KERNEL_DECLARE(gn_cc_hook_chunks);
/* Afforest: both ends of each edge are in the same tree afterwards. Lists, and chunks. */
GN_SCAN_LISTS_DECLARE(gn_cc_link);
GN_SCAN_KERNEL_DECLARE(gn_cc_link_chunks);
/* The label of each vertex becomes its root. */
GN_SCAN_KERNEL_DECLARE(gn_cc_compress);
/* Labels of vertices that are spread over all. */
GN_SCAN_KERNEL_DECLARE(gn_cc_sample);

#endif
