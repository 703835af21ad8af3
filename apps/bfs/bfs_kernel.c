/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search, level by level, a warp for up to as many vertices as it has lanes.
 *
 * depth[v] is GN_BFS_NONE until v is reached. A warp takes vertices of the frontier. Its lanes read the
 * offsets of one vertex each, and then scan the edges of all these vertices side by side: most adjacency
 * lists are shorter than a warp (Merrill, Garland and Grimshaw, "Scalable GPU graph traversal", 2012, section
 * 5.1, gather by prefix sums). The thread that changes a depth from none to level + 1 puts the vertex into
 * the next frontier. A frontier that holds many of all vertices is not taken from its list but found by going
 * over the depths: in the order of the vertices their adjacency lists lie side by side, and each page is
 * fetched once for all of them. A vertex of high degree is scanned for one chunk; the rest becomes ranges
 * that all warps share in a second kernel, so that one hub does not hold up a level (BaM section 4.4 runs the
 * same search on its arrays).
 */
#include "bfs_kernel.h"

/* Where a lane reads the graph, through arrays or on plain pointers, and what it has seen. */
struct reader {
	const struct gn_bfs_args *a;
	struct gn_cursor neighbours; /* adjacency lists lie side by side; offsets are read at random */
	uint64_t edges;              /* of the vertices whose offsets this lane has read */
	int plain;
};

SIMT_FN struct reader reader_init(const struct gn_bfs_args *a, const int plain)
{
	struct reader r;

	r.a = a;
	r.neighbours = gn_cursor_init(&a->neighbours);
	r.edges = 0;
	r.plain = plain;
	return r;
}

SIMT_FN void reader_end(struct reader *r)
{
	if (!r->plain)
		gn_cursor_end(&r->neighbours);
	if (r->edges)
		simt_reduce_add_relaxed_dev_u64(&r->a->shared->edges, r->edges);
}

SIMT_FN uint64_t read_offset(const struct reader *r, uint64_t vertex)
{
	return r->plain ? r->a->plain_offsets[vertex] : gn_read_u64(&r->a->offsets, vertex);
}

SIMT_FN uint32_t read_neighbour(struct reader *r, uint64_t edge)
{
	return r->plain ? r->a->plain_neighbours[edge] : gn_cursor_read_u32(&r->neighbours, edge);
}

SIMT_FN void report(const struct gn_bfs_args *a, uint32_t fault, uint32_t vertex)
{
	if (!simt_cas_relaxed_dev_u32(&a->shared->fault, GN_BFS_SOUND, fault))
		a->shared->fault_vertex = vertex;
}

/* Is this the first time the neighbour is seen? */
SIMT_FN int discover(const struct gn_bfs_args *a, uint32_t vertex)
{
	const uint32_t none = (uint32_t)GN_BFS_NONE;

	if (vertex >= a->vertices) {
		report(a, GN_BFS_BAD_NEIGHBOUR, vertex);
		return 0;
	}
	return simt_load_relaxed_dev_u32(&a->depth[vertex]) == none &&
	       simt_cas_relaxed_dev_u32(&a->depth[vertex], none, a->level + 1) == none;
}

/* The lanes that found a vertex reserve places together. */
SIMT_FN void append(const struct gn_bfs_args *a, uint32_t warp, int found, uint32_t vertex)
{
	const uint32_t finders = simt_ballot(warp, found);
	uint64_t first = 0;

	if (!finders)
		return;
	if (simt_lane() == simt_first_lane(finders))
		first = simt_add_relaxed_dev_u64(&a->shared->next_count, simt_popcount(finders));
	first = simt_shfl_u64(warp, first, simt_first_lane(finders));
	if (found)
		a->next[first + simt_rank(finders)] = vertex;
}

/* All lanes of the warp, those without an edge too. */
SIMT_FN void visit(struct reader *r, uint32_t warp, int has_edge, uint64_t edge)
{
	const uint32_t vertex = has_edge ? read_neighbour(r, edge) : 0;

	append(r->a, warp, has_edge && discover(r->a, vertex), vertex);
}

/* All lanes of the warp scan edges begin to end - 1. */
SIMT_FN void scan(struct reader *r, uint32_t warp, uint64_t begin, uint64_t end)
{
	for (uint64_t edge = begin; edge < end; edge += simt_warp_width())
		visit(r, warp, edge + simt_lane() < end, edge + simt_lane());
}

/* The sum of the values of the caller's lane and of those before it. */
SIMT_FN uint32_t sum_up_to_lane(uint32_t warp, uint32_t value)
{
	const uint32_t lane = simt_lane();

	for (uint32_t step = 1; step < simt_warp_width(); step *= 2) {
		const uint32_t before = simt_shfl_u32(warp, value, lane >= step ? lane - step : lane);

		value += lane >= step ? before : 0;
	}
	return value;
}

/* The lane that has item k: lane l has those from up_to of the lane before it to its own up_to - 1. */
SIMT_FN uint32_t owner_of(uint32_t warp, uint32_t up_to, uint32_t k)
{
	uint32_t lane = 0;

	for (uint32_t step = simt_warp_width() / 2; step; step /= 2)
		lane += simt_shfl_u32(warp, up_to, lane + step - 1) <= k ? step : 0;
	return lane;
}

/* Each lane has edges, or none; all lanes of the warp scan all of them. */
SIMT_FN void scan_together(struct reader *r, uint32_t warp, struct gn_bfs_range edges)
{
	const uint32_t width = simt_warp_width(),
	               up_to = sum_up_to_lane(warp, (uint32_t)(edges.end - edges.begin));
	const uint32_t all = simt_shfl_u32(warp, up_to, width - 1);

	for (uint32_t first = 0; first < all; first += width) {
		const uint32_t k = first + simt_lane(), owner = owner_of(warp, up_to, k);
		const uint64_t behind = simt_shfl_u64(warp, edges.end, owner);

		visit(r, warp, k < all, behind - (simt_shfl_u32(warp, up_to, owner) - k));
	}
}

