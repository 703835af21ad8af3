/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/page.h - elements by reference: a page is pinned once and then accessed by plain loads and
 * stores of any width.
 */
#include <grapnel/array.h> /* declares these functions; before the guard, because it includes this file */
#ifndef GRAPNEL_ARRAY_PAGE_H
#define GRAPNEL_ARRAY_PAGE_H

#include <grapnel/detail/array/sample.h>

/* The elements that share a block of 2^log2 bytes with index; element 0 is at byte base. */
SIMT_FN void gn__run_of(const struct gn_array *a, uint64_t base, uint32_t log2, uint64_t index,
                        struct gn_page *page)
{
	const uint64_t bytes = 1ull << log2, start = (base + (index << a->element_log2)) & ~(bytes - 1);
	const uint64_t begin = start > base ? start : base;
	const uint64_t end = start + bytes, array_end = base + (a->count << a->element_log2);

	page->first = (begin - base) >> a->element_log2;
	page->count = ((end < array_end ? end : array_end) - begin) >> a->element_log2;
}

/* The elements of a paged array that share a page with index. */
SIMT_FN void gn__page_extent(const struct gn_array *a, uint64_t index, struct gn_page *page)
{
	gn__run_of(a, a->base, a->pages.page_log2, index, page);
}

/* Check an acquire before it looks at pages. Returns 0 or an error code, which the array keeps. */
SIMT_FN int gn__page_refused(const struct gn_array *a, uint64_t index, uint32_t intent)
{
	const struct gn_store_status read_only = {-GN_EROFS, 0};

	if (index >= a->count)
		return gn__out_of_range(a, index);
	return intent != GN_READ && a->read_only ? SIMT_COLD(gn__fail)(a, index, read_only) : 0;
}

/*
 * Direct mode: the run is the whole array. If the array has a sample, the run is only a block, so that the
 * sample shows which parts are used.
 */
SIMT_FN void gn__page_memory(const struct gn_array *a, uint64_t index, struct gn_page *page)
{
	page->first = 0;
	page->count = a->count;
	if (simt_unlikely(a->sample != 0))
		gn__run_of(a, a->sample->base, GN__SAMPLE_BLOCK_LOG2, index, page);
	page->data = a->memory + (page->first << a->element_log2);
}

/* Note in the sample the run that the lanes of mask have acquired together. Called by each of them. */
SIMT_NOINLINE_FN void gn__page_note(const struct gn_array *a, uint32_t mask, uint64_t index, uint32_t intent)
{
	struct gn_page page;

	if (a->memory)
		gn__page_memory(a, index, &page);
	else
		gn__page_extent(a, index, &page);
	gn__sample_run(a, simt_rank(mask), simt_popcount(mask), page.first, page.count,
	               intent != GN_READ ? GN__TOUCH_WRITE : 0);
}

/* Complete an acquire: set page->data, or keep the failure of the pin in the array. Returns the code. */
SIMT_FN int gn__page_done(const struct gn_array *a, uint64_t index, struct gn_store_status status,
                          struct gn_page *page)
{
	if (!status.code)
		page->data = page->hold.data + ((a->base + (page->first << a->element_log2)) &
		                                ((1ull << a->pages.page_log2) - 1));
	else if (status.code != -GN_ENOBUFS)
		SIMT_COLD(gn__fail)(a, index, status);
	return status.code;
}

/* gn_array_acquire in paged mode. */
SIMT_FN int gn__page_pin(const struct gn_array *a, uint32_t mask, uint64_t index, uint32_t intent,
                         struct gn_page *page)
{
	struct gn_store_status status;

	gn__page_extent(a, index, page);
	if (intent == GN_OVERWRITE && page->count << a->element_log2 != 1ull << a->pages.page_log2)
		intent = GN_WRITE;
	status =
	    gn__page_hold(&a->pages, mask, gn__page_number(&a->pages, a->base + (index << a->element_log2)),
	                  intent, &page->hold);
	return gn__page_done(a, index, status, page);
}

SIMT_FN int gn_array_acquire(const struct gn_array *a, uint32_t mask, uint64_t index, uint32_t intent,
                             struct gn_page *page)
{
	int rc = gn__page_refused(a, index, intent);

	page->hold.word = 0;
	if (rc)
		return rc;
	if (a->memory)
		gn__page_memory(a, index, page);
	else
		rc = gn__page_pin(a, mask, index, intent, page);
	if (simt_unlikely(a->sample != 0) && !rc)
		SIMT_COLD(gn__page_note)(a, mask, index, intent);
	return rc;
}

SIMT_FN void gn_array_release(const struct gn_array *a, uint32_t mask, const struct gn_page *page)
{
	if (!a->memory)
		gn_cache_unpin(mask, &page->hold);
}

/*
 * gn_array_acquire_each in paged mode. Lanes that are refused take part. Returns each lane's code.
 * @refused  the lane's code from gn__page_refused
 */
SIMT_FN int gn__page_pin_each(const struct gn_array *a, uint32_t mask, uint64_t index, uint32_t intent,
                              int refused, struct gn_page *page)
{
	const uint64_t number = gn__page_number(&a->pages, a->base + (index << a->element_log2));
	struct gn_store_status status = {0, 0};
	int missing;

	gn__page_extent(a, index, page);
	if (intent == GN_OVERWRITE && page->count << a->element_log2 != 1ull << a->pages.page_log2)
		intent = GN_WRITE;
	missing = !refused && (intent != GN_READ ||
	                       !gn__page_pin_own(&a->pages, number, &page->hold.word, &page->hold.data));
	if (simt_ballot(mask, missing)) {
		const struct gn_pinned p =
		    SIMT_COLD(gn_cache_pin_each)(a->pages.cache, mask, missing, number, intent);

		if (missing) {
			page->hold = p.hold;
			status = p.status;
		}
	}
	return refused ? refused : gn__page_done(a, index, status, page);
}

SIMT_FN int gn_array_acquire_each(const struct gn_array *a, uint32_t mask, uint64_t index, uint32_t intent,
                                  struct gn_page *page)
{
	int rc = gn__page_refused(a, index, intent);

	page->hold.word = 0;
	if (!a->memory)
		rc = gn__page_pin_each(a, mask, index, intent, rc, page);
	else if (!rc)
		gn__page_memory(a, index, page);
	if (simt_unlikely(a->sample != 0) && !rc)
		SIMT_COLD(gn__page_note)(a, 1u << simt_lane(), index, intent);
	return rc;
}

SIMT_FN void gn_array_release_each(const struct gn_array *a, const struct gn_page *page)
{
	if (!a->memory)
		gn_cache_unpin(1u << simt_lane(), &page->hold);
}

#endif
