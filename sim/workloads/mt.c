/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mt - matrix transpose (AMD APP SDK). An item moves a block of 4x4 values; a work-group of 16x16 items takes
 * the block of the matrix at (x, y) = ((gx + gy) % blocks, gx), and turns it in local memory.
 *
 * From the source: grid, placement, the reshuffled blocks, 4 float4 loads and stores an item. Fitted: 146
 * instructions a wavefront; there is no loop.
 */
#include <sim/workloads/support.h>

enum { BLOCK = 16, MOST = 32768 };

struct mt {
	uint32_t width, blocks; /* of values; of work-groups along it */
	uint32_t launches;
	struct sim_buffer in, out;
};

/* Lane l is the item (x, y) of the matrix of blocks of 4x4; four rows of it begin at index[l]. */
static uint64_t place(const struct sim_wave *w, const struct mt *m, uint32_t gx, uint32_t gy, uint32_t *index)
{
	uint64_t lanes = 0;

	for (uint32_t l = 0; l < SIM_LANES; l++) {
		const uint32_t x = gx * BLOCK + sim_wave_local(w, l, 0),
		               y = gy * BLOCK + sim_wave_local(w, l, 1);

		index[l] = 4 * y * m->width + 4 * x;
		lanes |= (uint64_t)(4 * x < m->width && 4 * y < m->width) << l;
	}
	return lanes;
}

/* Row by row, into the work-group's memory: tile[row][column], 64x64. */
static void load(struct sim_wave *w, const struct mt *m, uint32_t gx, uint32_t gy, float (*tile)[4 * BLOCK])
{
	uint32_t index[SIM_LANES];
	float value[SIM_LANES][4] = {{0}};
	const uint64_t lanes = place(w, m, gx, gy, index);

	for (uint32_t k = 0; k < 4; k++) {
		sim_load_f32x4(w, lanes, &m->in, index, value);
		for (uint32_t l = 0; l < SIM_LANES; l++) {
			const uint32_t x = 4 * sim_wave_local(w, l, 0), y = 4 * sim_wave_local(w, l, 1);

			for (uint32_t c = 0; c < 4; c++)
				tile[y + k][x + c] = value[l][c];
			index[l] += m->width;
		}
		sim_valu(w, 5);
	}
}

static void store(struct sim_wave *w, const struct mt *m, uint32_t gx, uint32_t gy, float (*tile)[4 * BLOCK])
{
	uint32_t index[SIM_LANES];
	float value[SIM_LANES][4];
	const uint64_t lanes = place(w, m, gx, gy, index);

	for (uint32_t k = 0; k < 4; k++) {
		for (uint32_t l = 0; l < SIM_LANES; l++) {
			const uint32_t x = 4 * sim_wave_local(w, l, 0), y = 4 * sim_wave_local(w, l, 1);

			for (uint32_t c = 0; c < 4; c++)
				value[l][c] = tile[x + c][y + k];
		}
		sim_valu(w, 5);
		sim_store_f32x4(w, lanes, &m->out, index, value);
		for (uint32_t l = 0; l < SIM_LANES; l++)
			index[l] += m->width;
	}
}

static void kernel(struct sim_wave *w, const void *arguments)
{
	const struct mt *m = (const struct mt *)arguments;
	float(*tile)[4 * BLOCK] = (float(*)[4 * BLOCK]) sim_wave_lds(w);
	const uint32_t y = sim_wave_group(w, 0), x = (y + sim_wave_group(w, 1)) % m->blocks;

	sim_salu(w, 26); /* arguments, and the remainder */
	sim_valu(w, 24);
	load(w, m, x, y, tile);
	for (uint32_t k = 0; k < 4; k++) {
		sim_wait(w, 3 - k);
		sim_lds(w, 1);
	}
	sim_barrier(w);
	sim_valu(w, 22);
	sim_lds(w, 4);
	sim_salu(w, 2);  /* waits for local memory */
	sim_valu(w, 10); /* to turn four rows */
	store(w, m, y, x, tile);
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct sim_size size[] = {{"a width", 512, 4, MOST, 4}};
	uint64_t random = request->seed, bytes;
	struct mt *m;

	if (sim_sizes_read(request->size, "mt", size, 1, error))
		return -GN_EINVAL;
	m = (struct mt *)sim_state(sizeof *m, "mt", error);
	*state = m;
	if (!m)
		return -GN_ENOMEM;
	m->width = (uint32_t)size[0].value;
	m->blocks = (m->width / 4 + BLOCK - 1) / BLOCK;
	bytes = 4ull * m->width * m->width;
	{
		const struct sim_wanted wanted[] = {{&m->in, bytes, SIM_DISTRIBUTED},
		                                    {&m->out, bytes, SIM_DISTRIBUTED}};

		if (sim_buffers(memory, "mt", wanted, 2, error))
			return -GN_ENOMEM;
	}
	sim_random_fill(&random, (float *)m->in.host, bytes / 4);
	return 0;
}

static int next(void *state, struct sim_launch *launch)
{
	struct mt *m = (struct mt *)state;
	/* Whole work-groups: which items are inside the matrix follows from the reshuffled block. */
	const struct sim_launch l = {"mt",
	                             kernel,
	                             m,
	                             {m->blocks * BLOCK, m->blocks * BLOCK},
	                             {BLOCK, BLOCK},
	                             16 * BLOCK * BLOCK * sizeof(float),
	                             0,
	                             0,
	                             1};

	*launch = l;
	return !m->launches++;
}

static int check(void *state, struct gn_error *error)
{
	const struct mt *m = (const struct mt *)state;
	const float *in = (const float *)m->in.host, *out = (const float *)m->out.host;
	int rc = 0;

	for (uint32_t y = 0; y < m->width && !rc; y++)
		for (uint32_t x = 0; x < m->width && !rc; x++)
			rc = sim_same_f32("mt", &out[(uint64_t)y * m->width + x],
			                  &in[(uint64_t)x * m->width + y], 1, 0, error);
	return rc;
}

const struct sim_workload sim__mt = {"mt",
                                     "matrix transpose (AMD APP SDK): reads each line once",
                                     "a width, a multiple of 4: 512",
                                     create,
                                     next,
                                     check,
                                     free};
