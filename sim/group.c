/* SPDX-License-Identifier: Apache-2.0 */
#include <sim/wave_state.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Wavefronts lie close together, in large pages, an odd number of lines apart. */
enum { LINE = 64, A_BLOCK = 2 << 20, WAVE = ((sizeof(struct sim_wave) + LINE - 1) / LINE | 1) * LINE };

struct sim__block {
	struct sim__block *older;
	char *memory;
	uint32_t used;
};

/* ---- all of them ---- */

static struct sim__block *block_new(struct sim_waves *waves)
{
	struct sim__block *b = (struct sim__block *)calloc(1, sizeof *b);

	if (!b)
		return NULL;
	b->memory = (char *)aligned_alloc(A_BLOCK, A_BLOCK);
	if (!b->memory) {
		free(b);
		return NULL;
	}
	madvise(b->memory, A_BLOCK, MADV_HUGEPAGE);
	b->older = waves->blocks;
	waves->blocks = b;
	return b;
}

static struct sim_wave *wave_new(struct sim_waves *waves)
{
	struct sim__block *b = waves->blocks;
	struct sim_wave *w;

	if (!b || b->used == A_BLOCK / WAVE)
		b = block_new(waves);
	if (!b)
		return NULL;
	w = (struct sim_wave *)(void *)(b->memory + (size_t)b->used++ * WAVE);
	w->stack = NULL;
	w->waves = waves;
	w->state = SIM__FRESH;
	return w;
}

int sim_waves_create(struct sim_waves **waves)
{
	*waves = (struct sim_waves *)calloc(1, sizeof **waves);
	return *waves ? 0 : -GN_ENOMEM;
}

void sim_waves_destroy(struct sim_waves *waves)
{
	if (!waves)
		return;
	sim__stacks_free(waves);
	while (waves->blocks) {
		struct sim__block *b = waves->blocks;

		waves->blocks = b->older;
		free(b->memory);
		free(b);
	}
	while (waves->groups) {
		struct sim_group *g = waves->groups;

		waves->groups = g->older;
		free(g->lds);
		free(g);
	}
	free(waves);
}

static struct sim_wave *wave_get(struct sim_waves *waves)
{
	struct sim_wave *w = waves->wave;

	if (!w)
		return wave_new(waves);
	waves->wave = w->next;
	return w;
}

static void wave_put(struct sim_wave *w)
{
	if (w->stack)
		sim__wave_stop(w);
	w->next = w->waves->wave;
	w->waves->wave = w;
}

static struct sim_group *group_get(struct sim_waves *waves)
{
	struct sim_group *g = waves->group;

	if (g) {
		waves->group = g->next;
		return g;
	}
	g = (struct sim_group *)calloc(1, sizeof *g);
	if (!g)
		return NULL;
	g->waves = waves;
	g->older = waves->groups;
	waves->groups = g;
	return g;
}

/* ---- groups ---- */

static uint32_t groups_along(const struct sim_launch *l, uint32_t axis)
{
	return (uint32_t)(((uint64_t)l->items[axis] + l->group[axis] - 1) / l->group[axis]);
}

uint32_t sim_launch_groups(const struct sim_launch *l)
{
	return groups_along(l, 0) * groups_along(l, 1);
}

/* Work-items of the group along an axis that are inside the grid. */
static uint32_t inside(const struct sim_group *g, uint32_t axis)
{
	const struct sim_launch *l = g->launch;
	const uint32_t left = l->items[axis] - g->at[axis] * l->group[axis];

	return left < l->group[axis] ? left : l->group[axis];
}

static uint64_t lanes_of(const struct sim_group *g, uint32_t number)
{
	const struct sim_launch *launch = g->launch;
	const uint32_t x = inside(g, 0), y = inside(g, 1), left = x * y - number * SIM_LANES;
	uint64_t lanes = 0;

	if (x == launch->group[0] && y == launch->group[1]) /* nearly always */
		return left < SIM_LANES ? (UINT64_C(1) << left) - 1 : UINT64_MAX;

	for (uint32_t l = 0; l < SIM_LANES; l++) {
		const uint32_t item = number * SIM_LANES + l;

		lanes |= (uint64_t)(sim_remainder(&g->width, item) < x && sim_quotient(&g->width, item) < y)
		         << l;
	}
	return lanes;
}

