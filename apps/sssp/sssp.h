/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sssp.h - lengths of the shortest ways from one vertex on any machine, in a graph that may be larger than
 * its memory.
 */
#ifndef GN_SSSP_SSSP_H
#define GN_SSSP_SSSP_H

#include "graph/arrays.h"
#include "graph/graph.h"
#include "graph/progress.h"
#include "graph/step.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The length of a way that does not exist: of whole numbers, and as an f32 (infinity). */
#define GN_SSSP_NONE UINT32_C(0xffffffff)
#define GN_SSSP_NONE_F32 UINT32_C(0x7f800000)

enum { GN_SSSP_STATE = 12 /* bytes of a vertex's state */ };

struct gn_sssp_options {
	uint64_t source;
	/* Vertices are treated in the order of their lengths, so much at a time; 0: what suits the graph. */
	double delta;
	uint32_t
	    most; /* a graph without weights gets whole numbers from 1 to most, as weights.h draws them */
	/*
	 * Told each round. Its frontier is the near pile; a vertex may be in it again. Its measure is the
	 * border: lengths below it are near. INFINITY: all are.
	 */
	struct gn_graph_listener listener;
};

struct gn_sssp_result {
	uint64_t reached;      /* vertices */
	uint64_t edges;        /* whose other end was looked at, those that were looked at again too */
	uint64_t edges_needed; /* that begin at a vertex that is reached */
	uint64_t launches;     /* over lists: rounds in which lengths became shorter */
	uint32_t buckets;      /* steps of delta in which there was a vertex */
	double delta;          /* as chosen */
	double farthest;       /* the largest length */
	double seconds;        /* from the first launch to the end of the last */
};

/*
 * gn_sssp - lengths of the shortest ways from one vertex to all others.
 * @graph     its arrays; plain pointers are not used
 * @length    host memory, receives for each of graph->vertices the length: a u32, or where the weights are
 *            f32 the bits of an f32; GN_SSSP_NONE or GN_SSSP_NONE_F32 for a vertex that cannot be reached
 * @progress  told how many vertices have been reached, of all; may be NULL
 *
 * The lengths do not depend on the order of the work: sums of whole numbers are exact, and of real numbers
 * each length is the least, over all ways, of the sum in single precision from the source on.
 *
 * Memory on the machine: 1/4 byte a vertex and 1/64 byte an edge; 12 bytes a vertex more, unless graph->state
 * has a place for them. Host. Returns 0; -GN_ERANGE (source is not a vertex); -GN_EINVAL (delta is not above
 * 0, or above the largest f32, or below 1 though weights are whole; an edge that was reached
 * has a weight that is less than 0, infinite or not a number); -GN_EFBIG (a length is too large: 0xfffffffe
 * and more, or the largest f32: which vertex); -GN_EBADMSG (offsets that decrease, a neighbour out of range);
 * -GN_ENOMEM; what an array could not read; what the machine, or gn_auto_adapt, or the listener, failed with.
 * Then length is not to be used.
 *
 * Sources: Meyer and Sanders, "Delta-stepping: a parallelizable shortest path algorithm", 2003; the form for
 * GPUs with a near and a far pile: Davidson, Baxter, Garland and Owens, "Work-efficient parallel GPU methods
 * for single-source shortest paths", 2014.
 */
int gn_sssp(struct simt_machine *machine, struct gn_graph_arrays *graph,
            const struct gn_sssp_options *options, uint32_t *length, struct gn_sssp_result *result,
            const struct gn_progress *progress, struct gn_error *error);

/*
 * gn_sssp_verify - compare lengths with those of the reference (reference.h).
 * @weight  GN_WEIGHT_* of the graph
 * Returns 0 when all are equal, bit by bit, else -GN_EBADMSG; the message names the first vertex that
 * differs, both lengths, and how many differ.
 */
int gn_sssp_verify(const uint32_t *got, const uint64_t *want, uint64_t vertices, uint32_t weight,
                   struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
