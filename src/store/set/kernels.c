/* SPDX-License-Identifier: Apache-2.0 */
#include <store/set/kernels.h>

/* Put the queue pairs of the member in their place. Nobody uses those that are there: the member is stale. */
SIMT_FN void take_queues(const struct gn_back_args *a)
{
	const struct gn_store_view *s = &a->back.view;
	struct gn_nvmeq *to = (struct gn_nvmeq *)(uintptr_t)gn__set_member(s, a->back.member);

	for (uint32_t k = 0; k < s->queue_count; k++)
		to[k] = a->queue[k];
	for (uint32_t k = 0; k < s->host_queues; k++)
		to[s->queue_count + k] = a->queue[k < a->host_queues ? a->queue_count + k : 0];
}

SIMT_FN void copy_windows(const struct gn_back_args *a)
{
	struct gn_back_result *result = a->result;
	struct gn_store_status status = {0, 0};

	for (uint64_t window = a->first; window < a->end; window++) {
		uint32_t copied;

		status = gn__back_window(&a->back, window, &copied);
		if (status.code && status.code != -GN_EAGAIN)
			result->why = status;
		if (simt_ballot(simt_whole_warp(), status.code != 0))
			break;
		simt_add_relaxed_sys_u64(&result->copied_bytes, copied);
	}
	if (status.code)
		result->code = -GN_EIO;
}

SIMT_FN void gn_back_do(const struct gn_back_args *a)
{
	if (a->step == GN_BACK_COPIES) {
		copy_windows(a);
		return;
	}
	if (simt_lane())
		return;
	if (a->step == GN_BACK_BEGINS && a->queue)
		take_queues(a);
	if (a->step == GN_BACK_BEGINS)
		a->result->code = gn__back_begins(&a->back.view, a->back.member);
	if (a->step == GN_BACK_IS_SOUND || a->step == GN_BACK_ENDS)
		gn__back_is_sound(&a->back.view, a->back.member);
	if (a->step == GN_BACK_ENDS)
		a->result->code = gn__back_ends(&a->back.view, a->back.member);
}
SIMT_KERNEL(gn_back_do, struct gn_back_args)

void gn_back_do_on_host(const struct gn_back_args *a)
{
	gn_back_do(a);
}
