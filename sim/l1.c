/* SPDX-License-Identifier: Apache-2.0 */
/* l1.c - the directory of a private cache. */
#include <sim/l1.h>

#include <sim/parts.h>

int sim_l1_init(struct sim_l1 *l, struct sim_arena *arena, struct sim_gpu *gpu, struct sim_cu *cu,
                const struct sim_config *c)
{
	int r;

	l->gpu = gpu;
	l->cu = cu;
	l->size = cu ? &c->l1v : &c->l1s;
	r = sim_tags_init(&l->tags, arena, l->size->bytes, (uint32_t)l->size->ways);
	r = r ? r : sim_mshr_init(&l->mshr, arena, l->size->mshr);
	return r ? r : sim_tlb_init(&l->tlb, arena, gpu, c);
}

static uint64_t set_of(const struct sim_access *a)
{
	return a->line / SIM_LINE_BYTES;
}

static bool remote(const struct sim_access *a)
{
	return a->home != a->gpu;
}

/* To the next level: the local L2, or the way to other GPUs. */
static void descend(struct sim_domain *m, struct sim_access *a)
{
	sim_clock_at(&m->clock, &a->message.event, m->clock.now + m->config->rdma_cycles,
	             remote(a) ? sim_rdma_enter : sim_l2_accept);
}

static void run_directory(struct sim_domain *m, struct sim_l1 *l);

static void look(struct sim_domain *m, struct sim_event *e)
{
	struct sim_access *a = sim_access_of(e);
	struct sim_l1 *l = a->l1;
	bool idle = !l->directory.first;

	sim_push(&l->directory, &a->message);
	if (idle)
		run_directory(m, l);
}

static void admit(struct sim_domain *m, struct sim_access *a)
{
	a->counted = true;
	a->l1->active++;
	sim_clock_at(&m->clock, &a->message.event, m->clock.now + a->l1->size->directory_cycles, look);
}

/* An access is done: the next may enter, and the wavefront hears of it. */
static void done(struct sim_domain *m, struct sim_access *a)
{
	struct sim_l1 *l = a->l1;
	struct sim_access *next;

	if (m->config->migrate_policy == SIM_MIGRATE_GRIFFIN)
		sim_griffin_left(m, a);
	if (a->counted) {
		l->active--;
		next = sim_take(&l->entry);
		if (next)
			admit(m, next);
	}
	if (l->cu)
		sim_cu_done(m, a);
	else
		sim_cu_scalar_done(m, a);
}

static void hit_done(struct sim_domain *m, struct sim_event *e)
{
	done(m, sim_access_of(e));
}

void sim_l1_accept(struct sim_domain *m, struct sim_event *e)
{
	struct sim_access *a = sim_access_of(e);
	struct sim_l1 *l = a->l1;

	if (l->cu)
		sim_decide_see(m, a);
	a->bypass = l->cu && !a->write && remote(a) && l->gpu->bypass;
	a->fine = l->cu && !a->write && remote(a) && l->gpu->fine;
	if (a->bypass && !m->config->bypass_capped)
		sim_clock_at(&m->clock, e, m->clock.now + l->size->directory_cycles, look);
	else if (l->active < l->size->transactions)
		admit(m, a);
	else
		sim_push(&l->entry, &a->message);
}

static void count_read(struct sim_domain *m, const struct sim_access *a, uint64_t *vector,
                       uint64_t *remote_vector, uint64_t *scalar, size_t of_cu)
{
	struct sim_cu *cu = a->l1->cu;

	if (!cu) {
		m->stats.l1s_lookups++;
		++*scalar;
		return;
	}
	++*(a->bypass ? &m->stats.l1v_bypassed : &m->stats.l1v_read_lookups);
	++*vector;
	++*(uint64_t *)(void *)((char *)&cu->stats + of_cu);
	cu->stats.l1v_remote_reads += remote(a);
	if (remote(a) && remote_vector)
		++*remote_vector;
	if (remote(a)) {
		m->stats.l1v_remote_reads++;
		m->stats.remote_words[__builtin_popcount(a->words) - 1]++;
	}
}

/* Which words of a line are read while it is here; comes: it was not. */
static void touch(struct sim_domain *m, const struct sim_access *a, struct sim_way *w, bool comes)
{
	const uint32_t before = comes ? 0 : w->words, fresh = a->words & ~before;

	if (m->config->decide_block_of != SIM_BLOCK_OF_LINE || !a->l1->cu || !remote(a))
		return;
	w->words = (uint16_t)(before | a->words);
	sim_decide_touch(m, a, (uint32_t)__builtin_popcount(fresh), comes);
}

static void hit(struct sim_domain *m, struct sim_l1 *l, struct sim_access *a, struct sim_way *w)
{
	uint64_t end = m->clock.now + l->size->bank_cycles;

	count_read(m, a, &m->stats.l1v_read_hits, &m->stats.l1v_remote_hits, &m->stats.l1s_hits,
	           offsetof(struct sim_cu_stats, l1v_read_hits));
	if (l->cu && remote(a))
		sim_decide_hit(m, a);
	touch(m, a, w, false);
	w->used = m->clock.now;
	sim_way_read(w, m->clock.now, end);
	sim_clock_at(&m->clock, &a->message.event, end, hit_done);
}

