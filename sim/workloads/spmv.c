/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spmv - a sparse matrix times a vector (SHOC, CSR scalar). One item a row; a wavefront goes on until its
 * longest row is done.
 *
 * From the source: grid, placement, accesses. Fitted to 15,596 instructions of 64 wavefronts with 4096 rows
 * of 4.1 entries: 26 a wavefront and 23 an iteration.
 */
#include <sim/workloads/support.h>

enum { GROUP = 128 };

struct spmv {
	uint32_t rows;
	uint32_t launches;
	struct sim_csr matrix;
	struct sim_buffer offset, column, value, vector, out;
};

static void products(struct sim_wave *w, const struct spmv *s, uint64_t lanes, uint32_t *at,
                     const uint32_t *end, float *sum)
{
	uint32_t column[SIM_LANES] = {0};
	float value[SIM_LANES] = {0}, x[SIM_LANES] = {0};

	for (;;) {
		uint64_t left = 0;

		for (uint32_t l = 0; l < SIM_LANES; l++)
			left |= (uint64_t)(at[l] < end[l]) << l;
		left &= lanes;
		if (!left)
			return;
		sim_valu(w, 5);
		sim_load_u32(w, left, &s->column, at, column);
		sim_load_f32(w, left, &s->value, at, value);
		sim_wait(w, 1);
		sim_valu(w, 5);
		sim_load_f32(w, left, &s->vector, column, x);
		sim_wait(w, 0);
		sim_valu(w, 3);
		sim_salu(w, 5);
		for (uint32_t l = 0; l < SIM_LANES; l++) {
			sum[l] += left >> l & 1 ? value[l] * x[l] : 0;
			at[l] += left >> l & 1;
		}
	}
}

static void kernel(struct sim_wave *w, const void *arguments)
{
	const struct spmv *s = (const struct spmv *)arguments;
	uint32_t row[SIM_LANES], behind[SIM_LANES], at[SIM_LANES] = {0}, end[SIM_LANES] = {0};
	float sum[SIM_LANES] = {0};
	const uint64_t lanes = sim_items(w, row, s->rows);

	for (uint32_t l = 0; l < SIM_LANES; l++)
		behind[l] = row[l] + 1;
	sim_salu(w, 8);
	sim_valu(w, 8);
	sim_load_u32(w, lanes, &s->offset, row, at);
	sim_load_u32(w, lanes, &s->offset, behind, end);
	sim_wait(w, 0);
	sim_salu(w, 2);
	products(w, s, lanes, at, end, sum);
	sim_valu(w, 3);
	sim_store_f32(w, lanes, &s->out, row, sum);
}

static int buffers(struct spmv *s, struct sim_memory *memory, struct gn_error *error)
{
	const uint64_t entries = s->matrix.entries ? s->matrix.entries : 1;
	const struct sim_wanted wanted[] = {{&s->value, 4 * entries, SIM_INTERLEAVED},
	                                    {&s->column, 4 * entries, SIM_INTERLEAVED},
	                                    {&s->offset, 4ull * s->rows + 4, SIM_INTERLEAVED},
	                                    {&s->vector, 4ull * s->rows, SIM_INTERLEAVED},
	                                    {&s->out, 4ull * s->rows, SIM_INTERLEAVED}};

	return sim_buffers(memory, "spmv", wanted, 5, error);
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct sim_size size[] = {{"rows", 4096, 1, 1 << 20, 1}, {"density", 0.001, 0, 0.5, 0}};
	uint64_t random = request->seed;
	struct spmv *s;

	if (sim_sizes_read(request->size, "spmv", size, 2, error))
		return -GN_EINVAL;
	s = (struct spmv *)sim_state(sizeof *s, "spmv", error);
	*state = s;
	if (!s)
		return -GN_ENOMEM;
	s->rows = (uint32_t)size[0].value;
	if (sim_csr_random(&s->matrix, s->rows, (uint64_t)(size[0].value * size[0].value * size[1].value), 0,
	                   &random) ||
	    buffers(s, memory, error))
		return gn_error_set(error, -GN_ENOMEM, "spmv: out of memory; give a smaller --size");
	sim_csr_copy(&s->matrix, &s->offset, &s->column, &s->value);
	sim_random_fill(&random, (float *)s->vector.host, s->rows);
	return 0;
}

static int next(void *state, struct sim_launch *launch)
{
	struct spmv *s = (struct spmv *)state;

	sim_launch_row(launch, "spmv", kernel, s, s->rows, GROUP);
	launch->independent = 1;
	return !s->launches++;
}

static int check(void *state, struct gn_error *error)
{
	const struct spmv *s = (const struct spmv *)state;
	const struct sim_csr *m = &s->matrix;
	const float *vector = (const float *)s->vector.host, *out = (const float *)s->out.host;
	int rc = 0;

	for (uint32_t r = 0; r < s->rows && !rc; r++) {
		float want = 0;

		for (uint32_t k = m->offset[r]; k < m->offset[r + 1]; k++)
			want += m->value[k] * vector[m->column[k]];
		rc = sim_same_f32("spmv", &out[r], &want, 1, 1, error);
	}
	return rc;
}

static void destroy(void *state)
{
	if (state)
		sim_csr_fini(&((struct spmv *)state)->matrix);
	free(state);
}

const struct sim_workload sim__spmv = {
    "spmv", "sparse matrix times vector (SHOC): gathers", "rows, density: 4096, 0.001", create, next, check,
    destroy};
