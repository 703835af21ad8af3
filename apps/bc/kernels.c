/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Betweenness centrality by Brandes' two passes ("A faster algorithm for betweenness centrality", 2001). The
 * first goes level by level from the source and counts shortest paths; the second goes back, and gives each
 * vertex its part of what its successors carry. Lists are read as graph/scan_device.h says.
 *
 * The dependency of u is paths[u] times the sum of (1 + dependency[v]) / paths[v] over its successors v. So a
 * vertex keeps that quotient, and an edge costs one load of it.
 */
#include "kernels.h"

#include "graph/scan_device.h"

/* A lane's view of the job. */
struct walker {
	const struct gn_bc_args *a;
	struct gn_scan_reader graph;
	int backward;
};

SIMT_FN struct walker walker_init(const struct gn_bc_args *a, const int backward)
{
	struct walker w;

	w.a = a;
	w.graph = gn_scan_reader_init(&a->scan, 0);
	w.backward = backward;
	return w;
}

/* ---- sums ---- */

SIMT_FN double value_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

SIMT_FN uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

/* Each lane has a value for its owner; lanes of one owner lie side by side, and one of them adds the sum. */
SIMT_FN void add_by_owner(const struct gn_bc_args *a, uint32_t warp, uint32_t owner, uint32_t vertex,
                          double value)
{
	const uint32_t lane = simt_lane(), width = simt_warp_width();
	const uint32_t behind = simt_shfl_u32(warp, owner, lane + 1 < width ? lane + 1 : lane);

	for (uint32_t step = 1; step < width; step *= 2) {
		const uint32_t from = lane >= step ? lane - step : lane;
		const double before = value_of(simt_shfl_u64(warp, bits_of(value), from));

		if (simt_shfl_u32(warp, owner, from) == owner && lane >= step)
			value += before;
	}
	if ((lane + 1 == width || behind != owner) && value != 0)
		simt_reduce_add_relaxed_dev_f64(&a->share[vertex], value);
}

/* ---- edges ---- */

SIMT_FN uint32_t depth_of(const struct gn_bc_args *a, uint32_t vertex)
{
	return simt_load_relaxed_dev_u32(&a->depth[vertex]);
}

/* One lane: does an edge lead to the next level? *found: the lane was the first to see the vertex. */
SIMT_FN int reaches(const struct gn_bc_args *a, uint32_t vertex, int *found)
{
	const uint32_t none = (uint32_t)GN_BC_NONE;
	const uint32_t depth = depth_of(a, vertex);

	*found = depth == none && simt_cas_relaxed_dev_u32(&a->depth[vertex], none, a->at + 1) == none;
	return depth == none || depth == a->at + 1;
}

/* All lanes of the warp, those without an edge too: the edge of a vertex, to a neighbour. */
SIMT_FN void go_forward(struct walker *w, uint32_t warp, int has_edge, uint32_t vertex, uint32_t neighbour)
{
	int found = 0;

	if (has_edge && reaches(w->a, neighbour, &found))
		simt_reduce_add_relaxed_dev_f64(&w->a->paths[neighbour], w->a->paths[vertex]);
	gn_scan_append(&w->a->scan, warp, found, w->a->next, neighbour);
}

SIMT_FN void go_back(struct walker *w, uint32_t warp, int has_edge, uint32_t owner, uint32_t vertex,
                     uint32_t neighbour)
{
	const int is_successor = has_edge && depth_of(w->a, neighbour) == w->a->at + 1;

	add_by_owner(w->a, warp, owner, vertex, is_successor ? w->a->share[neighbour] : 0);
}

/* Each lane has edges of its vertex, or none; all lanes of the warp go over all of them. */
SIMT_FN void walk(struct walker *w, uint32_t warp, uint32_t vertex, struct gn_scan_edges edges)
{
	const uint32_t width = simt_warp_width(),
	               up_to = gn_scan_sum_up_to_lane(warp, (uint32_t)(edges.end - edges.begin));
	const uint32_t all = simt_shfl_u32(warp, up_to, width - 1);

	for (uint32_t first = 0; first < all; first += width) {
		const uint32_t k = first + simt_lane(), owner = gn_scan_owner_of(warp, up_to, k);
		const uint64_t behind = simt_shfl_u64(warp, edges.end, owner);
		const uint32_t left = simt_shfl_u32(warp, up_to, owner) - k;
		const uint32_t from = simt_shfl_u32(warp, vertex, owner);
		const uint32_t to = k < all ? gn_scan_neighbour(&w->graph, behind - left) : 0;
		const int has_edge = k < all && gn_scan_is_vertex(&w->a->scan, to);

		if (w->backward)
			go_back(w, warp, has_edge, owner, from, to);
		else
			go_forward(w, warp, has_edge, from, to);
	}
}

