/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a direction-optimising search that go bottom-up (Beamer, Asanovic and Patterson,
 * "Direction-Optimizing Breadth-First Search", 2012): each vertex without a depth looks through its list for
 * a neighbour in the frontier, and stops at the first. So a step reads few edges where the frontier is large.
 *
 * A warp takes up to as many words of the bitmap as it has lanes, and goes over their open vertices, one a
 * lane: where few are open, those of several words together. A miss takes as long for one lane as for all.
 * The warp writes its words of the next frontier without an atomic. A lane reads the first edges of its
 * vertex by itself, since most vertices find a parent there. Then all lanes read what is left of one list
 * after the other, so that a warp does not wait for the lane with the longest list. Where a whole chunk had
 * no parent, the rest is put aside for all warps.
 */
#define GN_READ_MISSES_CALL /* several reads in a kernel: one copy of a miss */
#include "bfs_kernel.h"

#include "graph/scan_device.h"
#include "graph/state_device.h"

/* A lane's view of the step. */
struct seeker {
	const struct gn_bfs_args *a;
	struct gn_scan_reader graph;
	uint64_t found;
	int any; /* as of state_device.h */
};

SIMT_INLINE_FN struct seeker seeker_init(const struct gn_bfs_args *a, const int any)
{
	struct seeker s;

	s.a = a;
	s.graph = gn_scan_reader_init(&a->scan, 0, any);
	s.found = 0;
	s.any = any;
	return s;
}

SIMT_INLINE_FN void seeker_end(struct seeker *s)
{
	gn_scan_reader_end(&s->graph);
	if (s->found)
		simt_reduce_add_relaxed_dev_u64(&s->a->scan.shared->found, s->found);
}

SIMT_INLINE_FN uint32_t depth_of(const struct gn_bfs_args *a, uint64_t vertex, const int any)
{
	return gn_state_load_u32(&a->depth, any, vertex);
}

/* One lane: does this edge lead to the frontier? */
SIMT_INLINE_FN int leads_to_frontier(struct seeker *s, uint64_t edge)
{
	const uint32_t neighbour = gn_scan_neighbour(&s->graph, edge);

	s->graph.edges++;
	return gn_scan_is_vertex(&s->a->scan, neighbour) &&
	       s->a->frontier_bits[neighbour / simt_warp_width()] >> neighbour % simt_warp_width() & 1;
}

/* One lane: a parent among the list's first edges; begin goes behind those that were read. */
SIMT_INLINE_FN int seek_alone(struct seeker *s, struct gn_scan_edges *list)
{
	const uint64_t left = list->end - list->begin;
	const uint64_t end = list->begin + (left < GN_BFS_ALONE ? left : (uint64_t)GN_BFS_ALONE);

	while (list->begin < end)
		if (leads_to_frontier(s, list->begin++))
			return 1;
	return 0;
}

/* All lanes of the warp look for a parent among edges begin to end - 1, and stop at the first. */
SIMT_INLINE_FN int seek_together(struct seeker *s, uint32_t warp, uint64_t begin, uint64_t end)
{
	for (; begin < end; begin += simt_warp_width()) {
		const uint64_t edge = begin + simt_lane();

		if (simt_ballot(warp, edge < end && leads_to_frontier(s, edge)))
			return 1;
	}
	return 0;
}

/*
 * All lanes of the warp: a parent in what is left of one lane's list. All pass the same edges. What is behind
 * a chunk without one is put aside.
 */
SIMT_INLINE_FN int seek_rest(struct seeker *s, uint32_t warp, uint32_t vertex, struct gn_scan_edges list)
{
	const uint64_t end = gn_scan_cut(&s->graph, list);

	if (seek_together(s, warp, list.begin, end))
		return 1;
	if (end < list.end && simt_lane() == 0)
		gn_scan_put_aside(&s->a->scan, vertex, end, list.end);
	return 0;
}

/* Each lane has what is left of its vertex's list, or nothing: did it find a parent? */
SIMT_INLINE_FN int seek_rests(struct seeker *s, uint32_t warp, uint32_t vertex, struct gn_scan_edges list)
{
	int found = 0;

	for (uint32_t left = simt_ballot(warp, list.begin < list.end); left; left &= left - 1) {
		const uint32_t owner = simt_first_lane(left);
		const struct gn_scan_edges theirs = {simt_shfl_u64(warp, list.begin, owner),
		                                     simt_shfl_u64(warp, list.end, owner)};
		const int has_parent = seek_rest(s, warp, simt_shfl_u32(warp, vertex, owner), theirs);

		found |= has_parent && simt_lane() == owner;
	}
	return found;
}

/*
 * All lanes of the warp, each for one vertex, those past the last vertex too: was a parent found?
 * @open  1: look at the vertex. Receives whether the next step is to look at it
 */
SIMT_INLINE_FN int seek(struct seeker *s, uint32_t warp, uint64_t vertex, int *open)
{
	struct gn_scan_edges list = {0, 0};
	int found = 0, has_edges;

	if (*open && vertex < s->a->scan.graph.vertices &&
	    depth_of(s->a, vertex, s->any) == (uint32_t)GN_BFS_NONE)
		list = gn_scan_list(&s->graph, (uint32_t)vertex);
	has_edges = list.begin < list.end;
	found = seek_alone(s, &list);
	if (found)
		list.begin = list.end;
	found |= seek_rests(s, warp, (uint32_t)vertex, list);
	if (found)
		gn_state_store_u32(&s->a->depth, s->any, vertex, s->a->level + 1);
	*open = has_edges && !found;
	return found;
}

