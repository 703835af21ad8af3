/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bc.h - betweenness centrality on any machine, of a graph that may be larger than its memory.
 */
#ifndef GN_BC_BC_H
#define GN_BC_BC_H

#include "graph/arrays.h"
#include "graph/graph.h"
#include "graph/progress.h"
#include "graph/step.h"

enum { GN_BC_STATE = 32 /* bytes of a vertex's state */ };

struct gn_bc_options {
	const uint32_t *sources; /* each below graph->vertices; one may come twice, and counts twice */
	uint32_t source_count;
	/*
	 * Told each level of each source, first "forward", then "backward" from the last one. Its number is
	 * the level, its frontier the vertices there, its count the source.
	 */
	struct gn_graph_listener listener;
};

struct gn_bc_result {
	double
	    largest; /* score before all are divided by it; 0: no path has a vertex inside or at its begin */
	uint32_t levels; /* of all searches together */
	uint64_t edges;  /* read */
	double seconds;  /* from the first launch to the end of the last */
};

/*
 * gn_bc - betweenness centrality as the GAP benchmark has it: for each source the dependencies of all
 * vertices on paths from it (of the source itself too), added up and divided by the largest sum.
 * @graph     its arrays; plain pointers are not used
 * @score     host memory, receives graph->vertices scores from 0 to 1; all are 0 if the largest sum is
 * @progress  told the sources done of all; may be NULL
 * Memory on the machine: 32 bytes a vertex, unless graph->state has a place for them, and 1/64 byte an edge;
 * on the host, at the end, 8 bytes a vertex. Host. Returns 0; -GN_ERANGE (a source; more than 2^1000 shortest
 * paths to a vertex); -GN_EBADMSG (offsets that decrease, a neighbour out of range: which); -GN_ENOMEM; what
 * an array could not read; what the machine, or gn_auto_adapt, or the listener, failed with. Then score is
 * not to be used. Source: Brandes, "A faster algorithm for betweenness centrality", 2001.
 */
int gn_bc(struct simt_machine *machine, struct gn_graph_arrays *graph, const struct gn_bc_options *options,
          float *score, struct gn_bc_result *result, const struct gn_progress *progress,
          struct gn_error *error);

/*
 * gn_bc_choose_sources - vertices that have edges, as a seed chooses them.
 * @source  receives count of them; one may come twice
 * Returns 0; -GN_ENOENT (there is no vertex, or none was found among thousands); -GN_ENOMEM; what an array or
 * the machine failed with.
 */
int gn_bc_choose_sources(struct simt_machine *machine, struct gn_graph_arrays *graph, uint64_t seed,
                         uint32_t count, uint32_t *source, struct gn_error *error);

/*
 * gn_bc_reference - the same scores by one thread in double precision; nothing shared with the kernels.
 * @score  receives g->vertices scores
 * Returns 0 or -GN_ENOMEM.
 */
int gn_bc_reference(const struct gn_graph *g, const struct gn_bc_options *options, float *score,
                    struct gn_error *error);

/*
 * gn_bc_verify - compare scores with those of the reference, by the rule of the GAP benchmark: no two differ
 * by more than 2^-23, the distance from 1 to the next float.
 * @got, @want  vertices scores each
 * Returns 0, else -GN_EBADMSG; the message names the first vertex that differs, both scores, and how many
 * differ.
 */
int gn_bc_verify(const float *got, const float *want, uint64_t vertices, struct gn_error *error);

#endif
