/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include <string.h>

#include "parts.h"

/* The sum of all lanes' values, to all lanes. */
SIMT_FN float warp_sum(uint32_t warp, float value)
{
	for (uint32_t step = simt_warp_width() / 2; step; step /= 2) {
		uint32_t bits;
		float other;

		memcpy(&bits, &value, sizeof bits);
		bits = simt_shfl_u32(warp, bits, simt_lane() ^ step);
		memcpy(&other, &bits, sizeof other);
		value += other;
	}
	return value;
}

/* ---- a tile ---- */

struct tile {
	uint64_t begin, end;   /* rows */
	uint64_t first, after; /* columns */
	float *row_parts;      /* [rows] */
	float *column_parts;   /* [columns] */
	float dot;             /* of this lane: of the part of the row that was read so far */
};

SIMT_FN struct tile tile_of(const struct gn_matrix_args *a, uint64_t item)
{
	const uint64_t group = item / a->tiles, number = item % a->tiles;
	struct tile t;

	t.begin = group * a->group_rows;
	t.end = gn_matrix_least(t.begin + a->group_rows, a->rows);
	t.first = number * a->width;
	t.after = gn_matrix_least(t.first + a->width, a->columns);
	t.row_parts = a->row_parts + number * a->rows;
	t.column_parts = a->column_parts + group * a->columns;
	t.dot = 0;
	return t;
}

/*
 * Elements of one row from a column on. They lie at data; NULL: they are read one by one. dots and sums are
 * constants: which products are wanted. Returns dot with what the lane adds to the product of the row.
 */
SIMT_INLINE_FN float add_piece(const struct gn_matrix_args *a, float *column_parts, uint64_t row,
                               uint64_t column, uint64_t count, const float *data, float dot, int dots,
                               int sums)
{
	const float by = sums ? a->by_rows[row] : 0;

	for (uint64_t k = (simt_lane() - column) & (simt_warp_width() - 1); k < count;
	     k += simt_warp_width()) {
		const float x = data ? data[k] : gn_read_f32(&a->a, row * a->columns + column + k);

		if (dots)
			dot += x * a->by_columns[column + k];
		if (sums)
			column_parts[column + k] += x * by;
	}
	return dot;
}

/* A row ends: what the lanes have becomes the product of its part in this tile. */
SIMT_FN void end_row(struct tile *t, uint64_t row)
{
	const float dot = warp_sum(simt_whole_warp(), t->dot);

	if (!simt_lane())
		t->row_parts[row] = dot;
	t->dot = 0;
}

/* Elements that lie together, of any number of rows. */
SIMT_INLINE_FN void add_run(const struct gn_matrix_args *a, struct tile *t, uint64_t first, uint64_t count,
                            const float *data, int dots, int sums)
{
	uint64_t row = first / a->columns, column = first % a->columns;

	while (count) {
		const uint64_t piece = gn_matrix_least(count, t->after - column);

		t->dot = add_piece(a, t->column_parts, row, column, piece, data, t->dot, dots, sums);
		if (dots && column + piece == t->after)
			end_row(t, row);
		data = data ? data + piece : data;
		count -= piece;
		column = 0; /* a run of several rows is of a tile that is as wide as the matrix */
		row++;
	}
}

/* Where no frame can be had: the rest of one row, element by element. Returns the element behind it. */
SIMT_NOINLINE_FN uint64_t add_alone(const struct gn_matrix_args *a, struct tile *t, uint64_t first,
                                    uint64_t end, int dots, int sums)
{
	const uint64_t left = a->columns - first % a->columns, count = gn_matrix_least(end - first, left);

	add_run(a, t, first, count, NULL, dots, sums);
	return first + count;
}

/*
 * Elements [begin, end), which are all of the tile's in some rows. What cannot be read ends the loop, and the
 * array keeps why. Returns 0 then.
 */
