/* SPDX-License-Identifier: Apache-2.0 */
/* tags.c - sets and ways. */
#include <sim/tags.h>

#include <grapnel/error.h>
#include <sim/op.h>

int sim_tags_init(struct sim_tags *t, struct sim_arena *arena, uint64_t bytes, uint32_t ways)
{
	uint64_t lines = bytes / SIM_LINE_BYTES;

	t->ways = ways;
	t->sets = (uint32_t)(lines / ways);
	t->by_sets = sim_divisor_of(t->sets);
	t->way = (struct sim_way *)sim_arena_take(arena, lines, sizeof *t->way);
	t->line = (uint64_t *)sim_arena_take(arena, lines, sizeof *t->line);
	if (!t->way || !t->line)
		return -GN_ENOMEM;
	sim_tags_clear(t);
	return 0;
}

static void lower(uint64_t *value, uint64_t bound)
{
	if (bound < *value)
		*value = bound;
}

struct sim_way *sim_tags_victim(const struct sim_tags *t, uint64_t set, uint64_t now, uint64_t *retry)
{
	struct sim_way *victim = sim_tags_find(t, set, SIM_NEVER), *w = t->way + sim__tags_first(t, set);

	if (victim)
		return victim;
	for (uint32_t k = 0; k < t->ways; k++) {
		if (sim_way_is_filling(&w[k], now))
			lower(retry, w[k].until);
		else if (!victim || w[k].used < victim->used)
			victim = &w[k];
	}
	if (!victim || victim->until <= now)
		return victim;
	lower(retry, victim->until);
	return NULL;
}

uint64_t sim_tags_line(const struct sim_tags *t, const struct sim_way *w)
{
	return t->line[w - t->way];
}

void sim_tags_put(struct sim_tags *t, struct sim_way *w, uint64_t line, uint64_t now)
{
	t->line[w - t->way] = line;
	w->used = now;
	w->dirty = false;
}

void sim_tags_clear(struct sim_tags *t)
{
	for (uint64_t k = 0; k < (uint64_t)t->sets * t->ways; k++) {
		t->line[k] = SIM_NEVER;
		t->way[k].until = 0;
		t->way[k].dirty = false;
	}
}
