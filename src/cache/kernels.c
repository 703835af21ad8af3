/* SPDX-License-Identifier: Apache-2.0 */
#include <cache/kernels.h>

SIMT_FN void count_frame(const struct gn_cache_view *c, uint32_t frame, struct gn_cache_pass_result *result)
{
	uint64_t page;
	const uint64_t *word = gn__word_of_frame(c, frame, &page);
	uint64_t seen = word ? simt_load_acquire_dev_u64(word) : 0;

	if (!(seen & GN_WORD_VALID))
		return;
	if (seen & GN_WORD_DIRTY)
		simt_add_relaxed_dev_u64(&result->dirty, 1);
	if (seen & GN_WORD_PINS)
		simt_add_relaxed_dev_u64(&result->pinned, 1);
}

SIMT_FN void forget_frame(const struct gn_cache_view *c, uint32_t frame)
{
	uint64_t page;
	uint64_t *word = gn__word_of_frame(c, frame, &page);
	uint64_t seen = word ? simt_load_acquire_dev_u64(word) : 0;

	if (!(seen & GN_WORD_VALID) || seen & (GN_WORD_BUSY | GN_WORD_DIRTY | GN_WORD_PINS))
		return;
	if (simt_cas_acq_rel_dev_u64(word, seen, seen & GN_WORD_VERSION) == seen && c->owner)
		simt_store_release_dev_u32(&c->owner[frame], GN__OWNER_FREE);
}

/* One warp a frame: a flush moves its page with all lanes, the rest is the first lane's. */
SIMT_FN void gn_cache_pass_all(const struct gn_cache_pass_args *a)
{
	const struct gn_cache_view *c = a->cache;
	const uint32_t width = simt_warp_width();
	const uint32_t all = width == 32 ? 0xffffffffu : (1u << width) - 1;
	const uint64_t warps = simt_global_threads() / width;

	for (uint64_t frame = simt_global_thread() / width; frame < c->frames; frame += warps) {
		if (a->pass == GN_PASS_FLUSH) {
			struct gn_store_status status = gn_cache_flush_frame(c, all, (uint32_t)frame);

			if (status.code && simt_lane() == 0)
				simt_add_relaxed_dev_u32(&a->result->failures, 1);
		} else if (simt_lane() == 0) {
			if (a->pass == GN_PASS_INVALIDATE)
				forget_frame(c, (uint32_t)frame);
			count_frame(c, (uint32_t)frame, a->result);
		}
	}
}
SIMT_KERNEL(gn_cache_pass_all, struct gn_cache_pass_args)
