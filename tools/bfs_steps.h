/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bfs_steps.h - what the steps of a search did: a line for each on request, and which way they went.
 */
#ifndef GN_TOOL_BFS_STEPS_H
#define GN_TOOL_BFS_STEPS_H

#include <stdio.h>

#include <grapnel/cache.h>
#include <jansson.h>

#include "bfs/bfs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A step, and what it moved. */
struct bfs_row {
	struct gn_bfs_step step;
	uint64_t pages, bytes; /* fetched; 0 where there is no cache to ask */
};

/* Steps one after the other that went the same way. */
struct bfs_phase {
	int bottom_up;
	uint32_t steps;
};

struct bfs_steps {
	int wanted;                        /* 1: keep a row for each step */
	struct gn_cache *cache;            /* asked for what was moved; NULL: nobody is */
	struct gn_cache_statistics before; /* what it had counted when the search began; then when the last
	                                      step had ended */
	struct bfs_row *row;
	uint64_t rows, row_room;
	struct bfs_phase *phase;
	uint64_t phases, phase_room;
};

/* bfs_steps_add - the step of gn_bfs's options; context is a struct bfs_steps, zeroed but for the first
 * three.
 */
int bfs_steps_add(void *context, const struct gn_bfs_step *step, struct gn_error *e);
void bfs_steps_free(struct bfs_steps *s);

/* Which way the steps went: one line, and one line for each step if they are wanted. */
void bfs_steps_print(const struct bfs_steps *s, const char *algorithm, FILE *to);

/* The same as arrays; of the steps null unless they are wanted. */
json_t *bfs_steps_phases(const struct bfs_steps *s);
json_t *bfs_steps_rows(const struct bfs_steps *s);

#ifdef __cplusplus
}
#endif

#endif
