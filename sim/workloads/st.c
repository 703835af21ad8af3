/* SPDX-License-Identifier: Apache-2.0 */
/*
 * st - a 9-point stencil (SHOC Stencil2D). An item takes 16 rows of one column: a work-group (1, 64) brings
 * 18 rows of 64 columns, and the columns beside them, into local memory. Two arrays change places between
 * iterations; their border stays.
 *
 * From the source: grid, placement, accesses, rows that are padded to 16 values. Not fitted.
 */
#include <sim/workloads/support.h>

#include <string.h>

enum { ROWS = 16, COLUMNS = 64 };

struct st {
	uint32_t rows, columns, pitch, iterations;
	uint32_t launches;
	struct sim_buffer array[2];
	float *want[2];
};

static const float centre = 0.25f, cardinal = 0.15f, diagonal = 0.05f;

typedef float tile_of[ROWS + 2][COLUMNS + 2];

static const struct sim_buffer *from(const struct st *s)
{
	return &s->array[(s->launches + 1) % 2]; /* launches counts the one that runs */
}

static const struct sim_buffer *to(const struct st *s)
{
	return &s->array[s->launches % 2];
}

/* A row of the tile: each lane its column, the first and the last one also the column beside it. */
static void load_row(struct sim_wave *w, const struct st *s, uint64_t lanes, uint64_t last,
                     const uint32_t *column, uint32_t row, float *tile)
{
	uint32_t at[SIM_LANES];
	float value[SIM_LANES] = {0};

	for (uint32_t l = 0; l < SIM_LANES; l++)
		at[l] = row * s->pitch + column[l] + 1;
	sim_load_f32(w, lanes, from(s), at, value);
	memcpy(tile + 1, value, sizeof value);
	at[0]--;
	sim_load_f32(w, lanes & 1, from(s), at, value);
	tile[0] = value[0];
	at[0]++;
	for (uint32_t l = 0; l < SIM_LANES; l++)
		at[l]++;
	sim_load_f32(w, last, from(s), at, value);
	for (uint32_t l = 0; l < SIM_LANES; l++)
		if (last >> l & 1)
			tile[l + 2] = value[l];
	sim_valu(w, 9);
	sim_salu(w, 4);
}

static float update(const float *up, const float *here, const float *down)
{
	return centre * here[0] + cardinal * (up[0] + down[0] + here[-1] + here[1]) +
	       diagonal * (up[-1] + up[1] + down[-1] + down[1]);
}

static void store_rows(struct sim_wave *w, const struct st *s, uint64_t lanes, const uint32_t *column,
                       uint32_t first, tile_of tile)
{
	uint32_t at[SIM_LANES];
	float value[SIM_LANES];

	for (uint32_t k = 0; k < ROWS; k++) {
		for (uint32_t l = 0; l < SIM_LANES; l++) {
			at[l] = (first + k + 1) * s->pitch + column[l] + 1;
			value[l] = update(&tile[k][l + 1], &tile[k + 1][l + 1], &tile[k + 2][l + 1]);
		}
		sim_lds(w, k ? 3 : 9); /* the rows above stay in registers */
		sim_valu(w, 13);
		sim_store_f32(w, first + k < s->rows ? lanes : 0, to(s), at, value);
	}
}

static void kernel(struct sim_wave *w, const void *arguments)
{
	const struct st *s = (const struct st *)arguments;
	float(*tile)[COLUMNS + 2] = (float(*)[COLUMNS + 2]) sim_wave_lds(w);
	const uint32_t first = ROWS * sim_wave_group(w, 0);
	const uint64_t lanes = sim_wave_lanes(w), last = lanes & ~(lanes >> 1);
	uint32_t column[SIM_LANES];

	for (uint32_t l = 0; l < SIM_LANES; l++)
		column[l] = (uint32_t)sim_wave_item_y(w, l);
	sim_salu(w, 14);
	sim_valu(w, 12);
	for (uint32_t k = 0; k < ROWS + 2; k++) {
		const int inside = first + k < s->rows + 2;

		load_row(w, s, inside ? lanes : 0, inside ? last : 0, column, first + k, tile[k]);
		sim_wait(w, 0);
		sim_lds(w, 3);
	}
	sim_barrier(w);
	store_rows(w, s, lanes, column, first, tile);
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct sim_size size[] = {
	    {"rows", 512, 1, 16384, 1}, {"columns", 0, 1, 16384, 1}, {"iterations", 5, 1, 1000, 1}};
	uint64_t random = request->seed, values;
	struct st *s;

	if (sim_sizes_read(request->size, "st", size, 3, error))
		return -GN_EINVAL;
	s = (struct st *)sim_state(sizeof *s, "st", error);
	*state = s;
	if (!s)
		return -GN_ENOMEM;
	s->rows = (uint32_t)size[0].value;
	s->columns = (uint32_t)(size[1].value ? size[1].value : size[0].value);
	s->iterations = (uint32_t)size[2].value;
	s->pitch = (s->columns + 2 + 15) / 16 * 16;
	values = (uint64_t)s->pitch * (s->rows + 2);
	for (uint32_t k = 0; k < 2; k++) {
		s->want[k] = (float *)sim_state(4 * values, "st", error);
		if (!s->want[k] || sim_memory_alloc(memory, 4 * values, SIM_INTERLEAVED, 0, &s->array[k]))
			return gn_error_set(error, -GN_ENOMEM, "st: out of memory; give a smaller --size");
	}
	sim_random_fill(&random, s->want[0], values);
	for (uint32_t k = 0; k < 2; k++)
		memcpy(s->array[k].host, s->want[0], 4 * values);
	memcpy(s->want[1], s->want[0], 4 * values);
	return 0;
}

static int next(void *state, struct sim_launch *launch)
{
	struct st *s = (struct st *)state;
	const struct sim_launch l = {
	    "st", kernel, s, {(s->rows + ROWS - 1) / ROWS, s->columns}, {1, COLUMNS}, sizeof(tile_of),
	    0,    0,      1};

	if (s->launches == s->iterations)
		return 0;
	s->launches++;
	*launch = l;
	return 1;
}

static void iterate(const struct st *s, const float *in, float *out)
{
	for (uint32_t r = 1; r <= s->rows; r++)
		for (uint32_t c = 1; c <= s->columns; c++) {
			const float *here = in + (size_t)r * s->pitch + c, *up = here - s->pitch,
			            *down = here + s->pitch;

			out[(size_t)r * s->pitch + c] = centre * *here +
			                                cardinal * (up[0] + down[0] + here[-1] + here[1]) +
			                                diagonal * (up[-1] + up[1] + down[-1] + down[1]);
		}
}

static int check(void *state, struct gn_error *error)
{
	const struct st *s = (const struct st *)state;

	for (uint32_t k = 0; k < s->iterations; k++)
		iterate(s, s->want[k % 2], s->want[(k + 1) % 2]);
	return sim_same_f32("st", (const float *)s->array[s->iterations % 2].host, s->want[s->iterations % 2],
	                    (uint64_t)s->pitch * (s->rows + 2), 1, error);
}

static void destroy(void *state)
{
	struct st *s = (struct st *)state;

	if (s) {
		free(s->want[0]);
		free(s->want[1]);
	}
	free(s);
}

const struct sim_workload sim__st = {"st",
                                     "9-point stencil (SHOC): rows of pages that lie round about",
                                     "rows, columns, iterations: 512, as many, 5",
                                     create,
                                     next,
                                     check,
                                     destroy};
