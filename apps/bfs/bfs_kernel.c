/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search, level by level, a warp a vertex.
 *
 * depth[v] is GN_BFS_NONE until v is reached. A warp takes vertices of the frontier, its lanes scan the
 * neighbours side by side, and whoever changes a depth from none to level + 1 puts the vertex into the next
 * frontier. A frontier that holds many of all vertices is not taken from its list but found by going over the
 * depths: in the order of the vertices their adjacency lists lie side by side, and each page is fetched once for all
 * of them. A vertex of high degree is scanned for one chunk; the rest becomes ranges that all warps share in a
 * second kernel, so that one hub does not hold up a level (BaM section 4.4 runs the same search on its arrays).
 */
#include "bfs_kernel.h"

/* Where a warp's lanes read the graph: through arrays, or on plain pointers. */
struct reader {
	const struct gn_bfs_args *a;
	struct gn_cursor neighbours; /* a warp walks along adjacency lists; offsets are read at random */
	int plain;
};

SIMT_FN struct reader reader_init(const struct gn_bfs_args *a, const int plain)
{
	struct reader r;

	r.a = a;
	r.plain = plain;
	r.neighbours = gn_cursor_init(&a->neighbours);
	return r;
}

SIMT_FN void reader_end(struct reader *r)
{
	if (!r->plain)
		gn_cursor_end(&r->neighbours);
}

SIMT_FN uint64_t read_offset(struct reader *r, uint64_t vertex)
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

/* All lanes of the warp scan edges begin to end - 1. */
SIMT_FN void scan(struct reader *r, uint32_t warp, uint64_t begin, uint64_t end)
{
	for (uint64_t edge = begin; edge < end; edge += simt_warp_width()) {
		uint64_t mine = edge + simt_lane();
		uint32_t vertex = mine < end ? read_neighbour(r, mine) : 0;

		append(r->a, warp, mine < end && discover(r->a, vertex), vertex);
	}
}

/* Leave edges begin to end - 1 to the second kernel, in chunks. Sound offsets never need more than there is. */
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

SIMT_FN void expand_vertex(struct reader *r, uint32_t warp, uint32_t vertex)
{
	const struct gn_bfs_args *a = r->a;
	const uint64_t begin = read_offset(r, vertex);
	const uint64_t end = read_offset(r, (uint64_t)vertex + 1);
	const uint64_t first = end - begin > GN_BFS_CHUNK ? begin + GN_BFS_CHUNK : end;

	/* Both are 0 when they could not be read; the array has the failure. */
	if (begin > end || end > a->edges) {
		report(a, GN_BFS_BAD_OFFSETS, vertex);
		return;
	}
	if (simt_lane() == 0) {
		simt_reduce_add_relaxed_dev_u64(&a->shared->edges, end - begin);
		if (first != end)
			leave(a, vertex, first, end);
	}
	scan(r, warp, begin, first);
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

/* The vertex of item k, if there is work for it: an entry of the frontier's list, or any vertex of this level. */
SIMT_FN int vertex_of(const struct gn_bfs_args *a, uint64_t k, uint32_t *vertex)
{
	*vertex = a->dense ? (uint32_t)k : a->frontier[k];
	return !a->dense || simt_load_relaxed_dev_u32(&a->depth[k]) == a->level;
}

/* Items begin to end - 1: the lanes look at one each, the warp works on those that have work. */
SIMT_FN void expand_items(struct reader *r, uint32_t warp, uint64_t begin, uint64_t end)
{
	for (uint64_t k = begin; k < end; k += simt_warp_width()) {
		const uint64_t mine = k + simt_lane();
		uint32_t vertex = 0;
		uint32_t ready = simt_ballot(warp, mine < end && vertex_of(r->a, mine, &vertex));

		for (; ready; ready &= ready - 1)
			expand_vertex(r, warp, simt_shfl_u32(warp, vertex, simt_first_lane(ready)));
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
