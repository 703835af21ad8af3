/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - the kernels that a cache runs for the host: a pass over all frames.
 */
#ifndef GN_CACHE_KERNELS_H
#define GN_CACHE_KERNELS_H

#include <grapnel/cache.h>

enum gn_cache_pass {
	GN_PASS_COUNT,      /* count dirty and pinned pages */
	GN_PASS_FLUSH,      /* write dirty pages */
	GN_PASS_INVALIDATE, /* forget clean, unpinned pages */
	GN_PASS_PREFETCH,   /* fetch a range of pages */
};

/* The result of GN_PASS_COUNT; the host zeroes it before the pass. */
struct gn_cache_pass_result {
	uint64_t dirty, pinned;
};

struct gn_cache_pass_args {
	const struct gn_cache_view *cache;
	struct gn_cache_pass_result *result;
	struct gn_cache_failure *failure; /* of a flush: record of pages that could not be written */
	uint32_t pass;                    /* enum gn_cache_pass */
	uint64_t first_page, pages;       /* range of a flush or prefetch; pages UINT64_MAX: all */
};

SIMT_KERNEL_DECLARE(gn_cache_pass_all);

#endif
