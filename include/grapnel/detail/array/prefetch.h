/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/prefetch.h - brings in pages that will be read soon: of a range, or one for each lane.
 */
#include <grapnel/array.h> /* declares these functions; before the guard, because it includes this file */
#ifndef GRAPNEL_ARRAY_PREFETCH_H
#define GRAPNEL_ARRAY_PREFETCH_H

#include <grapnel/detail/array/view.h>

SIMT_FN void gn_array_prefetch_each(const struct gn_array *a, uint32_t mask, int wants, uint64_t index)
{
	const uint64_t address = a->base + (index << a->element_log2);

	if (!a->memory)
		SIMT_COLD(gn_cache_prefetch)
	(a->pages.cache, mask, wants && index < a->count, gn__page_number(&a->pages, address));
}

SIMT_FN void gn_array_prefetch(const struct gn_array *a, uint32_t mask, uint64_t first, uint64_t count)
{
	const uint64_t rest = first < a->count ? a->count - first : 0, many = count < rest ? count : rest;
	const uint64_t begin = gn__page_number(&a->pages, a->base + (first << a->element_log2));
	const uint64_t end =
	    many ? ((a->base + ((first + many) << a->element_log2) - 1) >> a->pages.page_log2) + 1 : begin;

	for (uint64_t page = begin; !a->memory && page < end; page += simt_popcount(mask))
		SIMT_COLD(gn_cache_prefetch)
	(a->pages.cache, mask, page + simt_rank(mask) < end, page + simt_rank(mask));
}

#endif
