/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add - c[i] = a[i] + b[i], the smallest workload: begin a new one with a copy of this file
 * (docs/sim-workloads.md).
 */
#include <sim/workloads/support.h>

struct add {
	uint32_t count;
	uint32_t launches;
	struct sim_buffer a, b, c;
};

/* One wavefront: 64 items at a time, and each instruction said by a call. */
static void kernel(struct sim_wave *w, const void *arguments)
{
	const struct add *s = (const struct add *)arguments;
	uint32_t item[SIM_LANES];
	float x[SIM_LANES] = {0}, y[SIM_LANES] = {0};
	const uint64_t lanes = sim_items(w, item, s->count); /* those that have an item */

	sim_salu(w, 6); /* arguments, and where this work-group begins */
	sim_valu(w, 5); /* the item of each lane, and its addresses */
	sim_load_f32(w, lanes, &s->a, item, x);
	sim_load_f32(w, lanes, &s->b, item, y);
	sim_wait(w, 0); /* until both are here */
	for (uint32_t l = 0; l < SIM_LANES; l++)
		x[l] += y[l];
	sim_valu(w, 1);
	sim_store_f32(w, lanes, &s->c, item, x);
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct sim_size size[] = {{"values", 65536, 1, 1 << 28, 1}};
	uint64_t random = request->seed;
	struct add *s;

	if (sim_sizes_read(request->size, "add", size, 1, error))
		return -GN_EINVAL;
	s = (struct add *)sim_state(sizeof *s, "add", error);
	*state = s;
	if (!s)
		return -GN_ENOMEM;
	s->count = (uint32_t)size[0].value;
	{
		const struct sim_wanted wanted[] = {{&s->a, 4ull * s->count, SIM_DISTRIBUTED},
		                                    {&s->b, 4ull * s->count, SIM_INTERLEAVED},
		                                    {&s->c, 4ull * s->count, SIM_DISTRIBUTED}};

		if (sim_buffers(memory, "add", wanted, 3, error))
			return -GN_ENOMEM;
	}
	sim_random_fill(&random, (float *)s->a.host, s->count);
	sim_random_fill(&random, (float *)s->b.host, s->count);
	return 0;
}

static int next(void *state, struct sim_launch *launch)
{
	struct add *s = (struct add *)state;

	sim_launch_row(launch, "add", kernel, s, s->count, 256);
	launch->independent = 1;
	return !s->launches++;
}

static int check(void *state, struct gn_error *error)
{
	const struct add *s = (const struct add *)state;
	const float *a = (const float *)s->a.host, *b = (const float *)s->b.host,
	            *c = (const float *)s->c.host;
	int rc = 0;

	for (uint32_t i = 0; i < s->count && !rc; i++) {
		const float want = a[i] + b[i];

		rc = sim_same_f32("add", &c[i], &want, 1, 1, error);
	}
	return rc;
}

const struct sim_workload sim__add = {
    "add", "sum of two vectors: an example, not of the paper", "values: 65536", create, next, check, free};
