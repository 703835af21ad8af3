/* SPDX-License-Identifier: Apache-2.0 */
#include <simt/check.h>
#include <simt/engine.h>

#include <sched.h>
#include <time.h>

struct simt__lane simt__host_lane = {0, 0, 1, 1, 0, 1, 0, NULL};
__thread struct simt__lane *simt__self = &simt__host_lane;

/* A fiber that runs thread after thread gives the ring a turn after this number of threads. */
enum { THREADS_A_TURN = 32 };
/* Warps that go from meeting to meeting give the ring a turn after this number of resumed lanes. */
enum { LANES_A_TURN = 32 };

void simt__go(struct simt__worker *w, struct simt__fiber *self, struct simt__fiber *to)
{
	simt__self = to ? &to->lane : &simt__host_lane;
	simt__context_switch(self ? &self->context : &w->main, to ? &to->context : &w->main);
}

/* The ring is circular. The cursor is the fiber that relaxed last, so the next fiber has waited longest. */
static void ring_join(struct simt__worker *w, struct simt__fiber *f)
{
	if (w->cursor) {
		f->next = w->cursor->next;
		f->previous = w->cursor;
		f->next->previous = f;
		f->previous->next = f;
	} else {
		f->next = f->previous = f;
	}
	w->cursor = f;
	w->ring++;
	f->in_ring = 1;
}

static void ring_leave(struct simt__worker *w, struct simt__fiber *f)
{
	if (w->cursor == f)
		w->cursor = f->previous == f ? NULL : f->previous;
	f->next->previous = f->previous;
	f->previous->next = f->next;
	w->ring--;
	f->in_ring = 0;
}

