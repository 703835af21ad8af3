/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_parts.h - a .gng file that is written while its graph is made, in the order of vertices. Private to
 * apps/.
 */
#ifndef GN_GRAPH_FILE_PARTS_H
#define GN_GRAPH_FILE_PARTS_H

#include "file.h"
#include "io.h"

struct gn_graph_parts {
	struct gn_graph_file file; /* edges and checksums of what was written so far */
	uint64_t offsets;          /* how many were written */
	struct gn_output output;
};

/*
 * gn__graph_parts_begin - start a file of a graph without weights; regular, or not there yet.
 * @most_edges  how many may come, for the space that is reserved
 * @flags       GN_GRAPH_*
 * @id_bytes    of a neighbour: 4 or 8
 * Returns as gn_graph_file_write; on failure nothing is left to drop.
 */
int gn__graph_parts_begin(struct gn_graph_parts *p, const char *path, uint64_t vertices, uint64_t most_edges,
                          uint32_t flags, uint32_t id_bytes, struct gn_error *e);

/*
 * gn__graph_parts_offsets, gn__graph_parts_neighbours - append n offsets or n neighbours of id_bytes. All
 * calls together append vertices + 1 offsets; the last offset is the number of neighbours. On failure the
 * caller drops p. OpenMP's threads compute the checksums.
 */
int gn__graph_parts_offsets(struct gn_graph_parts *p, const uint64_t *offsets, uint64_t n,
                            struct gn_error *e);
int gn__graph_parts_neighbours(struct gn_graph_parts *p, const void *neighbours, uint64_t n,
                               struct gn_error *e);

/* gn__graph_parts_end - write the header and give the file its name. Frees p whatever happens. */
int gn__graph_parts_end(struct gn_graph_parts *p, struct gn_error *e);

/* gn__graph_parts_drop - give up: nothing of the file remains. */
void gn__graph_parts_drop(struct gn_graph_parts *p);

#endif
