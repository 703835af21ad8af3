/* SPDX-License-Identifier: Apache-2.0 */
/*
 * color.h - colours of the vertices of an undirected graph that is spread over nodes, so that no edge joins
 * two of one.
 *
 * Every vertex has a rank, drawn from its number. It waits for the colours of its neighbours of higher rank,
 * takes the least that none of them has, and puts it into the places that its neighbours of lower rank keep
 * for it, one an edge (Jones and Plassmann 1993). The outcome is that of giving colours one by one in the
 * order of ranks, whatever happens first; so it can be compared colour by colour.
 */
#ifndef GN_COLOR_COLOR_H
#define GN_COLOR_COLOR_H

#include <grapnel/net.h>

#include "graph/graph.h"

struct color_result {
	double seconds;
	uint64_t rounds;                /* how often the nodes met */
	uint64_t colors;                /* how many there are */
	struct gn_net_statistics stats; /* of this node */
};

/* color_heap - bytes of a node's heap that color_run wants. */
uint64_t color_heap(const struct gn_graph *graph, uint32_t nodes);

/*
 * color_run - all nodes call it with the same graph.
 * @graph   undirected and sorted, every edge once in each direction, no vertex its own neighbour
 * @colors  of all vertices; receives those of this node's, from 0 on, at their places
 * Returns 0, -GN_EINVAL (an edge has no other direction), -GN_ENOMEM, the machine's or the network's code.
 */
int color_run(struct gn_net *net, const struct gn_graph *graph, uint32_t *colors, struct color_result *result,
              struct gn_error *error);

/* In which order vertices are given colours one by one. */
enum color_order {
	COLOR_BY_RANK,  /* what color_run comes to */
	COLOR_BY_NUMBER /* the plain one */
};

/*
 * color_greedy - the least colour that no neighbour has, in one thread. Returns how many there are, or
 * -GN_ENOMEM.
 */
int64_t color_greedy(const struct gn_graph *graph, enum color_order order, uint32_t *colors);

/* color_conflicts - edges whose two ends have one colour. */
uint64_t color_conflicts(const struct gn_graph *graph, const uint32_t *colors);

#endif
