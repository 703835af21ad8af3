/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - what the host hands to the kernels of products with a matrix.
 *
 * The matrix is cut into tiles: a group of rows by up to `width` columns. A warp takes a tile and reads it
 * row after row, so that lanes side by side read elements side by side. Lane k adds up the columns j with j %
 * warp width == k: no two lanes change the same sum.
 */
#ifndef GN_MATRIX_KERNELS_H
#define GN_MATRIX_KERNELS_H

#include <grapnel/array.h>
#include <grapnel/simt.h>

struct gn_matrix_args {
	struct gn_array a; /* f32, row after row */
	uint64_t rows, columns;
	uint64_t width;      /* columns of a tile */
	uint64_t tiles;      /* side by side */
	uint64_t group_rows; /* rows of a group */
	uint64_t groups;     /* one below the other */
	uint64_t batch;      /* gn_matrix_twice: rows that are read twice before the next ones */
	const float
	    *by_columns;      /* [columns]: each row is multiplied by it; NULL: that product is not wanted */
	const float *by_rows; /* [rows]: each column is multiplied by it; NULL as above */
	float *row_parts;     /* [tiles][rows]: products of the parts of rows */
	float *column_parts;  /* [groups][columns]: products of the parts of columns; zero before */
};

struct gn_matrix_sum_args {
	float *parts; /* [count][length] */
	uint64_t count, length;
	uint64_t some; /* parts that gn_matrix_fold makes one of; 1: it does not run */
	float *to;     /* [length] */
};

/* Parts of A by_columns, of A^T by_rows, or of both, by one pass over A. */
SIMT_KERNEL_DECLARE(gn_matrix_once);
/*
 * Parts of A^T (A by_columns): a batch of rows is multiplied by by_columns, and read again to be added up.
 * The tiles are as wide as the matrix, and by_rows is row_parts.
 */
SIMT_KERNEL_DECLARE(gn_matrix_twice);
/* The first of every `some` parts becomes their sum. */
SIMT_KERNEL_DECLARE(gn_matrix_fold);
/* The first of every `some` parts is added to the vector. */
SIMT_KERNEL_DECLARE(gn_matrix_sum);

#endif
