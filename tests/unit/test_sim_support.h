/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_support.h - a small machine and kernels that only read or write, for tests of the timing model. */
#ifndef GN_TEST_SIM_SUPPORT_H
#define GN_TEST_SIM_SUPPORT_H

#include <sim/parts.h>
#include <sim/workload.h>
#include <string.h>

#include "unit.h"

struct fixture {
	struct sim_config config;
	struct sim_memory *memory;
	uint32_t threads; /* 0: one */
	int independent;  /* what fixture_try launches */
	struct sim_machine *machine;
	struct gn_error error;
};

/*
 * One work-group of one wavefront on each GPU of the mask goes over its own part of a buffer, line after
 * line.
 */
struct walk {
	struct sim_buffer buffer;
	uint32_t gpus;   /* mask: who runs */
	uint32_t turns;  /* instructions of each wavefront */
	uint32_t lanes;  /* of each: neighbouring lines, one word each */
	uint32_t first;  /* line */
	uint32_t part;   /* lines between the parts of two work-groups */
	uint32_t words;  /* that a lane touches: 1 or 4 */
	int write, wait; /* wait: behind each instruction, not only at the end */
};

static inline void fixture_config(struct fixture *b, const char *preset, uint64_t gpus)
{
	memset(b, 0, sizeof *b);
	sim_config_init(&b->config);
	assert_int_equal(sim_config_optimize(&b->config, preset, &b->error), 0);
	b->config.gpus = gpus;
	b->config.end_cycles = 0;
	b->config.shader_engines = 2;
	b->config.cus_per_engine = 2;
	b->config.tlb2_sets = 64;
}

static inline void fixture_open(struct fixture *b)
{
	assert_int_equal(sim_memory_create(&b->memory, (uint32_t)b->config.gpus), 0);
	if (sim_machine_create(&b->machine, &b->config, b->memory, b->threads ? b->threads : 1, &b->error))
		fail_msg("%s", b->error.text);
	b->machine->windows.worth = 0; /* every window is run by all threads */
}

static inline void fixture_close(struct fixture *b)
{
	sim_machine_destroy(b->machine);
	sim_memory_destroy(b->memory);
}

static inline struct sim_buffer fixture_buffer(struct fixture *b, uint64_t bytes,
                                               enum sim_placement placement, uint32_t gpu)
{
	struct sim_buffer buffer;

	assert_int_equal(sim_memory_alloc(b->memory, bytes, placement, gpu, &buffer), 0);
	return buffer;
}

static inline void walk_turn(struct sim_wave *w, const struct walk *a, uint32_t turn)
{
	uint32_t index[SIM_LANES];
	float four[SIM_LANES][4];
	uint32_t one[SIM_LANES];
	uint64_t lanes = a->lanes < 64 ? (1ull << a->lanes) - 1 : ~0ull;
	uint32_t line = a->first + sim_wave_group(w, 0) * a->part + turn * a->lanes;

	memset(four, 0, sizeof four);
	memset(one, 0, sizeof one);
	for (uint32_t l = 0; l < SIM_LANES; l++)
		index[l] = (line + l) * 16;
	if (a->words == 4 && a->write)
		sim_store_f32x4(w, lanes, &a->buffer, index, (const float(*)[4])four);
	else if (a->words == 4)
		sim_load_f32x4(w, lanes, &a->buffer, index, four);
	else if (a->write)
		sim_store_u32(w, lanes, &a->buffer, index, one);
	else
		sim_load_u32(w, lanes, &a->buffer, index, one);
}

static inline void walk_kernel(struct sim_wave *w, const void *arguments)
{
	const struct walk *a = (const struct walk *)arguments;

	if (!(a->gpus >> sim_wave_gpu(w) & 1))
		return;
	for (uint32_t turn = 0; turn < a->turns; turn++) {
		walk_turn(w, a, turn);
		if (a->wait)
			sim_wait(w, 0);
	}
	sim_wait(w, 0);
}

static inline struct walk walk_of(struct sim_buffer buffer, uint32_t gpus, uint32_t turns, uint32_t lanes)
{
	struct walk a;

	memset(&a, 0, sizeof a);
	a.buffer = buffer;
	a.gpus = gpus;
	a.turns = turns;
	a.lanes = lanes;
	a.words = 1;
	return a;
}

/* Groups of one wavefront, `groups` in all. Returns what the launch returns. */
static inline int fixture_try(struct fixture *b, sim_kernel_fn *kernel, const void *arguments,
                              uint32_t groups)
{
	struct sim_launch launch;

	memset(&launch, 0, sizeof launch);
	launch.name = "walk";
	launch.kernel = kernel;
	launch.arguments = arguments;
	launch.items[0] = groups * SIM_LANES;
	launch.items[1] = 1;
	launch.group[0] = SIM_LANES;
	launch.group[1] = 1;
	launch.independent = b->independent;
	return sim_machine_launch(b->machine, &launch, &b->error);
}

/* A workload to its end on a machine as b->config says, and its results against the host's reference. */
static inline void fixture_run(struct fixture *b, const char *name, const char *size)
{
	const struct sim_workload *workload = sim_workload_find(name);
	const struct sim_request request = {size, NULL, 1, NULL};
	struct sim_launch launch;
	void *state = NULL;

	memset(&launch, 0, sizeof launch);
	fixture_open(b);
	if (workload->create(&state, &request, b->memory, &b->error))
		fail_msg("%s: %s", name, b->error.text);
	while (workload->next(state, &launch))
		if (sim_machine_launch(b->machine, &launch, &b->error))
			fail_msg("%s: %s", name, b->error.text);
	if (workload->check(state, &b->error))
		fail_msg("%s: %s", name, b->error.text);
	workload->destroy(state);
}

/* What one launch counts, a group on each GPU. */
static inline struct sim_stats fixture_walk(struct fixture *b, const struct walk *a)
{
	struct sim_stats before = b->machine->stats, after;

	if (fixture_try(b, walk_kernel, a, (uint32_t)b->config.gpus))
		fail_msg("%s", b->error.text);
	after = b->machine->stats;
	for (size_t k = 0; k < sizeof after / sizeof(uint64_t); k++)
		((uint64_t *)(void *)&after)[k] -= sim_stat_value(&before, (uint32_t)k);
	return after;
}

#endif
