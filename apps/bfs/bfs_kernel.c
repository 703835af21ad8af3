/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search, level by level, a warp for up to as many vertices as it has lanes.
 *
 * depth[v] is GN_BFS_NONE until v is reached. A warp takes vertices of the frontier and reads their lists
 * side by side (graph/scan_device.h). The thread that changes a depth from none to level + 1 puts the vertex
 * into the next frontier. A frontier that holds many of all vertices is not taken from its list but found by
 * going over the depths: in the order of the vertices their adjacency lists lie side by side, and each page
 * is fetched once for all of them. What a long list has beyond one chunk is read by a second kernel (BaM
 * section 4.4 runs the same search on its arrays).
 */
#define GN_READ_MISSES_CALL /* several reads in a kernel: one copy of a miss */
#include "bfs_kernel.h"

#include "graph/scan_visit.h"
#include "graph/state_device.h"

/* A lane's view of the search. */
struct reader {
	const struct gn_bfs_args *a;
	struct gn_scan_reader graph;
	uint64_t ahead; /* edges of the vertices found, if they are counted */
	int count;
	int any; /* as of state_device.h */
};

SIMT_INLINE_FN struct reader reader_init(const struct gn_bfs_args *a, const int plain, const int count,
                                         const int any)
{
	struct reader r;

	r.a = a;
	r.graph = gn_scan_reader_init(&a->scan, plain, any);
	r.ahead = 0;
	r.count = count;
	r.any = any;
	return r;
}

SIMT_INLINE_FN void reader_end(struct reader *r)
{
	gn_scan_reader_end(&r->graph);
	if (r->count && r->ahead)
		simt_reduce_add_relaxed_dev_u64(&r->a->scan.shared->ahead, r->ahead);
}

/* Is this the first time the neighbour is seen? */
SIMT_INLINE_FN int discover(const struct gn_bfs_args *a, uint32_t vertex, const int any)
{
	const uint32_t none = (uint32_t)GN_BFS_NONE;

	return gn_scan_is_vertex(&a->scan, vertex) && gn_state_load_u32(&a->depth, any, vertex) == none &&
	       gn_state_cas_u32(&a->depth, any, vertex, none, a->level + 1) == none;
}

/* All lanes of the warp, those without an edge too. */
SIMT_INLINE_FN void visit(struct reader *r, uint32_t warp, int has_edge, uint64_t edge)
{
	const uint32_t vertex = has_edge ? gn_scan_neighbour(&r->graph, edge) : 0;
	const int found = has_edge && discover(r->a, vertex, r->any);

	if (r->count && found)
		r->ahead += gn_scan_degree(&r->graph, vertex);
	gn_scan_append(&r->a->scan, warp, found, r->a->next, r->a->capacity, vertex);
}

/* All lanes of the warp scan edges begin to end - 1, in rounds of whole lines (EMOGI, section 4.3). */
SIMT_INLINE_FN void scan(struct reader *r, uint32_t warp, uint64_t begin, uint64_t end)
{
	const uint32_t width = simt_warp_width();

	for (uint64_t edge = begin - begin % width + simt_lane(); edge - simt_lane() < end; edge += width)
		visit(r, warp, edge >= begin && edge < end, edge);
}

/* Each lane has edges, or none; all lanes of the warp scan all of them. */
SIMT_INLINE_FN void scan_together(struct reader *r, uint32_t warp, struct gn_scan_edges edges)
{
	const uint32_t width = simt_warp_width(),
	               up_to = gn_scan_sum_up_to_lane(warp, (uint32_t)(edges.end - edges.begin));
	const uint32_t all = simt_shfl_u32(warp, up_to, width - 1);

	for (uint32_t first = 0; first < all; first += width) {
		const uint32_t k = first + simt_lane(), owner = gn_scan_owner_of(warp, up_to, k);
		const uint64_t behind = simt_shfl_u64(warp, edges.end, owner);

		visit(r, warp, k < all, behind - (simt_shfl_u32(warp, up_to, owner) - k));
	}
}

/* The same where one lane has all: there is nothing to divide. */
SIMT_INLINE_FN void scan_alone(struct reader *r, uint32_t warp, struct gn_scan_edges edges, uint32_t owner)
{
	scan(r, warp, simt_shfl_u64(warp, edges.begin, owner), simt_shfl_u64(warp, edges.end, owner));
}

/* Is there work for item k: an entry of the frontier's list, or any vertex, and then one of this level? */
SIMT_INLINE_FN int wants(const struct gn_bfs_args *a, uint64_t k, const int any)
{
	return !a->dense || gn_state_load_u32(&a->depth, any, k) == a->level;
}

SIMT_INLINE_FN void fetch(void *job, uint64_t edge)
{
	gn_scan_neighbour(&((struct reader *)job)->graph, edge);
}

