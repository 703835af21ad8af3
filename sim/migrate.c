/* SPDX-License-Identifier: Apache-2.0 */
/* migrate.c - from the fault to the last line of a page. */
#include <sim/migrate.h>

#include <sim/parts.h>
#include <stdlib.h>
#include <string.h>

int sim_migrate_init(struct sim_machine *m)
{
	struct sim_migrate *g = &m->migrate;

	if (m->config.migrate_policy == SIM_MIGRATE_NONE)
		return 0;
	g->moves = (uint32_t)m->config.migrate_moves;
	g->move = (struct sim_move *)calloc(g->moves, sizeof *g->move);
	return g->move ? 0 : -GN_ENOMEM;
}

void sim_migrate_fini(struct sim_machine *m)
{
	free(m->migrate.move);
	free(m->migrate.touched);
	sim_griffin_fini(m);
}

int sim_migrate_begin(struct sim_machine *m)
{
	struct sim_migrate *g = &m->migrate;
	uint64_t pages = sim_memory_pages(m->memory);
	uint8_t *touched;

	if (!g->move || pages <= g->pages)
		return 0;
	touched = (uint8_t *)realloc(g->touched, pages);
	if (!touched)
		return -GN_ENOMEM;
	g->touched = touched;
	memset(touched + g->pages, 0, pages - g->pages);
	if (sim_griffin_grow(m, g->pages, pages))
		return -GN_ENOMEM;
	g->pages = pages;
	return 0;
}

static uint8_t home_of(const struct sim_domain *m, uint64_t page)
{
	return (uint8_t)sim_memory_home(m->memory, page * SIM_PAGE_BYTES);
}

/* ---- the end ---- */

static void look_again(struct sim_domain *m, struct sim_fifo *walks)
{
	struct sim_message *x;

	while ((x = sim_pop(walks)))
		if (!sim_migrate_takes(m, (struct sim_walk *)(void *)x))
			sim_walk_answer(m, (struct sim_walk *)(void *)x);
}

/* The IOMMU knows: the first walk is answered whatever others want, so that each move serves somebody. */
static void known(struct sim_domain *m, struct sim_event *e)
{
	struct sim_move *v = (struct sim_move *)(void *)e;
	struct sim_fifo others = v->waiting, stuck = m->machine->migrate.waiting;

	v->page = 0;
	v->waiting.first = m->machine->migrate.waiting.first = NULL;
	v->waiting.count = m->machine->migrate.waiting.count = 0;
	m->machine->migrate.active--;
	if (others.first)
		sim_walk_answer(m, (struct sim_walk *)(void *)sim_pop(&others));
	look_again(m, &others);
	look_again(m, &stuck);
}

static void line_there(struct sim_domain *m, struct sim_event *e)
{
	struct sim_move *v = ((struct sim_move_line *)(void *)e)->move;

	if (++v->arrived < SIM_PAGE_LINES)
		return;
	sim_memory_move(m->memory, v->page * SIM_PAGE_BYTES, v->to);
	sim_tlb_forget(m, v->page);
	m->stats.migrate_pages++;
	v->message.from = v->to;
	v->message.to = (uint8_t)(m->network->endpoints - 1);
	v->message.channel = SIM_REQUESTS;
	v->message.bytes = (uint32_t)m->config->net_header_bytes;
	v->message.deliver = known;
	sim_network_send(m, &v->message);
}

/* ---- the beginning ---- */

static void send_lines(struct sim_domain *m, struct sim_event *e)
{
	struct sim_move *v = (struct sim_move *)(void *)e;

	for (uint32_t k = 0; k < SIM_PAGE_LINES; k++) {
		struct sim_message *x = &v->line[k].message;

		v->line[k].move = v;
		x->from = v->from;
		x->to = v->to;
		x->channel = SIM_REPLIES;
		x->packet = false;
		x->bytes = (uint32_t)m->config->net_header_bytes + SIM_LINE_BYTES;
		x->deliver = line_there;
		sim_network_send(m, x);
	}
}

/* Nobody finds the page any more; who is on the way to it still does. */
static void drain(struct sim_domain *m, struct sim_move *v)
{
	struct sim_griffin *g = &m->machine->migrate.griffin;

	sim_tlb_forget(m, v->page);
	if (!g->under_way[v->page]) {
		send_lines(m, &v->message.event);
		return;
	}
	v->drains_since = m->clock.now;
	g->draining++;
}

