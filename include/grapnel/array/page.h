/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array/page.h - elements by reference: a page pinned once, then plain loads and stores of any width.
 */
#ifndef GRAPNEL_ARRAY_PAGE_H
#define GRAPNEL_ARRAY_PAGE_H

#include <grapnel/array/look.h>

/* A run of elements that lie together. A value; released by the lanes that acquired it, once. */
struct gn_page {
	void *data;     /* element `first`; in a paged array 16-byte aligned if first starts a page */
	uint64_t first; /* index of the first element */
	uint64_t count; /* elements, all inside the array */
	struct gn_hold hold;
};

/* The elements of a paged array that share a page with index. */
SIMT_FN void gn__page_extent(const struct gn_array *a, uint64_t index, struct gn_page *page)
{
	const uint64_t size = 1ull << a->element_log2, page_bytes = 1ull << a->page_log2;
	const uint64_t start = (a->base + (index << a->element_log2)) & ~(page_bytes - 1);
	const uint64_t begin = start > a->base ? start : a->base;
	const uint64_t end = start + page_bytes;
	const uint64_t array_end = a->base + a->count * size;

	page->first = (begin - a->base) >> a->element_log2;
	page->count = ((end < array_end ? end : array_end) - begin) >> a->element_log2;
}

/*
 * gn_array_acquire - collective: pin the page that holds an element.
 * @mask   the calling lanes; all pass the same index (or one on the same page). One pin for all of them: a warp
 *         passes its mask, a thread on its own 1u << simt_lane()
 * @intent  GN_READ; GN_WRITE: elements will be written; GN_OVERWRITE: every element of the run will be written before
 *         anybody reads one, so that a page which the array has wholly is not fetched; until then its elements are undefined
 * @page   receives the run of elements; end with gn_array_release over the same mask
 * A held page keeps its frame: hold few, and not across waits for other threads. In direct mode the run is the
 * whole array. Waits while the page is fetched.
 * Returns to all lanes 0, -GN_ENOBUFS (every frame the page could take is pinned: release something, or read
 * element by element), -GN_ERANGE, -GN_EIO, -GN_ETIMEDOUT, -GN_EROFS. Failures other than -GN_ENOBUFS are also
 * kept in the array.
 */
SIMT_FN int gn_array_acquire(const struct gn_array *a, uint32_t mask, uint64_t index, uint32_t intent,
			     struct gn_page *page)
{
	struct gn_store_status status;

	if (index >= a->count)
		return gn__out_of_range(a, index);
	page->hold.word = 0;
	if (intent != GN_READ && a->read_only) {
		status.code = -GN_EROFS;
		status.device = 0;
		return gn__fail(a, index, status);
	}
	if (a->memory) {
		page->data = a->memory;
		page->first = 0;
		page->count = a->count;
		return 0;
	}
	gn__page_extent(a, index, page);
	if (intent == GN_OVERWRITE && page->count << a->element_log2 != 1ull << a->page_log2)
		intent = GN_WRITE;
	status = gn__pin(a, mask, (a->base + (index << a->element_log2)) >> a->page_log2, intent, &page->hold);
	if (!status.code)
		page->data = page->hold.data + ((a->base + (page->first << a->element_log2)) & ((1ull << a->page_log2) - 1));
	else if (status.code != -GN_ENOBUFS)
		gn__fail(a, index, status);
	return status.code;
}

/* gn_array_release - collective over the mask of gn_array_acquire: the run is no longer used. */
SIMT_FN void gn_array_release(const struct gn_array *a, uint32_t mask, const struct gn_page *page)
{
	if (!a->memory)
		gn_cache_unpin(mask, &page->hold);
}

#endif
