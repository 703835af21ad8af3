/* SPDX-License-Identifier: Apache-2.0 */
/* window.c - the core, then the GPUs, window after window. */
#include <sim/window.h>

#include <sim/parts.h>

enum { WORTH = 200 }; /* events: some 10 us */

static void run_domain(struct sim_domain *d, uint64_t end)
{
	sim_clock_run(&d->clock, d, &d->stop, end);
}

static void run_gpus(void *machine, uint32_t thread)
{
	struct sim_machine *m = (struct sim_machine *)machine;

	for (uint32_t k = thread; k < m->config.gpus; k += m->windows.threads)
		run_domain(&m->gpu[k].domain, m->windows.end);
}

int sim_windows_init(struct sim_machine *m, uint32_t threads)
{
	const bool at_once =
	    m->config.dispatch_gpus == SIM_SPLIT_GREEDY || m->config.migrate_policy != SIM_MIGRATE_NONE;
	struct sim_windows *w = &m->windows;

	w->worth = WORTH;
	w->length = at_once ? 1 : m->network.latency;
	w->threads = at_once ? 1 : threads < m->config.gpus ? threads : (uint32_t)m->config.gpus;
	return w->threads > 1 ? sim_pool_create(&w->pool, w->threads, run_gpus, m) : 0;
}

void sim_windows_fini(struct sim_machine *m)
{
	sim_pool_destroy(m->windows.pool);
}

/* No event is before that cycle; UINT64_MAX: there is none. */
static uint64_t begin_of_next(const struct sim_machine *m)
{
	uint64_t begin = sim_clock_next(&m->core.clock);

	for (uint32_t k = 0; k < m->config.gpus; k++) {
		uint64_t next = sim_clock_next(&m->gpu[k].domain.clock);

		begin = next < begin ? next : begin;
	}
	return begin;
}

/* To meet takes threads as long as some events. Whether they do changes nothing but the time. */
static void look_how_busy(struct sim_machine *m)
{
	struct sim_windows *w = &m->windows;
	uint64_t happened = 0;

	for (uint32_t k = 0; k < m->config.gpus; k++)
		happened += m->gpu[k].domain.clock.count;
	w->busy = happened - w->happened >= w->worth;
	w->happened = happened;
}

static void run_window(struct sim_machine *m, uint64_t begin)
{
	struct sim_windows *w = &m->windows;

	sim_trace_window(m, begin);
	for (uint32_t k = 0; k < m->config.gpus; k++)
		run_domain(&m->gpu[k].domain, begin); /* the core speaks to clocks that are there too */
	run_domain(&m->core, begin);
	sim_griffin_window(m, begin);
	w->end = begin + w->length;
	run_domain(&m->core, w->end);
	if (w->busy && w->pool && m->launch->independent)
		sim_pool_turn(w->pool);
	else
		for (uint32_t k = 0; k < m->config.gpus; k++)
			run_domain(&m->gpu[k].domain, w->end);
	if (w->pool)
		look_how_busy(m);
	sim_network_collect(m);
	sim_decide_window(m);
}

static const struct sim_domain *stopped(struct sim_machine *m)
{
	struct sim_domain *d;

	for (uint32_t k = 0; (d = sim_machine_domain(m, k)); k++)
		if (d->stop)
			return d;
	return NULL;
}

/* Nothing waits: a window may have ended behind what happened last. */
static void settle(struct sim_machine *m, uint64_t last)
{
	struct sim_domain *d;

	for (uint32_t k = 0; (d = sim_machine_domain(m, k)); k++)
		last = d->clock.last > last ? d->clock.last : last;
	for (uint32_t k = 0; (d = sim_machine_domain(m, k)); k++)
		d->clock.now = last;
}

int sim_windows_run(struct sim_machine *m, struct gn_error *why)
{
	const uint64_t from = m->core.clock.now;
	const struct sim_domain *d = NULL;
	uint64_t begin;

	sim_network_collect(m); /* what was sent before */
	while (!d && (begin = begin_of_next(m)) != UINT64_MAX) {
		run_window(m, begin);
		d = stopped(m);
	}
	if (!d)
		settle(m, from);
	sim_machine_add_up(m);
	return d ? gn_error_set(why, d->stop, "%s", d->why.text) : 0;
}
