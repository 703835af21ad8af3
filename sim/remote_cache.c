/* SPDX-License-Identifier: Apache-2.0 */
/* remote_cache.c - banks before the RDMA engine. */
#include <sim/remote_cache.h>

#include <sim/parts.h>

static void fetch(struct sim_domain *m, struct sim_bank *b, uint16_t entry)
{
	struct sim_access *a = b->mshr.entry[entry].leader;

	a->cached = true;
	a->bank_mshr = entry;
	sim_rdma_request(m, a);
}

static bool has_room(const struct sim_domain *m, const struct sim_bank *b)
{
	return b->gpu->rc.writing < m->config->rc_write_buffer;
}

static void write_back(struct sim_domain *m, struct sim_bank *b, uint64_t line)
{
	struct sim_access *a = sim_access_new(m);

	b->gpu->rc.writing++;
	a->l1 = NULL;
	a->gpu = b->gpu->number;
	a->home = (uint8_t)(line >> SIM_HOME_BIT);
	a->line = line;
	a->write = a->whole = true;
	a->fine = a->cached = false;
	sim_rdma_request(m, a);
}

static bool pass_write(struct sim_domain *m, struct sim_bank *b, struct sim_access *a)
{
	(void)b;
	if (a->whole && m->config->rc_write_allocate)
		return false;
	m->stats.rc_write_arounds++;
	sim_rdma_request(m, a);
	return true;
}

static int init_bank(struct sim_domain *m, struct sim_gpu *g, uint32_t k)
{
	struct sim_stats *s = &m->stats;
	struct sim_bank_counts counts = {
	    &s->rc_lookups,     &s->rc_hits,        &s->rc_merges,  &s->rc_misses,
	    &s->rc_write_fills, &s->rc_write_backs, &s->rc_blocked, NULL};
	struct sim_bank *b = &g->rc.bank[k];

	b->counts = counts;
	b->answer = sim_l1_answer;
	b->fetch = fetch;
	b->has_room = has_room;
	b->write_back = write_back;
	b->pass_write = pass_write;
	return sim_bank_init(b, &m->machine->arena, g, k, &m->config->rc);
}

int sim_rc_init(struct sim_domain *m, struct sim_gpu *g)
{
	int r = 0;

	if (!m->config->remote_cache)
		return 0;
	g->rc.banks = (uint32_t)m->config->rc.banks;
	g->rc.bank = (struct sim_bank *)sim_arena_take(&m->machine->arena, g->rc.banks, sizeof *g->rc.bank);
	if (!g->rc.bank)
		return -GN_ENOMEM;
	for (uint32_t k = 0; !r && k < g->rc.banks; k++)
		r = init_bank(m, g, k);
	return r;
}

static struct sim_bank *bank_of(struct sim_domain *m, const struct sim_access *a)
{
	struct sim_bank *bank = m->gpu[a->gpu].rc.bank;

	return &bank[sim_bank_of(&bank->map, a->line)];
}

void sim_rc_accept(struct sim_domain *m, struct sim_access *a)
{
	sim_bank_accept(m, bank_of(m, a), a);
}

void sim_rc_fill(struct sim_domain *m, struct sim_access *a)
{
	struct sim_bank *b = bank_of(m, a);

	sim_bank_fill(m, b, &b->mshr.entry[a->bank_mshr]);
}

void sim_rc_written(struct sim_domain *m, struct sim_access *a)
{
	struct sim_rc *rc = &m->gpu[a->gpu].rc;

	rc->writing--;
	sim_access_free(m, a);
	for (uint32_t k = 0; k < rc->banks; k++)
		if (rc->bank[k].in.first)
			sim_bank_run(m, &rc->bank[k]);
}

bool sim_rc_flush(struct sim_domain *m, struct sim_gpu *g)
{
	for (uint32_t k = 0; g->rc.bank && k < g->rc.banks; k++) {
		struct sim_bank *b = &g->rc.bank[k];

		for (uint64_t w = 0; w < (uint64_t)b->tags.sets * b->tags.ways; w++) {
			if (!b->tags.way[w].dirty)
				continue;
			if (!has_room(m, b))
				return true;
			b->tags.way[w].dirty = false;
			m->stats.rc_write_backs++;
			write_back(m, b, b->tags.line[w]);
		}
	}
	return false;
}
