/* SPDX-License-Identifier: Apache-2.0 */
/* auto_kernels.h - the kernels by which gn_auto measures a machine. */
#ifndef GN_ARRAY_AUTO_KERNELS_H
#define GN_ARRAY_AUTO_KERNELS_H

#include <grapnel/array.h>

/*
 * Reads of 4-byte words in units: 2^share_log2 threads that follow each other read consecutive words of one unit, and
 * units come in order or as they are drawn.
 */
struct gn_auto_probe_args {
	struct gn_array array;
	uint64_t touches; /* of units */
	uint64_t units;
	uint64_t unit_words;
	uint64_t seed;
	uint32_t share_log2;
	uint32_t in_order;
	uint32_t walk; /* words that a thread reads of its unit, one after the other; gn_auto_walk: a warp */
	uint32_t *sink;
};

SIMT_KERNEL_DECLARE(gn_auto_probe);

/* The same units by reference, a warp each: the first `walk` words of a unit, as a loop over pages. */
SIMT_KERNEL_DECLARE(gn_auto_walk);

struct gn_auto_clear_args {
	uint32_t *words;
	uint64_t count;
};

SIMT_KERNEL_DECLARE(gn_auto_clear);

#endif
