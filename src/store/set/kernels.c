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

/* Lanes may end differently: the first one of those that failed is told. */
SIMT_FN void tell_copy(struct gn_back_result *result, uint32_t ended, const struct gn_back_copy *c)
{
	const uint32_t failed = simt_ballot(simt_whole_warp(), c->status.code != 0);

	if (simt_lane() != simt_first_lane(failed ? failed : ended))
		return;
	result->why = c->status;
	result->end = c->end;
	result->code = -GN_EIO;
}

SIMT_FN void copy_windows(struct gn_back_args *a)
{
	const struct gn_back back = a->back; /* the warp's own: the arguments are far away */

	for (uint64_t window = a->first; window < a->end; window++) {
		struct gn_back_copy c;
		uint32_t ended;

		gn__back_window(&back, window, &c);
		ended = simt_ballot(simt_whole_warp(), c.end != GN_BACK_COPIED);
		if (ended) {
			tell_copy(&a->result, ended, &c);
			return;
		}
	}
}

SIMT_FN void do_step(struct gn_back_args *a)
{
	const struct gn_store_view *s = &a->back.view;

	if (a->step == GN_BACK_COPIES) {
		copy_windows(a);
		return;
	}
	if (simt_lane())
		return;
	if (a->step == GN_BACK_BEGINS && a->queue)
		take_queues(a);
	if (a->step == GN_BACK_BEGINS)
		a->result.code = gn__back_begins(s, a->back.member);
	if (a->step == GN_BACK_IS_SOUND || a->step == GN_BACK_ENDS)
		gn__back_is_sound(s, a->back.member);
	if (a->step == GN_BACK_ENDS)
		a->result.code = gn__back_ends(s, a->back.member);
	if (a->step == GN_BACK_NEWS)
		gn__back_news(s, &a->news);
}

/* The whole warp: wait until the host lets it do its step. Returns 0 if the host has called it off. */
SIMT_FN int may_go(const struct gn_back_launch *l)
{
	const uint64_t waits = 2 * l->number;
	uint64_t go = waits + 1;

	if (!simt_lane() && l->number) {
		simt_store_release_sys_u64(&l->shared->started, l->number);
		while ((go = simt_load_acquire_sys_u64(&l->shared->go)) == waits)
			simt_relax();
	}
	return !simt_ballot(simt_whole_warp(), go != waits + 1);
}

SIMT_FN void gn_back_do(const struct gn_back_launch *l)
{
	if (may_go(l))
		do_step(&l->shared->args);
}
SIMT_KERNEL(gn_back_do, struct gn_back_launch)

void gn_back_do_on_host(struct gn_back_args *a)
{
	do_step(a);
}
