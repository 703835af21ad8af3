/* SPDX-License-Identifier: Apache-2.0 */
#include <array/gather_kernels.h>

SIMT_FN struct gn__gather_shared *begin(const struct gn_gather_args *a)
{
	struct gn__gather_shared *s = (struct gn__gather_shared *)simt_shared();

	gn__job_begin(s, &a->array, &a->batch, (int)a->is_scatter);
	return s;
}

SIMT_FN uint32_t shift_of(const struct gn__gather_shared *s, uint32_t pass)
{
	return s->job.shift + 8 * pass;
}

SIMT_FN void gn_gather_load(const struct gn_gather_args *a)
{
	struct gn__gather_shared *s = begin(a);
	const struct gn__part part = gn__part_of(a->batch.count);

	gn__part_load(s, &part, a->view.entry[0], a->view.next);
	gn__part_count(s, &part, a->view.entry[0], shift_of(s, 0), a->view.counts);
}
SIMT_KERNEL_RESIDENT(gn_gather_load, struct gn_gather_args, 2048)

SIMT_FN void gn_gather_count(const struct gn_gather_args *a)
{
	struct gn__gather_shared *s = begin(a);
	const struct gn__part part = gn__part_of(a->batch.count);

	gn__part_count(s, &part, a->view.entry[a->pass % 2], shift_of(s, a->pass), a->view.counts);
}
SIMT_KERNEL_RESIDENT(gn_gather_count, struct gn_gather_args, 2048)

SIMT_FN void gn_gather_sort(const struct gn_gather_args *a)
{
	struct gn__gather_shared *s = begin(a);
	const struct gn__part part = gn__part_of(a->batch.count);

	gn__part_sort(s, &part, a->view.entry[a->pass % 2], shift_of(s, a->pass), a->view.counts,
	              a->view.entry[(a->pass + 1) % 2]);
}
SIMT_KERNEL_RESIDENT(gn_gather_sort, struct gn_gather_args, 2048)

/* This kernel has only the job in shared memory. */
SIMT_FN void gn_gather_move(const struct gn_gather_args *a)
{
	const struct gn__gather_shared *s = begin(a);

	gn__move_rows(&s->job, a->view.entry[a->pass % 2], a->view.next);
}
SIMT_KERNEL(gn_gather_move, struct gn_gather_args)

/* On cpu: a whole gather. A GPU never runs it, so it is empty there. */
SIMT_FN void gn_gather_as_they_come(const struct gn_gather_args *a)
{
	if (!SIMT_ON_CUDA)
		gn__move_as_they_come(&begin(a)->job);
}
SIMT_KERNEL(gn_gather_as_they_come, struct gn_gather_args)
