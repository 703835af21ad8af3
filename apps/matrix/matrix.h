/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.h - products of a matrix that may be larger than the machine's memory with vectors that are not.
 */
#ifndef GN_MATRIX_MATRIX_H
#define GN_MATRIX_MATRIX_H

#include <grapnel/array.h>
#include <grapnel/error.h>
#include <grapnel/simt.h>

#include "tiles/tiles.h"

struct gn_matrix {
	struct gn_array a; /* f32, row after row: of rows * columns elements */
	uint64_t rows, columns;
	uint64_t cache_bytes; /* of the cache in front of it; 0: none, every read loads from the store */
	/* NULL: it is read where it is. Else kernels read copies of tiles, of so many whole rows each. */
	struct gn_tiled *tiled;
	uint64_t tile_rows;
};

/* A product and what it is added to, in host memory: y += A x and v += A^T u. */
struct gn_matrix_vectors {
	const float *x; /* [columns] */
	float *y;       /* [rows]; NULL: this product is not wanted */
	const float *u; /* [rows] */
	float *v;       /* [columns]; NULL as above */
};

struct gn_matrix_result {
	unsigned passes; /* over the matrix: how often its bytes are wanted from the store */
	/* Of each product: how many roundings a term goes through at most. */
	uint64_t row_roundings, column_roundings;
	double seconds; /* of the kernels */
};

/*
 * gn_matrix_products - one or both products.
 * @passes  1: one pass over the matrix serves both; 2: each product has its own
 * Memory on the machine: the vectors; a number a row for each 8192 columns; and for sums of columns 32 KiB a
 * warp, or one vector where that is more.
 * Host. Returns 0; -GN_EINVAL (a matrix without elements, or whose size is not the array's); -GN_ENOMEM; what
 * the array could not read; what the machine failed with. Then y and v are not to be used.
 */
int gn_matrix_products(struct simt_machine *machine, struct gn_matrix *m, const struct gn_matrix_vectors *v,
                       unsigned passes, struct gn_matrix_result *result, struct gn_error *error);

/*
 * gn_matrix_atax - v = A^T (A x).
 * @passes  1: rows are read again while they are in the cache; 2: A x is complete before the matrix is read
 *          again; 0: 1 if a quarter of the cache holds rows of a warp for each processor with rows, else
 *          2. With tiles always 1: rows are read again while their tile is there. Without a cache always 2.
 *
 * Memory on the machine as gn_matrix_products; with one pass at most 256 MiB in place of 32 KiB a warp.
 * Host. Returns as gn_matrix_products, and -GN_ENOBUFS: one pass was asked for, and the cache is too small
 * or there is none.
 */
int gn_matrix_atax(struct simt_machine *machine, struct gn_matrix *m, const float *x, float *v,
                   unsigned passes, struct gn_matrix_result *result, struct gn_error *error);

/* Element i of generated data, from -1 up to, not including, 1: a multiple of 2^-23. */
float gn_matrix_value(uint64_t seed, uint64_t i);

/* ---- the reference: double precision, one thread, nothing shared with the kernels ---- */

/* A vector and, of each element, the sum of the absolute values of its terms. */
struct gn_matrix_exact {
	double *value;
	double *magnitude;
};

/* Where the reference takes the matrix from: not from the store, so that a store that lies is found out. */
struct gn_matrix_source {
	/* Elements [first, first + count), row after row. Returns 0 or a code with a message. */
	int (*read)(const void *user, uint64_t first, uint64_t count, float *to, struct gn_error *error);
	const void *user;
};

/*
 * gn_matrix_reference - y += A x and v += A^T u.
 * @rows, @columns  of A
 * @x, @u  values, and magnitudes of the terms that they are sums of; NULL with its product
 * @y, @v  NULL: not wanted
 * Reads row after row. Host. Returns 0, -GN_ENOMEM, or what the source could not read.
 */
int gn_matrix_reference(const struct gn_matrix_source *a, uint64_t rows, uint64_t columns,
                        const struct gn_matrix_exact *x, const struct gn_matrix_exact *y,
                        const struct gn_matrix_exact *u, const struct gn_matrix_exact *v,
                        struct gn_error *error);

/*
 * gn_matrix_overflows - find the elements whose sums may be too large for a float on the way.
 * @roundings  that each term has gone through at most
 * There the magnitude becomes infinite. So call it before x are factors of another product: for that no bound
 * holds then either, whatever small number the element is multiplied by.
 * Returns how many there are.
 */
uint64_t gn_matrix_overflows(const struct gn_matrix_exact *x, uint64_t length, uint64_t roundings);

/*
 * gn_matrix_verify - compare a vector with the reference.
 * @roundings  that each term goes through at most
 * An element may be off by gamma(n) times its magnitude, gamma(n) = n u / (1 - n u), u = 2^-24, and by what n
 * products below the least normal number lose. Source: Higham, "Accuracy and stability of numerical
 * algorithms", 2002, sections 3.1 and 4.2: any order of summation. That assumes that nothing overflows. Where
 * (1 + gamma(n)) times the magnitude is more than a float holds, any result is taken, also one that is no
 * number: gn_matrix_overflows says how many there are.
 * Returns 0; -GN_EBADMSG: the message names the first element that is off, both values, the bound, and how
 * many are off; -GN_ERANGE: n u is 1/2 or more, so that the bound says nothing.
 */
int gn_matrix_verify(const char *name, const float *got, const struct gn_matrix_exact *want, uint64_t length,
                     uint64_t roundings, struct gn_error *error);

#endif
