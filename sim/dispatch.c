/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.c - partition, round robin and greedy. */
#include <sim/dispatch.h>

#include <sim/parts.h>

int sim_dispatch_init(struct sim_domain *m, struct sim_gpu *g)
{
	g->dispatch.part =
	    (struct sim_part *)sim_arena_take(&m->machine->arena, g->cus, sizeof *g->dispatch.part);
	return g->dispatch.part ? 0 : -GN_ENOMEM;
}

static uint32_t at_most(uint64_t value, uint32_t most)
{
	return value < most ? (uint32_t)value : most;
}

/* How many work-groups are a GPU's from the start. */
static uint32_t share(const struct sim_domain *m, uint32_t gpu)
{
	uint64_t gpus = m->config->gpus, part = (m->machine->groups + gpus - 1) / gpus;

	if (m->config->dispatch_gpus == SIM_SPLIT_PARTITION)
		return at_most((gpu + 1) * part, m->machine->groups) -
		       at_most(gpu * part, m->machine->groups);
	return (uint32_t)((m->machine->groups + gpus - 1 - gpu) / gpus);
}

/* The number in the launch of a GPU's work-group k. */
static uint32_t number_of(const struct sim_domain *m, uint32_t gpu, uint32_t k)
{
	uint64_t gpus = m->config->gpus, part = (m->machine->groups + gpus - 1) / gpus;

	return (uint32_t)(m->config->dispatch_gpus == SIM_SPLIT_PARTITION ? gpu * part + k : k * gpus + gpu);
}

static bool greedy_gpus(const struct sim_domain *m)
{
	return m->config->dispatch_gpus == SIM_SPLIT_GREEDY;
}

static bool parts(const struct sim_domain *m)
{
	return m->config->dispatch_cus == SIM_SPLIT_PARTITION && !greedy_gpus(m);
}

/* The first compute unit with room, in turn; greedy: the one with the fewest wavefronts of those. */
static struct sim_cu *any_cu(struct sim_domain *m, struct sim_gpu *g)
{
	struct sim_cu *best = NULL;

	for (uint32_t n = 0; n < g->cus; n++) {
		struct sim_cu *cu = &g->cu[(g->dispatch.turn + n) % g->cus];

		if (!sim_cu_has_room(m, cu))
			continue;
		if (m->config->dispatch_cus != SIM_SPLIT_GREEDY)
			return cu;
		if (!best || cu->waves < best->waves)
			best = cu;
	}
	return best;
}

/* Partition: a compute unit with work-groups of its own goes first; who has none left takes those of others.
 */
static struct sim_cu *part_cu(struct sim_domain *m, struct sim_gpu *g, uint32_t *k)
{
	struct sim_dispatcher *d = &g->dispatch;
	struct sim_cu *idle = NULL;

	for (uint32_t n = 0; n < g->cus; n++) {
		uint32_t c = (d->turn + n) % g->cus;
		bool own = d->part[c].next < d->part[c].end;

		if ((!own && idle) || !sim_cu_has_room(m, &g->cu[c]))
			continue;
		if (own) {
			*k = d->part[c].next++;
			return &g->cu[c];
		}
		idle = &g->cu[c];
	}
	for (uint32_t c = 0; idle && c < g->cus; c++)
		if (d->part[c].next < d->part[c].end) {
			*k = d->part[c].next++;
			return idle;
		}
	return NULL;
}

/* A compute unit for a work-group of this GPU that has none yet, and which; NULL: not now. */
static struct sim_cu *choose(struct sim_domain *m, struct sim_gpu *g, uint32_t *number)
{
	struct sim_dispatcher *d = &g->dispatch;
	struct sim_cu *cu;
	uint32_t k = d->next;

	if (greedy_gpus(m) ? m->machine->next_group == m->machine->groups : d->next == d->count)
		return NULL;
	cu = parts(m) ? part_cu(m, g, &k) : any_cu(m, g);
	if (!cu)
		return NULL;
	d->next++;
	*number = greedy_gpus(m) ? m->machine->next_group++ : number_of(m, g->number, k);
	d->turn = (uint32_t)(cu - g->cu + 1) % g->cus;
	return cu;
}

static void place(struct sim_domain *m, struct sim_event *e);

static void begin(struct sim_domain *m, struct sim_gpu *g, struct sim_cu *cu, struct sim_group *group)
{
	uint64_t waves = sim_group_waves(group);

	sim_cu_begin(m, cu, group);
	g->dispatch.busy = true;
	sim_clock_at(&m->clock, &g->dispatch.event,
	             m->clock.now + m->config->dispatch_cycles + (waves > 4 ? waves - 4 : 0), place);
}

static void place(struct sim_domain *m, struct sim_event *e)
{
	struct sim_gpu *g = (struct sim_gpu *)(void *)e; /* its first member */
	struct sim_group *group;
	struct sim_cu *cu;
	uint32_t number;

	g->dispatch.busy = false;
	cu = choose(m, g, &number);
	if (!cu)
		return;
	group = sim_group_begin(m->waves, m->machine->launch, number, g->number);
	if (group)
		begin(m, g, cu, group);
	else
		m->stop = gn_error_set(&m->why, -GN_ENOMEM, "out of memory for work-group %u of %s", number,
		                       m->machine->launch->name);
}

void sim_dispatch_begin(struct sim_domain *m, struct sim_gpu *g)
{
	struct sim_dispatcher *d = &g->dispatch;
	uint64_t part;

	d->next = d->turn = 0;
	d->count = share(m, g->number);
	part = (d->count + g->cus - 1) / g->cus;
	for (uint32_t c = 0; c < g->cus; c++) {
		d->part[c].next = at_most(c * part, d->count);
		d->part[c].end = at_most((c + 1) * part, d->count);
	}
	d->busy = true;
	sim_clock_at(&m->clock, &d->event,
	             m->clock.now + m->config->launch_cycles + m->config->dispatch_cycles, place);
}

void sim_dispatch_done(struct sim_domain *m, struct sim_gpu *g)
{
	m->groups_done++;
	m->last_end = m->clock.now;
	if (g->dispatch.busy)
		return;
	g->dispatch.busy = true;
	sim_clock_at(&m->clock, &g->dispatch.event, m->clock.now + 1, place);
}
