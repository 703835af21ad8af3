/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - the ways of a message.
 *
 * Nodes form a grid, `columns` wide. With one column every node sends to every other directly. With more
 * columns a message first goes along its row to the column of its destination, where it is sorted again, and
 * then along that column. So a node keeps buffers only for a row and a column, O(sqrt P) of them (Gravel
 * section 8.2 sketches this; conveyors do it). Rows always come before columns, so no two ways can wait for
 * each other. A last row that is not full uses the row above it.
 */
#ifndef GN_NET_ROUTE_H
#define GN_NET_ROUTE_H

#include <stdint.h>

struct gn_route {
	uint32_t nodes, node;
	uint32_t columns;
};

/* A way: the next hop of a message. */
struct gn_hop {
	uint32_t passed; /* 1: the node at the end of this way sorts the message again */
	uint32_t link;   /* number of the way among the ways of its kind */
	uint32_t peer;   /* the node at the end of this way */
};

/* The number of last ways (passed 0), or of first of two ways (passed 1), that start at this node. */
static inline uint32_t gn_route_links(const struct gn_route *r, int passed)
{
	if (passed)
		return r->columns > 1 ? r->columns : 0;
	return (r->nodes + r->columns - 1) / r->columns;
}

/* The way of a message from this node to another node. */
static inline struct gn_hop gn_route_hop(const struct gn_route *r, uint32_t to)
{
	const uint32_t row = r->node / r->columns, column = r->node % r->columns;
	struct gn_hop hop = {0, to / r->columns, to};

	if (to % r->columns == column)
		return hop;
	hop.passed = 1;
	hop.link = to % r->columns;
	hop.peer = row * r->columns + hop.link;
	if (hop.peer >= r->nodes)
		hop.peer -= r->columns;
	return hop;
}

#endif
