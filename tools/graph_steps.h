/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_steps.h - what the steps of a job over a graph did: a line for each on request, and which way they
 * went.
 */
#ifndef GN_TOOL_GRAPH_STEPS_H
#define GN_TOOL_GRAPH_STEPS_H

#include <stdbool.h>
#include <stdio.h>

#include <grapnel/cache.h>
#include <jansson.h>

#include "graph/step.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a job says of its steps beside what all jobs say: names of members, and of columns. */
struct graph_steps_kind {
	bool directions;             /* a step has a direction */
	bool phases;                 /* which way the steps went is wanted also where the steps are not */
	const char *count, *measure; /* NULL: the step has none */
};

/* A step, and what it moved. */
struct graph_steps_row {
	struct gn_graph_step step;
	uint64_t pages, bytes; /* fetched; 0 where there is no cache to ask */
};

/* Steps one after the other that went the same way. */
struct graph_steps_phase {
	const char *direction;
	uint32_t steps;
};

struct graph_steps {
	const struct graph_steps_kind *kind;
	bool wanted;                       /* keep a row for each step */
	struct gn_cache *cache;            /* asked for what was moved; NULL: nobody is */
	struct gn_cache_statistics before; /* what it had counted when the job began; then when the last step
	                                      had ended */
	struct graph_steps_row *row;
	uint64_t rows, row_room;
	struct graph_steps_phase *phase;
	uint64_t phases, phase_room;
};

/* graph_steps_listener - for a job's options: it adds each step to @s, which graph_job_steps has made. */
struct gn_graph_listener graph_steps_listener(struct graph_steps *s);
void graph_steps_free(struct graph_steps *s);

/* The phases in words, such as "1 top-down, 2 bottom-up", and as an array. */
void graph_steps_print_phases(const struct graph_steps *s, FILE *to);
json_t *graph_steps_phases(const struct graph_steps *s);

/* One line for each step, and the steps as an array; nothing, and null, unless they are wanted. */
void graph_steps_print(const struct graph_steps *s, FILE *to);
json_t *graph_steps_rows(const struct graph_steps *s);

#ifdef __cplusplus
}
#endif

#endif
