/* SPDX-License-Identifier: Apache-2.0 */
/* griffin.c - counters of pages, and what they say at the end of a period. */
#include <sim/griffin.h>

#include <sim/parts.h>
#include <stdlib.h>
#include <string.h>

enum { ONE = 256 }; /* access a period, as a rate */

int sim_griffin_grow(struct sim_machine *m, uint64_t before, uint64_t pages)
{
	struct sim_griffin *g = &m->migrate.griffin;
	const uint64_t gpus = m->config.gpus;
	struct sim_page_use *use;
	uint32_t *under_way;

	if (m->config.migrate_policy != SIM_MIGRATE_GRIFFIN)
		return 0;
	use = (struct sim_page_use *)realloc(g->use, pages * gpus * sizeof *use);
	if (!use)
		return -GN_ENOMEM;
	g->use = use;
	under_way = (uint32_t *)realloc(g->under_way, pages * sizeof *under_way);
	if (!under_way)
		return -GN_ENOMEM;
	g->under_way = under_way;
	memset(use + before * gpus, 0, (pages - before) * gpus * sizeof *use);
	memset(under_way + before, 0, (pages - before) * sizeof *under_way);
	return 0;
}

void sim_griffin_fini(struct sim_machine *m)
{
	free(m->migrate.griffin.use);
	free(m->migrate.griffin.under_way);
}

/* ---- accesses ---- */

void sim_griffin_see(struct sim_domain *m, struct sim_access *a)
{
	struct sim_griffin *g = &m->machine->migrate.griffin;

	a->page = (uint32_t)(a->line / SIM_PAGE_BYTES);
	g->use[a->page * m->config->gpus + a->gpu].now++;
	g->under_way[a->page]++;
}

void sim_griffin_left(struct sim_domain *m, const struct sim_access *a)
{
	struct sim_griffin *g = &m->machine->migrate.griffin;

	if (!--g->under_way[a->page] && g->draining)
		sim_migrate_drained(m, a->page);
}

static void hold(struct sim_domain *m, uint64_t page, uint8_t gpu)
{
	m->machine->migrate.touched[page] = SIM_TOUCHED;
	m->machine->migrate.griffin.held[gpu]++;
	m->machine->migrate.griffin.held_by_all++;
}

bool sim_griffin_touch(struct sim_domain *m, uint64_t page, uint8_t gpu, bool away, bool is_free)
{
	struct sim_griffin *g = &m->machine->migrate.griffin;
	uint8_t *touched = &m->machine->migrate.touched[page];

	if (*touched == SIM_TOUCHED || (*touched == SIM_WANTED && !away))
		return false;
	if (*touched != SIM_DELAYED && m->config->migrate_delayed &&
	    g->held[gpu] * m->config->gpus > g->held_by_all) {
		*touched = SIM_DELAYED;
		m->stats.migrate_delayed++;
		return false;
	}
	if (!away || is_free)
		hold(m, page, gpu);
	else if (*touched == SIM_UNTOUCHED)
		*touched = SIM_WANTED;
	return away;
}

/* ---- periods ---- */

static void average(const struct sim_config *c, struct sim_page_use *use)
{
	const int64_t now = (int64_t)use->now * ONE, rate = use->rate;

	use->rate = (uint32_t)(rate + (now - rate) * (int64_t)c->migrate_weight / 100);
}

static bool times(const struct sim_config *c, uint64_t more, uint64_t less)
{
	return more && more * 100 >= less * c->migrate_dedicated;
}

/* Who uses a page most, on average or now. */
static uint8_t most_of(const struct sim_config *c, const struct sim_page_use *use, bool now)
{
	uint8_t most = 0;

	for (uint8_t k = 1; k < c->gpus; k++)
		if (now ? use[k].now > use[most].now : use[k].rate > use[most].rate)
			most = k;
	return most;
}

static bool dedicated(const struct sim_config *c, const struct sim_page_use *use, uint8_t to)
{
	for (uint8_t k = 0; k < c->gpus; k++)
		if (k != to && !times(c, use[to].rate, use[k].rate))
			return false;
	return true;
}

/* It uses the page more and more, and the owner less and less. */
static bool shifts(const struct sim_config *c, const struct sim_page_use *use, uint8_t home, uint8_t to)
{
	return to != home && times(c, use[to].now, use[home].now) &&
	       (uint64_t)use[to].now * ONE > use[to].rate && (uint64_t)use[home].now * ONE < use[home].rate;
}

enum sim_page_class sim_griffin_class(const struct sim_config *c, const struct sim_page_use *use,
                                      uint8_t home, uint8_t *to)
{
	uint64_t rate = 0, now = 0;
	uint8_t latest;

	for (uint32_t k = 0; k < c->gpus; k++) {
		rate += use[k].rate;
		now += use[k].now;
	}
	*to = most_of(c, use, false);
	if (rate < c->migrate_least * ONE)
		return SIM_PAGE_IDLE;
	if (!now)
		return SIM_PAGE_STREAMING;
	if (dedicated(c, use, *to))
		return SIM_PAGE_DEDICATED;
	latest = most_of(c, use, true);
	if (!shifts(c, use, home, latest))
		return SIM_PAGE_SHARED;
	*to = latest;
	return SIM_PAGE_SHIFTING;
}

/* A page whose first touch did not move it: its TLB does not ask again, so the counters do. */
static void move_delayed(struct sim_domain *m, uint64_t page, const struct sim_page_use *use, uint8_t home)
{
	const uint8_t to = most_of(m->config, use, true);

	if (!use[to].now)
		return;
	if (to != home && !sim_migrate_page(m, page, to))
		return;
	m->stats.migrate_touched += to != home;
	hold(m, page, to);
}

/* By its class. */
static void move_used(struct sim_domain *m, uint64_t page, const struct sim_page_use *use, uint8_t home)
{
	uint8_t to;
	const enum sim_page_class class_of = sim_griffin_class(m->config, use, home, &to);

	m->stats.migrate_shared += class_of == SIM_PAGE_SHARED;
	m->stats.migrate_streaming += class_of == SIM_PAGE_STREAMING;
	if (class_of >= SIM_PAGE_SHIFTING && to != home && sim_migrate_page(m, page, to))
		++*(class_of == SIM_PAGE_DEDICATED ? &m->stats.migrate_dedicated
		                                   : &m->stats.migrate_shifting);
}

static void classify(struct sim_domain *m, uint64_t page, struct sim_page_use *use)
{
	const uint8_t home = (uint8_t)sim_memory_home(m->memory, page * SIM_PAGE_BYTES);

	for (uint32_t k = 0; k < m->config->gpus; k++)
		average(m->config, &use[k]);
	if (m->machine->migrate.touched[page] == SIM_DELAYED)
		move_delayed(m, page, use, home);
	else
		move_used(m, page, use, home);
	for (uint32_t k = 0; k < m->config->gpus; k++)
		use[k].now = 0;
}

static bool running(const struct sim_machine *m)
{
	uint32_t done = 0;

	for (uint32_t k = 0; k < m->config.gpus; k++)
		done += m->gpu[k].domain.groups_done;
	return done < m->groups;
}

void sim_griffin_window(struct sim_machine *m, uint64_t begin)
{
	struct sim_griffin *g = &m->migrate.griffin;
	const uint64_t period = m->config.migrate_period;

	if (!g->use || !period || begin / period == g->period || !running(m))
		return;
	g->period = begin / period;
	for (uint64_t page = 1; page < m->migrate.pages; page++)
		classify(&m->core, page, &g->use[page * m->config.gpus]);
}
