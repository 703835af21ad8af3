/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triangles u > v > w, each at the edge from u to v. Neighbours ascend, so those of u that are below v stand
 * before v in u's list, and nothing is searched to know where they end. The elements of the shorter list, of
 * these and the neighbours of v, are looked for in the longer one. So a hub costs no more than the lists of
 * its neighbours (Chiba and Nishizeki, "Arboricity and subgraph listing algorithms", 1985). A warp takes as
 * many edges as it has lanes; the elements of all their shorter lists are then shared out among all lanes.
 */
#include "kernels.h"

#include "graph/scan_device.h"

/* A lane's view of the job. */
struct worker {
	const struct gn_tc_args *a;
	struct gn_scan_reader graph;
	struct gn_cursor longer; /* where it looks for elements */
	uint64_t triangles, looked_up;
};

/* Of one edge: what is looked for in which list. Only elements less than `below` can be in both lists. */
struct task {
	struct gn_scan_edges shorter, longer;
	uint32_t below;
};

SIMT_INLINE_FN struct worker worker_init(const struct gn_tc_args *a, const int any)
{
	struct worker w;

	w.a = a;
	w.graph = gn_scan_reader_init(&a->scan, 0, any);
	w.longer = gn_cursor_init(&a->scan.graph.neighbours);
	w.triangles = 0;
	w.looked_up = 0;
	return w;
}

SIMT_INLINE_FN void worker_end(struct worker *w)
{
	gn_scan_reader_end(&w->graph);
	gn_cursor_end(&w->longer);
	if (w->triangles)
		simt_reduce_add_relaxed_dev_u64(&w->a->scan.shared->found, w->triangles);
	if (w->looked_up)
		simt_reduce_add_relaxed_dev_u64(w->a->looked_up, w->looked_up);
}

SIMT_FN uint64_t length(struct gn_scan_edges list)
{
	return list.end - list.begin;
}

SIMT_INLINE_FN int is_in(struct worker *w, struct gn_scan_edges list, uint32_t vertex)
{
	while (list.begin < list.end) {
		const uint64_t middle = list.begin + length(list) / 2;
		const uint32_t there = gn_scan_read(&w->a->scan, &w->longer, middle, w->graph.any);

		if (there == vertex)
			return 1;
		if (there < vertex)
			list.begin = middle + 1;
		else
			list.end = middle;
	}
	return 0;
}

/* Element i of the list that begins at begin is equal to the one before it: an edge that is there twice. */
SIMT_INLINE_FN int is_again(struct worker *w, uint64_t begin, uint64_t i, uint32_t vertex)
{
	return i > begin && gn_scan_neighbour(&w->graph, i - 1) == vertex;
}

/* One lane: element i of the task's shorter list. */
SIMT_INLINE_FN void look_up(struct worker *w, struct task t, uint64_t i)
{
	const uint32_t vertex = gn_scan_neighbour(&w->graph, i);

	w->looked_up++;
	if (vertex < t.below && is_in(w, t.longer, vertex) && !is_again(w, t.shorter.begin, i, vertex))
		w->triangles++;
}

SIMT_FN struct task task_none(void)
{
	const struct task t = {{0, 0}, {0, 0}, 0};

	return t;
}

/* Every edge is compared with the one before it, so that a list that does not ascend is noticed. */
SIMT_INLINE_FN int is_ascending(struct worker *w, uint32_t u, uint64_t begin, uint64_t edge, uint32_t v)
{
	if (edge == begin || gn_scan_neighbour(&w->graph, edge - 1) <= v)
		return 1;
	gn_scan_report(&w->a->scan, GN_SCAN_UNSORTED, u);
	return 0;
}

/* One lane: an edge of u, whose list begins at begin. None if it is no edge to a smaller vertex, or is again.
 */
SIMT_INLINE_FN struct task task_of(struct worker *w, uint32_t u, uint64_t begin, uint64_t edge)
{
	const uint32_t v = gn_scan_neighbour(&w->graph, edge);
	const struct gn_scan_edges before = {begin, edge};
	struct gn_scan_edges list;
	struct task t = task_none();

	if (!gn_scan_is_vertex(&w->a->scan, v) || !is_ascending(w, u, begin, edge, v))
		return t;
	if (v >= u || edge == begin || is_again(w, begin, edge, v))
		return t;
	list = gn_scan_list(&w->graph, v);
	t.shorter = length(before) <= length(list) ? before : list;
	t.longer = length(before) <= length(list) ? list : before;
	t.below = v;
	return t;
}

/* What lane `owner` passed. */
SIMT_FN struct gn_scan_edges edges_from(uint32_t warp, struct gn_scan_edges mine, uint32_t owner)
{
	const struct gn_scan_edges theirs = {simt_shfl_u64(warp, mine.begin, owner),
	                                     simt_shfl_u64(warp, mine.end, owner)};

	return theirs;
}

