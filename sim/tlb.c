/* SPDX-License-Identifier: Apache-2.0 */
/* tlb.c - two levels of TLB and the IOMMU. */
#include <sim/tlb.h>

#include <sim/parts.h>
#include <stdlib.h>
#include <string.h>

static int pages_init(struct sim_pages *p, uint32_t *page, uint64_t sets, uint64_t ways)
{
	p->sets = (uint32_t)sets;
	p->ways = (uint32_t)ways;
	p->by_sets = sim_divisor_of(sets);
	p->page = page;
	return p->page ? 0 : -GN_ENOMEM;
}

/* Ways stand apart, so that the few pages of most sets lie close together. Way 0 of a page's set. */
static uint32_t *first_way(const struct sim_pages *p, uint64_t page)
{
	return p->page + sim_remainder(&p->by_sets, page);
}

/* One set: eight ways at a time. Returns its way, or p->ways. */
static uint32_t find_in_one(const struct sim_pages *p, uint32_t page)
{
	const uint32_t *at = p->page;
	uint32_t k = 0;

	for (; k + 8 <= p->ways; k += 8) {
		uint32_t there = 0;

		for (uint32_t n = 0; n < 8; n++)
			there |= at[k + n] == page;
		if (there || !at[k + 7])
			break;
	}
	while (k < p->ways && at[k] && at[k] != page)
		k++;
	return k < p->ways && at[k] ? k : p->ways;
}

static uint32_t find(const struct sim_pages *p, uint64_t page)
{
	const uint32_t *set = first_way(p, page);
	uint32_t k = 0;

	if (p->sets == 1)
		return p->kind[page % SIM_PAGE_KINDS] ? find_in_one(p, (uint32_t)page) : p->ways;
	while (k < p->ways && set[(uint64_t)k * p->sets] && set[(uint64_t)k * p->sets] != page)
		k++;
	return k < p->ways && set[(uint64_t)k * p->sets] ? k : p->ways;
}

/* What is in ways 0 to k - 1 goes one further, and a page into way 0. */
static void put_first(struct sim_pages *p, uint64_t page, uint32_t k)
{
	uint32_t *set = first_way(p, page);

	if (p->sets == 1)
		memmove(set + 1, set, k * sizeof *set);
	else
		for (; k; k--)
			set[(uint64_t)k * p->sets] = set[(uint64_t)(k - 1) * p->sets];
	set[0] = (uint32_t)page;
}

/* Is it there? It is then the last used. */
static bool pages_find(struct sim_pages *p, uint64_t page)
{
	uint32_t k;

	if (*first_way(p, page) == page)
		return true;
	k = find(p, page);
	if (k == p->ways)
		return false;
	put_first(p, page, k);
	return true;
}

/* Where the page that was used least stands, or a free way; of one set it is counted no more. */
static uint32_t last_way(struct sim_pages *p, const uint32_t *set)
{
	uint32_t k = p->ways - 1;

	if (p->sets > 1)
		for (k = 0; k < p->ways - 1 && set[(uint64_t)k * p->sets];)
			k++;
	else if (set[k])
		p->kind[set[k] % SIM_PAGE_KINDS]--;
	return k;
}

static void pages_add(struct sim_pages *p, uint64_t page)
{
	put_first(p, page, last_way(p, first_way(p, page)));
	p->kind[page % SIM_PAGE_KINDS] += p->sets == 1;
}

static void pages_remove(struct sim_pages *p, uint64_t page)
{
	uint32_t *set = first_way(p, page), k = find(p, page);

	if (k == p->ways)
		return;
	p->kind[page % SIM_PAGE_KINDS] -= p->sets == 1;
	for (; k < p->ways - 1; k++)
		set[(uint64_t)k * p->sets] = set[(uint64_t)(k + 1) * p->sets];
	set[(uint64_t)k * p->sets] = 0;
}

void sim_pages_clear(struct sim_pages *p)
{
	memset(p->page, 0, (size_t)p->sets * p->ways * sizeof *p->page);
	memset(p->kind, 0, sizeof p->kind);
}

