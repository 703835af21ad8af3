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

static void use(const struct sim_config *c, struct sim_gpu *g, bool coalesce, bool cache)
{
	g->bypass = coalesce && c->bypass;
	g->fine = coalesce && c->fine;
	g->coalesce = coalesce && c->coalesce;
	g->cache = cache && c->remote_cache;
}

void sim_decide_begin(struct sim_machine *m)
{
	const struct sim_config *c = &m->config;

	for (uint32_t k = 0; k < c->gpus; k++) {
		use(c, &m->gpu[k], !c->decide, !c->decide);
		m->gpu[k].decision.looking = !c->decide_warmup && !c->decide_warmup_cycles;
	}
}

/* ---- what a GPU sees ---- */

static void add_words(struct sim_domain *m, struct sim_decision *d, uint32_t words, bool line)
{
	d->words += words;
	d->lines += line;
	m->stats.decide_words += words;
	m->stats.decide_lines += line;
}

void sim_decide_see(struct sim_domain *m, const struct sim_access *a)
{
	struct sim_decision *d = &m->gpu[a->gpu].decision;

	d->seen++;
	if (!d->looking)
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
		if (m->config->decide_block_of == SIM_BLOCK_OF_READ)
			add_words(m, d, (uint32_t)__builtin_popcount(a->words), true);
	}
}

void sim_decide_hit(struct sim_domain *m, const struct sim_access *a)
{
	struct sim_decision *d = &m->gpu[a->gpu].decision;

	if (!d->looking)
		return;
	d->hits++;
	m->stats.decide_hits++;
}

void sim_decide_touch(struct sim_domain *m, const struct sim_access *a, uint32_t words, bool comes)
{
	struct sim_decision *d = &m->gpu[a->gpu].decision;

	if (d->looking)
		add_words(m, d, words, comes);
}

/* ---- what is made of it, by GPUs that decide together ---- */

static struct sim_decision sum_of(const struct sim_gpu *g, uint32_t gpus)
{
	struct sim_decision all = g->decision;

	for (uint32_t k = 1; k < gpus; k++) {
		const struct sim_decision *d = &g[k].decision;

		all.seen += d->seen;
		all.accesses += d->accesses;
		all.remote += d->remote;
		all.reads += d->reads;
		all.words += d->words;
		all.hits += d->hits;
		all.lines += d->lines;
	}
	return all;
}

static void declare(struct sim_domain *m, struct sim_gpu *g, enum sim_verdict verdict)
{
	m->stats.decided_local += verdict == SIM_LOCAL;
	m->stats.decided_coalesce += verdict == SIM_COALESCE;
	m->stats.decided_cache += verdict == SIM_CACHE;
	use(m->config, g, verdict == SIM_COALESCE, verdict == SIM_CACHE);
	memset(&g->decision, 0, sizeof g->decision);
	g->decision.verdict = verdict;
}

static void look_again(struct sim_domain *m, struct sim_gpu *g)
{
	use(m->config, g, false, g->decision.verdict == SIM_CACHE);
	memset(&g->decision, 0, sizeof g->decision);
}

/* Nothing more will come of it. */
static bool is_over(const struct sim_config *c, const struct sim_decision *d)
{
	return d->verdict == SIM_UNDECIDED ? d->looking && !c->decide : !c->decide_interval;
}

static void decide(struct sim_domain *m, struct sim_gpu *g, uint32_t gpus)
{
	const struct sim_config *c = m->config;
	struct sim_decision all;
	bool warm;

	if (is_over(c, &g->decision))
		return;
	all = sum_of(g, gpus);
	warm = all.seen >= c->decide_warmup && m->clock.now >= c->decide_warmup_cycles;
	for (uint32_t k = 0; k < gpus; k++) {
		struct sim_decision *d = &g[k].decision;

		if (d->verdict != SIM_UNDECIDED && c->decide_interval && all.seen >= c->decide_interval)
			look_again(m, &g[k]);
		else if (d->looking && c->decide && all.remote >= c->decide_window)
			declare(m, &g[k],
			        sim_decide_by(&all, c->decide_remote, c->decide_block, c->decide_hit));
		else if (d->verdict == SIM_UNDECIDED)
			d->looking = warm;
	}
}

void sim_decide_window(struct sim_machine *m)
{
	const uint32_t together = m->config.decide_scope == SIM_DECIDE_GPU ? 1 : (uint32_t)m->config.gpus;

	for (uint32_t k = 0; k < m->config.gpus; k += together)
		decide(&m->core, &m->gpu[k], together);
}
