/* SPDX-License-Identifier: Apache-2.0 */
/* wave_stack.c - the fibers of kernels, and their stacks. */
#include <sim/wave_state.h>

#include <stdlib.h>
#include <sys/mman.h>

/*
 * Stacks are for kernels that have begun and not ended: a short kernel says all its instructions at once, so
 * that the next one has the same stack, which is in the host's caches. Behind a guard page lies a stack. The
 * stride is odd in pages and the top moves by some lines from one to the next; else their hot lines would
 * fall into the same few sets of the host's caches. Wavefronts lie close together, in large pages, an odd
 * number of lines apart.
 */
enum {
	PAGE = 4096,
	LINE = 64,
#if SIMT_ASAN || SIMT_TSAN
	STACK_PAGES = 64, /* frames are larger there */
#else
	STACK_PAGES = 6, /* 16 KiB for the kernel, and some more */
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
	struct sim__stack *stack[A_SLAB];
};

void sim__wave_leave(struct sim_wave *w)
{
	/* behind the end of a kernel the stack is no more the wavefront's, which may be gone */
	struct simt__context *host = &w->waves->host;
	struct sim__stack *s = w->stack;

	SIMT__RELEASE(s);
	simt__context_switch(&s->context, host);
	SIMT__ACQUIRE(s);
}

static void body(struct simt__context *self)
{
	struct sim__stack *s = (struct sim__stack *)self;

	SIMT__ACQUIRE(s);
	for (;;) { /* one kernel behind the other */
		struct sim_wave *w = s->wave;
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

static struct sim__stack *stack_new(struct sim_waves *waves)
{
	struct sim__slab *slab = waves->slabs;
	struct sim__stack *s;
	char *guard, *top, *low;

	if (!slab || slab->used == A_SLAB)
		slab = slab_new(waves);
	if (!slab)
		return NULL;
	guard = slab->memory + (size_t)slab->used * STRIDE;
	/* a guard takes two of the 65,530 mappings that Linux allows a process: each GPU has some */
	if (waves->guards < GUARDS && mprotect(guard, PAGE, PROT_NONE))
		return NULL;
	waves->guards += waves->guards < GUARDS;
	top = guard + STRIDE - (size_t)(slab->used * 5 % COLOURS) * LINE;
	s = (struct sim__stack *)(top - (sizeof *s + LINE - 1) / LINE * LINE);
	slab->stack[slab->used++] = s;
	low = guard + PAGE;
	simt__context_init(&s->context, low, (size_t)((char *)s - low), body);
	return s;
}

static struct sim__stack *stack_get(struct sim_waves *waves)
{
	struct sim__stack *s = waves->stack;

	if (!s)
		return stack_new(waves);
	waves->stack = s->next;
	return s;
}

static void stack_put(struct sim_wave *w)
{
	w->stack->next = w->waves->stack;
	w->waves->stack = w->stack;
	w->stack = NULL;
}

void sim__wave_stop(struct sim_wave *w)
{
	struct simt__context *c = &w->stack->context;

	simt__context_adopt(&w->waves->host);
	simt__context_fini(c, &w->waves->host, w->stack);
	simt__context_init(c, (void *)(uintptr_t)c->low,
	                   (size_t)((const char *)w->stack - (const char *)c->low), body);
	stack_put(w);
}

int sim__wave_resume(struct sim_wave *w)
{
	if (!w->stack)
		w->stack = stack_get(w->waves);
	if (!w->stack)
		return -GN_ENOMEM;
	w->stack->wave = w;
	w->read = w->written = 0;
	simt__context_adopt(&w->waves->host);
	SIMT__RELEASE(w->stack);
	simt__context_switch(&w->waves->host, &w->stack->context);
	SIMT__ACQUIRE(w->stack);
	if (w->state == SIM__ENDED)
		stack_put(w);
	return 0;
}

static void slab_free(struct sim_waves *waves, struct sim__slab *s)
{
	for (uint32_t k = 0; k < s->used; k++)
		simt__context_fini(&s->stack[k]->context, &waves->host, s->stack[k]);
	munmap(s->memory, (size_t)STRIDE * A_SLAB);
	free(s);
}

void sim__stacks_free(struct sim_waves *waves)
{
	simt__context_adopt(&waves->host);
	while (waves->slabs) {
		struct sim__slab *s = waves->slabs;

		waves->slabs = s->older;
		slab_free(waves, s);
	}
}
