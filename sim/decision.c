/* SPDX-License-Identifier: Apache-2.0 */
/* decision.c - windows and thresholds. */
#include <sim/decision.h>

#include <sim/parts.h>
#include <string.h>

enum sim_verdict sim_decide_by(const struct sim_decision *d, uint64_t remote_percent, uint64_t block_percent,
                               uint64_t hit_percent)
{
	if (d->remote * 100 < d->accesses * remote_percent)
		return SIM_LOCAL;
	if (d->words * 100 < d->lines * 16 * block_percent && d->hits * 100 < d->reads * hit_percent)
		return SIM_COALESCE;
	return SIM_CACHE;
}

static void use(struct sim_machine *m, struct sim_gpu *g, bool coalesce, bool cache)
{
	g->bypass = coalesce && m->config.bypass;
	g->fine = coalesce && m->config.fine;
	g->coalesce = coalesce && m->config.coalesce;
	g->cache = cache && m->config.remote_cache;
}

void sim_decide_begin(struct sim_machine *m)
{
	for (uint32_t k = 0; k < m->config.gpus; k++)
		use(m, &m->gpu[k], !m->config.decide, !m->config.decide);
}

static struct sim_decision *engine_of(struct sim_machine *m, const struct sim_access *a)
{
	return &m->decision[m->config.decide_scope == SIM_DECIDE_GPU ? a->gpu : 0];
}

/* The GPUs that an engine decides for: from it to before end. */
static uint32_t first_of(const struct sim_machine *m, const struct sim_decision *d, uint32_t *end)
{
	const uint32_t k = (uint32_t)(d - m->decision);

	*end = m->config.decide_scope == SIM_DECIDE_GPU ? k + 1 : (uint32_t)m->config.gpus;
	return k;
}

static void declare(struct sim_machine *m, struct sim_decision *d)
{
	uint32_t end;

	d->verdict = sim_decide_by(d, m->config.decide_remote, m->config.decide_block, m->config.decide_hit);
	for (uint32_t k = first_of(m, d, &end); k < end; k++) {
		m->stats.decided_local += d->verdict == SIM_LOCAL;
		m->stats.decided_coalesce += d->verdict == SIM_COALESCE;
		m->stats.decided_cache += d->verdict == SIM_CACHE;
		use(m, &m->gpu[k], d->verdict == SIM_COALESCE, d->verdict == SIM_CACHE);
	}
}

static void look_again(struct sim_machine *m, struct sim_decision *d)
{
	const bool cache = d->verdict == SIM_CACHE;
	uint32_t end;

	for (uint32_t k = first_of(m, d, &end); k < end; k++)
		use(m, &m->gpu[k], false, cache);
	memset(d, 0, sizeof *d);
}

static void add_words(struct sim_machine *m, struct sim_decision *d, uint32_t words, bool line)
{
	d->words += words;
	d->lines += line;
	m->stats.decide_words += words;
	m->stats.decide_lines += line;
}

/* An access arrives: is it looked at? */
static bool watches(struct sim_machine *m, struct sim_decision *d)
{
	if (d->verdict != SIM_UNDECIDED) {
		if (!m->config.decide_interval || ++d->since < m->config.decide_interval)
			return false;
		look_again(m, d);
	}
	return d->seen++ >= m->config.decide_warmup && m->clock.now >= m->config.decide_warmup_cycles;
}

void sim_decide_see(struct sim_machine *m, const struct sim_access *a)
{
	struct sim_decision *d = engine_of(m, a);

	if (!watches(m, d))
		return;
	d->accesses++;
	m->stats.decide_accesses++;
	if (a->home == a->gpu)
		return;
	d->remote++;
	m->stats.decide_remote++;
	if (!a->write) {
		d->reads++;
		m->stats.decide_reads++;
		if (m->config.decide_block_of == SIM_BLOCK_OF_READ)
			add_words(m, d, (uint32_t)__builtin_popcount(a->words), true);
	}
	if (m->config.decide && d->remote >= m->config.decide_window)
		declare(m, d);
}

/* While a window is open, behind its warm-up. */
static bool looking(const struct sim_machine *m, const struct sim_decision *d)
{
	return d->verdict == SIM_UNDECIDED && d->seen >= m->config.decide_warmup &&
	       m->clock.now >= m->config.decide_warmup_cycles;
}

void sim_decide_hit(struct sim_machine *m, const struct sim_access *a)
{
	struct sim_decision *d = engine_of(m, a);

	if (!looking(m, d))
		return;
	d->hits++;
	m->stats.decide_hits++;
}

void sim_decide_touch(struct sim_machine *m, const struct sim_access *a, uint32_t words, bool comes)
{
	struct sim_decision *d = engine_of(m, a);

	if (looking(m, d))
		add_words(m, d, words, comes);
}
