/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include "matrix/parts.h"

struct tile {
	uint64_t begin, end;   /* rows that are written */
	uint64_t first, after; /* columns that are written */
	uint64_t left, right;  /* columns that are read: [left, right) */
	float *lines;
	uint64_t line_length;
};

SIMT_FN struct tile tile_of(const struct gn_stencil_args *a, uint64_t item, uint64_t warp)
{
	struct tile t;

	t.begin = item / a->tiles * a->group_rows;
	t.end = gn_matrix_least(t.begin + a->group_rows, a->rows);
	t.first = item % a->tiles * a->width;
	t.after = gn_matrix_least(t.first + a->width, a->columns);
	t.left = t.first ? t.first - 1 : 0;
	t.right = gn_matrix_least(t.after + 1, a->columns);
	t.line_length = a->width + 2;
	t.lines = a->lines + warp * 3 * t.line_length;
	return t;
}

/* The line of a row: line[column - left]. */
SIMT_FN float *line_of(const struct tile *t, uint64_t row)
{
	return t->lines + row % 3 * t->line_length;
}

/* Read a row of the tile into its line. Returns 0 if it cannot be read; the array keeps why. */
SIMT_FN int read_row(const struct gn_stencil_args *a, const struct tile *t, uint64_t row)
{
	const uint64_t start = row * a->columns + t->left, end = row * a->columns + t->right;
	struct gn_range r = gn_range_begin(&a->from, simt_whole_warp(), start, end, GN_READ);
	float *line = line_of(t, row);
	struct gn_page page;
	int rc;

	while (gn_range_next(&r, &page))
		for (uint64_t k = simt_lane(); k < page.count; k += simt_warp_width())
			line[page.first - start + k] = ((const float *)page.data)[k];
	rc = gn_range_end(&r);
	if (simt_unlikely(rc == -GN_ENOBUFS))
		for (uint64_t i = r.next + simt_lane(); i < end; i += simt_warp_width())
			line[i - start] = gn_read_f32(&a->from, i);
	return !rc || rc == -GN_ENOBUFS;
}

/* What a point becomes. The rim of the grid stays as it is. */
SIMT_FN float new_value(const struct gn_stencil_args *a, const struct tile *t, uint64_t row, uint64_t column)
{
	const float *line = line_of(t, row) + (column - t->left);

	if (!row || row == a->rows - 1 || !column || column == a->columns - 1)
		return *line;
	return gn_stencil_point(line_of(t, row - 1)[column - t->left], line_of(t, row + 1)[column - t->left],
	                        line[-1], line[1]);
}

SIMT_FN int write_row(const struct gn_stencil_args *a, const struct tile *t, uint64_t row)
{
	const uint64_t start = row * a->columns, end = start + t->after;
	struct gn_range r = gn_range_begin(&a->to, simt_whole_warp(), start + t->first, end, GN_OVERWRITE);
	struct gn_page page;
	int rc;

	while (gn_range_next(&r, &page))
		for (uint64_t k = simt_lane(); k < page.count; k += simt_warp_width())
			((float *)page.data)[k] = new_value(a, t, row, page.first + k - start);
	rc = gn_range_end(&r);
	if (simt_unlikely(rc == -GN_ENOBUFS))
		for (uint64_t i = r.next + simt_lane(); i < end; i += simt_warp_width())
			gn_write_f32(&a->to, i, new_value(a, t, row, i - start));
	return !rc || rc == -GN_ENOBUFS;
}

SIMT_FN void step_tile(const struct gn_stencil_args *a, const struct tile *t)
{
	int good = (!t->begin || read_row(a, t, t->begin - 1)) && read_row(a, t, t->begin);

	for (uint64_t row = t->begin; row < t->end && good; row++) {
		good = row + 1 == a->rows || read_row(a, t, row + 1);
		simt_warp_sync(simt_whole_warp()); /* the lines are there for all lanes */
		good = good && write_row(a, t, row);
		simt_warp_sync(simt_whole_warp()); /* nobody reads the oldest line any more */
	}
}

SIMT_FN void gn_stencil_step(const struct gn_stencil_args *a)
{
	const uint64_t width = simt_warp_width(), warps = simt_global_threads() / width,
	               warp = simt_global_thread() / width;

	for (uint64_t item = warp; item < a->tiles * a->groups; item += warps) {
		const struct tile t = tile_of(a, item, warp);

		step_tile(a, &t);
	}
}
SIMT_KERNEL(gn_stencil_step, struct gn_stencil_args)
