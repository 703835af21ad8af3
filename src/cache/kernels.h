/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - what a cache runs on its machine for the host: a pass over all frames.
 */
#ifndef GN_CACHE_KERNELS_H
#define GN_CACHE_KERNELS_H

#include <grapnel/cache.h>

enum gn_cache_pass {
	GN_PASS_COUNT,      /* count dirty and pinned pages */
	GN_PASS_FLUSH,      /* write dirty pages */
	GN_PASS_INVALIDATE, /* forget clean, unpinned pages */
	GN_PASS_PREFETCH,   /* fetch pages, of all that there are */
};

/* What a pass that counts found; zeroed by the host before. */
struct gn_cache_pass_result {
	uint64_t dirty, pinned;
};

struct gn_cache_pass_args {
	const struct gn_cache_view *cache;
	struct gn_cache_pass_result *result;
	struct gn_cache_failure *failure; /* a flush: what could not be written */
	uint32_t pass;                    /* enum gn_cache_pass */
	uint64_t first_page, pages;       /* a flush or prefetch is about; pages UINT64_MAX: all */
};

SIMT_KERNEL_DECLARE(gn_cache_pass_all);

#endif