/* Chunks of several warps may be of one vertex, and several vertices of one word. */
SIMT_INLINE_FN void adopt(struct seeker *s, uint32_t vertex)
{
	const uint32_t none = (uint32_t)GN_BFS_NONE;

	if (gn_state_cas_u32(&s->a->depth, s->any, vertex, none, s->a->level + 1) != none)
		return;
	simt_reduce_or_relaxed_dev_u32(&s->a->next_bits[vertex / simt_warp_width()],
	                               1u << vertex % simt_warp_width());
	s->found++;
}

/* All lanes of the warp: another chunk of the vertex may have had a parent by now. */
SIMT_INLINE_FN void seek_chunk(struct seeker *s, uint32_t warp, const struct gn_scan_chunk *chunk)
{
	const int open = simt_lane() == 0 && depth_of(s->a, chunk->vertex, s->any) == (uint32_t)GN_BFS_NONE;

	if (simt_ballot(warp, open) && seek_together(s, warp, chunk->begin, chunk->begin + chunk->edges) &&
	    simt_lane() == 0)
		adopt(s, chunk->vertex);
}

/* A lane's word of the bitmaps: vertices to look at, those that stay open, and those that found a parent. */
struct word {
	uint32_t open, left, found;
};

/* All lanes of the warp: the open vertices of all their words, as many at a time as there are lanes. */
SIMT_INLINE_FN void seek_open(struct seeker *s, uint32_t warp, uint64_t first, struct word *w)
{
	const uint32_t width = simt_warp_width(), mine = simt_popcount(w->open);
	const uint32_t up_to = gn_scan_sum_up_to_lane(warp, mine),
	               all = simt_shfl_u32(warp, up_to, width - 1);

	for (uint32_t at = 0; at < all; at += width) {
		const uint32_t k = at + simt_lane(), owner = gn_scan_owner_of(warp, up_to, k);
		const uint32_t bits = simt_shfl_u32(warp, w->open, owner);
		const uint32_t before = simt_shfl_u32(warp, up_to - mine, owner);
		const uint32_t bit = k < all ? gn_scan_nth_bit(bits, k - before) : 0;
		int open = k < all;
		const int found = seek(s, warp, (first + owner) * width + bit, &open);

		for (uint32_t some = simt_ballot(warp, found || open); some; some &= some - 1) {
			const uint32_t lane = simt_first_lane(some), to = simt_shfl_u32(warp, owner, lane);
			const uint32_t is = 1u << simt_shfl_u32(warp, bit, lane);
			const int has_parent = simt_shfl_u32(warp, (uint32_t)found, lane) != 0;

			w->found |= has_parent && simt_lane() == to ? is : 0;
			w->left |= !has_parent && simt_lane() == to ? is : 0;
		}
	}
}

/* All lanes of the warp: words first to end - 1, at most one a lane. */
SIMT_INLINE_FN void seek_words(struct seeker *s, uint32_t warp, uint64_t first, uint64_t end)
{
	const struct gn_bfs_args *a = s->a;
	const uint64_t own = first + simt_lane();
	struct word w = {0, 0, 0};

	if (own < end)
		w.open = a->all_open ? 0xffffffffu >> (32 - simt_warp_width()) : a->open_bits[own];
	seek_open(s, warp, first, &w);
	if (own < end) {
		a->next_bits[own] = w.found;
		a->open_bits[own] = w.left;
		s->found += simt_popcount(w.found);
	}
}

SIMT_INLINE_FN void parents(const struct gn_bfs_args *a, const int any)
{
	const uint32_t warp = simt_whole_warp(), width = simt_warp_width();
	struct seeker s = seeker_init(a, any);
	struct gn_scan_taken t;

	while (gn_scan_take(&a->scan, warp, a->scan.batch, &t))
		for (uint64_t word = t.begin; word < t.end; word += width)
			seek_words(&s, warp, word, t.end - word < width ? t.end : word + width);
	seeker_end(&s);
}
GN_SCAN_KERNEL(gn_bfs_parents, parents, struct gn_bfs_args)

SIMT_INLINE_FN void parents_chunks(const struct gn_bfs_args *a, const int any)
{
	const uint32_t warp = simt_whole_warp();
	struct seeker s = seeker_init(a, any);
	struct gn_scan_taken t;

	while (gn_scan_take(&a->scan, warp, a->scan.chunk_batch, &t))
		for (uint64_t k = t.begin; k < t.end; k++)
			seek_chunk(&s, warp, &a->scan.chunks[k]);
	seeker_end(&s);
}
GN_SCAN_KERNEL(gn_bfs_parents_chunks, parents_chunks, struct gn_bfs_args)

SIMT_INLINE_FN void mark(const struct gn_bfs_args *a, const int any)
{
	const uint32_t warp = simt_whole_warp();
	struct gn_scan_taken t;

	while (gn_scan_take(&a->scan, warp, a->scan.batch, &t))
		for (uint64_t word = t.begin; word < t.end; word++) {
			const uint64_t vertex = word * simt_warp_width() + simt_lane();
			const uint32_t bits = simt_ballot(warp, vertex < a->scan.graph.vertices &&
			                                            depth_of(a, vertex, any) == a->level);

			if (simt_lane() == 0)
				a->frontier_bits[word] = bits;
		}
}
GN_SCAN_KERNEL(gn_bfs_mark, mark, struct gn_bfs_args)
