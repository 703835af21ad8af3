/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - kernels that go over adjacency lists: what they are given, and how the host launches them.
 *
 * A launch has items, such as the vertices whose lists are to be read. Warps take them in batches until none
 * is left. Of a long list a warp reads one chunk; the rest is put aside for a second launch, whose items are
 * the chunks that were put aside. Over all vertices there is another way, Balanced CSR (balance.h): the items
 * are chunks of the same number of edges. scan_device.h has the kernels' side.
 */
#ifndef GN_GRAPH_SCAN_H
#define GN_GRAPH_SCAN_H

#include <grapnel/simt.h>

#include "arrays.h"
#include "state.h"
#include "step.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	GN_SCAN_CHUNK = 1024, /* edges of a vertex that a warp reads in one go, unless the job says less */
	/* where a miss fetches a whole page: edges of so many pages, while each processor has so many chunks
	 */
	GN_SCAN_PAGES = 8,
	GN_SCAN_SHARE = 64,
	GN_SCAN_MOST = 65536, /* edges */
	GN_SCAN_SOUND = 0,
	GN_SCAN_BAD_OFFSETS = 1, /* offsets of a vertex decrease or reach past the edges */
	GN_SCAN_BAD_NEIGHBOUR = 2,
	GN_SCAN_BAD_WEIGHT = 3, /* an edge of a vertex has a weight that is less than 0 or no number */
	GN_SCAN_UNSORTED = 4    /* neighbours of a vertex do not ascend */
};

/* Edges of a vertex that were put aside. */
struct gn_scan_chunk {
	uint64_t begin;
	uint32_t edges; /* at most chunk_edges of the scan */
	uint32_t vertex;
};

/* Words that all warps share; each counter on a line of its own. */
struct gn_scan_shared {
	uint64_t taken; /* items that warps have taken */
	uint64_t pad_taken[15];
	uint64_t found; /* what the job counts: set to 0 by the job's host */
	uint64_t pad_found[15];
	uint64_t chunk_count; /* put aside */
	uint64_t pad_chunk[15];
	uint64_t ahead; /* what the job adds up beside found, such as edges of the vertices found: set to 0 by
	                   it */
	uint64_t pad_ahead[15];
	uint64_t edges; /* that were read, ever */
	uint32_t fault; /* GN_SCAN_*: the first thing wrong with the graph */
	uint32_t fault_vertex;
};

/* The first member of the arguments of such a kernel. */
struct gn_scan {
	struct gn_graph_arrays graph;
	struct gn_scan_chunk *chunks; /* [chunk_capacity] */
	uint64_t chunk_capacity;
	uint64_t item_count; /* of the launch at hand */
	struct gn_scan_shared *shared;
	uint32_t batch;       /* vertices, or what else the launch goes by, that a warp takes at once */
	uint32_t chunk_batch; /* chunks that it takes at once */
	uint32_t chunk_edges; /* what of a longer list is put aside, in chunks of so many */
};

/*
 * GN_SCAN_KERNEL, GN_SCAN_KERNEL_DECLARE - two kernels of one body(const argument type *, const int any).
 * `name`_kernel, any = 0, is for state in the machine's own memory and neighbours of 4 bytes, and nothing
 * else costs it anything; `name`_any_kernel, any = 1, looks where the state is and how wide a neighbour is.
 * GN_SCAN_KERNEL_FOR is the one that a scanner needs.
 */
