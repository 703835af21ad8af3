/* SPDX-License-Identifier: Apache-2.0 */
#include <sim/wave_state.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Behind a guard page lies a stack, at its top the wavefront: so that the pages which a short kernel touches
 * are two. The stride is odd in pages and the top moves by some lines from one to the next; else their hot
 * lines would fall into the same few sets of the host's caches.
 */
enum {
	PAGE = 4096,
	LINE = 64,
#if SIMT_ASAN || SIMT_TSAN
	STACK_PAGES = 64, /* frames are larger there */
#else
	STACK_PAGES = 6, /* 16 KiB for the kernel, and the wavefront */
#endif
	STRIDE = (1 + STACK_PAGES) * PAGE,
	COLOURS = PAGE / 2 / LINE,
	A_SLAB = 256,
	GUARDS = 64 /* a GPU: all wavefronts run the same kernel, and a guard costs a system call */
};

struct sim__slab {
	struct sim__slab *older;
	char *memory;
	uint32_t used;
	struct sim_wave *wave[A_SLAB];
};

/* ---- fibers ---- */

void sim__wave_leave(struct sim_wave *w)
{
	SIMT__RELEASE(w);
	simt__context_switch(&w->context, &w->waves->host);
	SIMT__ACQUIRE(w);
}

static void resume(struct sim_wave *w)
{
	w->read = w->written = 0;
	simt__context_adopt(&w->waves->host);
	SIMT__RELEASE(w);
	simt__context_switch(&w->waves->host, &w->context);
	SIMT__ACQUIRE(w);
}

static void body(struct simt__context *self)
{
	struct sim_wave *w = (struct sim_wave *)self;

	SIMT__ACQUIRE(w);
	for (;;) { /* one kernel behind the other */
		const struct sim_launch *l = w->group->launch;

		w->state = SIM__MIDDLE;
		l->kernel(w, l->arguments);
		if (w->written == SIM__WORDS)
			sim__wave_leave(w);
		w->word[w->written++] = SIM_OP_END;
		w->state = SIM__ENDED;
		sim__wave_leave(w);
	}
}

static struct sim__slab *slab_new(struct sim_waves *waves)
{
	struct sim__slab *s = (struct sim__slab *)calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->memory = (char *)mmap(NULL, (size_t)STRIDE * A_SLAB, PROT_READ | PROT_WRITE,
	                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->memory == (char *)MAP_FAILED) {
		free(s);
		return NULL;
	}
	s->older = waves->slabs;
	waves->slabs = s;
	return s;
}

static struct sim_wave *wave_new(struct sim_waves *waves)
{
	struct sim__slab *s = waves->slabs;
	struct sim_wave *w;
	char *guard, *top, *low;

	if (!s || s->used == A_SLAB)
		s = slab_new(waves);
	if (!s)
		return NULL;
	guard = s->memory + (size_t)s->used * STRIDE;
	/* a guard takes two of the 65,530 mappings that Linux allows a process: each GPU has some */
	if (waves->guards < GUARDS && mprotect(guard, PAGE, PROT_NONE))
		return NULL;
	waves->guards += waves->guards < GUARDS;
	top = guard + STRIDE - (size_t)(s->used * 5 % COLOURS) * LINE;
	w = (struct sim_wave *)(top - (sizeof *w + LINE - 1) / LINE * LINE);
	s->wave[s->used++] = w;
	w->waves = waves;
	w->state = SIM__FRESH;
	low = guard + PAGE;
	simt__context_init(&w->context, low, (size_t)((char *)w - low), body);
	return w;
}

/* A kernel that was left in the middle goes no further: its fiber begins anew. */
static void wave_restart(struct sim_wave *w)
{
	struct simt__context *c = &w->context;

	simt__context_adopt(&w->waves->host);
	simt__context_fini(c, &w->waves->host, w);
	simt__context_init(c, (void *)(uintptr_t)c->low, (size_t)((const char *)w - (const char *)c->low),
	                   body);
}

/* ---- all of them ---- */

int sim_waves_create(struct sim_waves **waves)
{
	*waves = (struct sim_waves *)calloc(1, sizeof **waves);
	return *waves ? 0 : -GN_ENOMEM;
}

static void slab_free(struct sim_waves *waves, struct sim__slab *s)
{
	for (uint32_t k = 0; k < s->used; k++)
		simt__context_fini(&s->wave[k]->context, &waves->host, s->wave[k]);
	munmap(s->memory, (size_t)STRIDE * A_SLAB);
	free(s);
}

void sim_waves_destroy(struct sim_waves *waves)
{
	if (!waves)
		return;
	simt__context_adopt(&waves->host);
	while (waves->slabs) {
		struct sim__slab *s = waves->slabs;

		waves->slabs = s->older;
		slab_free(waves, s);
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
	if (w->state == SIM__MIDDLE || w->state == SIM__FAILED)
		wave_restart(w);
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
		if (w->state != SIM__FAILED)
			resume(w);
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
