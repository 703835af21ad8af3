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

SIMT_FN void gn_gather_few(const struct gn__job *j)
{
	gn__gather_few(j);
}
SIMT_KERNEL(gn_gather_few, struct gn__job)

/* ---- on the devices that have the rows ---- */

/* The row's first byte if the row begins on this device, else NULL. The first device sees to bad numbers. */
SIMT_INLINE_FN const char *row_here(const struct gn_gather_there_args *g, const struct gn__job *j,
                                    uint64_t position, uint32_t unit)
{
	const uint64_t index = g->batch.index[position], from = index * j->row_bytes;

	if (simt_unlikely(index >= j->most)) {
		if (!g->device && !unit)
			SIMT_COLD(gn__entry_refused)(j, index, position);
		return NULL;
	}
	return g->devices == 1 || ((g->first + from) >> g->piece_log2) % g->devices == g->device
	           ? g->array.memory + from
	           : NULL;
}

/*
 * Every thread copies units of rows, neighbours those of neighbouring places. Some of a thread's loads are
 * under way together. unit is a constant at every call.
 */
SIMT_INLINE_FN void copy_units(const struct gn_gather_there_args *g, const struct gn__job *j, uint32_t unit)
{
	const uint32_t units = j->row_bytes / unit;
	const uint64_t all = g->batch.count * units, step = (uint64_t)simt_blocks() * simt_block_threads();

	for (uint64_t at = (uint64_t)simt_block() * simt_block_threads() + simt_thread(); at < all;
	     at += GN__AT_ONCE * step) {
		const char *from[GN__AT_ONCE];
		uint64_t value[GN__AT_ONCE];

		for (uint32_t k = 0; k < GN__AT_ONCE; k++) {
			const uint64_t u = at + k * step;

			from[k] = u < all ? row_here(g, j, u / units, (uint32_t)(u % units)) : NULL;
			value[k] = from[k] ? gn__unit_load(from[k] + u % units * unit, unit) : 0;
		}
		for (uint32_t k = 0; k < GN__AT_ONCE; k++)
			if (from[k])
				gn__unit_put(j->rows + (at + k * step) * unit, value[k], unit);
	}
}

SIMT_FN void gn_gather_there(const struct gn_gather_there_args *g)
{
	struct gn__gather_shared *s = (struct gn__gather_shared *)simt_shared();
	const struct gn__job *j = &s->job;

	gn__job_begin(s, &g->array, &g->batch, 0);
	switch (j->unit) {
	case 1: copy_units(g, j, 1); break;
	case 2: copy_units(g, j, 2); break;
	case 4: copy_units(g, j, 4); break;
	default: copy_units(g, j, 8);
	}
}
SIMT_KERNEL_RESIDENT(gn_gather_there, struct gn_gather_there_args, 2048)
