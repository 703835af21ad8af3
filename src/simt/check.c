/* SPDX-License-Identifier: Apache-2.0 */
#include <simt/check.h>

static __thread int checking __attribute__((tls_model(SIMT__TLS_MODEL)));

void simt__check_switch_on(int on)
{
	checking = on;
}

static void enable(struct simt__worker *w, struct simt__fiber *f)
{
	if (w->check->ops->enable(w->check, f))
		simt__launch_fail(w->launch, -GN_ENOMEM, "kernel %s: no memory for its schedule",
		                  w->launch->kernel->name);
}

void simt__check_wake(struct simt__worker *w, struct simt__fiber *f)
{
	enable(w, f);
}

void simt__check_begin(struct simt__worker *w, struct simt__fiber *f)
{
	f->at_point = f->pass = 0;
	enable(w, f);
}

void simt__check_end(struct simt__worker *w, struct simt__fiber *f)
{
	w->check->ops->disable(w->check, f);
}

/* The fiber to run after self has stopped; NULL is the OS thread. */
static struct simt__fiber *decide(struct simt__worker *w, struct simt__fiber *self, enum simt__stop why)
{
	struct simt__check *check = w->check;
	struct simt__fiber *next;

	if (simt__launch_failed(w->launch))
		return NULL;
	if (simt__feed(w)) {
		check->beginning = 1;
		return simt__fiber_take(w);
	}
	if (check->beginning)
		self = NULL;
	check->beginning = 0;
	next = check->ops->choose(check, self, why);
	if (!next || simt__launch_failed(w->launch))
		return NULL;
	next->pass = !next->at_point;
	next->at_point = 0;
	return next;
}

struct simt__fiber *simt__check_pick(struct simt__worker *w)
{
	struct simt__fiber *self = simt__fiber_self();

	if (self && self->slot != SIMT__NO_SLOT)
		w->check->ops->disable(w->check, self);
	return decide(w, self, SIMT__HELD);
}

static void count_step(struct simt__worker *w)
{
	struct simt__check *check = w->check;

	check->steps++;
	check->clock_ns += SIMT__STEP_NS;
	if (check->most_steps && check->steps > check->most_steps)
		simt__launch_fail(w->launch, -GN_EDEADLK, "kernel %s has not ended after %llu steps",
		                  w->launch->kernel->name, (unsigned long long)check->most_steps);
}

static void stop(struct simt__worker *w, struct simt__fiber *self, enum simt__stop why)
{
	struct simt__fiber *next;

	self->at_point = why == SIMT__AT_POINT;
	next = decide(w, self, why);
	if (next != self)
		simt__go(w, self, next);
}

void simt__check_relax(struct simt__worker *w, struct simt__fiber *self)
{
	count_step(w);
	stop(w, self, SIMT__RELAXED);
}

static __attribute__((noinline)) void check_point(void)
{
	struct simt__fiber *self = simt__fiber_self();

	count_step(self->worker);
	if (self->pass && !simt__launch_failed(self->worker->launch))
		self->pass = 0;
	else
		stop(self->worker, self, SIMT__AT_POINT);
}

void simt__point(void)
{
	if (simt_unlikely(checking))
		check_point();
}

uint64_t simt__check_clock_ns(const struct simt__worker *w)
{
	return w->check->clock_ns;
}
