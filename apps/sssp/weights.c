/* SPDX-License-Identifier: Apache-2.0 */
#include "sssp/weights.h"

#include <stdlib.h>

int sssp_draw_weights(struct gn_graph *graph, uint32_t most, struct gn_error *e)
{
	if (graph->weight != GN_WEIGHT_NONE)
		return 0;
	graph->weights = (uint32_t *)malloc((graph->edges + 1) * sizeof *graph->weights);
	if (!graph->weights)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for the lengths of %llu edges",
		                    (unsigned long long)graph->edges);
	graph->weight = GN_WEIGHT_I32;
	for (uint64_t v = 0; v < graph->vertices; v++)
		for (uint64_t k = graph->offsets[v]; k < graph->offsets[v + 1]; k++)
			graph->weights[k] = sssp_drawn((uint32_t)v, graph->neighbours[k], most);
	return 0;
}
