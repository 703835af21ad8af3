/* SPDX-License-Identifier: Apache-2.0 */
/* bank.c - hits, misses, fills and lines written back. */
#include <sim/bank.h>

#include <sim/parts.h>

int sim_bank_init(struct sim_bank *b, struct sim_arena *arena, struct sim_gpu *gpu, uint32_t number,
                  const struct sim_config_cache *size)
{
	int r = sim_tags_init(&b->tags, arena, size->bytes / size->banks, (uint32_t)size->ways);

	b->gpu = gpu;
	b->number = number;
	b->size = size;
	b->map.interleave = sim_divisor_of(size->interleave);
	b->map.banks = sim_divisor_of(size->banks);
	b->map.round = sim_divisor_of(size->interleave * size->banks);
	return r ? r : sim_mshr_init(&b->mshr, arena, size->mshr);
}

/*
 * Frames of several GPUs have the same numbers: in a cache of remote lines they should not meet in one set.
 */
static uint64_t flat(uint64_t line)
{
	uint64_t home = line >> SIM_HOME_BIT;

	return (line & ((1ull << SIM_HOME_BIT) - 1)) + home * 37 * SIM_PAGE_BYTES;
}

uint32_t sim_bank_of(const struct sim_bank_map *map, uint64_t line)
{
	return (uint32_t)sim_remainder(&map->banks, sim_quotient(&map->interleave, flat(line)));
}

uint64_t sim_bank_place(const struct sim_bank_map *map, uint64_t line)
{
	const uint64_t at = flat(line);

	return (sim_quotient(&map->round, at) * map->interleave.by + sim_remainder(&map->interleave, at)) /
	       SIM_LINE_BYTES;
}

static void finish(struct sim_domain *m, struct sim_bank *b, struct sim_access *a, uint64_t cycles)
{
	sim_clock_at(&m->clock, &a->message.event, m->clock.now + cycles, b->answer);
}

/*
 * The words of a line that an access must find here. A write of all of them needs none; one of a part needs
 * the line, as it may write a part of a word.
 */
static uint32_t needed(const struct sim_domain *m, const struct sim_access *a)
{
	if (a->write)
		return a->whole ? 0 : SIM_ALL_WORDS;
	if (!a->fine || !m->config->fine_l2)
		return SIM_ALL_WORDS;
	return sim_widen(a->words, m->config->granularity);
}

static void hit(struct sim_domain *m, struct sim_bank *b, struct sim_access *a, struct sim_way *w)
{
	++*b->counts.hits;
	if (a->whole)
		w->here = SIM_ALL_WORDS;
	w->used = m->clock.now;
	w->dirty |= a->write;
	if (!a->write)
		sim_way_read(w, m->clock.now, m->clock.now + b->size->read_cycles);
	finish(m, b, a, b->size->read_cycles);
}

/* A way for a line that is not here; NULL: not now. What was in it is written back. */
static struct sim_way *make_room(struct sim_domain *m, struct sim_bank *b, uint64_t line, uint64_t *retry)
{
	struct sim_way *w = sim_tags_victim(&b->tags, sim_bank_place(&b->map, line), m->clock.now, retry);

	if (!w || (w->dirty && !b->has_room(m, b)))
		return NULL;
	if (w->dirty) {
		++*b->counts.write_backs;
		b->write_back(m, b, sim_tags_line(&b->tags, w));
	}
	sim_tags_put(&b->tags, w, line, m->clock.now);
	return w;
}

static bool write_fill(struct sim_domain *m, struct sim_bank *b, struct sim_access *a, uint64_t *retry)
{
	struct sim_way *w = make_room(m, b, a->line, retry);

	if (!w)
		return false;
	++*b->counts.write_fills;
	w->here = SIM_ALL_WORDS;
	w->dirty = true;
	finish(m, b, a, b->size->read_cycles);
	return true;
}

/* w: the line is there, or on its way, without these words. */
static bool miss(struct sim_domain *m, struct sim_bank *b, struct sim_access *a, struct sim_way *w,
                 uint32_t words, uint64_t *retry)
{
	const bool comes = !w;

	if (sim_mshr_full(&b->mshr) || (comes && !(w = make_room(m, b, a->line, retry))))
		return false;
	++*b->counts.misses;
	if (!comes)
		++*b->counts.word_misses;
	w->here = (uint16_t)(comes ? words : w->here | words);
	sim_way_fill(w, SIM_NEVER);
	b->fetch(m, b, sim_mshr_take(&b->mshr, a->line, words, a, w));
	return true;
}

/* False: not in this cycle; *retry is lowered to when to try again, if that is known. */
static bool go_on(struct sim_domain *m, struct sim_bank *b, struct sim_access *a, uint64_t *retry)
{
	const uint32_t words = needed(m, a);
	struct sim_mshr_entry *e = sim_mshr_find(&b->mshr, a->line, words);
	struct sim_way *w;

	if (e) {
		++*b->counts.merges;
		sim_push(&e->others, &a->message);
		return true;
	}
	w = sim_tags_find(&b->tags, sim_bank_place(&b->map, a->line), a->line);
	if (w && sim_way_is_filling(w, m->clock.now) && w->until != SIM_NEVER) {
		*retry = w->until;
		return false;
	}
	if (w && !(words & ~w->here)) {
		hit(m, b, a, w);
		return true;
	}
	if (a->write && b->pass_write(m, b, a))
		return true;
	return a->write && a->whole ? write_fill(m, b, a, retry) : miss(m, b, a, w, words, retry);
}

static void try_again(struct sim_domain *m, struct sim_event *e)
{
	struct sim_bank *b = (struct sim_bank *)(void *)e;

	b->retry_at = 0;
	sim_bank_run(m, b);
}

void sim_bank_run(struct sim_domain *m, struct sim_bank *b)
{
	uint64_t retry = SIM_NEVER;
	struct sim_access *a;

	while ((a = sim_take(&b->in))) {
		if (!go_on(m, b, a, &retry)) {
			++*b->counts.blocked;
			sim_push_front(&b->in, &a->message);
			break;
		}
		++*b->counts.lookups;
	}
	if (a && retry != SIM_NEVER && !b->retry_at) {
		b->retry_at = retry;
		sim_clock_at(&m->clock, &b->retry, retry, try_again);
	}
}

void sim_bank_accept(struct sim_domain *m, struct sim_bank *b, struct sim_access *a)
{
	bool idle = !b->in.first;

	sim_push(&b->in, &a->message);
	if (idle)
		sim_bank_run(m, b);
}

void sim_bank_fill(struct sim_domain *m, struct sim_bank *b, struct sim_mshr_entry *e)
{
	const uint64_t line = sim_mshr_line(&b->mshr, e);
	struct sim_access *a = e->leader;
	struct sim_fifo others = e->others;
	struct sim_way *w = e->way;

	e->others.first = NULL;
	e->others.count = 0;
	sim_mshr_release(&b->mshr, e);
	/* other words of it may be on their way */
	sim_way_fill(w, m->config->fine_l2 && sim_mshr_find(&b->mshr, line, 0)
	                    ? SIM_NEVER
	                    : m->clock.now + b->size->fill_cycles);
	for (; a; a = sim_take(&others)) {
		w->dirty |= a->write;
		if (a->whole)
			w->here = SIM_ALL_WORDS;
		finish(m, b, a, b->size->fill_cycles);
	}
	sim_bank_run(m, b);
}
