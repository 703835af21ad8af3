/* SPDX-License-Identifier: Apache-2.0 */
/* mshr.c - entries and their masks. */
#include <sim/mshr.h>

#include <grapnel/error.h>
#include <string.h>

int sim_mshr_init(struct sim_mshr *m, struct sim_arena *arena, uint64_t entries)
{
	m->size = (uint32_t)entries;
	m->used = 0;
	memset(m->kind, 0, sizeof m->kind);
	m->entry = (struct sim_mshr_entry *)sim_arena_take(arena, entries, sizeof *m->entry);
	m->line = (uint64_t *)sim_arena_take(arena, entries, sizeof *m->line);
	m->free = (uint16_t *)sim_arena_take(arena, entries, sizeof *m->free);
	if (!m->entry || !m->line || !m->free)
		return -GN_ENOMEM;
	for (uint32_t k = 0; k < entries; k++) {
		m->line[k] = SIM_NEVER;
		m->free[k] = (uint16_t)(entries - 1 - k);
	}
	return 0;
}

struct sim_mshr_entry *sim__mshr_find(struct sim_mshr *m, uint64_t line, uint32_t words)
{
	for (uint32_t k = 0; k < m->size; k++)
		if (m->line[k] == line && !(words & ~m->entry[k].words))
			return &m->entry[k];
	return NULL;
}

uint16_t sim_mshr_take(struct sim_mshr *m, uint64_t line, uint32_t words, struct sim_access *a,
                       struct sim_way *way)
{
	uint16_t k = m->free[m->size - ++m->used];
	struct sim_mshr_entry *e = &m->entry[k];

	m->line[k] = line;
	++*sim__mshr_kind(m, line);
	e->leader = a;
	e->way = way;
	e->words = words;
	return k;
}

void sim_mshr_release(struct sim_mshr *m, struct sim_mshr_entry *e)
{
	uint16_t k = (uint16_t)(e - m->entry);

	--*sim__mshr_kind(m, m->line[k]);
	m->line[k] = SIM_NEVER;
	m->free[m->size - m->used--] = k;
}