static void merge(struct sim_domain *m, struct sim_access *a, struct sim_mshr_entry *e)
{
	count_read(m, a, &m->stats.l1v_read_merges, &m->stats.l1v_remote_merges, &m->stats.l1s_merges,
	           offsetof(struct sim_cu_stats, l1v_read_merges));
	if (e->way)
		touch(m, a, e->way, false);
	sim_push(&e->others, &a->message);
}

/* The words that a read brings. */
static uint32_t fetched(const struct sim_domain *m, const struct sim_access *a)
{
	return a->fine ? sim_widen(a->words, m->config->granularity) : (uint32_t)SIM_ALL_WORDS;
}

static void miss(struct sim_domain *m, struct sim_l1 *l, struct sim_access *a, struct sim_way *w)
{
	count_read(m, a, &m->stats.l1v_read_misses, NULL, &m->stats.l1s_misses,
	           offsetof(struct sim_cu_stats, l1v_read_misses));
	a->mshr = sim_mshr_take(&l->mshr, a->line, fetched(m, a), a, w);
	descend(m, a);
}

/* Into a way that may be given away, or to the words of this line that came before. */
static void fill(struct sim_domain *m, struct sim_l1 *l, struct sim_access *a, struct sim_way *w, bool comes)
{
	if (comes) {
		sim_tags_put(&l->tags, w, a->line, m->clock.now);
		w->here = 0;
	}
	w->here |= (uint16_t)fetched(m, a);
	sim_way_fill(w, SIM_NEVER);
	touch(m, a, w, comes);
	miss(m, l, a, w);
}

static bool write(struct sim_domain *m, struct sim_l1 *l, struct sim_access *a)
{
	struct sim_way *w = sim_tags_find(&l->tags, set_of(a), a->line);

	m->stats.l1v_writes++;
	if (w) {
		m->stats.l1v_write_hits++;
		w->used = m->clock.now;
	}
	if (remote(a))
		m->stats.l1v_remote_writes++;
	descend(m, a);
	return true;
}

/* False: it cannot go on in this cycle; *retry is lowered to when to try again, if that is known. */
static bool read_line(struct sim_domain *m, struct sim_l1 *l, struct sim_access *a, uint64_t *retry)
{
	struct sim_way *w = sim_tags_find(&l->tags, set_of(a), a->line);

	const bool comes = !w;

	if (w && sim_way_is_filling(w, m->clock.now)) {
		*retry = w->until;
		return false;
	}
	if (w && !(a->words & ~w->here)) {
		hit(m, l, a, w);
		return true;
	}
	if (sim_mshr_full(&l->mshr) ||
	    (comes && !(w = sim_tags_victim(&l->tags, set_of(a), m->clock.now, retry))))
		return false;
	fill(m, l, a, w, comes);
	return true;
}

static bool go_on(struct sim_domain *m, struct sim_l1 *l, struct sim_access *a, uint64_t *retry)
{
	struct sim_mshr_entry *e;

	if (a->write)
		return write(m, l, a);
	/* without masks nobody can tell whether a fine entry brings his words */
	e = a->fine && !m->config->mshr_masks
	        ? NULL
	        : sim_mshr_find(&l->mshr, a->line, a->fine ? a->words : (uint32_t)SIM_ALL_WORDS);
	if (e) {
		merge(m, a, e);
		return true;
	}
	if (!a->bypass)
		return read_line(m, l, a, retry);
	if (sim_mshr_full(&l->mshr))
		return false;
	miss(m, l, a, NULL);
	return true;
}

static void try_again(struct sim_domain *m, struct sim_event *e)
{
	struct sim_l1 *l = (struct sim_l1 *)(void *)e;

	l->retry_at = 0;
	run_directory(m, l);
}

static void run_directory(struct sim_domain *m, struct sim_l1 *l)
{
	uint64_t retry = SIM_NEVER;
	struct sim_access *a;

	while ((a = sim_take(&l->directory)))
		if (!go_on(m, l, a, &retry)) {
			m->stats.l1v_blocked += l->cu != NULL;
			sim_push_front(&l->directory, &a->message);
			break;
		}
	if (a && retry != SIM_NEVER && !l->retry_at) {
		l->retry_at = retry;
		sim_clock_at(&m->clock, &l->retry, retry, try_again);
	}
}

void sim_l1_answer(struct sim_domain *m, struct sim_event *event)
{
	struct sim_access *a = sim_access_of(event), *other;
	struct sim_l1 *l = a->l1;
	struct sim_mshr_entry *e;
	struct sim_fifo others;

	if (a->write) {
		done(m, a);
		return;
	}
	e = &l->mshr.entry[a->mshr];
	if (e->way)
		sim_way_fill(e->way, m->clock.now + l->size->bank_cycles);
	others = e->others;
	e->others.first = NULL;
	e->others.count = 0;
	sim_mshr_release(&l->mshr, e);
	done(m, a);
	while ((other = sim_take(&others)))
		done(m, other);
	run_directory(m, l);
}

void sim_l1_flush(struct sim_domain *m, struct sim_l1 *l)
{
	for (uint64_t k = 0; k < (uint64_t)l->tags.sets * l->tags.ways; k++)
		if (!sim_way_is_filling(&l->tags.way[k], m->clock.now))
			l->tags.line[k] = SIM_NEVER;
	sim_pages_clear(&l->tlb.pages);
}