#define GN_SCAN_KERNEL(name, body, argument_type)       \
	SIMT_FN void name(const argument_type *a)       \
	{                                               \
		body(a, 0);                             \
	}                                               \
	SIMT_KERNEL(name, argument_type)                \
	SIMT_FN void name##_any(const argument_type *a) \
	{                                               \
		body(a, 1);                             \
	}                                               \
	SIMT_KERNEL(name##_any, argument_type)
#define GN_SCAN_KERNEL_DECLARE(name) \
	SIMT_KERNEL_DECLARE(name);   \
	SIMT_KERNEL_DECLARE(name##_any)
#define GN_SCAN_KERNEL_FOR(scanner, name) ((scanner)->any ? &name##_any_kernel : &name##_kernel)

/*
 * How a launch over lists is handed out.
 *   BY_VERTEX  its items are what the job says, such as vertices
 *   BY_CHUNK   its items are chunks of edges. A list that reaches over several is looked at by the warps of
 *              all, each for its part; nothing is put aside
 *   BY_START   its items are chunks of edges. A list is looked at where it begins, so each just once; if
 *              a list is longer than a chunk, its edges in other chunks are put aside
 */
enum gn_scan_handing { GN_SCAN_BY_VERTEX, GN_SCAN_BY_CHUNK, GN_SCAN_BY_START };

/*
 * GN_SCAN_LISTS_KERNEL, GN_SCAN_LISTS_DECLARE - GN_SCAN_KERNEL for lists, of a body(const argument type *,
 * const int any, const enum gn_scan_handing), and one more for a graph that is balanced, which is handed out
 * as `handing` says. GN_SCAN_LISTS_FOR is the one that suits the graph, for a launch over all vertices; its
 * items are gn_scanner_items. GN_SCAN_KERNEL_FOR is by vertex.
 */
#define GN_SCAN_LISTS_KERNEL(name, body, argument_type, handing)                    \
	SIMT_INLINE_FN void name##_by_vertex(const argument_type *a, const int any) \
	{                                                                           \
		body(a, any, GN_SCAN_BY_VERTEX);                                    \
	}                                                                           \
	GN_SCAN_KERNEL(name, name##_by_vertex, argument_type)                       \
	SIMT_INLINE_FN void name##_by_edges(const argument_type *a, const int any)  \
	{                                                                           \
		body(a, any, handing);                                              \
	}                                                                           \
	GN_SCAN_KERNEL(name##_balanced, name##_by_edges, argument_type)
#define GN_SCAN_LISTS_DECLARE(name)   \
	GN_SCAN_KERNEL_DECLARE(name); \
	GN_SCAN_KERNEL_DECLARE(name##_balanced)
#define GN_SCAN_LISTS_FOR(scanner, name)                                    \
	((scanner)->balanced ? GN_SCAN_KERNEL_FOR(scanner, name##_balanced) \
	                     : GN_SCAN_KERNEL_FOR(scanner, name))

/* The host's side of a job. */
struct gn_scanner {
	struct simt_machine *machine;
	struct gn_graph_arrays *graph;
	const char *job; /* its name, for messages */
	struct simt_info info;
	struct gn_scan_shared shared; /* the host's copy between launches */
	int any;                      /* 1: state is far, or neighbours are wide */
	int balanced;                 /* 1: launches over all vertices go by chunks of edges */
	struct gn_state *state[GN_STATES];
	uint32_t states;
	uint64_t state_end; /* what of the place is taken */
	struct gn_graph_listener listener;
	double told_seconds; /* these two: when the last step had been told */
	uint64_t told_edges;
};

/*
 * gn_scanner_init - fill a job's host side and the first member of its kernels' arguments.
 * @graph  borrowed until gn_scanner_fini, as is job
 * A chunk has GN_SCAN_CHUNK edges. In a balanced graph it has as many as the graph's chunks have. If a miss
 * fetches a whole page, a chunk has the edges of several pages: the second launch fetches the first and the
 * last page of each chunk again, so few long chunks cost less. A chunk takes 16 bytes of the machine's
 * memory. Returns 0; -GN_ENOMEM with a message; what the cache of the graph's state failed with.
 */
int gn_scanner_init(struct gn_scanner *s, struct gn_scan *scan, struct simt_machine *machine,
                    struct gn_graph_arrays *graph, const char *job, struct gn_error *error);

/* gn_scanner_init_chunks - the same with chunks of fewer edges: 16 bytes for each so many edges. */
int gn_scanner_init_chunks(struct gn_scanner *s, struct gn_scan *scan, struct simt_machine *machine,
                           struct gn_graph_arrays *graph, const char *job, uint32_t chunk_edges,
                           struct gn_error *error);

/*
 * gn_scanner_share_pages - run so few warps that each has so many pages of the cache, if graph->pages is not
 * 0. Warps that take each other's pages away would fetch a page for nearly every element. init leaves each
 * warp a page of every array, unless the library chooses how neighbours are read; a job that needs more calls
 * it behind init.
 */
void gn_scanner_share_pages(struct gn_scanner *s, uint32_t pages_a_warp);

/* gn_scanner_fini - free what init and gn_state_init allocated, also after it failed; what is zeroed is fine.
 */
void gn_scanner_fini(const struct gn_scanner *s, struct gn_scan *scan);

/*
 * gn_scanner_run - one launch over items that reads no list, to its end.
 * @scan  the first member of the kernel's arguments
 * Returns 0, what the machine failed with, or why a word of state could not be read or written.
 */
int gn_scanner_run(struct gn_scanner *s, struct gn_scan *scan, const struct simt_kernel *kernel,
                   uint64_t items, struct gn_error *error);

/*
 * gn_scanner_lists - a launch over lists, and then one over the chunks that were put aside, if any. Where the
 * library chooses how the neighbours are read, it is asked before each, and looks back behind it.
 * @lists, @chunks  the kernels of the two launches
 * Returns 0; what the machine or gn_auto_adapt failed with; what an array could not read; -GN_EBADMSG for a
 * graph that is damaged: which vertex.
 */
int gn_scanner_lists(struct gn_scanner *s, struct gn_scan *scan, const struct simt_kernel *lists,
                     const struct simt_kernel *chunks, uint64_t items, struct gn_error *error);

/* gn_scanner_items - of a launch over all vertices: vertices, or chunks of a balanced graph. */
uint64_t gn_scanner_items(const struct gn_scanner *s, enum gn_scan_handing handing);

/* gn_scanner_listen - the first step begins now. @listener  is told the steps; what it points to is borrowed
 */
void gn_scanner_listen(struct gn_scanner *s, const struct gn_graph_listener *listener);

/*
 * gn_scanner_tell - a step has ended, and the next one begins.
 * @step  its edges and seconds are set here, the rest by the job
 * Returns 0, or what the listener returned.
 */
int gn_scanner_tell(struct gn_scanner *s, struct gn_graph_step *step, struct gn_error *error);

/* gn_scanner_clock - seconds of a clock that only goes forward. */
double gn_scanner_clock(void);

/* gn_scanner_machine - rc of a call of the machine as it is; if it is not 0, the job's name goes before the
 * message. */
int gn_scanner_machine(const struct gn_scanner *s, int rc, struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
