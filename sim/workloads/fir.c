/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fir - a finite impulse response filter (Hetero-Mark). Item t: the sum over k of coefficient[k] * input[t -
 * k]; what lies before the input is the history.
 *
 * From the source: grid, placement, accesses of an item, that coefficients are scalar loads. Both sides of
 * the branch are issued by every wavefront, with lanes off. Fitted to 392 instructions a wavefront at 16
 * taps: 24 + 23 a tap.
 */
#include <sim/workloads/support.h>

#include <string.h>

enum { GROUP = 256 };

struct fir {
	uint32_t count, taps;
	uint32_t launches;
	struct sim_buffer in, out, coefficient, history;
};

static float from_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

static void kernel(struct sim_wave *w, const void *arguments)
{
	const struct fir *f = (const struct fir *)arguments;
	uint32_t item[SIM_LANES], at[SIM_LANES];
	float value[SIM_LANES] = {0}, sum[SIM_LANES] = {0};
	const uint64_t lanes = sim_items(w, item, f->count);

	sim_salu(w, 8);
	sim_valu(w, 9);
	for (uint32_t k = 0; k < f->taps; k++) {
		const float c = from_bits(sim_scalar_u32(w, &f->coefficient, k));
		uint64_t inside = 0;

		for (uint32_t l = 0; l < SIM_LANES; l++) {
			inside |= (uint64_t)(item[l] >= k) << l;
			at[l] = item[l] >= k ? item[l] - k : f->taps + item[l] - k;
		}
		sim_salu(w, 4);
		sim_valu(w, 5);
		sim_load_f32(w, lanes & inside, &f->in, at, value);
		sim_wait(w, 0);
		sim_salu(w, 2);
		sim_valu(w, 4);
		sim_load_f32(w, lanes & ~inside, &f->history, at, value);
		sim_wait(w, 0);
		for (uint32_t l = 0; l < SIM_LANES; l++)
			sum[l] += c * value[l];
		sim_valu(w, 1);
		sim_salu(w, 2);
	}
	sim_valu(w, 5);
	sim_store_f32(w, lanes, &f->out, item, sum);
}

static int buffers(struct fir *f, struct sim_memory *memory, struct gn_error *error)
{
	const struct sim_wanted wanted[] = {
	    {&f->in, 4ull * f->count, SIM_DISTRIBUTED},
	    {&f->out, 4ull * f->count, SIM_DISTRIBUTED},
	    {&f->coefficient, 4ull * f->taps, SIM_INTERLEAVED},
	    {&f->history, 4ull * f->taps, SIM_INTERLEAVED},
	};

	return sim_buffers(memory, "fir", wanted, 4, error);
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct sim_size size[] = {{"values", 65536, 1, 1 << 28, 1}, {"taps", 16, 1, 64, 1}};
	uint64_t random = request->seed;
	struct fir *f;

	if (sim_sizes_read(request->size, "fir", size, 2, error))
		return -GN_EINVAL;
	f = (struct fir *)sim_state(sizeof *f, "fir", error);
	*state = f;
	if (!f)
		return -GN_ENOMEM;
	f->count = (uint32_t)size[0].value;
	f->taps = (uint32_t)size[1].value;
	if (buffers(f, memory, error))
		return -GN_ENOMEM;
	sim_random_fill(&random, (float *)f->in.host, f->count);
	sim_random_fill(&random, (float *)f->coefficient.host, f->taps);
	sim_random_fill(&random, (float *)f->history.host, f->taps);
	return 0;
}

static int next(void *state, struct sim_launch *launch)
{
	struct fir *f = (struct fir *)state;

	if (f->launches++)
		return 0;
	sim_launch_row(launch, "fir", kernel, f, f->count, GROUP);
	launch->independent = 1;
	return 1;
}

static int check(void *state, struct gn_error *error)
{
	const struct fir *f = (const struct fir *)state;
	const float *in = (const float *)f->in.host, *out = (const float *)f->out.host;
	const float *c = (const float *)f->coefficient.host, *before = (const float *)f->history.host;
	int rc = 0;

	for (uint32_t t = 0; t < f->count && !rc; t++) {
		double sum = 0;
		float want;

		for (uint32_t k = 0; k < f->taps; k++)
			sum += (double)c[k] * (double)(t >= k ? in[t - k] : before[f->taps + t - k]);
		want = (float)sum;
		rc = sim_same_f32("fir", &out[t], &want, 1, 1, error);
	}
	return rc;
}

const struct sim_workload sim__fir = {"fir",
                                      "finite impulse response filter (Hetero-Mark): stays on its own GPU",
                                      "values, taps: 65536, 16",
                                      create,
                                      next,
                                      check,
                                      free};
