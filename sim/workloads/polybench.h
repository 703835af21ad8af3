/* SPDX-License-Identifier: Apache-2.0 */
/*
 * polybench.h - the two kernels that atax and bicg (PolyBench) are made of: a matrix times a vector by rows
 * and by columns. Both add up in memory, element by element, as the source does.
 *
 * From the source: grid, placement, accesses. Not fitted to a count: there is none; the loop bodies are as
 * long as such a loop's are.
 */
#ifndef SIM_WORKLOADS_POLYBENCH_H
#define SIM_WORKLOADS_POLYBENCH_H

#include <sim/workloads/support.h>

enum { SIM_POLYBENCH_GROUP = 256 };

/* out += matrix * vector, or its transpose; out is set to 0 first. */
struct sim_product {
	const struct sim_buffer *matrix, *vector, *out;
	uint32_t rows, columns; /* of the matrix */
};

/* Item i: row i; its loads are a row apart from its neighbour's. */
void sim_product_rows(struct sim_wave *w, const void *arguments);

/* Item j: column j; its loads lie beside its neighbour's. */
void sim_product_columns(struct sim_wave *w, const void *arguments);

/* The same on the host, in out. */
void sim_product_rows_reference(const struct sim_product *p, const float *vector, float *out);
void sim_product_columns_reference(const struct sim_product *p, const float *vector, float *out);

#endif
