/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mshr.h - lines that a cache has asked for and not got yet, and who waits for them.
 *
 * DualOpt's extension (section 4.1.2): an entry knows the words that it brings. It serves a request of the
 * same line only if it brings all of its words (case A); else (B: same line, other words; C: another line)
 * the request needs an entry.
 */
#ifndef SIM_MSHR_H
#define SIM_MSHR_H

#include <sim/access.h>
#include <sim/tags.h>

enum { SIM_ALL_WORDS = 0xffff, SIM_MSHR_KINDS = 64 };

struct sim_mshr_entry {
	struct sim_access *leader; /* who asked first, and goes */
	struct sim_fifo others;    /* who wait here */
	struct sim_way *way;       /* to fill; NULL: none */
	uint32_t words;
};

struct sim_mshr {
	struct sim_mshr_entry *entry;
	uint64_t *line; /* of each entry; SIM_NEVER: it is free */
	uint16_t *free;
	uint32_t size, used;
	uint16_t kind[SIM_MSHR_KINDS]; /* entries whose lines are alike: mostly none is */
};

/* sim_mshr_init - Returns 0 or -GN_ENOMEM. */
int sim_mshr_init(struct sim_mshr *m, struct sim_arena *arena, uint64_t entries);

static inline uint16_t *sim__mshr_kind(struct sim_mshr *m, uint64_t line)
{
	return &m->kind[(line / SIM_LINE_BYTES ^ line / SIM_PAGE_BYTES) % SIM_MSHR_KINDS];
}

struct sim_mshr_entry *sim__mshr_find(struct sim_mshr *m, uint64_t line, uint32_t words);

/* sim_mshr_find - an entry of that line which brings all those words, or NULL. */
static inline struct sim_mshr_entry *sim_mshr_find(struct sim_mshr *m, uint64_t line, uint32_t words)
{
	return *sim__mshr_kind(m, line) ? sim__mshr_find(m, line, words) : NULL;
}

/* sim_mshr_take - an entry for what a leads; one must be free. Returns its number. */
uint16_t sim_mshr_take(struct sim_mshr *m, uint64_t line, uint32_t words, struct sim_access *a,
                       struct sim_way *way);
void sim_mshr_release(struct sim_mshr *m, struct sim_mshr_entry *e);

/* sim_mshr_line - of an entry that is taken. */
static inline uint64_t sim_mshr_line(const struct sim_mshr *m, const struct sim_mshr_entry *e)
{
	return m->line[e - m->entry];
}

static inline bool sim_mshr_full(const struct sim_mshr *m)
{
	return m->used == m->size;
}

#endif
