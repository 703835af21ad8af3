/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bs - bitonic sort (AMD APP SDK). A launch compares and exchanges pairs that lie 2^(stage - pass) apart.
 *
 * From the source: grid, placement, accesses. Not fitted: no count is known.
 */
#include <sim/workloads/support.h>

#include <string.h>

enum { GROUP = 64 };

struct bs {
	uint32_t count, stages;
	uint32_t stage, pass; /* of this launch */
	uint32_t next_stage, next_pass;
	struct sim_buffer array;
	uint32_t *want;
};

static void kernel(struct sim_wave *w, const void *arguments)
{
	const struct bs *b = (const struct bs *)arguments;
	const uint32_t apart = 1u << (b->stage - b->pass);
	uint32_t item[SIM_LANES], left[SIM_LANES], right[SIM_LANES], a[SIM_LANES] = {0}, c[SIM_LANES] = {0};
	const uint64_t lanes = sim_items(w, item, b->count / 2);

	for (uint32_t l = 0; l < SIM_LANES; l++) {
		left[l] = item[l] % apart + item[l] / apart * 2 * apart;
		right[l] = left[l] + apart;
	}
	sim_salu(w, 12);
	sim_valu(w, 18);
	sim_load_u32(w, lanes, &b->array, left, a);
	sim_load_u32(w, lanes, &b->array, right, c);
	sim_valu(w, 4);
	sim_wait(w, 0);
	for (uint32_t l = 0; l < SIM_LANES; l++) {
		const uint32_t falls = item[l] >> b->stage & 1, low = a[l] < c[l] ? a[l] : c[l],
		               high = a[l] < c[l] ? c[l] : a[l];

		a[l] = falls ? high : low;
		c[l] = falls ? low : high;
	}
	sim_valu(w, 5);
	sim_store_u32(w, lanes, &b->array, left, a);
	sim_store_u32(w, lanes, &b->array, right, c);
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct sim_size size[] = {{"values, a power of two,", 4096, 2, 1 << 28, 2}};
	uint64_t random = request->seed;
	struct bs *b;

	if (sim_sizes_read(request->size, "bs", size, 1, error))
		return -GN_EINVAL;
	if ((uint32_t)size[0].value & ((uint32_t)size[0].value - 1))
		return gn_error_set(
		    error, -GN_EINVAL,
		    "--size %s: the number of values of bs must be a power of two; give a power of two",
		    request->size);
	b = (struct bs *)sim_state(sizeof *b, "bs", error);
	*state = b;
	if (!b)
		return -GN_ENOMEM;
	b->count = (uint32_t)size[0].value;
	b->stages = (uint32_t)__builtin_ctz(b->count);
	b->want = (uint32_t *)sim_state(sizeof *b->want * b->count, "bs", error);
	if (!b->want || sim_memory_alloc(memory, 4ull * b->count, SIM_DISTRIBUTED, 0, &b->array))
		return gn_error_set(error, -GN_ENOMEM, "bs: out of memory; give a smaller --size");
	for (uint32_t k = 0; k < b->count; k++)
		b->want[k] = (uint32_t)sim_random(&random);
	memcpy(b->array.host, b->want, 4ull * b->count);
	return 0;
}

static int next(void *state, struct sim_launch *launch)
{
	struct bs *b = (struct bs *)state;

	if (b->next_stage == b->stages)
		return 0;
	b->stage = b->next_stage;
	b->pass = b->next_pass;
	b->next_pass = b->pass < b->stage ? b->pass + 1 : 0;
	b->next_stage += !b->next_pass;
	sim_launch_row(launch, "bs", kernel, b, b->count / 2, GROUP);
	launch->independent = 1;
	return 1;
}

static int ascending(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int check(void *state, struct gn_error *error)
{
	const struct bs *b = (const struct bs *)state;

	qsort(b->want, b->count, sizeof *b->want, ascending);
	return sim_same_u32("bs", (const uint32_t *)b->array.host, b->want, b->count, error);
}

static void destroy(void *state)
{
	if (state)
		free(((struct bs *)state)->want);
	free(state);
}

const struct sim_workload sim__bs = {"bs",
                                     "bitonic sort (AMD APP SDK): remote where pairs are far apart",
                                     "values, a power of two: 4096",
                                     create,
                                     next,
                                     check,
                                     destroy};
