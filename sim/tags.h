/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tags.h - which lines a set-associative cache holds, and what is being done to each. The least recently used
 * line goes.
 */
#ifndef SIM_TAGS_H
#define SIM_TAGS_H

#include <sim/arena.h>
#include <sim/divide.h>
#include <stdbool.h>
#include <stddef.h>

enum { SIM_CYCLE_BITS = 46 }; /* 19 hours of 1 GHz */
#define SIM_NEVER ((UINT64_C(1) << SIM_CYCLE_BITS) - 1)

/* 16 bytes: the ways of all caches should fit into the host's. */
struct sim_way {
	uint64_t used : SIM_CYCLE_BITS; /* the cycle of the last use */
	uint64_t here : 16;             /* words of it that are here; of caches that fetch words */
	uint64_t dirty : 1;
	/* It is being filled or read until that cycle; SIM_NEVER: filled with what is on its way. A fill ends
	   behind every read that began before it. */
	uint64_t until : SIM_CYCLE_BITS;
	uint64_t filling : 1;
	uint64_t words : 16; /* that were read of it since it came: the decision engine counts them */
};

static inline bool sim_way_is_filling(const struct sim_way *w, uint64_t now)
{
	return w->filling && w->until > now;
}

static inline void sim_way_fill(struct sim_way *w, uint64_t until)
{
	w->until = until;
	w->filling = 1;
}

/* sim_way_read - what is being filled stays so. */
static inline void sim_way_read(struct sim_way *w, uint64_t now, uint64_t until)
{
	if (sim_way_is_filling(w, now))
		return;
	w->until = until;
	w->filling = 0;
}

struct sim_tags {
	uint64_t *line;      /* address in each way, of set 0, of set 1 ...; SIM_NEVER: the way is free */
	struct sim_way *way; /* the rest of it: apart, as a look-up goes over all lines of a set */
	uint32_t sets, ways;
	struct sim_divisor by_sets;
};

/* sim_tags_init - Returns 0 or -GN_ENOMEM. */
int sim_tags_init(struct sim_tags *t, struct sim_arena *arena, uint64_t bytes, uint32_t ways);

static inline uint64_t sim__tags_first(const struct sim_tags *t, uint64_t set)
{
	return sim_remainder(&t->by_sets, set) * t->ways;
}

/* sim_tags_find - a line of set `set` modulo the sets; NULL: it is not there. */
static inline struct sim_way *sim_tags_find(const struct sim_tags *t, uint64_t set, uint64_t line)
{
	const uint64_t first = sim__tags_first(t, set), end = first + t->ways;
	const uint64_t *at = t->line;
	uint64_t k = first;

	for (; k + 4 <= end; k += 4) /* a branch for four: it is foreseen */
		if ((at[k] == line) | (at[k + 1] == line) | (at[k + 2] == line) | (at[k + 3] == line))
			break;
	for (; k < end; k++)
		if (at[k] == line)
			return &t->way[k];
	return NULL;
}

/*
 * sim_tags_victim - which way a new line may take: a free one, or the least recently used of those that are
 * not being filled. NULL: not now; *retry is lowered to the cycle in which to ask again, if that is known.
 */
struct sim_way *sim_tags_victim(const struct sim_tags *t, uint64_t set, uint64_t now, uint64_t *retry);

/* sim_tags_line - the line in a way. sim_tags_put - another takes its place, and is clean. */
uint64_t sim_tags_line(const struct sim_tags *t, const struct sim_way *w);
void sim_tags_put(struct sim_tags *t, struct sim_way *w, uint64_t line, uint64_t now);

/* sim_tags_clear - every line is forgotten. */
void sim_tags_clear(struct sim_tags *t);

#endif
