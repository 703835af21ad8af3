/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - write a graph as a file of Grapnel's own format, or of a program to compare with.
 *
 * Format by the end of the name: .gng; .bel (EMOGI's three files beside each other); .bcsr and .bwcsr
 * (Subway's). docs/graph-format.md says what they hold. A device gets a .gng file, whatever its name.
 */
#ifndef GN_GRAPH_WRITE_H
#define GN_GRAPH_WRITE_H

#include "graph.h"
#include "progress.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * gn_graph_write - write a graph; whether it is undirected and sorted only a .gng file tells.
 * Files appear when they are complete, as with gn_graph_file_write. The files of a .bel cannot be replaced in
 * one step: where one of them is there already nothing is written. A .bcsr file leaves weights out.
 * Returns 0; -GN_ENOTSUP for a name of no format or of one that is only read, real weights in .bel and
 * .bwcsr, and a .bwcsr file without weights; -GN_EINVAL for a weight below 0 in one of these, and for files
 * of a .bel that are there; -GN_EFBIG for more than 2^32 - 1 edges in .bcsr and .bwcsr; a code of
 * gn_graph_file_write.
 */
int gn_graph_write(const struct gn_graph *g, const char *path, const struct gn_progress *progress,
                   struct gn_error *e);

/*
 * gn_graph_writable - whether gn_graph_write could start at path, for whoever has long work to do before.
 * Creates nothing that stays. Does NOT know what the graph will be.
 */
int gn_graph_writable(const char *path, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
