/* SPDX-License-Identifier: Apache-2.0 */
#include <store/tier/kernels.h>

SIMT_FN void note_failure(const struct gn_tier_sweep_args *a, uint64_t way, struct gn_store_status status)
{
	struct gn_tier_failure *f = a->failure;

	if (status.code == -GN_ETIMEDOUT)
		simt_store_relaxed_sys_u32(&f->late, 1);
	simt_reduce_add_relaxed_sys_u32(&f->count, 1);
	if (simt_add_relaxed_sys_u32(&f->taken, 1))
		return;
	f->status = status;
	f->line = gn__tier_line_of(simt_load_relaxed_dev_u64(&a->view.tier->word[way]));
}

/* The way that an item of the sweep stands for. Returns 0 if there is none. */
SIMT_FN int way_of(const struct gn_tier_sweep_args *a, uint64_t item, uint64_t *way)
{
	const struct gn_tier_view *t = a->view.tier;
	uint64_t seen;

	*way = item;
	if (item >= a->items || !a->by_line)
		return item < a->items;
	*way = (uint64_t)gn__tier_set(t, a->first + item) * GN__TIER_WAYS;
	item = gn__tier_find(&t->word[*way], a->first + item, &seen);
	*way += item;
	if (item < GN__TIER_WAYS)
		return 1;
	simt_fence_acq_rel_dev(); /* A4: who wrote the line to the slow store, before it left */
	return 0;
}

/* The slow store does not answer: do not ask it for each line anew. Dirty lines count as failed. */
SIMT_FN struct gn_store_status leave(const struct gn_tier_sweep_args *a, int wants, uint64_t way)
{
	const uint64_t seen = wants ? simt_load_relaxed_dev_u64(&a->view.tier->word[way]) : 0;
	struct gn_store_status status = {0, 0};

	if (seen & GN__TIER_DIRTY && gn__tier_line_of(seen) - a->first < a->lines)
		status.code = -GN_ETIMEDOUT;
	return status;
}

SIMT_FN void gn_tier_sweep(const struct gn_tier_sweep_args *a)
{
	const uint32_t width = simt_warp_width(), all = simt_whole_warp();

	for (uint64_t first = simt_global_thread() / width * width; first < a->items;
	     first += simt_global_threads()) {
		uint64_t way;
		const int wants = way_of(a, first + simt_lane(), &way);
		const int late = simt_load_relaxed_sys_u32(&a->failure->late) != 0;
		struct gn_store_status status;

		if (simt_ballot(all, late))
			status = leave(a, wants, way);
		else
			status = gn__tier_clean(&a->view, all, wants, wants ? way : 0, a->first, a->lines,
			                        (int)a->drops);
		if (status.code)
			note_failure(a, way, status);
	}
}
SIMT_KERNEL(gn_tier_sweep, struct gn_tier_sweep_args)
