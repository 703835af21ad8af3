/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - which way a message goes.
 *
 * Nodes stand in a grid, `columns` wide. One column: every node sends to every other itself. More: a message
 * first goes along its row to the column of its destination, where it is sorted once more, then along that
 * column. A node then keeps buffers for a row and a column only, O(sqrt P) of them (Gravel section 8.2
 * sketches it; conveyors do it). Rows before columns, always: no two ways can wait for each other. A last row
 * that is not full borrows the row above it.
 */
#ifndef GN_NET_ROUTE_H
#define GN_NET_ROUTE_H

#include <stdint.h>

struct gn_route {
	uint32_t nodes, node;
	uint32_t columns;
};

/* The next way of a message. */
struct gn_hop {
	uint32_t passed; /* 1: it is sorted once more at its end */
	uint32_t link;   /* number of the way among those of its kind */
	uint32_t peer;   /* the node at its end */
};

/* How many last ways, and ways to where messages are passed on, start here. */
static inline uint32_t gn_route_links(const struct gn_route *r, int passed)
{
	if (passed)
		return r->columns > 1 ? r->columns : 0;
	return (r->nodes + r->columns - 1) / r->columns;
}

/* The way of a message from here to a node, which is not this one. */
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
