/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mm - matrix multiplication C = A B (AMD APP SDK). An item computes 4x4 values of C, a work-group of 8x8
 * items 32x32; 32 columns of its rows of A at a time lie in local memory.
 *
 * From the source: grid, placement, float4 accesses, one wavefront a work-group. Upstream takes the rows of A
 * by an item's place in its work-group alone, so that every group multiplies rows 0 to 31 of A: the traffic
 * that was measured there is this kernel's, so it is the default (`mm`); `mm-right` multiplies the right
 * ones. Each is compared with what it should compute. Fitted: 8898 instructions a wavefront at 256: 50 + 8 *
 * (50 + 8 * 132). One vector load a wavefront reads a line of the dispatch packet (the size of a work-group
 * is no scalar's width), which each GPU has of its own.
 */
#include <sim/workloads/support.h>

enum { SIDE = 8, TILE = 4 * SIDE, MOST = 16384 };

struct mm {
	uint32_t rows, inner, columns;
	int right;
	uint32_t launches;
	struct sim_buffer a, b, c, packet[SIM_MOST_GPUS];
};

/* What an item computes: row by row. */
typedef float tile_of[4][SIM_LANES][4];

/* Lanes whose values are inside C; others still bring their part of A. */
static uint64_t inside(const struct sim_wave *w, const struct mm *m)
{
	uint64_t lanes = 0;

	for (uint32_t l = 0; l < SIM_LANES; l++)
		lanes |=
		    (uint64_t)(4 * sim_wave_item(w, l) < m->columns && 4 * sim_wave_item_y(w, l) < m->rows)
		    << l;
	return lanes;
}

static uint32_t first_row(const struct sim_wave *w, const struct mm *m, uint32_t lane)
{
	return 4 * (m->right ? (uint32_t)sim_wave_item_y(w, lane) : sim_wave_local(w, lane, 1));
}

/* Columns from `from` on of A: each item brings 4 of each of its 4 rows. */
static void load_a(struct sim_wave *w, const struct mm *m, uint32_t from, float (*shared)[TILE])
{
	uint32_t index[SIM_LANES];
	float value[SIM_LANES][4] = {{0}};

	for (uint32_t k = 0; k < 4; k++) {
		uint64_t lanes = 0;

		for (uint32_t l = 0; l < SIM_LANES; l++) {
			const uint32_t row = first_row(w, m, l) + k,
			               column = from + 4 * sim_wave_local(w, l, 0);

			index[l] = row * m->inner + column;
			lanes |= (uint64_t)(row < m->rows && column < m->inner) << l;
		}
		sim_load_f32x4(w, lanes, &m->a, index, value);
		for (uint32_t l = 0; l < SIM_LANES; l++)
			for (uint32_t c = 0; c < 4; c++)
				shared[4 * sim_wave_local(w, l, 1) + k][4 * sim_wave_local(w, l, 0) + c] =
				    value[l][c];
		sim_valu(w, 7);
	}
	for (uint32_t k = 0; k < 4; k++) {
		sim_wait(w, 3 - k);
		sim_lds(w, 1);
	}
	sim_salu(w, 5);
	sim_barrier(w);
}

static void multiply(tile_of sum, const float (*shared)[TILE], uint32_t column, const float (*b)[4])
{
	for (uint32_t k = 0; k < 4; k++)
		for (uint32_t l = 0; l < SIM_LANES; l++) {
			const float a = shared[4 * (l / SIDE) + k][column];

			for (uint32_t c = 0; c < 4; c++)
				sum[k][l][c] += a * b[l][c];
		}
}

/* Four columns of A by four rows of B. */
static void step(struct sim_wave *w, const struct mm *m, uint32_t from, uint32_t column,
                 const float (*shared)[TILE], tile_of sum)
{
	uint32_t index[SIM_LANES];
	float b[SIM_LANES][4];
	const uint64_t lanes = inside(w, m);

	sim_lds(w, 4);
	for (uint32_t k = 0; k < 4; k++) {
		const uint32_t row = from + column + k;

		for (uint32_t l = 0; l < SIM_LANES; l++)
			index[l] = row * m->columns + 4 * (uint32_t)sim_wave_item(w, l);
		sim_valu(w, 12);
		sim_load_f32x4(w, row < m->inner ? lanes : 0, &m->b, index, b);
		if (row < m->inner)
			multiply(sum, shared, column + k, (const float(*)[4])b);
	}
	sim_salu(w, 7);
	for (uint32_t k = 0; k < 4; k++) {
		sim_wait(w, 3 - k);
		sim_valu(w, 16);
	}
	sim_salu(w, 1);
}

static void store_c(struct sim_wave *w, const struct mm *m, const tile_of sum)
{
	uint32_t index[SIM_LANES];

	for (uint32_t k = 0; k < 4; k++) {
		for (uint32_t l = 0; l < SIM_LANES; l++)
			index[l] = (4 * (uint32_t)sim_wave_item_y(w, l) + k) * m->columns +
			           4 * (uint32_t)sim_wave_item(w, l);
		sim_valu(w, 3);
		sim_store_f32x4(w, inside(w, m), &m->c, index, sum[k]);
	}
}

static void kernel(struct sim_wave *w, const void *arguments)
{
	const struct mm *m = (const struct mm *)arguments;
	float(*shared)[TILE] = (float(*)[TILE])sim_wave_lds(w);
	tile_of sum = {{{0}}};

	sim_salu(w, 10);
	sim_load_uniform_f32(w, UINT64_MAX, &m->packet[sim_wave_gpu(w)], 1);
	sim_valu(w, 20);
	sim_wait(w, 0);
	for (uint32_t from = 0; from < m->inner; from += TILE) {
		load_a(w, m, from, shared);
		for (uint32_t column = 0; column < TILE; column += 4)
			step(w, m, from, column, (const float(*)[TILE])shared, sum);
		sim_salu(w, 3);
		sim_barrier(w);
	}
	sim_salu(w, 1);
	store_c(w, m, sum);
}

static int buffers(struct mm *m, struct sim_memory *memory, struct gn_error *error)
{
	const struct sim_wanted wanted[] = {{&m->a, 4ull * m->rows * m->inner, SIM_DISTRIBUTED},
	                                    {&m->b, 4ull * m->inner * m->columns, SIM_DISTRIBUTED},
	                                    {&m->c, 4ull * m->rows * m->columns, SIM_DISTRIBUTED}};
	int rc = sim_buffers(memory, "mm", wanted, 3, error);

	for (uint32_t g = 0; g < sim_memory_gpus(memory) && !rc; g++)
		rc = sim_memory_alloc(memory, SIM_LINE_BYTES, SIM_ON_ONE, g, &m->packet[g]);
	return rc;
}

static int create_as(void **state, int right, const struct sim_request *request, struct sim_memory *memory,
                     struct gn_error *error)
{
	struct sim_size size[] = {
	    {"rows of A", 256, 4, MOST, 4}, {"columns of A", 0, 4, MOST, 4}, {"columns of B", 0, 4, MOST, 4}};
	uint64_t random = request->seed;
	struct mm *m;

	if (sim_sizes_read(request->size, "mm", size, 3, error))
		return -GN_EINVAL;
	m = (struct mm *)sim_state(sizeof *m, "mm", error);
	*state = m;
	if (!m)
		return -GN_ENOMEM;
	m->right = right;
	m->rows = (uint32_t)size[0].value;
	m->inner = (uint32_t)(size[1].value ? size[1].value : size[0].value);
	m->columns = (uint32_t)(size[2].value ? size[2].value : m->inner);
	if (buffers(m, memory, error))
		return -GN_ENOMEM;
	sim_random_fill(&random, (float *)m->a.host, (uint64_t)m->rows * m->inner);
	sim_random_fill(&random, (float *)m->b.host, (uint64_t)m->inner * m->columns);
	return 0;
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	return create_as(state, 0, request, memory, error);
}

static int create_right(void **state, const struct sim_request *request, struct sim_memory *memory,
                        struct gn_error *error)
{
	return create_as(state, 1, request, memory, error);
}

static int next(void *state, struct sim_launch *launch)
{
	struct mm *m = (struct mm *)state;
	const uint32_t x = (m->columns + TILE - 1) / TILE * SIDE, y = (m->rows + TILE - 1) / TILE * SIDE;
	const struct sim_launch l = {m->right ? "mm-right" : "mm", kernel, m, {x, y}, {SIDE, SIDE},
	                             TILE * TILE * sizeof(float),  0,      0, 1};

	*launch = l;
	return !m->launches++;
}

static int check_row(const struct mm *m, uint32_t row, float *want, struct gn_error *error)
{
	const float *a = (const float *)m->a.host + (uint64_t)(m->right ? row : row % TILE) * m->inner;
	const float *b = (const float *)m->b.host;

	for (uint32_t c = 0; c < m->columns; c++)
		want[c] = 0;
	for (uint32_t k = 0; k < m->inner; k++)
		for (uint32_t c = 0; c < m->columns; c++)
			want[c] += a[k] * b[(uint64_t)k * m->columns + c];
	return sim_same_f32("mm", (const float *)m->c.host + (uint64_t)row * m->columns, want, m->columns, 1,
	                    error);
}

static int check(void *state, struct gn_error *error)
{
	const struct mm *m = (const struct mm *)state;
	float *want = (float *)sim_state(m->columns * sizeof *want, "mm", error);
	int rc = want ? 0 : -GN_ENOMEM;

	for (uint32_t row = 0; row < m->rows && !rc; row++)
		rc = check_row(m, row, want, error);
	free(want);
	return rc;
}

static const char sizes[] = "rows of A, columns of A, columns of B, multiples of 4; one: all alike: 256";

const struct sim_workload sim__mm = {
    "mm",  "matrix multiplication (AMD APP SDK), with upstream's wrong rows of A: as it was measured",
    sizes, create,
    next,  check,
    free};
const struct sim_workload sim__mm_right = {
    "mm-right", "the same with the right rows of A", sizes, create_right, next, check, free};