int sim_tlb_init(struct sim_tlb *t, struct sim_arena *arena, struct sim_gpu *gpu, const struct sim_config *c)
{
	t->gpu = gpu;
	t->misses = (uint32_t)c->tlb_mshr;
	t->miss = (struct sim_tlb_miss *)sim_arena_take(arena, t->misses, sizeof *t->miss);
	if (!t->miss)
		return -GN_ENOMEM;
	for (uint32_t k = 0; k < t->misses; k++)
		t->miss[k].tlb = t;
	return pages_init(&t->pages, (uint32_t *)sim_arena_take(arena, c->tlb_entries, sizeof(uint32_t)), 1,
	                  c->tlb_entries);
}

int sim_tlb2_init(struct sim_tlb2 *t, struct sim_arena *arena, struct sim_gpu *gpu,
                  const struct sim_config *c)
{
	t->walks = (uint32_t)c->tlb2_mshr;
	t->walk = (struct sim_walk *)sim_arena_take(arena, t->walks, sizeof *t->walk);
	if (!t->walk)
		return -GN_ENOMEM;
	for (uint32_t k = 0; k < t->walks; k++)
		t->walk[k].gpu = gpu;
	/* most of it is never touched: large pages would be cleared for nothing */
	return pages_init(&t->pages, (uint32_t *)calloc(c->tlb2_sets * c->tlb2_ways, sizeof(uint32_t)),
	                  c->tlb2_sets, c->tlb2_ways);
}

void sim_tlb2_fini(struct sim_tlb2 *t)
{
	free(t->pages.page);
}

static uint64_t page_of(uint64_t address)
{
	return address / SIM_PAGE_BYTES;
}

static void pass(struct sim_domain *m, struct sim_access *a)
{
	uint64_t frame = sim_memory_frame(m->memory, a->line), home = sim_memory_home(m->memory, a->line);
	uint64_t stalled = m->gpu[a->gpu].stalled;

	if (m->config->migrate_policy == SIM_MIGRATE_GRIFFIN)
		sim_griffin_see(m, a);
	a->home = (uint8_t)home;
	a->line = home << SIM_HOME_BIT | frame * SIM_PAGE_BYTES | a->line % SIM_PAGE_BYTES;
	sim_clock_at(&m->clock, &a->message.event,
	             (stalled > m->clock.now ? stalled : m->clock.now) + m->config->translate_cycles,
	             sim_l1_accept);
}

static void look_up_second(struct sim_domain *m, struct sim_event *e);

/* Of all misses: the one of that page, else a free one, else NULL. */
static struct sim_tlb_miss *miss_of(struct sim_tlb *t, uint64_t page)
{
	struct sim_tlb_miss *free_one = NULL;

	for (uint32_t k = 0; k < t->misses; k++) {
		if (t->miss[k].page == page)
			return &t->miss[k];
		if (!t->miss[k].page)
			free_one = &t->miss[k];
	}
	return free_one;
}

/* False: no miss is free, and nothing was counted. */
static bool ask(struct sim_domain *m, struct sim_tlb *t, struct sim_access *a)
{
	uint64_t page = page_of(a->line);
	struct sim_tlb_miss *miss;

	if (pages_find(&t->pages, page)) {
		m->stats.tlb_hits++;
		pass(m, a);
		return true;
	}
	miss = miss_of(t, page);
	if (!miss)
		return false;
	sim_push(&miss->waiting, &a->message);
	if (miss->page == page) {
		m->stats.tlb_merges++;
		return true;
	}
	m->stats.tlb_misses++;
	miss->page = page;
	sim_clock_at(&m->clock, &miss->event, m->clock.now + m->config->tlb2_cycles, look_up_second);
	return true;
}

void sim_translate(struct sim_domain *m, struct sim_access *a)
{
	struct sim_tlb *t = &a->l1->tlb;

	m->stats.tlb_lookups++;
	if (t->stuck.first || !ask(m, t, a))
		sim_push(&t->stuck, &a->message);
}

/* The page is known: who waited goes on, and who stood behind a full TLB is looked at again. */
static void answer(struct sim_domain *m, struct sim_tlb_miss *miss)
{
	struct sim_tlb *t = miss->tlb;
	struct sim_access *a;

	pages_add(&t->pages, miss->page);
	miss->page = 0;
	while ((a = sim_take(&miss->waiting)))
		pass(m, a);
	while ((a = sim_take(&t->stuck)))
		if (!ask(m, t, a)) {
			sim_push_front(&t->stuck, &a->message);
			return;
		}
}

static void mmu_arrive(struct sim_domain *m, struct sim_event *e);