/* Each lane has a task. All lanes look up `share` elements of each, those from `done` on. */
SIMT_INLINE_FN void share_out(struct worker *w, uint32_t warp, struct task mine, uint64_t done,
                              uint32_t share)
{
	const uint32_t width = simt_warp_width(), up_to = gn_scan_sum_up_to_lane(warp, share);
	const uint32_t all = simt_shfl_u32(warp, up_to, width - 1);

	for (uint32_t first = 0; first < all; first += width) {
		const uint32_t k = first + simt_lane(), owner = gn_scan_owner_of(warp, up_to, k);
		const uint64_t behind = simt_shfl_u64(warp, mine.shorter.begin + done + share, owner);
		const uint32_t left = simt_shfl_u32(warp, up_to, owner) - k;
		struct task t;

		t.shorter = edges_from(warp, mine.shorter, owner);
		t.longer = edges_from(warp, mine.longer, owner);
		t.below = simt_shfl_u32(warp, mine.below, owner);
		if (k < all)
			look_up(w, t, behind - left);
	}
}

/* Each lane has a task, or an empty one. */
SIMT_INLINE_FN void look_up_together(struct worker *w, uint32_t warp, struct task mine)
{
	uint64_t done = 0;

	while (simt_ballot(warp, done < length(mine.shorter))) {
		const uint64_t left = length(mine.shorter) - done;
		const uint32_t share = left < GN_TC_PIECE ? (uint32_t)left : (uint32_t)GN_TC_PIECE;

		share_out(w, warp, mine, done, share);
		done += share;
	}
}

/* Lane l has edges of vertex first + l, from the begin of its list on, or none. */
SIMT_INLINE_FN void visit_together(struct worker *w, uint32_t warp, uint32_t first,
                                   struct gn_scan_edges edges)
{
	const uint32_t width = simt_warp_width(),
	               up_to = gn_scan_sum_up_to_lane(warp, (uint32_t)length(edges));
	const uint32_t all = simt_shfl_u32(warp, up_to, width - 1);

	for (uint32_t begin = 0; begin < all; begin += width) {
		const uint32_t k = begin + simt_lane(), owner = gn_scan_owner_of(warp, up_to, k);
		const struct gn_scan_edges list = edges_from(warp, edges, owner);
		const uint32_t left = simt_shfl_u32(warp, up_to, owner) - k;
		struct task mine = task_none();

		if (k < all)
			mine = task_of(w, first + owner, list.begin, list.end - left);
		look_up_together(w, warp, mine);
	}
}

/* Vertices begin to end - 1: each lane has one. */
SIMT_INLINE_FN void visit_vertices(struct worker *w, uint32_t warp, uint64_t begin, uint64_t end)
{
	for (uint64_t first = begin; first < end; first += simt_warp_width()) {
		const uint64_t mine = first + simt_lane();
		struct gn_scan_edges edges = {0, 0};

		if (mine < end)
			edges = gn_scan_first_chunk(&w->graph, (uint32_t)mine,
			                            gn_scan_list(&w->graph, (uint32_t)mine));
		visit_together(w, warp, (uint32_t)first, edges);
	}
}

SIMT_INLINE_FN void count_lists(const struct gn_tc_args *a, const int any)
{
	const uint32_t warp = simt_whole_warp();
	const struct gn_scan *s = &a->scan;
	struct worker w = worker_init(a, any);
	struct gn_scan_taken t;

	while (gn_scan_take(s, warp, s->batch, &t))
		visit_vertices(&w, warp, t.begin, t.end);
	worker_end(&w);
}
GN_SCAN_KERNEL(gn_tc_count, count_lists, struct gn_tc_args)

/* All lanes of the warp: each takes an edge of the chunk. */
SIMT_INLINE_FN void visit_chunk(struct worker *w, uint32_t warp, const struct gn_scan_chunk *chunk)
{
	const uint64_t begin = gn_scan_offset(&w->graph, chunk->vertex);

	for (uint32_t k = 0; k < chunk->edges; k += simt_warp_width()) {
		const uint32_t edge = k + simt_lane();
		struct task mine = task_none();

		if (edge < chunk->edges)
			mine = task_of(w, chunk->vertex, begin, chunk->begin + edge);
		look_up_together(w, warp, mine);
	}
}

SIMT_INLINE_FN void count_chunks(const struct gn_tc_args *a, const int any)
{
	const uint32_t warp = simt_whole_warp();
	const struct gn_scan *s = &a->scan;
	struct worker w = worker_init(a, any);
	struct gn_scan_taken t;

	while (gn_scan_take(s, warp, s->chunk_batch, &t))
		for (uint64_t k = t.begin; k < t.end; k++)
			visit_chunk(&w, warp, &s->chunks[k]);
	worker_end(&w);
}
GN_SCAN_KERNEL(gn_tc_count_chunks, count_chunks, struct gn_tc_args)
