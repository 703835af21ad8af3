/* SPDX-License-Identifier: Apache-2.0 */
#include <sim/workloads/polybench.h>

/* One more element of the sum of each lane: matrix[at] * vector[element]. */
static void add(struct sim_wave *w, const struct sim_product *p, uint64_t lanes, const uint32_t *item,
                const uint32_t *at, uint32_t element)
{
	float a[SIM_LANES] = {0}, sum[SIM_LANES] = {0}, x;

	sim_valu(w, 4);
	sim_load_f32(w, lanes, p->matrix, at, a);
	x = sim_load_uniform_f32(w, lanes, p->vector, element);
	sim_load_f32(w, lanes, p->out, item, sum);
	sim_wait(w, 0);
	for (uint32_t l = 0; l < SIM_LANES; l++)
		sum[l] += a[l] * x;
	sim_valu(w, 1);
	sim_store_f32(w, lanes, p->out, item, sum);
	sim_salu(w, 4);
}

static void products(struct sim_wave *w, const struct sim_product *p, uint32_t items, uint32_t elements,
                     uint32_t item_stride, uint32_t stride)
{
	uint32_t item[SIM_LANES], at[SIM_LANES];
	const float zero[SIM_LANES] = {0};
	const uint64_t lanes = sim_items(w, item, items);

	for (uint32_t l = 0; l < SIM_LANES; l++)
		at[l] = item[l] * item_stride;
	sim_salu(w, 8);
	sim_valu(w, 8);
	sim_store_f32(w, lanes, p->out, item, zero);
	for (uint32_t k = 0; k < elements; k++) {
		add(w, p, lanes, item, at, k);
		for (uint32_t l = 0; l < SIM_LANES; l++)
			at[l] += stride;
	}
}

void sim_product_rows(struct sim_wave *w, const void *arguments)
{
	const struct sim_product *p = (const struct sim_product *)arguments;

	products(w, p, p->rows, p->columns, p->columns, 1);
}

void sim_product_columns(struct sim_wave *w, const void *arguments)
{
	const struct sim_product *p = (const struct sim_product *)arguments;

	products(w, p, p->columns, p->rows, 1, p->columns);
}

void sim_product_rows_reference(const struct sim_product *p, const float *vector, float *out)
{
	const float *a = (const float *)p->matrix->host;

	for (uint32_t i = 0; i < p->rows; i++) {
		double sum = 0;

		for (uint32_t j = 0; j < p->columns; j++)
			sum += (double)a[(size_t)i * p->columns + j] * (double)vector[j];
		out[i] = (float)sum;
	}
}

void sim_product_columns_reference(const struct sim_product *p, const float *vector, float *out)
{
	const float *a = (const float *)p->matrix->host;

	for (uint32_t j = 0; j < p->columns; j++) {
		double sum = 0;

		for (uint32_t i = 0; i < p->rows; i++)
			sum += (double)a[(size_t)i * p->columns + j] * (double)vector[i];
		out[j] = (float)sum;
	}
}
