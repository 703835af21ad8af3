/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sssp.h - the length of the shortest way from one vertex to every other, in a graph that is spread over
 * nodes.
 *
 * The algorithm is Bellman and Ford's, without an order of the updates (chaotic relaxation). A vertex whose
 * length has become shorter sends the length plus that of the edge along each of its edges. A target keeps
 * the least that it receives. This goes on until no length becomes shorter. Lengths are whole numbers, so the
 * result does not depend on the order.
 */
#ifndef GN_SSSP_NET_SSSP_H
#define GN_SSSP_NET_SSSP_H

#include <grapnel/net.h>

#include "graph/graph.h"
#include "sssp/reference.h"

struct sssp_result {
	double seconds;
	uint64_t rounds; /* how often the nodes met */
	/* of vertices that had come nearer, all nodes; once for each that is reached is the least */
	uint64_t sends;
	uint64_t reached;               /* vertices */
	struct gn_net_statistics stats; /* of this node */
};

/*
 * sssp_weights - see that every edge has a length.
 * @most  a graph without weights gets whole numbers from 1 to most, by the edge's ends, the same in both
 *        directions
 * Returns 0, -GN_EINVAL (a weight is less than 0), -GN_ENOTSUP (weights are real numbers), -GN_ENOMEM.
 */
int sssp_weights(struct gn_graph *graph, uint32_t most, struct gn_error *e);

/* sssp_heap - bytes of a node's heap that sssp_run wants. */
uint64_t sssp_heap(uint64_t vertices, uint32_t nodes);

/*
 * sssp_run - all nodes call it with the same graph, which has weights.
 * @source   a vertex
 * @lengths  of all vertices; receives those of this node's, at their places
 * Returns 0, or what failed: -GN_ENOMEM, the machine's or the network's code.
 */
int sssp_run(struct gn_net *net, const struct gn_graph *graph, uint32_t source, uint64_t *lengths,
             struct sssp_result *result, struct gn_error *error);

#endif
