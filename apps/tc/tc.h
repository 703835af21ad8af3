/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tc.h - count the triangles of an undirected graph, on any machine; the graph may be larger than its memory.
 */
#ifndef GN_TC_TC_H
#define GN_TC_TC_H

#include "graph/arrays.h"
#include "graph/graph.h"
#include "graph/progress.h"
#include "graph/step.h"

struct gn_tc_options {
	/* Told the only step, which is over all vertices. Its count is the triangles. */
	struct gn_graph_listener listener;
};

struct gn_tc_result {
	uint64_t triangles;
	uint64_t edges;     /* read, to find the lists that are compared */
	uint64_t looked_up; /* elements of the shorter lists, each looked for in a longer one */
	double seconds;     /* from the first launch to the end of the last */
};

/*
 * gn_tc - count each triangle once, as the GAP benchmark does.
 * @graph     its arrays; plain pointers are not used. The neighbours of each vertex ascend. Of each edge at
 *            least the direction to the smaller vertex is there, as in an undirected graph and in what
 *            gn_graph_order makes of it. Edges that are there twice and self loops count for nothing.
 * @progress  may be NULL
 * Does NOT notice that an edge lacks the direction to the smaller vertex. Memory on the machine: 1/8 byte an
 * edge.
 * Host. Returns 0; -GN_EBADMSG (offsets that decrease, a neighbour out of range, neighbours that do not
 * ascend: where); -GN_ENOMEM; what an array could not read; what the machine, gn_auto_adapt, or the listener
 * failed with.
 */
int gn_tc(struct simt_machine *machine, struct gn_graph_arrays *graph, const struct gn_tc_options *options,
          struct gn_tc_result *result, const struct gn_progress *progress, struct gn_error *error);

/*
 * gn_tc_reference - the same number by a hash table of all edges, whichever their direction: one thread,
 * nothing shared with the kernels. Lists need not ascend.
 * Memory: up to 40 bytes an edge. Returns 0 or -GN_ENOMEM.
 */
int gn_tc_reference(const struct gn_graph *g, uint64_t *triangles, struct gn_error *error);

/* gn_tc_verify - Returns 0 if the numbers are equal, else -GN_EBADMSG with a message that has both. */
int gn_tc_verify(uint64_t got, uint64_t want, struct gn_error *error);

#endif
