/* SPDX-License-Identifier: Apache-2.0 */
/* The offsets of a graph on their way past the host, part by part. */
#include "graph_job.h"

int graph_input_offsets(const struct graph_input *in, gn_graph_take_offsets *take, void *context,
                        struct gn_error *e)
{
	return in->has_graph ? take(context, in->graph.offsets, 0, in->graph.vertices, e)
	                     : gn_graph_file_offsets(&in->file, take, context, e);
}
