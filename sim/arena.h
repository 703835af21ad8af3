/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory of the parts of a machine, in large pages of the host: a simulation goes from part to part
 * with each event, and each small page would be looked for in the host's tables, and cleared, by itself.
 */
#ifndef SIM_ARENA_H
#define SIM_ARENA_H

#include <stddef.h>

struct sim_arena_block;

/* Memory of zeroes is an empty one. */
struct sim_arena {
	struct sim_arena_block *newest;
};

/* sim_arena_take - room for count objects: zeroes, from a line of the host on. NULL: no memory. */
void *sim_arena_take(struct sim_arena *a, size_t count, size_t bytes);

/* sim_arena_free - all that was taken is gone. */
void sim_arena_free(struct sim_arena *a);

#endif
