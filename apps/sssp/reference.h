/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h - Dijkstra's algorithm, to hold the others against.
 */
#ifndef GN_SSSP_REFERENCE_H
#define GN_SSSP_REFERENCE_H

#include "graph/graph.h"

static const uint64_t sssp_none = ~0ull; /* the length of a way that does not exist */

/*
 * sssp_reference - lengths of the shortest ways: one thread, a heap, nothing shared with the kernels.
 * @graph    has weights of 0 or more: no way of one edge or more becomes shorter by another edge
 * @lengths  receives those of all vertices: sums, or, of weights that are real numbers, the bits of an f32
 * Lengths that are real numbers are the least over all ways of the sum in single precision, from the source
 * on. Returns 0 or -GN_ENOMEM.
 */
int sssp_reference(const struct gn_graph *graph, uint32_t source, uint64_t *lengths);

#endif