/* All lanes of the warp: the lists of gathered items. */
SIMT_INLINE_FN void expand_gathered(struct reader *r, uint32_t warp, const struct gn_scan_gathered *g)
{
	struct gn_scan_edges edges = {0, 0};
	uint32_t owners;

	if (simt_lane() < g->many) {
		const uint32_t vertex = r->a->dense ? (uint32_t)g->item : r->a->frontier[g->item];

		edges = gn_scan_first_chunk(&r->graph, vertex, gn_scan_list(&r->graph, vertex));
	}
	owners = simt_ballot(warp, edges.begin < edges.end);
	if (owners & (owners - 1)) {
		if (!r->graph.plain && gn_scan_is_scattered(&r->a->scan, warp, edges))
			gn_scan_fetch(&r->a->scan, r, warp, edges, fetch);
		scan_together(r, warp, edges);
	} else if (owners) {
		scan_alone(r, warp, edges, simt_first_lane(owners));
	}
}

/* All lanes of the warp: items begin to end - 1. */
SIMT_INLINE_FN void expand_items(struct reader *r, uint32_t warp, uint64_t begin, uint64_t end)
{
	struct gn_scan_gathered g = {0, 0};

	for (uint64_t first = begin;; first += simt_warp_width()) {
		const uint64_t k = first + simt_lane();
		const uint32_t wanted = simt_ballot(warp, k < end && wants(r->a, k, r->any));

		if (g.many && (first >= end || gn_scan_is_full(&g, wanted))) {
			expand_gathered(r, warp, &g);
			g.many = 0;
		}
		if (first >= end)
			return;
		gn_scan_gather(&g, first, wanted);
	}
}

/* Items begin to end - 1 of a launch by chunks of edges. */
SIMT_INLINE_FN void expand_edges(struct reader *r, uint32_t warp, uint64_t begin, uint64_t end)
{
	for (uint64_t item = begin; item < end; item++) {
		const struct gn_scan_vertices v = gn_scan_enter(&r->graph, item);

		expand_items(r, warp, v.begin, v.end);
	}
}

SIMT_INLINE_FN void expand(const struct gn_bfs_args *a, const int plain, const int count, const int any,
                           const enum gn_scan_handing handing)
{
	const uint32_t warp = simt_whole_warp();
	const int by_vertex = handing == GN_SCAN_BY_VERTEX;
	const struct gn_scan *s = &a->scan;
	struct reader r = reader_init(a, plain, count, any);
	struct gn_scan_taken t;

	r.graph.handing = handing;
	while (gn_scan_take(s, warp, by_vertex ? s->batch : s->chunk_batch, &t))
		if (by_vertex)
			expand_items(&r, warp, t.begin, t.end);
		else
			expand_edges(&r, warp, t.begin, t.end);
	reader_end(&r);
}

SIMT_INLINE_FN void scan_chunks(const struct gn_bfs_args *a, const int plain, const int count, const int any)
{
	const uint32_t warp = simt_whole_warp();
	const struct gn_scan *s = &a->scan;
	struct reader r = reader_init(a, plain, count, any);
	struct gn_scan_taken t;

	while (gn_scan_take(s, warp, s->chunk_batch, &t))
		for (uint64_t k = t.begin; k < t.end; k++)
			scan(&r, warp, s->chunks[k].begin, s->chunks[k].begin + s->chunks[k].edges);
	reader_end(&r);
}

SIMT_INLINE_FN void expand_lists(const struct gn_bfs_args *a, const int any,
                                 const enum gn_scan_handing handing)
{
	expand(a, 0, 0, any, handing);
}
GN_SCAN_LISTS_KERNEL(gn_bfs_expand, expand_lists, struct gn_bfs_args, GN_SCAN_BY_CHUNK)

SIMT_INLINE_FN void expand_chunks(const struct gn_bfs_args *a, const int any)
{
	scan_chunks(a, 0, 0, any);
}
GN_SCAN_KERNEL(gn_bfs_chunks, expand_chunks, struct gn_bfs_args)

SIMT_FN void gn_bfs_expand_plain(const struct gn_bfs_args *a)
{
	expand(a, 1, 0, 0, GN_SCAN_BY_VERTEX);
}
SIMT_KERNEL(gn_bfs_expand_plain, struct gn_bfs_args)

SIMT_FN void gn_bfs_chunks_plain(const struct gn_bfs_args *a)
{
	scan_chunks(a, 1, 0, 0);
}
SIMT_KERNEL(gn_bfs_chunks_plain, struct gn_bfs_args)

SIMT_INLINE_FN void expand_counted(const struct gn_bfs_args *a, const int any,
                                   const enum gn_scan_handing handing)
{
	expand(a, 0, 1, any, handing);
}
GN_SCAN_LISTS_KERNEL(gn_bfs_expand_counted, expand_counted, struct gn_bfs_args, GN_SCAN_BY_CHUNK)

SIMT_INLINE_FN void chunks_counted(const struct gn_bfs_args *a, const int any)
{
	scan_chunks(a, 0, 1, any);
}
GN_SCAN_KERNEL(gn_bfs_chunks_counted, chunks_counted, struct gn_bfs_args)