static struct sim_walk *walk_of(struct sim_tlb2 *t, uint64_t page)
{
	struct sim_walk *free_one = NULL;

	for (uint32_t k = 0; k < t->walks; k++) {
		if (t->walk[k].page == page)
			return &t->walk[k];
		if (!t->walk[k].page)
			free_one = &t->walk[k];
	}
	return free_one;
}

static void send_walk(struct sim_domain *m, struct sim_walk *w)
{
	w->message.from = w->gpu->number;
	w->message.to = (uint8_t)(m->network->endpoints - 1);
	w->message.channel = SIM_REQUESTS;
	w->message.bytes = 0; /* it travels in a header: one flit */
	w->message.deliver = mmu_arrive;
	sim_network_send(m, &w->message);
}

static bool ask_second(struct sim_domain *m, struct sim_tlb2 *t, struct sim_tlb_miss *miss)
{
	struct sim_walk *w;

	if (pages_find(&t->pages, miss->page)) {
		m->stats.tlb2_hits++;
		answer(m, miss);
		return true;
	}
	w = walk_of(t, miss->page);
	if (!w)
		return false;
	miss->next = w->first;
	w->first = miss;
	if (w->page) {
		m->stats.tlb2_merges++;
		return true;
	}
	m->stats.tlb2_misses++;
	w->page = miss->page;
	send_walk(m, w);
	return true;
}

static void look_up_second(struct sim_domain *m, struct sim_event *e)
{
	struct sim_tlb_miss *miss = (struct sim_tlb_miss *)(void *)e;
	struct sim_tlb2 *t = &miss->tlb->gpu->tlb2;

	if (!t->stuck && ask_second(m, t, miss))
		return;
	if (!t->stuck)
		t->stuck_end = &t->stuck;
	miss->next = NULL;
	*t->stuck_end = miss;
	t->stuck_end = &miss->next;
}

static void walk_back(struct sim_domain *m, struct sim_event *e)
{
	struct sim_walk *w = (struct sim_walk *)(void *)e;
	struct sim_tlb2 *t = &w->gpu->tlb2;
	struct sim_tlb_miss *miss = w->first, *next;

	pages_add(&t->pages, w->page);
	w->page = 0;
	w->first = NULL;
	for (; miss; miss = next) {
		next = miss->next;
		answer(m, miss);
	}
	while ((miss = t->stuck)) {
		next = miss->next;
		if (!ask_second(m, t, miss))
			return;
		t->stuck = next;
	}
}

static void mmu_begin(struct sim_domain *m, struct sim_message *x);

static void mmu_done(struct sim_domain *m, struct sim_event *e)
{
	struct sim_walk *w = (struct sim_walk *)(void *)e;
	struct sim_message *next = sim_pop(&m->machine->mmu.waiting);

	m->machine->mmu.busy--;
	m->stats.page_walks++;
	if (!sim_migrate_takes(m, w))
		sim_walk_answer(m, w);
	if (next)
		mmu_begin(m, next);
}

void sim_walk_answer(struct sim_domain *m, struct sim_walk *w)
{
	w->message.to = w->gpu->number;
	w->message.from = (uint8_t)(m->network->endpoints - 1);
	w->message.channel = SIM_REPLIES;
	w->message.deliver = walk_back;
	sim_network_send(m, &w->message);
}

static void mmu_begin(struct sim_domain *m, struct sim_message *x)
{
	uint64_t start = m->clock.now > m->machine->mmu.next ? m->clock.now : m->machine->mmu.next;

	m->machine->mmu.busy++;
	m->machine->mmu.next = start + 1;
	sim_clock_at(&m->clock, &x->event, start + m->config->walk_cycles, mmu_done);
}

static void mmu_arrive(struct sim_domain *m, struct sim_event *e)
{
	struct sim_message *x = (struct sim_message *)(void *)e;

	if (m->machine->mmu.busy < m->config->walks)
		mmu_begin(m, x);
	else
		sim_push(&m->machine->mmu.waiting, x);
}

void sim_tlb_forget(struct sim_domain *m, uint64_t page)
{
	for (uint32_t n = 0; n < m->config->gpus; n++) {
		struct sim_gpu *g = &m->gpu[n];

		pages_remove(&g->tlb2.pages, page);
		for (uint32_t k = 0; k < g->cus + g->engines; k++)
			pages_remove(&g->l1[k].tlb.pages, page);
	}
}
