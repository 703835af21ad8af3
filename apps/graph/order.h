/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - number the vertices of an undirected graph by their degrees, for jobs that compare lists.
 */
#ifndef GN_GRAPH_ORDER_H
#define GN_GRAPH_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "graph.h"
#include "progress.h"

enum { GN_ORDER_SAMPLES = 1000 };

/* gn_graph_order_sample - sample k of the vertices whose degrees are asked for: they are spread over all. */
uint64_t gn_graph_order_sample(uint64_t vertices, uint32_t k);

/*
 * gn_graph_order_pays - whether ordering saves more than it costs, by the GAP benchmark's rule: each vertex
 * has at least ten edges on average, and of the sampled degrees, without those that are 0, the average is
 * more than 1.3 times the median.
 * @edges   stored: each in both directions
 * @degree  [count], of the sampled vertices; its order is changed
 * Source: Beamer, Asanovic and Patterson, "The GAP benchmark suite", tc.cc, WorthRelabelling.
 */
bool gn_graph_order_pays(uint64_t vertices, uint64_t edges, uint64_t *degree, uint32_t count);

/*
 * gn_graph_order - the graph with other numbers of the vertices, and each edge once.
 * @to    receives it: vertex 0 is the one of the highest degree, and so on; of each edge only the direction
 *        to the smaller vertex is there, once; no self loops, no weights, neighbours ascend; fini it
 * @from  holds each edge in both directions
 * Memory beside to: 12 bytes a vertex. Returns 0 or a code of gn_graph_init; then to holds nothing.
 */
int gn_graph_order(struct gn_graph *to, const struct gn_graph *from, const struct gn_progress *progress,
                   struct gn_error *e);

#endif
