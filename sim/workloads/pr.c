/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pr - page rank (Hetero-Mark): y = A x again and again, A's columns add up to 1. A wavefront takes a row:
 * its lanes step over the entries, and add up their sums in local memory.
 *
 * Instructions, accesses and waits are those of the compiled kernel that MGPUSim runs: it stores a zero and
 * the sum of each row, and needs no barriers, because a work-group is one wavefront.
 */
#include <sim/workloads/support.h>

enum { GROUP = SIM_LANES };

struct pr {
	uint32_t rows, iterations;
	uint32_t launches;
	struct sim_csr matrix;
	struct sim_buffer offset, column, value, rank[2];
	float *want[2];
};

static void add_products(struct sim_wave *w, const struct pr *p, const struct sim_buffer *x, uint32_t begin,
                         uint32_t end, float *sum)
{
	uint32_t at[SIM_LANES], column[SIM_LANES] = {0};
	float value[SIM_LANES] = {0}, rank[SIM_LANES] = {0};

	sim_salu(w, 4);
	sim_valu(w, 9);
	for (; begin < end; begin += SIM_LANES) {
		const uint64_t lanes =
		    end - begin < SIM_LANES ? (UINT64_C(1) << (end - begin)) - 1 : UINT64_MAX;

		for (uint32_t l = 0; l < SIM_LANES; l++)
			at[l] = begin + l;
		sim_load_u32(w, lanes, &p->column, at, column);
		sim_valu(w, 6);
		sim_salu(w, 1);
		sim_wait(w, 0);
		sim_valu(w, 3);
		sim_load_f32(w, lanes, x, column, rank);
		sim_load_f32(w, lanes, &p->value, at, value);
		sim_valu(w, 2);
		sim_wait(w, 0);
		sim_valu(w, 1);
		sim_salu(w, 2);
		for (uint32_t l = 0; l < SIM_LANES; l++)
			sum[l] += lanes >> l & 1 ? value[l] * rank[l] : 0;
	}
	sim_salu(w, 2);
	sim_lds(w, 1);
}

static void add_up(struct sim_wave *w, float *sum)
{
	sim_salu(w, 3);
	sim_valu(w, 1);
	for (uint32_t apart = SIM_LANES / 2; apart; apart /= 2) {
		for (uint32_t l = 0; l < apart; l++)
			sum[l] += sum[l + apart];
		sim_valu(w, 6);
		sim_lds(w, 2);
		sim_salu(w, apart > 2 ? 4 : apart);
	}
}

/* The entries of a row are from its offset to the next: 8 bytes, for all lanes alike. */
static void load_offsets(struct sim_wave *w, const struct pr *p, uint32_t row, uint32_t *begin, uint32_t *end)
{
	const uint32_t index[SIM_LANES] = {row, row + 1};
	uint32_t value[SIM_LANES];

	sim_load_u32(w, 3, &p->offset, index, value);
	*begin = value[0];
	*end = value[1];
}

static void kernel(struct sim_wave *w, const void *arguments)
{
	const struct pr *p = (const struct pr *)arguments;
	const struct sim_buffer *x = &p->rank[(p->launches + 1) % 2], *y = &p->rank[p->launches % 2];
	const uint32_t row[SIM_LANES] = {sim_wave_group(w, 0)};
	float sum[SIM_LANES] = {0};
	uint32_t begin, end;

	sim_salu(w, 12);
	sim_valu(w, 16);
	sim_store_f32(w, 1, y, row, sum);
	load_offsets(w, p, row[0], &begin, &end);
	sim_valu(w, 3);
	sim_salu(w, 1);
	sim_lds(w, 1);
	sim_wait(w, 0);
	sim_valu(w, 2);
	sim_salu(w, 2);
	if (begin < end)
		add_products(w, p, x, begin, end, sum);
	add_up(w, sum);
	sim_store_f32(w, 1, y, row, sum);
}

static int buffers(struct pr *p, struct sim_memory *memory, struct gn_error *error)
{
	const uint64_t entries = p->matrix.entries ? p->matrix.entries : 1;
	const struct sim_wanted wanted[] = {{&p->offset, 4ull * p->rows + 4, SIM_INTERLEAVED},
	                                    {&p->column, 4 * entries, SIM_INTERLEAVED},
	                                    {&p->value, 4 * entries, SIM_INTERLEAVED},
	                                    {&p->rank[0], 4ull * p->rows, SIM_INTERLEAVED},
	                                    {&p->rank[1], 4ull * p->rows, SIM_INTERLEAVED}};

	return sim_buffers(memory, "pr", wanted, 5, error);
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct sim_size size[] = {
	    {"pages", 2048, 1, 1 << 20, 1}, {"density", 0.005, 0, 0.5, 0}, {"iterations", 4, 1, 1000, 1}};
	uint64_t random = request->seed;
	struct pr *p;

	if (sim_sizes_read(request->size, "pr", size, 3, error))
		return -GN_EINVAL;
	p = (struct pr *)sim_state(sizeof *p, "pr", error);
	*state = p;
	if (!p)
		return -GN_ENOMEM;
	p->rows = (uint32_t)size[0].value;
	p->iterations = (uint32_t)size[2].value;
	p->want[0] = (float *)sim_state(4ull * p->rows, "pr", error);
	p->want[1] = (float *)sim_state(4ull * p->rows, "pr", error);
	if (!p->want[0] || !p->want[1] ||
	    sim_csr_random(&p->matrix, p->rows, (uint64_t)(size[0].value * size[0].value * size[1].value), 1,
	                   &random) ||
	    buffers(p, memory, error))
		return gn_error_set(error, -GN_ENOMEM, "pr: out of memory; give a smaller --size");
	sim_csr_copy(&p->matrix, &p->offset, &p->column, &p->value);
	for (uint32_t k = 0; k < p->rows; k++)
		((float *)p->rank[0].host)[k] = p->want[0][k] = 1 / (float)p->rows;
	return 0;
}

static int next(void *state, struct sim_launch *launch)
{
	struct pr *p = (struct pr *)state;

	if (p->launches == p->iterations)
		return 0;
	p->launches++;
	sim_launch_row(launch, "pr", kernel, p, (uint64_t)p->rows * SIM_LANES, GROUP);
	launch->independent = 1;
	return 1;
}

static void iterate(const struct sim_csr *m, const float *x, float *y)
{
	for (uint32_t r = 0; r < m->rows; r++) {
		double sum = 0;

		for (uint32_t k = m->offset[r]; k < m->offset[r + 1]; k++)
			sum += (double)m->value[k] * (double)x[m->column[k]];
		y[r] = (float)sum;
	}
}

static int check(void *state, struct gn_error *error)
{
	const struct pr *p = (const struct pr *)state;

	for (uint32_t k = 0; k < p->iterations; k++)
		iterate(&p->matrix, p->want[k % 2], p->want[(k + 1) % 2]);
	return sim_same_f32("pr", (const float *)p->rank[p->iterations % 2].host, p->want[p->iterations % 2],
	                    p->rows, 1 / (float)p->rows, error);
}

static void destroy(void *state)
{
	struct pr *p = (struct pr *)state;

	if (p) {
		sim_csr_fini(&p->matrix);
		free(p->want[0]);
		free(p->want[1]);
	}
	free(p);
}

const struct sim_workload sim__pr = {"pr",
                                     "page rank (Hetero-Mark): a wavefront a row, gathers",
                                     "pages, density, iterations: 2048, 0.005, 4",
                                     create,
                                     next,
                                     check,
                                     destroy};
