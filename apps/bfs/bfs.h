/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bfs.h - breadth-first search on any machine, over a graph that may be larger than its memory.
 */
#ifndef GN_BFS_BFS_H
#define GN_BFS_BFS_H

#include "graph/arrays.h"
#include "graph/progress.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gn_bfs_result {
	uint64_t reached; /* vertices, the source included */
	uint64_t edges;   /* scanned: the degrees of the reached vertices */
	uint32_t levels;  /* of the search: the largest depth plus 1 */
	double seconds;   /* from the first launch to the end of the last */
};

/*
 * gn_bfs - depths from a source.
 * @source    below graph->vertices
 * @depth     host memory, receives graph->vertices depths, 0xffffffff where unreachable
 * @progress  told the vertices reached of all; may be NULL
 * Memory on the machine: 12 bytes a vertex and 1/64 byte an edge. Host.
 * Returns 0; -GN_ERANGE (source); -GN_EBADMSG (offsets that decrease, a neighbour out of range: which);
 * -GN_ENOMEM; what an array could not read; what the machine, or gn_auto_adapt, failed with. Then depth is
 * not to be used.
 */
int gn_bfs(struct simt_machine *machine, struct gn_graph_arrays *graph, uint64_t source, uint32_t *depth,
           struct gn_bfs_result *result, const struct gn_progress *progress, struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