/* ---- kernels ---- */

SIMT_FN void walk_level(const struct gn_bc_args *a, const int backward)
{
	const uint32_t warp = gn_scan_whole_warp();
	const struct gn_scan *s = &a->scan;
	struct walker w = walker_init(a, backward);

	for (uint64_t at = gn_scan_take(s, warp); at < s->item_count; at = gn_scan_take(s, warp))
		for (uint64_t k = at; k < gn_scan_taken_end(s, at); k += simt_warp_width()) {
			const uint64_t mine = k + simt_lane();
			const int has_vertex = mine < gn_scan_taken_end(s, at);
			const uint32_t vertex = has_vertex ? a->level[mine] : 0;
			struct gn_scan_edges edges = {0, 0};

			if (has_vertex)
				edges = gn_scan_first_chunk(&w.graph, vertex, gn_scan_list(&w.graph, vertex));
			walk(&w, warp, vertex, edges);
		}
	gn_scan_reader_end(&w.graph);
}

SIMT_FN void walk_chunks(const struct gn_bc_args *a, const int backward)
{
	const uint32_t warp = gn_scan_whole_warp();
	const struct gn_scan *s = &a->scan;
	struct walker w = walker_init(a, backward);

	for (uint64_t at = gn_scan_take(s, warp); at < s->item_count; at = gn_scan_take(s, warp))
		for (uint64_t k = at; k < gn_scan_taken_end(s, at); k++) {
			const struct gn_scan_chunk *chunk = &s->chunks[k];
			struct gn_scan_edges edges = {0, 0};

			if (simt_lane() == 0) {
				edges.begin = chunk->begin;
				edges.end = chunk->begin + chunk->edges;
			}
			walk(&w, warp, chunk->vertex, edges);
		}
	gn_scan_reader_end(&w.graph);
}

SIMT_FN void gn_bc_forward(const struct gn_bc_args *a)
{
	walk_level(a, 0);
}
SIMT_KERNEL(gn_bc_forward, struct gn_bc_args)

SIMT_FN void gn_bc_forward_chunks(const struct gn_bc_args *a)
{
	walk_chunks(a, 0);
}
SIMT_KERNEL(gn_bc_forward_chunks, struct gn_bc_args)

SIMT_FN void gn_bc_backward(const struct gn_bc_args *a)
{
	walk_level(a, 1);
}
SIMT_KERNEL(gn_bc_backward, struct gn_bc_args)

SIMT_FN void gn_bc_backward_chunks(const struct gn_bc_args *a)
{
	walk_chunks(a, 1);
}
SIMT_KERNEL(gn_bc_backward_chunks, struct gn_bc_args)

SIMT_FN void gn_bc_clear(const struct gn_bc_args *a)
{
	for (uint64_t v = simt_global_thread(); v < a->scan.graph.vertices; v += simt_global_threads()) {
		a->depth[v] = (uint32_t)GN_BC_NONE;
		a->paths[v] = 0;
		a->share[v] = 0;
	}
}
SIMT_KERNEL(gn_bc_clear, struct gn_bc_args)

/* Beyond 2^1000 paths a quotient may be smaller than a double can hold exactly. */
SIMT_FN void gn_bc_settle(const struct gn_bc_args *a)
{
	for (uint64_t k = simt_global_thread(); k < a->scan.item_count; k += simt_global_threads()) {
		const uint32_t v = a->level[k];
		const double paths = a->paths[v], dependency = paths * a->share[v];

		a->score[v] += dependency;
		a->share[v] = (1 + dependency) / paths;
		if (!(paths <= 0x1p1000))
			simt_reduce_add_relaxed_dev_u64(&a->scan.shared->found, 1);
	}
}
SIMT_KERNEL(gn_bc_settle, struct gn_bc_args)

SIMT_FN void gn_bc_have_edges(const struct gn_bc_args *a)
{
	const struct gn_scan_reader r = gn_scan_reader_init(&a->scan, 0);

	for (uint64_t k = simt_global_thread(); k < GN_BC_CANDIDATES; k += simt_global_threads())
		a->candidates[k] = gn_scan_degree(&r, a->candidates[k]) != 0;
}
SIMT_KERNEL(gn_bc_have_edges, struct gn_bc_args)
