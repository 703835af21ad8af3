/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explore.c - runs every schedule within a bound. For each schedule the kernel runs again from the start; the
 * choices are searched depth first. A node is a choice among several threads. A run follows the nodes of the
 * path. Behind them it makes the default choice (continue the same thread, else the next thread in turn) and
 * adds new nodes to the path.
 */
#include <grapnel/explore.h>

#include <simt/check.h>
#include <simt/fairness.h>

#include <stdio.h>
#include <stdlib.h>

struct node {
	uint64_t untried;
	uint8_t chosen, usual; /* the thread that this run chooses, and the default */
};

struct explorer {
	struct simt__check base; /* first */
	const struct simt_exploration *task;
	struct simt__worker worker;
	struct simt__launch launch;
	unsigned last; /* the thread that ran last */
	unsigned preemptions;
	struct simt__fiber *fiber[SIMT__FAIR_THREADS];
	struct simt__fairness fair;

	/* The path: this run follows the nodes below `fixed` and makes the others. */
	struct node *node;
	size_t at, fixed, room;
	int diverged; /* a fixed choice could not be made: the kernel is not repeatable, or the schedule is
	                 not its own */

	/* The clock runs faster while all threads only wait: see tick. */
	uint64_t waited; /* threads that relaxed since the last sign of progress */
	uint32_t points[SIMT__FAIR_THREADS], usual_points[SIMT__FAIR_THREADS];
	unsigned idle_rounds;
};

static unsigned thread_of(const struct simt__fiber *f)
{
	return f->lane.block * f->lane.block_threads + f->lane.thread;
}

static int enable(struct simt__check *check, struct simt__fiber *f)
{
	struct explorer *e = (struct explorer *)check;

	f->slot = thread_of(f);
	e->fiber[f->slot] = f;
	e->fair.enabled |= (uint64_t)1 << f->slot;
	e->waited = e->idle_rounds = 0;
	return 0;
}

static void disable(struct simt__check *check, struct simt__fiber *f)
{
	struct explorer *e = (struct explorer *)check;

	e->fair.enabled &= ~((uint64_t)1 << f->slot);
	f->slot = SIMT__NO_SLOT;
	e->waited = e->idle_rounds = 0;
}

/*
 * A thread that passes the same number of points between two waits as before is probably polling. When all
 * threads have only polled for many rounds, the clock runs faster, twice as fast every few rounds, so that
 * deadlines expire in a run of reasonable length.
 */
static void tick(struct explorer *e, unsigned thread, enum simt__stop why)
{
	const unsigned patience = 64, rounds_a_doubling = 8, doublings_most = 20;
	unsigned doublings;

	if (why != SIMT__RELAXED) {
		e->points[thread]++;
		return;
	}
	if (e->points[thread] != e->usual_points[thread])
		e->waited = e->idle_rounds = 0;
	e->usual_points[thread] = e->points[thread];
	e->points[thread] = 0;
	e->waited |= (uint64_t)1 << thread;
	if ((e->waited & e->fair.enabled) != e->fair.enabled)
		return;
	e->waited = 0;
	if (++e->idle_rounds > patience) {
		doublings = (e->idle_rounds - patience) / rounds_a_doubling;
		e->base.clock_ns += (uint64_t)SIMT__STEP_NS
		                    << (doublings < doublings_most ? doublings : doublings_most);
	}
}

/* The next thread of options after thread, cyclically. */
static unsigned next_round(uint64_t options, unsigned thread)
{
	uint64_t behind = thread == 63 ? 0 : options & ~(((uint64_t)2 << thread) - 1);

	return (unsigned)__builtin_ctzll(behind ? behind : options);
}

static struct node *node_new(struct explorer *e, uint64_t untried, unsigned usual)
{
	struct node *n;