/* Begin the machine's next round if all workers have ended this one. @ends  1: this worker has now */
static void settle_round(struct simt__worker *w, int ends)
{
	struct simt__rounds *rounds = w->rounds;
	const uint32_t members = __atomic_load_n(&rounds->members, __ATOMIC_RELAXED);
	uint64_t seen = __atomic_load_n(&rounds->ended, __ATOMIC_RELAXED), next;
	uint32_t round;

	do {
		round = (uint32_t)(seen >> 32);
		next = seen + (ends && w->round != round);
		if ((uint32_t)next >= members)
			next = (uint64_t)(round + 1) << 32;
	} while (next != seen && !__atomic_compare_exchange_n(&rounds->ended, &seen, next, 0,
	                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (ends)
		w->round = round;
}

static void rounds_join(struct simt__worker *w)
{
	w->turns = 0;
	w->round = (uint32_t)(__atomic_load_n(&w->rounds->ended, __ATOMIC_RELAXED) >> 32) - 1;
	__atomic_fetch_add(&w->rounds->members, 1, __ATOMIC_RELAXED);
}

static void rounds_leave(struct simt__worker *w)
{
	__atomic_fetch_sub(&w->rounds->members, 1, __ATOMIC_RELAXED);
	settle_round(w, 0);
}

static struct simt__fiber *ring_turn(struct simt__worker *w)
{
	struct simt__fiber *next = w->cursor->next;

	if (++w->turns >= w->ring) {
		w->turns = 0;
		settle_round(w, 1);
	}
	w->cursor = next;
	/* Prefetch the fiber behind the next one, and the top of its stack, before it is resumed. */
	__builtin_prefetch(next->next->next);
	__builtin_prefetch(next->next->context.resume);
	return next;
}

static struct simt__fiber *ready_take(struct simt__worker *w)
{
	struct simt__fiber *f = w->ready;

	w->ready = f->next;
	if (!w->ready)
		w->ready_last = NULL;
	return f;
}

static void ready_put(struct simt__worker *w, struct simt__fiber *f)
{
	f->next = NULL;
	if (w->ready_last)
		w->ready_last->next = f;
	else
		w->ready = f;
	w->ready_last = f;
}

void simt__wake(struct simt__worker *w, struct simt__fiber *f)
{
	if (simt_unlikely(w->check != NULL)) {
		simt__check_wake(w, f);
		return;
	}
	w->relaxes = 0;
	w->quiet_since_ns = 0;
	ready_put(w, f);
}

/*
 * Does the worker leave the remaining blocks to other workers for now? If its threads wait at once, it begins
 * the next block at once, and would take all blocks of a small grid before another worker is awake. So for a
 * while it takes only its share; only for a while, because the other workers may be busy with another launch.
 */
static int leaves_to_others(struct simt__worker *w)
{
	const int64_t others_wake_ns = 2000000;

	if (!w->joined_ns || !w->live || w->taken < w->launch->share)
		return 0;
	if ((int64_t)(simt__system_ns() - w->joined_ns) < others_wake_ns)
		return 1;
	w->joined_ns = 0;
	return 0;
}

int simt__feed(struct simt__worker *w)
{
	if (w->feed)
		return 1;
	return !w->exhausted && w->live < w->most_live && !leaves_to_others(w) && simt__block_begin(w);
}

/* The fiber to run when the running one stops; NULL (the OS thread): none is left, or the launch failed. */
static struct simt__fiber *pick(struct simt__worker *w)
{
	struct simt__fiber *f;

	if (simt_unlikely(w->check != NULL))
		return simt__check_pick(w);
	if (simt__launch_failed(w->launch))
		return NULL;
	if (w->ready && ++w->since_turn % LANES_A_TURN)
		return ready_take(w);
	if (simt__feed(w)) {
		f = simt__fiber_take(w);
		if (f)
			return f;
	}
	if (w->cursor)
		return ring_turn(w);
	settle_round(w, 1); /* no thread waits for a turn */
	return w->ready ? ready_take(w) : NULL;
}

void simt__hold(struct simt__worker *w, struct simt__fiber *self)
{
	struct simt__fiber *next;

	if (self->in_ring)
		ring_leave(w, self);
	next = pick(w);
	if (next != self)
		simt__go(w, self, next);
}

/*
 * In a whole round of the ring every fiber only relaxed: the thread for which they wait may need this core.
 * So yield from time to time. If the system runs no other thread on a yield, sleep. A thread that relaxes may
 * have made progress since it relaxed before, which cannot be seen here, so sleep at most an eighth of the
 * time.
 */
static void quiet_round(struct simt__worker *w)
{
	const uint64_t yield_every_ns = 2000, sleep_after_ns = 1000000, sleep_every_ns = 400000;
	const struct timespec nap = {0, 50000};
	uint64_t now = simt__system_ns();

	w->relaxes = 0;
	if (!w->quiet_since_ns)
		w->quiet_since_ns = now;
	if (now - w->yielded_ns < yield_every_ns)
		return;
	if (now - w->quiet_since_ns > sleep_after_ns && now - w->slept_ns > sleep_every_ns) {
		nanosleep(&nap, NULL);
		w->slept_ns = now;
	} else {
		simt__give_way();
	}
	w->yielded_ns = simt__system_ns();
}

void simt__fair_relax(struct simt__worker *w, struct simt__fiber *f)
{
	struct simt__fiber *next;

	if (!f->in_ring)
		ring_join(w, f);
	if (++w->relaxes >= w->ring && !w->ready)
		quiet_round(w);
	next = pick(w);
	if (next != f)
		simt__go(w, f, next);
}

/* Between two threads a fiber gives waiting fibers a turn. */
static void take_turns(struct simt__worker *w, struct simt__fiber *f)
{
	struct simt__fiber *next;

	w->since_turn = 0;
	if (!w->cursor && !w->ready) {
		settle_round(w, 1);
		return;
	}
	if (!f->in_ring)
		ring_join(w, f);
	next = w->ready ? ready_take(w) : ring_turn(w);
	if (next != f)
		simt__go(w, f, next);
}

/* Run one thread on a checking schedule; after every thread the schedule chooses the next. */
static void run_checked(struct simt__worker *w, struct simt__fiber *f)
{
	simt__check_begin(w, f);
	w->launch->kernel->cpu(w->launch->arguments);
	simt__check_end(w, f);
	simt__thread_end(w, f);
}

/* Run threads one after another, until no thread can be begun. */
static void run_threads(struct simt__worker *w, struct simt__fiber *f)
{
	while (!simt__launch_failed(w->launch) && simt__feed(w)) {
		simt__thread_begin(w, f);
		if (simt_unlikely(w->check != NULL)) {
			run_checked(w, f);
			return;
		}
		w->launch->kernel->cpu(w->launch->arguments);
		simt__thread_end(w, f);
		if (++w->since_turn >= THREADS_A_TURN)
			take_turns(w, f);
	}
}

static void fiber_body(struct simt__context *context)
{
	struct simt__fiber *f = simt__fiber_self();
	struct simt__worker *w = f->worker;

	(void)context;
	for (;;) {
		run_threads(w, f);
		if (f->in_ring)
			ring_leave(w, f);
		f->next = w->idle;
		w->idle = f;
		simt__hold(w, f);
	}
}

static struct simt__fiber *fiber_new(struct simt__worker *w)
{
	void *low;
	size_t bytes;
	struct simt__fiber *f = simt__stack_fiber(&w->stacks, &low, &bytes);

	if (!f)
		return NULL;
	f->worker = w;
	f->warp = NULL;
	f->in_ring = 0;
	f->read[0] = f->read[1] = f->read[2] = f->read[3] = NULL;
	f->slot = SIMT__NO_SLOT;
	f->lane.warp_width = w->warp_width;
	f->lane.processor = w->processor;
	f->lane.lane = 0;
	f->older = w->fibers;
	w->fibers = f;
	simt__context_init(&f->context, low, bytes, fiber_body);
	return f;
}

struct simt__fiber *simt__fiber_take(struct simt__worker *w)
{
	struct simt__fiber *f = w->idle;

	if (!f)
		return fiber_new(w);
	w->idle = f->next;
	return f;
}

void simt__worker_init(struct simt__worker *w, uint32_t processor, uint32_t warp_width, uint32_t most_live)
{
	w->processor = processor;
	w->warp_width = warp_width;
	w->most_live = most_live;
	w->rounds = &w->alone;
	w->watch = simt__stack_watch();
	simt__context_adopt(&w->main);
}

void simt__worker_fini(struct simt__worker *w)
{
	char end;

	for (struct simt__fiber *f = w->fibers; f; f = f->older)
		simt__context_fini(&f->context, &w->main, &end);
	SIMT__ACQUIRE(&end);
	simt__stacks_free(w->stacks);
	simt__stack_unwatch(w->watch);
	simt__blocks_free(w);
}

/* Abandon all threads: their fibers begin again from fiber_body. */
static void abandon(struct simt__worker *w)
{
	w->ready = w->ready_last = w->cursor = w->idle = NULL;
	w->ring = w->live = 0;
	w->feed = NULL;
	for (struct simt__fiber *f = w->fibers; f; f = f->older) {
		simt__context_fini(&f->context, &w->main, &w->launch->ended);
		simt__context_init(&f->context, (void *)(uintptr_t)f->context.low, f->context.bytes,
		                   fiber_body);
		f->in_ring = 0;
		f->slot = SIMT__NO_SLOT;
		f->next = w->idle;
		w->idle = f;
	}
	simt__blocks_abandon(w);
}

static void fit_blocks(struct simt__worker *w)
{
	const struct simt_grid *grid = &w->launch->grid;

	if (w->blocks_for.block_threads != grid->block_threads ||
	    w->blocks_for.shared_bytes != grid->shared_bytes)
		simt__blocks_free(w);
}

void simt__worker_run(struct simt__worker *w, struct simt__launch *launch)
{
	struct simt__lane *outer = simt__self;
	struct simt__fiber *first;

	w->launch = launch;
	w->exhausted = 0;
	w->taken = 0;
	w->joined_ns = w->check ? 0 : simt__system_ns();
	w->relaxes = 0;
	w->quiet_since_ns = 0;
	fit_blocks(w);
	rounds_join(w);
	simt__self = &simt__host_lane;
	simt__check_switch_on(w->check != NULL);
	first = pick(w);
	if (first)
		simt__go(w, NULL, first);
	simt__check_switch_on(0);
	if (w->live && !simt__launch_failed(launch))
		simt__launch_fail(
		    launch, -GN_EDEADLK,
		    "kernel %s: %u threads wait and no thread can go on; all threads of a block "
		    "must reach its barriers (or there is no memory for their stacks: launch "
		    "smaller blocks)",
		    launch->kernel->name, w->live);
	if (simt__launch_failed(launch))
		abandon(w);
	rounds_leave(w);
	SIMT__ACQUIRE(&launch->ended);
	simt__self = outer;
}
