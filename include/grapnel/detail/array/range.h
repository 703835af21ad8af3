/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/range.h - a loop over the pages of a run of elements.
 */
#include <grapnel/array.h> /* declares these functions; before the guard, because it includes this file */
#ifndef GRAPNEL_ARRAY_RANGE_H
#define GRAPNEL_ARRAY_RANGE_H

#include <grapnel/detail/array/page.h>

/*
 * The number of pages that a loop pins at once: all warps that run at one time pin at most a quarter of the
 * frames. Pages to overwrite are pinned one by one. Such a page is VALID and DIRTY as soon as it is pinned,
 * and its bytes are undefined until the caller writes them; a loop that ends early would never write the
 * further pages of a batch.
 */
SIMT_FN uint32_t gn__range_batch(const struct gn_array *a, uint32_t mask, uint32_t intent)
{
	const uint32_t lanes = simt_popcount(mask);
	uint64_t most, threads = simt_global_threads();

	if (a->memory || intent == GN_OVERWRITE)
		return 1;
	if (a->pages.cache->resident && a->pages.cache->resident < threads)
		threads = a->pages.cache->resident;
	most = (uint64_t)a->pages.cache->frames * simt_warp_width() / (4 * threads);
	return most >= lanes ? lanes : most ? (uint32_t)most : 1;
}

SIMT_FN struct gn_range gn_range_begin(const struct gn_array *a, uint32_t mask, uint64_t begin, uint64_t end,
                                       uint32_t intent)
{
	struct gn_range r;

	memset(&r, 0, sizeof r);
	r.array = a;
	r.next = begin;
	r.end = end;
	r.mask = mask;
	r.intent = intent;
	r.batch = gn__range_batch(a, mask, intent);
	if (begin > end || end > a->count) {
		r.status.code = gn__out_of_range(a, end ? end - 1 : 0);
	} else if (intent != GN_READ && a->read_only) {
		r.status.code = -GN_EROFS;
		SIMT_COLD(gn__fail)(a, begin, r.status);
	}
	return r;
}

/* The number of lanes of mask before the first that is not in some. */
SIMT_FN uint32_t gn__lanes_before_gap(uint32_t mask, uint32_t some)
{
	const uint32_t gap = mask & ~some;

	return gap ? simt_popcount(mask & ((gap & (0 - gap)) - 1)) : simt_popcount(mask);
}

/* Lane number k of mask, from 0. */
SIMT_FN uint32_t gn__nth_lane(uint32_t mask, uint32_t k)
{
	if (!(mask & (mask + 1)))
		return k;
	for (; k; k--)
		mask &= mask - 1;
	return simt_first_lane(mask);
}

/* Unpin the pages of the batch. Collective. */
SIMT_FN void gn__range_release(struct gn_range *r)
{
	simt_warp_sync(r->mask);
	if (r->hold.word)
		gn__page_unpin(r->hold.word);
	r->hold.word = 0;
	r->held = 0;
	r->given = 0;
}

/*
 * The intent for a page: a page that lies only partly in the rest of the run must be fetched, also if the run
 * is overwritten.
 */
SIMT_FN uint32_t gn__range_intent(const struct gn_range *r, uint64_t page)
{
	const struct gn_array *a = r->array;
	const uint64_t begin = a->base + (r->next << a->element_log2),
	               end = a->base + (r->end << a->element_log2);
	const int inside = page << a->pages.page_log2 >= begin && (page + 1) << a->pages.page_log2 <= end;

	return r->intent == GN_OVERWRITE && !inside ? (uint32_t)GN_WRITE : r->intent;
}

/* This lane's page of the next batch. Returns 1, or 0: the lane has no page. */
SIMT_FN int gn__range_mine(const struct gn_range *r, uint64_t *page)
{
	const struct gn_array *a = r->array;
	const uint32_t rank = simt_rank(r->mask);
	const uint64_t last = (a->base + (r->end << a->element_log2) - 1) >> a->pages.page_log2;

	*page = gn__page_number(&a->pages, a->base + (r->next << a->element_log2)) + rank;
	return rank < r->batch && *page <= last;
}

/*
 * Pin this lane's page of the next batch if that can be done at once. Returns 1 if the page must be fetched.
 */
SIMT_FN int gn__range_misses(struct gn_range *r)
{
	uint64_t page;

	return gn__range_mine(r, &page) &&
	       (r->intent != GN_READ ||
	        !gn__page_pin_own(&r->array->pages, page, &r->hold.word, &r->hold.data));
}

/*
 * Pin the pages that lanes miss. Collective. Returns the number of pages of the batch, up to the first that
 * failed; r->status is the status of the first page.
 */