static int lds_get(struct sim_group *g, uint32_t bytes)
{
	if (bytes > g->lds_room) {
		free(g->lds);
		g->lds = malloc(bytes);
		g->lds_room = g->lds ? bytes : 0;
		if (!g->lds)
			return -GN_ENOMEM;
	}
	if (bytes)
		memset(g->lds, 0, bytes);
	return 0;
}

static int waves_get(struct sim_group *g)
{
	/* The last item that is inside the grid is in the last wavefront. */
	const uint32_t last = (inside(g, 1) - 1) * g->launch->group[0] + inside(g, 0) - 1;
	const uint32_t count = last / SIM_LANES + 1;

	for (g->count = 0; g->count < count; g->count++) {
		struct sim_wave *w = wave_get(g->waves);

		if (!w)
			return -GN_ENOMEM;
		w->group = g;
		w->number = g->count;
		w->state = SIM__FRESH;
		w->read = w->written = 0;
		w->lanes = lanes_of(g, g->count);
		g->wave[g->count] = w;
	}
	return 0;
}

struct sim_group *sim_group_begin(struct sim_waves *waves, const struct sim_launch *launch, uint32_t number,
                                  uint32_t gpu)
{
	struct sim_group *g = group_get(waves);

	if (!g)
		return NULL;
	g->launch = launch;
	g->width = sim_divisor_of(launch->group[0]);
	g->at[0] = number % groups_along(launch, 0);
	g->at[1] = number / groups_along(launch, 0);
	g->gpu = gpu;
	if (!lds_get(g, launch->lds_bytes) && !waves_get(g))
		return g;
	sim_group_end(g);
	return NULL;
}

uint32_t sim_group_waves(const struct sim_group *g)
{
	return g->count;
}

struct sim_wave *sim_group_wave(struct sim_group *g, uint32_t k)
{
	return g->wave[k];
}

void sim_group_end(struct sim_group *g)
{
	for (uint32_t k = g->count; k-- > 0;)
		wave_put(g->wave[k]);
	g->count = 0;
	g->next = g->waves->group;
	g->waves->group = g;
}

/* ---- instructions ---- */

static int failed(const struct sim_wave *w, struct gn_error *error)
{
	const struct sim_group *g = w->group;

	return gn_error_set(error, -GN_EINVAL,
	                    "kernel %s, work-group (%u, %u), wavefront %u, lane %u: element %u is outside a "
	                    "buffer of %llu elements; correct the kernel",
	                    g->launch->name, g->at[0], g->at[1], w->number, w->fault.lane, w->fault.index,
	                    (unsigned long long)w->fault.elements);
}

void sim_wave_soon(const struct sim_wave *w, const struct sim_op *last)
{
	__builtin_prefetch(&w->state);
	__builtin_prefetch(&w->written);
	__builtin_prefetch(last->line + 1);
}

int sim_wave_next(struct sim_wave *w, struct sim_op *op, struct gn_error *error)
{
	uint64_t head;

	if (w->read == w->written) {
		if (w->state != SIM__FAILED && sim__wave_resume(w))
			return gn_error_set(error, -GN_ENOMEM, "out of memory for a wavefront of %s",
			                    w->group->launch->name);
		if (w->read == w->written)
			return failed(w, error);
	}
	head = w->word[w->read++];
	op->kind = (enum sim_op_kind)(uint32_t)head;
	op->count = (uint32_t)(head >> 32);
	op->line = (const struct sim_line *)&w->word[w->read];
	if (op->kind == SIM_OP_LOAD || op->kind == SIM_OP_STORE || op->kind == SIM_OP_SCALAR)
		w->read += 2 * op->count;
	return 0;
}
