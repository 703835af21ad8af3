/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - graphs drawn by kernels: those of graph/generate.h, bit by bit, from any machine.
 *
 * The vertices are cut into parts. For each part all edges of the graph are drawn, which costs little, and
 * those whose source is in it are kept, sorted and handed out. So the machine's memory holds one part, and a
 * graph may be larger than it.
 */
#ifndef GN_GENERATE_MACHINE_H
#define GN_GENERATE_MACHINE_H

#include <grapnel/simt.h>

#include "graph/generate.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * gn_generate_graph - gn_graph_generate, on a machine.
 * @memory  bytes of the machine's memory to use at most, but for 2 MiB that the sort takes and
 *          up to 32 MiB of pinned host memory; 0: half of
 *          a device's, a quarter of the host's. Less memory means more parts: 17 bytes an edge of a part
 * Returns 0; a code of gn_graph_generate; -GN_ENOMEM if memory is too small for the edges of one vertex, or
 * of a few that are counted together, or is not there; what the machine failed with. On failure g holds
 * nothing. Host.
 */
int gn_generate_graph(struct gn_graph *g, struct simt_machine *machine,
                      const struct gn_generate_options *options, uint64_t memory, struct gn_error *e);

/*
 * gn_generate_file - the same into a .gng file, part by part: memory of the host is not needed for it.
 * @path  of a regular file, or of none yet; appears as by gn_graph_file_write
 * @g     receives vertices, edges, flags and the width of ids; no arrays
 * Returns as gn_generate_graph, or a code of gn_graph_file_write.
 */
int gn_generate_file(const char *path, struct gn_graph *g, struct simt_machine *machine,
                     const struct gn_generate_options *options, uint64_t memory, struct gn_error *e);

/* private: */

/*
 * Where the rows go, in the order of vertices. Functions return 0 or a code, which ends the generation.
 * @begin       once, first. most_edges: as many or more are going to come
 * @offsets     the next n offsets; vertices + 1 in all
 * @neighbours  the next n neighbours: u32, or u64 if id_bytes is 8
 */
struct gn_generate_output {
	void *self;
	uint32_t id_bytes; /* of a neighbour that is handed out: 4, or 8 */
	int (*begin)(void *self, uint64_t vertices, uint64_t most_edges, uint32_t flags, struct gn_error *e);
	int (*offsets)(void *self, const uint64_t *offsets, uint64_t n, struct gn_error *e);
	int (*neighbours)(void *self, const void *neighbours, uint64_t n, struct gn_error *e);
};

/* gn__generate - hand out the rows of the graph. Returns as gn_generate_graph, or a code of the output. */
int gn__generate(struct simt_machine *machine, const struct gn_generate_options *options, uint64_t memory,
                 const struct gn_generate_output *output, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
