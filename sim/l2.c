/* SPDX-License-Identifier: Apache-2.0 */
/* l2.c - banks before channels. */
#include <sim/l2.h>

#include <sim/parts.h>

static struct sim_bank *bank_of(struct sim_domain *m, const struct sim_access *a)
{
	struct sim_bank *bank = m->gpu[a->home].l2.bank;

	return &bank[sim_bank_of(&bank->map, a->line)];
}

static void filled(struct sim_domain *m, struct sim_event *e)
{
	struct sim_access *a = sim_access_of(e);
	struct sim_bank *b = bank_of(m, a);

	sim_bank_fill(m, b, &b->mshr.entry[a->l2_mshr]);
}

static void count(struct sim_domain *m, uint64_t *kind)
{
	m->stats.dram_transactions++;
	++*kind;
	m->stats.dram_busy_cycles += m->config->dram_burst * m->config->dram_clock;
}

/* The number of a line in its channel, whichever GPU that is of. */
static uint64_t place_of(const struct sim_bank *b, uint64_t line)
{
	return sim_bank_place(&b->map, line & ((1ull << SIM_HOME_BIT) - 1));
}

static void fetch(struct sim_domain *m, struct sim_bank *b, uint16_t entry)
{
	struct sim_mshr_entry *e = &b->mshr.entry[entry];

	e->leader->l2_mshr = entry;
	count(m, &m->stats.dram_reads);
	m->stats.l2_fetched_words += (uint32_t)__builtin_popcount(e->words);
	sim_dram_read(m, &b->gpu->l2.dram[b->number], place_of(b, b->mshr.line[entry]),
	              &e->leader->message.event, filled);
}

static void write_back(struct sim_domain *m, struct sim_bank *b, uint64_t line)
{
	count(m, &m->stats.dram_writes);
	sim_dram_write(m, &b->gpu->l2.dram[b->number], place_of(b, line));
}

static bool has_room(const struct sim_domain *m, const struct sim_bank *b)
{
	return sim_dram_has_room(&b->gpu->l2.dram[b->number], m->config);
}

/* A bank may wait for room in the write buffer. */
static void write_left(struct sim_domain *m, struct sim_dram *d)
{
	struct sim_bank *b = (struct sim_bank *)d->owner;

	if (b->in.first)
		sim_bank_run(m, b);
}

static bool pass_write(struct sim_domain *m, struct sim_bank *b, struct sim_access *a)
{
	(void)m;
	(void)b;
	(void)a;
	return false;
}

static void answer(struct sim_domain *m, struct sim_event *e)
{
	struct sim_access *a = sim_access_of(e);

	if (a->gpu == a->home)
		sim_l1_answer(m, e);
	else
		sim_rdma_answer(m, a);
}

static int init_bank(struct sim_domain *m, struct sim_gpu *g, uint32_t k)
{
	struct sim_stats *s = &m->stats;
	struct sim_bank_counts counts = {&s->l2_lookups, &s->l2_hits,        &s->l2_merges,
	                                 &s->l2_misses,  &s->l2_write_fills, &s->l2_write_backs,
	                                 &s->l2_blocked, &s->l2_word_misses};
	struct sim_bank *b = &g->l2.bank[k];
	int r = sim_bank_init(b, &m->machine->arena, g, k, &m->config->l2);

	b->counts = counts;
	b->answer = answer;
	b->fetch = fetch;
	b->has_room = has_room;
	b->write_back = write_back;
	b->pass_write = pass_write;
	g->l2.dram[k].owner = b;
	g->l2.dram[k].write_left = write_left;
	return r ? r : sim_dram_init(&g->l2.dram[k], &m->machine->arena, m->config);
}

int sim_l2_init(struct sim_domain *m, struct sim_gpu *g)
{
	int r = 0;

	g->l2.banks = (uint32_t)m->config->l2.banks;
	g->l2.bank = (struct sim_bank *)sim_arena_take(&m->machine->arena, g->l2.banks, sizeof *g->l2.bank);
	g->l2.dram = (struct sim_dram *)sim_arena_take(&m->machine->arena, g->l2.banks, sizeof *g->l2.dram);
	if (!g->l2.bank || !g->l2.dram)
		return -GN_ENOMEM;
	for (uint32_t k = 0; !r && k < g->l2.banks; k++)
		r = init_bank(m, g, k);
	return r;
}

void sim_l2_accept(struct sim_domain *m, struct sim_event *e)
{
	struct sim_access *a = sim_access_of(e);

	sim_bank_accept(m, bank_of(m, a), a);
}
