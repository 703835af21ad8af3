/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc.h - connected components on any machine, of a graph that may be larger than its memory.
 */
#ifndef GN_CC_CC_H
#define GN_CC_CC_H

#include "graph/arrays.h"
#include "graph/graph.h"
#include "graph/progress.h"
#include "graph/step.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GN_CC_STATE = 4 /* bytes of a vertex's state */ };

enum gn_cc_algorithm {
	GN_CC_AFFOREST, /* two passes over the lists, the second without those of the largest component */
	GN_CC_SV        /* Shiloach and Vishkin: passes over all lists until one changes nothing */
};

struct gn_cc_options {
	enum gn_cc_algorithm algorithm;
	/* 1: every edge is there in both directions. 0: it may not be, and no list is left out. */
	int both_directions;
	/*
	 * Told each pass over the lists, which is over all vertices. Its count is the vertices that were
	 * joined to a smaller one.
	 */
	struct gn_graph_listener listener;
};

struct gn_cc_result {
	uint64_t components;
	uint64_t largest;       /* vertices of the largest component */
	uint32_t largest_label; /* its least vertex; of several, of the first */
	uint32_t iterations;    /* passes over the adjacency lists */
	uint64_t edges;         /* read, those that were read again too */
	double seconds;         /* from the first launch to the end of the last */
};

/*
 * gn_cc - the weakly connected components: an edge joins its ends, whichever its direction is.
 * @graph     its arrays; plain pointers are not used
 * @label     host memory, receives for each of graph->vertices the least vertex of its component
 * @progress  told how many vertices have been joined to a smaller one, of all; may be NULL
 * Memory on the machine: 4 bytes a vertex, unless graph->state has a place for them, and 1/64 byte an edge;
 * on the host, at the end, 4 bytes a vertex. Host. Returns 0; -GN_EBADMSG (offsets that decrease, a neighbour
 * out of range: which); -GN_ENOMEM; what an array could not read or write; what the machine, or
 * gn_auto_adapt, or the listener, failed with. Then label is not to be used. Sources: Shiloach and Vishkin,
 * "An O(log n) parallel connectivity algorithm", 1982, as the GAP benchmark has it; Sutton, Ben-Nun and
 * Barak, "Optimizing parallel graph connectivity computation via subgraph sampling", 2018.
 */
int gn_cc(struct simt_machine *machine, struct gn_graph_arrays *graph, const struct gn_cc_options *options,
          uint32_t *label, struct gn_cc_result *result, const struct gn_progress *progress,
          struct gn_error *error);

/*
 * gn_cc_reference - the same labels by union-find over all edges: one thread, nothing shared with the
 * kernels.
 * @label  receives g->vertices labels
 */
void gn_cc_reference(const struct gn_graph *g, uint32_t *label);

/*
 * gn_cc_verify - compare labels with those of the reference.
 * @got, @want  vertices labels each
 * Returns 0 when all are equal, else -GN_EBADMSG; the message names the first vertex that differs, both
 * labels, and how many differ.
 */
int gn_cc_verify(const uint32_t *got, const uint32_t *want, uint64_t vertices, struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