	if (e->at == e->room) {
		size_t room = e->room ? 2 * e->room : 1024;
		void *more = realloc(e->node, room * sizeof *e->node);

		if (!more) {
			simt__launch_fail(&e->launch, -GN_ENOMEM, "kernel %s: no memory for its schedule",
			                  e->launch.kernel->name);
			return NULL;
		}
		e->node = (struct node *)more;
		e->room = room;
	}
	n = &e->node[e->at];
	n->chosen = n->usual = (uint8_t)usual;
	n->untried = untried;
	return n;
}

/* Make the choice at a node: the fixed one if the path has one, else usual. */
static unsigned branch(struct explorer *e, uint64_t options, unsigned usual)
{
	struct node *n;

	if (e->at < e->fixed) {
		n = &e->node[e->at];
		n->usual = (uint8_t)usual;
		if (n->chosen == SIMT__FAIR_THREADS)
			n->chosen = n->usual;
		if (!(options >> n->chosen & 1)) {
			e->diverged = 1;
			simt__launch_fail(&e->launch, -GN_EINVAL,
			                  "kernel %s does not follow the given schedule: at one step, the "
			                  "thread that the schedule names cannot run",
			                  e->launch.kernel->name);
			return usual;
		}
	} else {
		n = node_new(e, options & ~((uint64_t)1 << usual), usual);
		if (!n)
			return usual;
	}
	e->at++;
	return n->chosen;
}

static struct simt__fiber *choose(struct simt__check *check, struct simt__fiber *self, enum simt__stop why)
{
	struct explorer *e = (struct explorer *)check;
	unsigned usual, chosen;
	uint64_t options;
	int goes_on;

	if (self) {
		simt__fairness_step(&e->fair, thread_of(self), why == SIMT__RELAXED);
		tick(e, thread_of(self), why);
	}
	options = simt__fairness_options(&e->fair);
	if (!options)
		return NULL;
	goes_on = self && why == SIMT__AT_POINT && options >> e->last & 1;
	usual = goes_on ? e->last : next_round(options, e->last);
	if (goes_on && !e->preemptions)
		options = (uint64_t)1 << usual;
	chosen = options & (options - 1) ? branch(e, options, usual) : usual;
	if (goes_on && chosen != e->last)
		e->preemptions--;
	e->last = chosen;
	return e->fiber[chosen];
}

/* Run the kernel once along the fixed nodes. */
static int run_once(struct explorer *e, const struct simt_kernel *kernel, struct simt_grid grid,
                    const void *arguments)
{
	if (e->task->reset)
		e->task->reset(e->task->user);
	e->base.steps = e->base.clock_ns = 0;
	e->base.beginning = 0;
	e->last = grid.blocks * grid.block_threads - 1;
	e->preemptions = e->task->preemptions;
	e->at = 0;
	e->waited = e->idle_rounds = 0;
	simt__fairness_init(&e->fair, grid.blocks * grid.block_threads);
	simt__launch_init(&e->launch, kernel, grid, arguments);
	simt__worker_run(&e->worker, &e->launch);
	SIMT__ACQUIRE(&e->launch.ended);
	if (e->diverged || e->at < e->fixed)
		return -GN_EINVAL;
	if (e->launch.error.code)
		return e->launch.error.code;
	return e->task->check ? e->task->check(e->task->user) : 0;
}

/* Advance to the next path, depth first. Returns 0 if there is none. */
static int next_path(struct explorer *e)
{
	size_t depth = e->at;

	while (depth && !e->node[depth - 1].untried)
		depth--;
	e->fixed = depth;
	if (!depth)
		return 0;
	e->node[depth - 1].chosen = (uint8_t)__builtin_ctzll(e->node[depth - 1].untried);
	e->node[depth - 1].untried &= e->node[depth - 1].untried - 1;
	return 1;
}

