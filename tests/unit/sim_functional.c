/* SPDX-License-Identifier: Apache-2.0 */
#include "sim_functional.h"

#include <string.h>

/* 16 KB, 4-way, least recently used, as the L1 caches of MGPUSim's R9 Nano. */
enum { SETS = 64, WAYS = 4, CUS = 64, CUS_A_SCALAR_CACHE = 4 };

struct cache {
	uint64_t line[SETS][WAYS]; /* the one used last in front; 0: none */
};

struct run {
	struct sim_memory *memory;
	struct sim_waves *waves;
	struct cache vector, scalar;
	uint32_t gpu;
	struct sim_counts *counts;
};

/* Is it there? It is the set's first then, and also if it is filled. */
static int look(struct cache *c, uint64_t address, int fill)
{
	uint64_t *line = c->line[address / SIM_LINE_BYTES % SETS];
	int k = 0;

	while (k < WAYS && line[k] != address)
		k++;
	if (k == WAYS && !fill)
		return 0;
	memmove(line + 1, line, (k < WAYS ? k : WAYS - 1) * sizeof *line);
	line[0] = address;
	return k < WAYS;
}

static void touch(struct run *r, const struct sim_op *op)
{
	for (uint32_t k = 0; k < op->count; k++) {
		const uint64_t address = op->line[k].address;
		const int far = sim_memory_home(r->memory, address) != r->gpu;

		if (op->kind == SIM_OP_STORE) {
			r->counts->writes++;
			r->counts->remote += far;
			look(&r->vector, address, 0);
		} else if (op->kind == SIM_OP_SCALAR) {
			r->counts->remote += !look(&r->scalar, address, 1) && far;
		} else if (look(&r->vector, address, 1)) {
			r->counts->read_hits++;
		} else {
			r->counts->read_misses++;
			r->counts->remote += far;
		}
	}
}

/* Up to a barrier or the end. */
static int advance(struct run *r, struct sim_wave *w, int *ended, struct gn_error *error)
{
	struct sim_op op;
	int rc;

	do {
		rc = sim_wave_next(w, &op, error);
		if (rc)
			return rc;
		r->counts->instructions += sim_op_instructions(&op);
		if (op.kind == SIM_OP_LOAD || op.kind == SIM_OP_STORE || op.kind == SIM_OP_SCALAR)
			touch(r, &op);
	} while (op.kind != SIM_OP_BARRIER && op.kind != SIM_OP_END);
	*ended = op.kind == SIM_OP_END;
	return 0;
}

static int run_group(struct run *r, const struct sim_launch *l, uint32_t number, struct gn_error *error)
{
	struct sim_group *g = sim_group_begin(r->waves, l, number, r->gpu);
	uint32_t running = g ? (1u << sim_group_waves(g)) - 1 : 0;
	int rc = g ? 0 : -GN_ENOMEM;

	r->counts->groups++;
	r->counts->waves += g ? sim_group_waves(g) : 0;
	while (running && !rc)
		for (uint32_t k = 0; k < sim_group_waves(g) && !rc; k++) {
			int ended = 0;

			if (running >> k & 1)
				rc = advance(r, sim_group_wave(g, k), &ended, error);
			running &= ~((uint32_t)ended << k);
		}
	if (g)
		sim_group_end(g);
	return rc;
}

static uint32_t part(uint32_t count, uint32_t parts)
{
	return (count + parts - 1) / parts;
}

/* Contiguous blocks of groups on GPUs, and on the compute units of each: "partition". */
static int run_launch(struct run *r, const struct sim_launch *l, struct gn_error *error)
{
	const uint32_t groups = sim_launch_groups(l), a_gpu = part(groups, sim_memory_gpus(r->memory));
	int rc = 0;

	r->counts->launches++;
	for (uint32_t first = 0; first < groups && !rc; first += a_gpu) {
		const uint32_t mine = groups - first < a_gpu ? groups - first : a_gpu, a_cu = part(mine, CUS);

		r->gpu = first / a_gpu;
		for (uint32_t k = 0; k < mine && !rc; k++) {
			if (k % a_cu == 0)
				memset(&r->vector, 0, sizeof r->vector);
			if (k % (a_cu * CUS_A_SCALAR_CACHE) == 0)
				memset(&r->scalar, 0, sizeof r->scalar);
			rc = run_group(r, l, first + k, error);
		}
	}
	return rc;
}

static int run_all(struct run *r, const struct sim_workload *workload, const struct sim_request *request,
                   struct gn_error *error)
{
	struct sim_launch launch;
	void *state = NULL;
	int rc = workload->create(&state, request, r->memory, error);

	while (!rc && workload->next(state, &launch))
		rc = run_launch(r, &launch, error);
	if (!rc)
		rc = workload->check(state, error);
	workload->destroy(state);
	return rc;
}

int sim_functional(const char *name, const struct sim_request *request, uint32_t gpus,
                   struct sim_counts *counts, struct gn_error *error)
{
	const struct sim_workload *workload = sim_workload_find(name);
	struct run r;
	int rc;

	memset(&r, 0, sizeof r);
	memset(counts, 0, sizeof *counts);
	r.counts = counts;
	if (!workload)
		return gn_error_set(error, -GN_ENOENT, "%s: no such workload", name);
	rc = sim_memory_create(&r.memory, gpus);
	if (!rc)
		rc = sim_waves_create(&r.waves);
	if (!rc)
		rc = run_all(&r, workload, request, error);
	sim_waves_destroy(r.waves);
	sim_memory_destroy(r.memory);
	return rc;
}