static struct sim_move *move_of(struct sim_migrate *g, uint64_t page);

/* Called by the GPU of the last access. The core looks next in the window that follows. */
void sim_migrate_drained(struct sim_domain *m, uint64_t page)
{
	struct sim_domain *core = &m->machine->core;
	struct sim_move *v = move_of(&m->machine->migrate, page);

	if (!v || v->page != page || !v->drains_since)
		return;
	core->stats.migrate_drain_cycles += core->clock.now - v->drains_since;
	v->drains_since = 0;
	m->machine->migrate.griffin.draining--;
	sim_clock_at(&core->clock, &v->message.event, core->clock.now, send_lines);
}

/* The owner stands still while it drops its translations and lines. */
static void fault(struct sim_domain *m, struct sim_event *e)
{
	struct sim_move *v = (struct sim_move *)(void *)e;
	struct sim_gpu *owner = &m->gpu[v->from];
	uint64_t end = m->clock.now + m->config->migrate_flush_cycles;

	if (m->config->migrate_policy == SIM_MIGRATE_GRIFFIN) {
		drain(m, v);
		return;
	}
	if (m->config->migrate_flush) {
		m->stats.migrate_stall_cycles +=
		    end - (owner->stalled > m->clock.now ? owner->stalled : m->clock.now);
		owner->stalled = end;
		for (uint32_t k = 0; k < owner->cus + owner->engines; k++)
			sim_l1_flush(m, &owner->l1[k]);
	}
	sim_clock_at(&m->clock, e, end, send_lines);
}

static void start(struct sim_domain *m, struct sim_move *v, uint64_t page, uint8_t to)
{
	v->page = page;
	v->from = home_of(m, page);
	v->to = to;
	v->arrived = 0;
	v->drains_since = 0;
	m->machine->migrate.active++;
	sim_clock_at(&m->clock, &v->message.event, m->clock.now + m->config->migrate_fault_cycles, fault);
}

/* The move of a page, else a free one, else NULL. */
static struct sim_move *move_of(struct sim_migrate *g, uint64_t page)
{
	struct sim_move *free_one = NULL;

	for (uint32_t k = 0; k < g->moves; k++) {
		if (g->move[k].page == page)
			return &g->move[k];
		if (!g->move[k].page)
			free_one = &g->move[k];
	}
	return free_one;
}

/* The first GPU gets the page, at once or when a move is free. The owner's touch counts unless one waits. */
static bool first_touch(uint8_t *touched, bool away, bool is_free)
{
	if (*touched == SIM_TOUCHED || (*touched == SIM_WANTED && !away))
		return false;
	*touched = !away || is_free ? SIM_TOUCHED : SIM_WANTED;
	return away;
}

static bool wants(struct sim_domain *m, const struct sim_walk *w, bool is_free)
{
	const bool away = home_of(m, w->page) != w->gpu->number;

	if (m->config->migrate_policy == SIM_MIGRATE_GRIFFIN)
		return sim_griffin_touch(m, w->page, w->gpu->number, away, is_free);
	if (m->config->migrate_policy == SIM_MIGRATE_FIRST_TOUCH)
		return first_touch(&m->machine->migrate.touched[w->page], away, is_free);
	return away;
}

static void begin(struct sim_domain *m, struct sim_move *v, struct sim_walk *w)
{
	sim_push(&v->waiting, &w->message);
	m->stats.migrate_touched++;
	start(m, v, w->page, w->gpu->number);
}

bool sim_migrate_takes(struct sim_domain *m, struct sim_walk *w)
{
	struct sim_migrate *g = &m->machine->migrate;
	struct sim_move *v;

	if (!g->move)
		return false;
	v = move_of(g, w->page);
	if (v && v->page == w->page)
		sim_push(&v->waiting, &w->message);
	else if (!wants(m, w, v != NULL))
		return false;
	else if (v)
		begin(m, v, w);
	else
		sim_push(&g->waiting, &w->message); /* known() looks at it again */
	return true;
}

bool sim_migrate_page(struct sim_domain *m, uint64_t page, uint8_t to)
{
	struct sim_move *v = move_of(&m->machine->migrate, page);

	if (!v || v->page)
		return false;
	start(m, v, page, to);
	return true;
}
