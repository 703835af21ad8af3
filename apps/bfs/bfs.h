/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bfs.h - breadth-first search on any machine, over a graph that may be larger than its memory.
 */
#ifndef GN_BFS_BFS_H
#define GN_BFS_BFS_H

#include "graph/arrays.h"
#include "graph/progress.h"
#include "graph/step.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GN_BFS_STATE = 4 /* bytes of a vertex's state */ };

enum gn_bfs_algorithm {
	GN_BFS_TOP_DOWN, /* every step reads the lists of the frontier */
	/*
	 * Steps in which the frontier has many edges look from the other side, and stop at the first parent
	 * of a vertex. Every edge must be there in both directions.
	 */
	GN_BFS_DIRECTION
};

struct gn_bfs_options {
	uint64_t source; /* below graph->vertices */
	enum gn_bfs_algorithm algorithm;
	/* Told each level. Its direction is "top-down" or "bottom-up", its frontier the vertices of this
	 * level. */
	struct gn_graph_listener listener;
};

struct gn_bfs_result {
	uint64_t reached; /* vertices, the source included */
	uint64_t edges;   /* read; top-down: the degrees of the reached vertices */
	uint32_t levels;  /* of the search: the largest depth plus 1 */
	double seconds;   /* from the first launch to the end of the last */
};

/*
 * gn_bfs - depths from a source.
 * @graph     its arrays; plain pointers are used by GN_BFS_TOP_DOWN only
 * @depth     host memory, receives graph->vertices depths, 0xffffffff where unreachable
 * @progress  told the vertices reached of all; may be NULL
 * Memory on the machine: 1/4 byte a vertex and 1/64 byte an edge; 4 bytes a vertex more, unless graph->state
 * has a place for them; GN_BFS_DIRECTION: three bitmaps of 4 bytes for each warp of vertices more. Host.
 * Returns 0; -GN_ERANGE (source); -GN_EINVAL (GN_BFS_DIRECTION, or a place of state, on plain pointers);
 * -GN_EBADMSG (offsets that decrease, a neighbour out of range: which); -GN_ENOMEM; what an array could not
 * read; what the machine, gn_auto_adapt or the listener failed with. Then depth is not to be used. Source of
 * GN_BFS_DIRECTION: Beamer, Asanovic and Patterson, "Direction-Optimizing Breadth-First Search", 2012, with
 * the thresholds of the GAP benchmark.
 */
int gn_bfs(struct simt_machine *machine, struct gn_graph_arrays *graph, const struct gn_bfs_options *options,
           uint32_t *depth, struct gn_bfs_result *result, const struct gn_progress *progress,
           struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
