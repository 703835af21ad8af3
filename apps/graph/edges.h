/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edges.h - a growing list of edges, as the text formats give them. Private to apps/.
 */
#ifndef GN_GRAPH_EDGES_H
#define GN_GRAPH_EDGES_H

#include <stdint.h>

#include <grapnel/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gn_edge {
	uint32_t from;
	uint32_t to;
};

struct gn_edges {
	struct gn_edge *edges;
	uint32_t *weights; /* NULL unless weighted */
	uint64_t count;
	uint64_t capacity;
	uint64_t memory_limit;
	uint32_t weighted;
	uint32_t largest; /* largest id seen; 0 while there is none */
};

/* A zeroed list with memory_limit and weighted set is empty and ready. */
int gn__edges_grow(struct gn_edges *l, struct gn_error *e);

/* Free the memory; the list is empty again. */
void gn__edges_fini(struct gn_edges *l);

/* gn__edges_add - append one edge; weight is dropped unless the list is weighted. */
static inline int gn__edges_add(struct gn_edges *l, uint32_t from, uint32_t to, uint32_t weight,
                                struct gn_error *e)
{
	if (l->count == l->capacity) {
		int err = gn__edges_grow(l, e);

		if (err)
			return err;
	}
	l->edges[l->count].from = from;
	l->edges[l->count].to = to;
	if (l->weighted)
		l->weights[l->count] = weight;
	l->count++;
	if (from > l->largest)
		l->largest = from;
	if (to > l->largest)
		l->largest = to;
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif
