/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases - a program that changes: sums of words that are far apart, each of a line of its own, then sums of
 * whole lines that all work-groups read; again and again. A decision that is right for one phase is wrong for
 * the other. Not of the paper.
 */
#include <sim/workloads/support.h>

enum { FAR = 8, NEAR = 128, NEAR_WORDS = 1 << 16, LINE_WORDS = SIM_LINE_BYTES / 4, GROUP = 256 };

struct phases {
	uint32_t items, rounds, launches;
	struct sim_buffer table, far, near;
};

/* The k-th word of an item: in a line that nobody else reads. */
static uint32_t far_index(uint32_t item, uint32_t k)
{
	return (item * FAR + k) * LINE_WORDS;
}

/* In rows that go round a part of the table, from another one in each wavefront. */
static uint32_t near_index(uint32_t item, uint32_t k)
{
	return ((item / SIM_LANES * 37 + k) * SIM_LANES + item % SIM_LANES) % NEAR_WORDS;
}

static void sum(struct sim_wave *w, const struct phases *p, uint32_t (*index_of)(uint32_t, uint32_t),
                uint32_t count, const struct sim_buffer *to)
{
	uint32_t item[SIM_LANES], index[SIM_LANES] = {0}, value[SIM_LANES] = {0}, all[SIM_LANES] = {0};
	const uint64_t lanes = sim_items(w, item, p->items);

	sim_salu(w, 6);
	sim_valu(w, 5);
	for (uint32_t k = 0; k < count; k++) {
		for (uint32_t l = 0; l < SIM_LANES; l++)
			index[l] = lanes >> l & 1 ? index_of(item[l], k) : 0;
		sim_valu(w, 3);
		sim_load_u32(w, lanes, &p->table, index, value);
		sim_wait(w, 0);
		for (uint32_t l = 0; l < SIM_LANES; l++)
			all[l] += value[l];
		sim_valu(w, 1);
		sim_salu(w, 2);
	}
	sim_store_u32(w, lanes, to, item, all);
}

static void far_kernel(struct sim_wave *w, const void *arguments)
{
	const struct phases *p = (const struct phases *)arguments;

	sum(w, p, far_index, FAR, &p->far);
}

static void near_kernel(struct sim_wave *w, const void *arguments)
{
	const struct phases *p = (const struct phases *)arguments;

	sum(w, p, near_index, NEAR, &p->near);
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct sim_size size[] = {{"items", 65536, 1, 1 << 20, 1}, {"rounds", 1, 1, 1000, 1}};
	uint64_t random = request->seed, words;
	struct phases *p;

	if (sim_sizes_read(request->size, "phases", size, 2, error))
		return -GN_EINVAL;
	p = (struct phases *)sim_state(sizeof *p, "phases", error);
	*state = p;
	if (!p)
		return -GN_ENOMEM;
	p->items = (uint32_t)size[0].value;
	p->rounds = (uint32_t)size[1].value;
	words = (uint64_t)p->items * FAR * LINE_WORDS;
	if (words < NEAR_WORDS)
		words = NEAR_WORDS;
	{
		const struct sim_wanted wanted[] = {{&p->table, 4 * words, SIM_INTERLEAVED},
		                                    {&p->far, 4ull * p->items, SIM_DISTRIBUTED},
		                                    {&p->near, 4ull * p->items, SIM_DISTRIBUTED}};

		if (sim_buffers(memory, "phases", wanted, 3, error))
			return -GN_ENOMEM;
	}
	for (uint64_t k = 0; k < words; k++)
		((uint32_t *)p->table.host)[k] = (uint32_t)sim_random(&random);
	return 0;
}

static int next(void *state, struct sim_launch *launch)
{
	struct phases *p = (struct phases *)state;
	const int is_near = p->launches & 1;

	if (p->launches == 2 * p->rounds)
		return 0;
	p->launches++;
	sim_launch_row(launch, is_near ? "near" : "far", is_near ? near_kernel : far_kernel, p, p->items,
	               GROUP);
	launch->independent = 1;
	return 1;
}

static int check(void *state, struct gn_error *error)
{
	const struct phases *p = (const struct phases *)state;
	const uint32_t *table = (const uint32_t *)p->table.host;
	int rc = 0;

	for (uint32_t i = 0; i < p->items && !rc; i++) {
		uint32_t far = 0, near = 0;

		for (uint32_t k = 0; k < FAR; k++)
			far += table[((uint64_t)i * FAR + k) * LINE_WORDS];
		for (uint32_t k = 0; k < NEAR; k++)
			near += table[(i / 64 * 37 + k) % (NEAR_WORDS / 64) * 64 + i % 64];
		rc = sim_same_u32("phases", &((const uint32_t *)p->far.host)[i], &far, 1, error);
		rc = rc ? rc : sim_same_u32("phases", &((const uint32_t *)p->near.host)[i], &near, 1, error);
	}
	return rc;
}

const struct sim_workload sim__phases = {"phases",
                                         "words far apart, then lines that all read: not of the paper",
                                         "items, rounds: 65536, 1",
                                         create,
                                         next,
                                         check,
                                         free,
                                         0,
                                         0,
                                         0};
