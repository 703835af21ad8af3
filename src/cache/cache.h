/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - a cache as the host sees it. */
#ifndef GN_CACHE_CACHE_H
#define GN_CACHE_CACHE_H

#include <cache/kernels.h>
#include <grapnel/cache.h>

struct gn_cache {
	struct simt_machine *machine;
	struct gn_cache_view image;   /* the host's copy */
	struct gn_cache_view *device; /* the device's */
	struct gn_store *store[GN_CACHE_STORES];
	struct gn_cache_pass_result *result;
	int is_direct; /* which table */
	uint64_t budget_bytes;
	uint64_t metadata_bytes;
};

/* The segment of a store in this cache, or -1. */
int gn__cache_segment(const struct gn_cache *cache, const struct gn_store *store);

#endif
