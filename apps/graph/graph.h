/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - a graph in memory, as compressed sparse rows.
 *
 * The neighbours of vertex v are neighbours[offsets[v]] up to, not including,
 * neighbours[offsets[v + 1]]. A directed edge is stored once, at its source; an undirected graph
 * stores each edge in both directions and a self loop once.
 */
#ifndef GN_GRAPH_GRAPH_H
#define GN_GRAPH_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include <grapnel/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Vertex ids are 0 to 2^32 - 2; 2^32 - 1 stays free to mean "none". */
#define GN_GRAPH_MAX_VERTICES UINT64_C(0xffffffff)

/* So many edges of either width can be counted in bytes without overflow. */
#define GN_GRAPH_MAX_EDGES (UINT64_C(1) << 56)

enum {
	GN_GRAPH_UNDIRECTED = 1, /* every edge is there in both directions */
	GN_GRAPH_SORTED = 2      /* the neighbours of each vertex ascend */
};

/* What the 32 bits of a weight mean. */
enum { GN_WEIGHT_NONE = 0, GN_WEIGHT_I32 = 1, GN_WEIGHT_F32 = 2 };

struct gn_graph {
	uint64_t vertices;
	uint64_t edges;       /* directed edges: the length of neighbours */
	uint64_t *offsets;    /* vertices + 1, never NULL after a successful call */
	uint32_t *neighbours; /* edges; may be NULL when there are none */
	uint32_t *weights;    /* edges, bits of the kind below; NULL when weight is GN_WEIGHT_NONE */
	uint32_t flags;       /* GN_GRAPH_* */
	uint32_t weight;      /* GN_WEIGHT_* */
	uint32_t wide;        /* 1: a .gng file of it is written with ids of 8 bytes */
};

/*
 * gn_graph_init - allocate the arrays of a graph.
 * @g             receives zeroed offsets and uninitialised neighbours and weights
 * @vertices      at most GN_GRAPH_MAX_VERTICES
 * @edges         directed edges, at most GN_GRAPH_MAX_EDGES
 * @weight        GN_WEIGHT_*
 * @memory_limit  refuse to allocate more bytes than this; 0 means the machine's memory
 * Returns 0, -GN_EFBIG past the limits of vertices and edges, -GN_ENOMEM past the memory limit or
 * when there is no memory. On failure g holds nothing.
 */
int gn_graph_init(struct gn_graph *g, uint64_t vertices, uint64_t edges, uint32_t weight,
                  uint64_t memory_limit, struct gn_error *e);

/*
 * gn_graph_fini - free the arrays and make g empty; a zeroed graph is fine.
 */
void gn_graph_fini(struct gn_graph *g);

/*
 * gn_graph_memory_fits - whether so many bytes may be allocated.
 * @bytes  what is wanted
 * @limit  as memory_limit of gn_graph_init
 * @what   names the thing in the message, "the edge list", say
 * Returns 0 or -GN_ENOMEM. An overcommitting kernel grants what it does not have and kills later,
 * so sizes that come from outside are held against the machine's memory first.
 */
int gn_graph_memory_fits(uint64_t bytes, uint64_t limit, const char *what, struct gn_error *e);

/* private: */
static inline uint64_t gn__min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

#ifdef __cplusplus
}
#endif

#endif
