/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array/page.h - elements by reference: a page pinned once, then plain loads and stores of any width.
 */
#ifndef GRAPNEL_ARRAY_PAGE_H
#define GRAPNEL_ARRAY_PAGE_H

#include <grapnel/array/look.h>
#include <grapnel/array/sample.h>

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

/* What an acquire refuses before it looks at pages. Returns 0 or a code, which the array keeps. */
SIMT_FN int gn__page_refused(const struct gn_array *a, uint64_t index, uint32_t intent)
{
	const struct gn_store_status read_only = {-GN_EROFS, 0};

	if (index >= a->count)
		return gn__out_of_range(a, index);
	return intent != GN_READ && a->read_only ? SIMT_COLD(gn__fail)(a, index, read_only) : 0;
}

/* Direct mode: the run is the whole array. */
SIMT_FN void gn__page_memory(const struct gn_array *a, struct gn_page *page)
{
	page->data = a->memory;
	page->first = 0;
	page->count = a->count;
}

/* The page is pinned, or could not be. */
SIMT_FN int gn__page_done(const struct gn_array *a, uint64_t index, struct gn_store_status status, struct gn_page *page)
{
	if (!status.code)
		page->data = page->hold.data + ((a->base + (page->first << a->element_log2)) & ((1ull << a->page_log2) - 1));
	else if (status.code != -GN_ENOBUFS)
		SIMT_COLD(gn__fail)(a, index, status);
	return status.code;
}

/*
 * gn_array_acquire - collective: pin the page that holds an element.
 * @mask   the calling lanes; all pass the same index (or one on the same page). One pin for all of them: a warp
 *         passes its mask, a thread on its own 1u << simt_lane()
 * @intent  GN_READ; GN_WRITE: elements will be written; GN_OVERWRITE: every element of the run will be written before
 *         anybody reads one, so that a page which the array has wholly is not fetched; until then its elements are
 *         undefined
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
	const int refused = gn__page_refused(a, index, intent);
	struct gn_store_status status;

	page->hold.word = 0;
	if (refused)
		return refused;
	if (simt_unlikely(a->sample != 0))
		SIMT_COLD(gn__sample_page)(a, mask, index, intent != GN_READ);
	if (a->memory) {
		gn__page_memory(a, page);
		return 0;
	}
	gn__page_extent(a, index, page);
	if (intent == GN_OVERWRITE && page->count << a->element_log2 != 1ull << a->page_log2)
		intent = GN_WRITE;
	status = gn__pin(a, mask, (a->base + (index << a->element_log2)) >> a->page_log2, intent, &page->hold);
	return gn__page_done(a, index, status, page);
}

/* gn_array_release - collective over the mask of gn_array_acquire: the run is no longer used. */
SIMT_FN void gn_array_release(const struct gn_array *a, uint32_t mask, const struct gn_page *page)
{
	if (!a->memory)
		gn_cache_unpin(mask, &page->hold);
}

/*
 * gn_array_acquire_each - collective: each lane pins the page of an element of its own.
 * @mask   the calling lanes; @index, @intent and @page are each lane's own
 * The pages that are there are pinned in one round trip, the others brought in together. Else as gn_array_acquire; the
 * code is each lane's own, and so is the release: those whose code is 0 call gn_array_release_each.
 */
SIMT_FN int gn_array_acquire_each(const struct gn_array *a, uint32_t mask, uint64_t index, uint32_t intent,
				  struct gn_page *page)
{
	const int refused = gn__page_refused(a, index, intent);
	const uint64_t number = (a->base + (index << a->element_log2)) >> a->page_log2;
	struct gn_store_status status = {0, 0};
	int missing;

	page->hold.word = 0;
	if (a->memory) {
		gn__page_memory(a, page);
		return refused;
	}
	gn__page_extent(a, index, page);
	if (intent == GN_OVERWRITE && page->count << a->element_log2 != 1ull << a->page_log2)
		intent = GN_WRITE;
	missing = !refused && (intent != GN_READ || !gn__pin_own(a, number, &page->hold));
	if (simt_ballot(mask, missing)) {
		const struct gn_pinned p = SIMT_COLD(gn_cache_pin_each)(a->cache, mask, missing, number, intent);

		if (missing) {
			page->hold = p.hold;
			status = p.status;
		}
	}
	return refused ? refused : gn__page_done(a, index, status, page);
}

/* gn_array_release_each - the lane's page of gn_array_acquire_each is no longer used. Any lane by itself. */
SIMT_FN void gn_array_release_each(const struct gn_array *a, const struct gn_page *page)
{
	if (!a->memory)
		gn_cache_unpin(1u << simt_lane(), &page->hold);
}

#endif
