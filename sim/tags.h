/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tags.h - which lines a set-associative cache holds, and what is being done to each. The least recently used
 * line goes.
 */
#ifndef SIM_TAGS_H
#define SIM_TAGS_H

#include <sim/divide.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_NEVER UINT64_MAX

struct sim_way {
	uint64_t used;    /* the cycle of the last use */
	uint64_t locked;  /* until that cycle it is being filled: SIM_NEVER while it is on its way */
	uint64_t reading; /* until that cycle it is being read */
	uint16_t words;   /* that were read of it since it came: the decision engine counts them */
	uint16_t here;    /* words of it that are here; of caches that fetch words */
	bool dirty;
};

struct sim_tags {
	uint64_t *line;      /* address in each way, of set 0, of set 1 ...; SIM_NEVER: the way is free */
	struct sim_way *way; /* the rest of it: apart, as a look-up goes over all lines of a set */
	uint32_t sets, ways;
	struct sim_divisor by_sets;
};

/* sim_tags_init - Returns 0 or -GN_ENOMEM. */
int sim_tags_init(struct sim_tags *t, uint64_t bytes, uint32_t ways);
void sim_tags_fini(struct sim_tags *t);

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

#ifdef __cplusplus
}
#endif

#endif