/* The same where at most one lane has any: there is nothing to divide. */
SIMT_FN void scan_alone(struct reader *r, uint32_t warp, struct gn_bfs_range edges, uint32_t owner)
{
	scan(r, warp, simt_shfl_u64(warp, edges.begin, owner), simt_shfl_u64(warp, edges.end, owner));
}

/*
 * Leave edges begin to end - 1 to the second kernel, in chunks. Sound offsets never need more than there is.
 */
SIMT_FN void leave(const struct gn_bfs_args *a, uint32_t vertex, uint64_t begin, uint64_t end)
{
	const uint64_t chunks = (end - begin + GN_BFS_CHUNK - 1) / GN_BFS_CHUNK;
	uint64_t at = simt_add_relaxed_dev_u64(&a->shared->range_count, chunks);

	if (at + chunks > a->range_capacity) {
		report(a, GN_BFS_BAD_OFFSETS, vertex);
		return;
	}
	for (; begin < end; begin += GN_BFS_CHUNK, at++) {
		a->ranges[at].begin = begin;
		a->ranges[at].end = begin + GN_BFS_CHUNK < end ? begin + GN_BFS_CHUNK : end;
	}
}

/*
 * One lane: the edges of a vertex that the warp is to scan; what a vertex of high degree has beyond is left
 * as ranges.
 */
SIMT_FN struct gn_bfs_range edges_of(struct reader *r, uint32_t vertex)
{
	const struct gn_bfs_args *a = r->a;
	struct gn_bfs_range edges = {read_offset(r, vertex), read_offset(r, (uint64_t)vertex + 1)};

	/* Both are 0 when they could not be read; the array has the failure. */
	if (edges.begin > edges.end || edges.end > a->edges) {
		report(a, GN_BFS_BAD_OFFSETS, vertex);
		edges.end = edges.begin;
		return edges;
	}
	r->edges += edges.end - edges.begin;
	if (edges.end - edges.begin > GN_BFS_CHUNK) {
		leave(a, vertex, edges.begin + GN_BFS_CHUNK, edges.end);
		edges.end = edges.begin + GN_BFS_CHUNK;
	}
	return edges;
}

/* The warp's next items: first to first + batch - 1. */
SIMT_FN uint64_t take(const struct gn_bfs_args *a, uint32_t warp)
{
	uint64_t first = 0;

	if (simt_lane() == 0)
		first = simt_add_relaxed_dev_u64(&a->shared->taken, a->batch);
	return simt_shfl_u64(warp, first, 0);
}

SIMT_FN uint32_t whole_warp(void)
{
	return simt_warp_width() == 32 ? 0xffffffffu : (1u << simt_warp_width()) - 1;
}

/*
 * The vertex of item k, if there is work for it: an entry of the frontier's list, or any vertex of this
 * level.
 */
SIMT_FN int vertex_of(const struct gn_bfs_args *a, uint64_t k, uint32_t *vertex)
{
	*vertex = a->dense ? (uint32_t)k : a->frontier[k];
	return !a->dense || simt_load_relaxed_dev_u32(&a->depth[k]) == a->level;
}

/* Items begin to end - 1: each lane looks at one. */
SIMT_FN void expand_items(struct reader *r, uint32_t warp, uint64_t begin, uint64_t end)
{
	for (uint64_t k = begin; k < end; k += simt_warp_width()) {
		const uint64_t mine = k + simt_lane();
		struct gn_bfs_range edges = {0, 0};
		uint32_t vertex, owners;

		if (mine < end && vertex_of(r->a, mine, &vertex))
			edges = edges_of(r, vertex);
		owners = simt_ballot(warp, edges.begin < edges.end);
		if (owners & (owners - 1))
			scan_together(r, warp, edges);
		else
			scan_alone(r, warp, edges, owners ? simt_first_lane(owners) : 0);
	}
}

SIMT_FN void expand(const struct gn_bfs_args *a, const int plain)
{
	const uint32_t warp = whole_warp();
	struct reader r = reader_init(a, plain);

	for (uint64_t at = take(a, warp); at < a->item_count; at = take(a, warp))
		expand_items(&r, warp, at, at + a->batch < a->item_count ? at + a->batch : a->item_count);
	reader_end(&r);
}

SIMT_FN void scan_ranges(const struct gn_bfs_args *a, const int plain)
{
	const uint32_t warp = whole_warp();
	struct reader r = reader_init(a, plain);

	for (uint64_t at = take(a, warp); at < a->item_count; at = take(a, warp))
		for (uint64_t k = at; k < at + a->batch && k < a->item_count; k++)
			scan(&r, warp, a->ranges[k].begin, a->ranges[k].end);
	reader_end(&r);
}

SIMT_FN void gn_bfs_expand(const struct gn_bfs_args *a)
{
	expand(a, 0);
}
SIMT_KERNEL(gn_bfs_expand, struct gn_bfs_args)

SIMT_FN void gn_bfs_ranges(const struct gn_bfs_args *a)
{
	scan_ranges(a, 0);
}
SIMT_KERNEL(gn_bfs_ranges, struct gn_bfs_args)

SIMT_FN void gn_bfs_expand_plain(const struct gn_bfs_args *a)
{
	expand(a, 1);
}
SIMT_KERNEL(gn_bfs_expand_plain, struct gn_bfs_args)

SIMT_FN void gn_bfs_ranges_plain(const struct gn_bfs_args *a)
{
	scan_ranges(a, 1);
}
SIMT_KERNEL(gn_bfs_ranges_plain, struct gn_bfs_args)