SIMT_INLINE_FN int add_range(const struct gn_matrix_args *a, struct tile *t, uint64_t begin, uint64_t end,
                             int dots, int sums)
{
	while (begin < end) {
		struct gn_range r = gn_range_begin(&a->a, simt_whole_warp(), begin, end, GN_READ);
		struct gn_page page;
		int rc;

		while (gn_range_next(&r, &page))
			add_run(a, t, page.first, page.count, (const float *)page.data, dots, sums);
		rc = gn_range_end(&r);
		if (rc && rc != -GN_ENOBUFS)
			return 0;
		begin = r.next;
		if (simt_unlikely(begin < end)) {
			struct tile held = *t; /* a call by address would keep t out of registers */

			begin = SIMT_COLD(add_alone)(a, &held, begin, end, dots, sums);
			*t = held;
		}
	}
	return 1;
}

SIMT_INLINE_FN void add_tile(const struct gn_matrix_args *a, struct tile *t, int dots, int sums)
{
	int good = 1;

	if (a->tiles == 1)
		add_range(a, t, t->begin * a->columns, t->end * a->columns, dots, sums);
	else
		for (uint64_t row = t->begin; row < t->end && good; row++)
			good = add_range(a, t, row * a->columns + t->first, row * a->columns + t->after, dots,
			                 sums);
}

SIMT_FN void gn_matrix_once(const struct gn_matrix_args *a)
{
	const uint64_t width = simt_warp_width(), warps = simt_global_threads() / width;

	for (uint64_t item = simt_global_thread() / width; item < a->tiles * a->groups; item += warps) {
		struct tile t = tile_of(a, item);

		if (!a->by_rows)
			add_tile(a, &t, 1, 0);
		else if (!a->by_columns)
			add_tile(a, &t, 0, 1);
		else
			add_tile(a, &t, 1, 1);
	}
}
SIMT_KERNEL(gn_matrix_once, struct gn_matrix_args)

/* Rows [begin, end): the second time they are in the cache. */
SIMT_FN int add_twice(const struct gn_matrix_args *a, struct tile *t, uint64_t begin, uint64_t end)
{
	if (!add_range(a, t, begin * a->columns, end * a->columns, 1, 0))
		return 0;
	simt_warp_sync(simt_whole_warp()); /* the products of the rows are there for all lanes */
	return add_range(a, t, begin * a->columns, end * a->columns, 0, 1);
}

SIMT_FN void gn_matrix_twice(const struct gn_matrix_args *a)
{
	const uint64_t width = simt_warp_width(), warps = simt_global_threads() / width;

	for (uint64_t group = simt_global_thread() / width; group < a->groups; group += warps) {
		struct tile t = tile_of(a, group);
		int good = 1;

		for (uint64_t row = t.begin; row < t.end && good; row += a->batch)
			good = add_twice(a, &t, row, gn_matrix_least(row + a->batch, t.end));
	}
}
SIMT_KERNEL(gn_matrix_twice, struct gn_matrix_args)

SIMT_FN void gn_matrix_fold(const struct gn_matrix_sum_args *a)
{
	const uint64_t all = gn_matrix_parts(a->count, a->some) * a->length;

	for (uint64_t t = simt_global_thread(); t < all; t += simt_global_threads()) {
		const uint64_t first = t / a->length * a->some, i = t % a->length,
		               end = gn_matrix_least(first + a->some, a->count);
		float sum = 0;

		for (uint64_t k = first; k < end; k++)
			sum += a->parts[k * a->length + i];
		a->parts[first * a->length + i] = sum;
	}
}
SIMT_KERNEL(gn_matrix_fold, struct gn_matrix_sum_args)

SIMT_FN void gn_matrix_sum(const struct gn_matrix_sum_args *a)
{
	for (uint64_t i = simt_global_thread(); i < a->length; i += simt_global_threads()) {
		float sum = a->to[i];

		for (uint64_t k = 0; k < a->count; k += a->some)
			sum += a->parts[k * a->length + i];
		a->to[i] = sum;
	}
}
SIMT_KERNEL(gn_matrix_sum, struct gn_matrix_sum_args)
