/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance.h - Balanced CSR (DREAM, section 5.2 and figure 10): the edges of a graph in chunks of the same
 * number, and for each chunk the vertex to start with. The neighbours stay as they are in the store. The list
 * of start vertices is made from the offsets when a graph is opened, and lies in the machine's own memory.
 * scan_device.h says how warps use it.
 */
#ifndef GN_GRAPH_BALANCE_H
#define GN_GRAPH_BALANCE_H

#include <grapnel/simt.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gn_graph_arrays;

/* How launches over all vertices are handed out to warps. */
enum gn_layout {
	GN_LAYOUT_CSR,      /* by vertices; of long lists the rest in a second launch */
	GN_LAYOUT_BALANCED, /* by chunks of edges */
	GN_LAYOUT_AUTO      /* by chunks if degrees are skewed */
};

enum {
	GN_BALANCE_CHUNK = 4096,  /* bytes of neighbours in a chunk, unless it is said */
	GN_BALANCE_LEAST = 512,   /* and at least */
	GN_BALANCE_MOST = 65536,  /* and at most */
	GN_BALANCE_SKEWED = 16,   /* degrees are skewed if one list is as long as so many chunks, or longer */
	GN_BALANCE_RANGE = 16384, /* vertices that begin in one chunk, at most */
	/* vertices behind the last edge that a warp takes in one go, where each must be looked at */
	GN_BALANCE_STRETCH = 1024
};

/* The list while the offsets pass by, on the host. */
struct gn_balance {
	uint32_t *start; /* [chunks + 1]: the first vertex whose list begins in the chunk or behind it */
	uint64_t vertices, edges, chunks;
	uint32_t chunk_edges; /* a power of two */
	uint64_t added;       /* offsets so far */
	uint64_t next;        /* the first chunk without a start */
	uint64_t last;        /* offset */
	uint64_t longest;     /* list */
	uint64_t widest; /* most vertices that begin in one chunk; those behind the last edge do not count */
};

/*
 * gn_balance_begin - room for the list.
 * @b            receives an empty list; gn_balance_fini frees it, also after a failure
 * @chunk_edges  a power of two
 * Memory: 4 bytes a chunk, and 4 more. Returns 0 or -GN_ENOMEM.
 */
int gn_balance_begin(struct gn_balance *b, uint64_t vertices, uint64_t edges, uint32_t chunk_edges,
                     struct gn_error *e);

/*
 * gn_balance_add - the next n offsets; vertices + 1 in all.
 * Returns 0; -GN_EBADMSG if they decrease, or do not go from 0 to the number of edges: at which vertex.
 */
int gn_balance_add(struct gn_balance *b, const uint64_t *offsets, uint64_t n, struct gn_error *e);

/* gn_balance_take - gn_balance_add of offsets as gn_graph_file_offsets hands them out. @b  struct gn_balance
 */
int gn_balance_take(void *b, const uint64_t *offsets, uint64_t first, uint64_t n, struct gn_error *e);

/*
 * gn_balance_fits - whether a graph can be handed out by chunks, when all offsets were added: it has edges,
 * and of no chunk there are more than GN_BALANCE_RANGE vertices, which one warp would go through.
 */
int gn_balance_fits(const struct gn_balance *b);

/* gn_balance_is_skewed - whether one list is as long as GN_BALANCE_SKEWED chunks, or longer. */
int gn_balance_is_skewed(const struct gn_balance *b);

/* gn_balance_suits - whether a layout that was asked for hands this graph out by chunks. */
int gn_balance_suits(const struct gn_balance *b, enum gn_layout asked);

/*
 * gn_balance_place - copy the list to the machine and let the graph's launches use it.
 * @graph  gn_balance_remove before its machine is closed
 * Returns 0; -GN_ENOMEM; what the machine failed with.
 */
int gn_balance_place(const struct gn_balance *b, struct simt_machine *machine, struct gn_graph_arrays *graph,
                     struct gn_error *e);

/* gn_balance_remove - free the machine's list; a graph without one is fine. */
void gn_balance_remove(struct simt_machine *machine, struct gn_graph_arrays *graph);

/* gn_balance_fini - free the host's list; what is zeroed is fine. */
void gn_balance_fini(struct gn_balance *b);

#ifdef __cplusplus
}
#endif

#endif
