/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sc - a convolution (AMD APP SDK). Item t: the value at x = t % width, y = t / width; items past the last
 * row do nothing. The input has a border of mask - 1 values on the right and below.
 *
 * From the source: grid, placement, accesses. The mask is read by scalar loads, as fir's coefficients are.
 * Not fitted.
 */
#include <sim/workloads/support.h>

enum { GROUP = 64 };

struct sc {
	uint32_t width, height, mask;
	uint32_t launches;
	struct sim_buffer in, out, weight;
};

static uint32_t pitch(const struct sc *s)
{
	return s->width + s->mask - 1;
}

static void kernel(struct sim_wave *w, const void *arguments)
{
	const struct sc *s = (const struct sc *)arguments;
	uint32_t item[SIM_LANES], at[SIM_LANES], value[SIM_LANES] = {0}, sum[SIM_LANES] = {0};
	const uint64_t lanes = sim_items(w, item, (uint64_t)s->width * s->height);

	sim_salu(w, 10);
	sim_valu(w, 16);
	for (uint32_t m = 0; m < s->mask && lanes; m++) {
		for (uint32_t n = 0; n < s->mask; n++) {
			const uint32_t weight = sim_scalar_u32(w, &s->weight, m * s->mask + n);

			for (uint32_t l = 0; l < SIM_LANES; l++)
				at[l] = (item[l] / s->width + m) * pitch(s) + item[l] % s->width + n;
			sim_valu(w, 4);
			sim_load_u32(w, lanes, &s->in, at, value);
			sim_salu(w, 4);
			sim_wait(w, 0);
			for (uint32_t l = 0; l < SIM_LANES; l++)
				sum[l] += weight * value[l];
			sim_valu(w, 2);
		}
		sim_salu(w, 4);
	}
	sim_valu(w, 4);
	sim_store_u32(w, lanes, &s->out, item, sum);
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct sim_size size[] = {
	    {"a width", 254, 1, 16384, 1}, {"a height", 0, 1, 16384, 1}, {"a mask", 3, 1, 64, 1}};
	uint64_t random = request->seed;
	struct sc *s;

	if (sim_sizes_read(request->size, "sc", size, 3, error))
		return -GN_EINVAL;
	s = (struct sc *)sim_state(sizeof *s, "sc", error);
	*state = s;
	if (!s)
		return -GN_ENOMEM;
	s->width = (uint32_t)size[0].value;
	s->height = (uint32_t)(size[1].value ? size[1].value : size[0].value);
	s->mask = (uint32_t)size[2].value;
	{
		const struct sim_wanted wanted[] = {
		    {&s->in, 4ull * pitch(s) * (s->height + s->mask - 1), SIM_DISTRIBUTED},
		    {&s->out, 4ull * s->width * s->height, SIM_DISTRIBUTED},
		    {&s->weight, 4ull * s->mask * s->mask, SIM_INTERLEAVED}};

		if (sim_buffers(memory, "sc", wanted, 3, error))
			return -GN_ENOMEM;
	}
	for (uint64_t k = 0; k < s->in.bytes / 4; k++)
		((uint32_t *)s->in.host)[k] = (uint32_t)sim_random_below(&random, 256);
	for (uint64_t k = 0; k < s->weight.bytes / 4; k++)
		((uint32_t *)s->weight.host)[k] = (uint32_t)sim_random_below(&random, 16);
	return 0;
}

static int next(void *state, struct sim_launch *launch)
{
	struct sc *s = (struct sc *)state;

	sim_launch_row(launch, "sc", kernel, s, (uint64_t)pitch(s) * (s->height + s->mask - 1), GROUP);
	launch->independent = 1;
	return !s->launches++;
}

static uint32_t reference(const struct sc *s, uint32_t x, uint32_t y)
{
	const uint32_t *in = (const uint32_t *)s->in.host, *weight = (const uint32_t *)s->weight.host;
	uint32_t sum = 0;

	for (uint32_t m = 0; m < s->mask; m++)
		for (uint32_t n = 0; n < s->mask; n++)
			sum += weight[m * s->mask + n] * in[(size_t)(y + m) * pitch(s) + x + n];
	return sum;
}

static int check(void *state, struct gn_error *error)
{
	const struct sc *s = (const struct sc *)state;
	const uint32_t *out = (const uint32_t *)s->out.host;
	int rc = 0;

	for (uint32_t y = 0; y < s->height && !rc; y++)
		for (uint32_t x = 0; x < s->width && !rc; x++) {
			const uint32_t want = reference(s, x, y);

			rc = sim_same_u32("sc", &out[(size_t)y * s->width + x], &want, 1, error);
		}
	return rc;
}

const struct sim_workload sim__sc = {"sc",
                                     "convolution (AMD APP SDK): remote at the seams of the GPUs",
                                     "a width, a height, a mask: 254, as much, 3",
                                     create,
                                     next,
                                     check,
                                     free};
