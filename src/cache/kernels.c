/* SPDX-License-Identifier: Apache-2.0 */
#include <cache/kernels.h>

SIMT_FN void count_frame(const struct gn_cache_view *c, uint32_t frame, struct gn_cache_pass_result *result)
{
	uint64_t page;
	const uint64_t *word = gn__word_of_frame(c, frame, &page);
	uint64_t seen = word ? simt_load_acquire_dev_u64(word) : 0;

	if (!(seen & GN__WORD_HELD))
		return;
	if (seen & GN__WORD_DIRTY)
		simt_reduce_add_relaxed_dev_u64(&result->dirty, 1);
	if (seen & GN__WORD_PINS)
		simt_reduce_add_relaxed_dev_u64(&result->pinned, 1);
}

SIMT_FN void forget_frame(const struct gn_cache_view *c, uint32_t frame)
{
	uint64_t page;
	uint64_t *word = gn__word_of_frame(c, frame, &page);
	uint64_t seen = word ? simt_load_acquire_dev_u64(word) : 0;

	if (!(seen & GN__WORD_HELD) || seen & (GN__WORD_BUSY | GN__WORD_DIRTY | GN__WORD_PINS))
		return;
	if (c->owner && gn__word_payload(seen) != frame) /* the page has left this frame */
		return;
	if (simt_cas_acq_rel_dev_u64(word, seen, seen & GN__WORD_VERSION) == seen && c->owner)
		simt_store_release_dev_u32(&c->owner[frame], GN__OWNER_FREE);
}

/* Is the page of this frame in the range of the pass? */
SIMT_FN int in_range(const struct gn_cache_pass_args *a, uint32_t frame)
{
	uint64_t page;

	return a->pages == UINT64_MAX ||
	       (gn__word_of_frame(a->cache, frame, &page) && page - a->first_page < a->pages);
}

/* Each lane has one frame; the lanes of a warp write their dirty pages together. */
SIMT_FN void flush_frames(const struct gn_cache_pass_args *a, uint32_t all, uint64_t first)
{
	const uint64_t frame = first + simt_lane();
	const struct gn_store_status status = gn_cache_flush_frame(
	    a->cache, all, frame < a->cache->frames && in_range(a, (uint32_t)frame), (uint32_t)frame);
	uint64_t page = 0;

	if (!status.code)
		return;
	gn__word_of_frame(a->cache, (uint32_t)frame,
	                  &page); /* a page that could not be written keeps its frame */
	gn__cache_fail(a->failure, page, status);
}

SIMT_FN void fetch_pages(const struct gn_cache_pass_args *a, uint32_t all)
{
	const uint32_t width = simt_warp_width();

	for (uint64_t k = simt_global_thread() / width * width; k < a->pages; k += simt_global_threads())
		gn_cache_prefetch(a->cache, all, k + simt_lane() < a->pages, a->first_page + k + simt_lane());
}

SIMT_FN void gn_cache_pass_all(const struct gn_cache_pass_args *a)
{
	const struct gn_cache_view *c = a->cache;
	const uint32_t width = simt_warp_width();
	const uint32_t all = width == 32 ? 0xffffffffu : (1u << width) - 1;

	if (a->pass == GN_PASS_PREFETCH) {
		fetch_pages(a, all);
		return;
	}
	for (uint64_t first = simt_global_thread() / width * width; first < c->frames;
	     first += simt_global_threads()) {
		const uint64_t frame = first + simt_lane();

		if (a->pass == GN_PASS_FLUSH) {
			flush_frames(a, all, first);
		} else if (frame < c->frames) {
			if (a->pass == GN_PASS_INVALIDATE)
				forget_frame(c, (uint32_t)frame);
			count_frame(c, (uint32_t)frame, a->result);
		}
	}
}
SIMT_KERNEL(gn_cache_pass_all, struct gn_cache_pass_args)
