/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h - a textbook breadth-first search, to hold other searches against.
 */
#ifndef GN_GRAPH_REFERENCE_H
#define GN_GRAPH_REFERENCE_H

#include <stdint.h>

#include "graph.h"
#include <grapnel/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The depth of a vertex that cannot be reached. */
#define GN_DEPTH_NONE UINT32_C(0xffffffff)

/*
 * gn_bfs_reference - depths from a source: one thread, one queue, nothing shared with the engine.
 * @source  below g->vertices
 * @depth   receives g->vertices depths, GN_DEPTH_NONE where unreachable
 * Returns 0, -GN_ERANGE for a source that is not a vertex, -GN_ENOMEM.
 */
int gn_bfs_reference(const struct gn_graph *g, uint64_t source, uint32_t *depth, struct gn_error *e);

/*
 * gn_values_differ - how many of the values of a job differ from those of its reference.
 * @got, @want  vertices values each
 * @first       receives the first vertex whose values differ, or vertices
 */
uint64_t gn_values_differ(const uint32_t *got, const uint32_t *want, uint64_t vertices, uint64_t *first);

/*
 * gn_depths_verify - compare depths with those of the reference.
 * @got, @want  vertices depths each
 * Returns 0 when all are equal, else -GN_EBADMSG; the message names the first vertex that differs,
 * both depths, and how many differ.
 */
int gn_depths_verify(const uint32_t *got, const uint32_t *want, uint64_t vertices, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