SIMT_FN uint32_t gn__range_fetch(struct gn_range *r, int missing)
{
	const struct gn_array *a = r->array;
	struct gn_store_status status = {0, 0};
	struct gn_pinned p;
	uint64_t page;
	const int mine = gn__range_mine(r, &page);

	p = gn_cache_pin_each(a->pages.cache, r->mask, missing, page, gn__range_intent(r, page));
	if (missing) {
		r->hold.word = p.hold.word;
		r->hold.data = p.hold.data;
		status = p.status;
	}
	r->held = gn__lanes_before_gap(r->mask, simt_ballot(r->mask, mine && !status.code));
	if (status.code)
		r->hold.word = 0;
	if (r->hold.word && simt_rank(r->mask) >= r->held) {
		gn__page_unpin(r->hold.word);
		r->hold.word = 0;
	}
	r->status = gn__store_share(r->mask, simt_first_lane(r->mask), status);
	simt_warp_sync(r->mask);
	return r->held;
}

/*
 * Pin the next batch where some pages are not in frames. If no page could be pinned, frames may be short, so
 * the loop continues with one page at a time. r is passed by value, so that the caller's stays in registers.
 */
SIMT_NOINLINE_FN struct gn_range gn__range_bring(struct gn_range r, int missing)
{
	if (!gn__range_fetch(&r, missing) && r.status.code != -GN_ETIMEDOUT && r.batch > 1) {
		r.batch = 1;
		gn__range_fetch(&r, gn__range_misses(&r));
	}
	if (r.status.code && r.status.code != -GN_ENOBUFS)
		gn__fail(r.array, r.next, r.status);
	return r;
}

/*
 * Pin the next batch. In line: the registers that a call saves and loads are a tenth of the bytes of a batch
 * of small pages.
 */
SIMT_FN void gn__range_refill(struct gn_range *r)
{
	const struct gn_array *a = r->array;
	int missing;

	gn__range_release(r);
	missing = gn__range_misses(r);
	if (simt_unlikely(simt_ballot(r->mask, missing))) {
		*r = SIMT_COLD(gn__range_bring)(*r, missing);
		r->array = a; /* the compiler still knows a: its members need no loads */
		return;
	}
	r->held = simt_popcount(simt_ballot(r->mask, r->hold.word != 0));
	simt_warp_sync(r->mask);
}

/* Hand out the run's part of the next page of the batch. */
SIMT_FN void gn__range_give(struct gn_range *r, struct gn_page *page)
{
	const struct gn_array *a = r->array;
	const uint64_t page_bytes = 1ull << a->pages.page_log2,
	               address = a->base + (r->next << a->element_log2);
	const uint64_t at = address & (page_bytes - 1), left = (page_bytes - at) >> a->element_log2;
	const uint64_t data =
	    simt_shfl_u64(r->mask, (uint64_t)(uintptr_t)r->hold.data, gn__nth_lane(r->mask, r->given));

	page->data = (void *)(uintptr_t)simt_global((const void *)(uintptr_t)(data + at));
	page->first = r->next;
	page->count = r->end - r->next < left ? r->end - r->next : left;
	page->hold.word = 0;
	page->hold.data = 0;
	r->next += page->count;
	r->given++;
}

/* Direct mode: hand out the rest of the run at once, or a block of it if the array has a sample. */
SIMT_FN void gn__range_memory(struct gn_range *r, struct gn_page *page)
{
	const uint64_t left = r->end - r->next;

	gn__page_memory(r->array, r->next, page);
	page->data = r->array->memory + (r->next << r->array->element_log2);
	page->count -= r->next - page->first;
	page->count = page->count < left ? page->count : left;
	page->first = r->next;
	r->next += page->count;
}

SIMT_FN int gn_range_next(struct gn_range *r, struct gn_page *page)
{
	if (r->next >= r->end || r->status.code)
		return 0;
	if (r->array->memory) {
		gn__range_memory(r, page);
	} else {
		if (r->given == r->held)
			gn__range_refill(r);
		if (!r->held)
			return 0;
		gn__range_give(r, page);
	}
	if (simt_unlikely(r->array->sample != 0))
		SIMT_COLD(gn__sample_run)
	(r->array, simt_rank(r->mask), simt_popcount(r->mask), page->first, page->count,
	 r->intent != GN_READ ? GN__TOUCH_WRITE : 0);
	return 1;
}

SIMT_FN int gn_range_end(struct gn_range *r)
{
	gn__range_release(r);
	return r->status.code;
}

#endif
