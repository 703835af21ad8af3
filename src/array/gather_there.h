/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather_there.h - gathers rows on the GPUs that have them. A load of 4 bytes of another GPU moves 32 over
 * the link. So for small rows of peer: memory each GPU that has a part of it runs a kernel of its own: it
 * reads the whole list of rows over the link, in order, loads the rows that it has from its own memory, and
 * writes them to the caller's, packed. The link carries lists and rows alone. Larger rows are loaded by the
 * caller's GPU, as they come: between GPUs the order of addresses is worth nothing.
 *
 * Source: the packing of requests and answers is that of DualOpt's CoDec, which does it in hardware.
 */
#ifndef GN_ARRAY_GATHER_THERE_H
#define GN_ARRAY_GATHER_THERE_H

#include <array/gather_kernels.h>
#include <simt/spread.h>

/* The GPUs that a workspace has used so. Zero: none yet. One batch at a time. */
struct gn_there {
	unsigned machines;
	unsigned device[SIMT_SPREAD_MOST];
	struct simt_machine *machine[SIMT_SPREAD_MOST]; /* its own stream has the kernels */
};

/* gn_there_find - is an array of direct mode in peer: memory? Then 1, and found describes the memory. */
int gn_there_find(const struct gn_array *array, struct simt_spread *found);

/*
 * gn_there_gather - launch a gather after what is on the stream; what is launched there later begins after
 * it. Returns 0, or the code of simt_open, simt_launch or the order of the streams; the message is set.
 */
int gn_there_gather(struct gn_there *there, const struct simt_spread *spread, struct simt_stream *stream,
                    const struct gn_array *array, const struct gn_batch *batch, struct gn_error *error);

/* gn_there_close - give the GPUs back; their kernels have ended. */
void gn_there_close(struct gn_there *there);

#endif