/* "node:thread node:thread ...": the choices that are not the default; "-" if all are. */
static void print_path(const struct explorer *e, char *text, size_t bytes)
{
	size_t used = 0;

	snprintf(text, bytes, "-");
	for (size_t k = 0; k < e->at; k++) {
		const struct node *n = &e->node[k];
		int length;

		if (n->chosen == n->usual)
			continue;
		length = snprintf(text + used, bytes - used, "%s%zu:%u", used ? " " : "", k, n->chosen);
		if (length < 0 || (size_t)length >= bytes - used) {
			snprintf(text, bytes, "too long to print");
			return;
		}
		used += (size_t)length;
	}
}

static int path_until(struct explorer *e, unsigned long node)
{
	while (e->fixed <= node) {
		e->at = e->fixed;
		if (!node_new(e, 0, SIMT__FAIR_THREADS))
			return -GN_ENOMEM;
		e->fixed++;
	}
	return 0;
}

static int parse_path(struct explorer *e, const char *text)
{
	enum { NODES_MOST = 100000000 };

	if (text[0] == '-' && !text[1])
		return 0;
	while (*text) {
		unsigned long node, thread;
		int length = 0;

		if (sscanf(text, "%9lu:%2lu%n", &node, &thread, &length) != 2 || node < e->fixed ||
		    node > NODES_MOST || thread >= SIMT__FAIR_THREADS)
			return -GN_EINVAL;
		if (path_until(e, node))
			return -GN_ENOMEM;
		e->node[node].chosen = (uint8_t)thread;
		text += length;
		while (*text == ' ')
			text++;
	}
	return 0;
}

static int in_bounds(struct simt_grid grid, const struct simt_exploration *task)
{
	uint64_t threads = (uint64_t)grid.blocks * grid.block_threads;
	unsigned width = task->warp_width;

	return threads >= 1 && threads <= SIMT__FAIR_THREADS && grid.shared_bytes <= 48 * 1024 &&
	       width <= 32 && !(width & (width - 1));
}

static struct explorer *explorer_new(const struct simt_exploration *task)
{
	static const struct simt__check_ops ops = {enable, disable, choose};
	struct explorer *e = (struct explorer *)calloc(1, sizeof *e);

	if (!e)
		return NULL;
	e->base.ops = &ops;
	e->base.most_steps = task->most_steps ? task->most_steps : 1000000;
	e->task = task;
	simt__worker_init(&e->worker, 0, task->warp_width ? task->warp_width : 1, SIMT__FAIR_THREADS);
	e->worker.check = &e->base;
	return e;
}

static void explorer_free(struct explorer *e)
{
	simt__worker_fini(&e->worker);
	free(e->node);
	free(e);
}

int simt_explore(const struct simt_kernel *kernel, struct simt_grid grid, const void *arguments,
                 const struct simt_exploration *exploration, struct simt_explored *explored)
{
	struct explorer *e;
	int err = 0;

	explored->runs = explored->steps = 0;
	explored->complete = 0;
	explored->schedule[0] = 0;
	if (!in_bounds(grid, exploration))
		return -GN_EINVAL;
	e = explorer_new(exploration);
	if (!e)
		return -GN_ENOMEM;
	do {
		if (exploration->most_runs && explored->runs == exploration->most_runs)
			break;
		err = run_once(e, kernel, grid, arguments);
		explored->runs++;
		explored->steps += e->base.steps;
		if (err)
			print_path(e, explored->schedule, sizeof explored->schedule);
		else
			explored->complete = !next_path(e);
	} while (!err && !explored->complete);
	explorer_free(e);
	return err;
}

int simt_replay(const struct simt_kernel *kernel, struct simt_grid grid, const void *arguments,
                const struct simt_exploration *exploration, const char *schedule)
{
	struct explorer *e;
	int err;

	if (!in_bounds(grid, exploration))
		return -GN_EINVAL;
	e = explorer_new(exploration);
	if (!e)
		return -GN_ENOMEM;
	err = parse_path(e, schedule);
	if (!err)
		err = run_once(e, kernel, grid, arguments);
	explorer_free(e);
	return err;
}
