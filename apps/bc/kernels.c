/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Betweenness centrality by Brandes' two passes ("A faster algorithm for betweenness centrality", 2001). The
 * first goes level by level from the source and counts shortest paths; the second goes back, and gives each
 * vertex its part of what its successors carry. Lists are read as graph/scan_visit.h says.
 *
 * The dependency of u is paths[u] times the sum of (1 + dependency[v]) / paths[v] over its successors v. So a
 * vertex keeps that quotient, and an edge costs one load of it.
 */
#define GN_READ_MISSES_CALL /* several reads in a kernel: one copy of a miss */
#include "kernels.h"

#include "graph/scan_visit.h"
#include "graph/state_device.h"

/* A lane's view of the job. */
struct walker {
	const struct gn_bc_args *a;
	struct gn_scan_reader graph;
	int any; /* as of state_device.h */
};

SIMT_INLINE_FN struct walker walker_init(const struct gn_bc_args *a, const int any)
{
	struct walker w;

	w.a = a;
	w.graph = gn_scan_reader_init(&a->scan, 0, any);
	w.any = any;
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

/*
 * Each lane has a value for its vertex, or for GN_BC_NONE; lanes of one vertex lie side by side, and one of
 * them adds the sum.
 */
SIMT_INLINE_FN void add_by_vertex(const struct walker *w, uint32_t warp, uint32_t vertex, double value)
{
	const uint32_t lane = simt_lane(), width = simt_warp_width();
	const uint32_t behind = simt_shfl_u32(warp, vertex, lane + 1 < width ? lane + 1 : lane);

	for (uint32_t step = 1; step < width; step *= 2) {
		const uint32_t from = lane >= step ? lane - step : lane;
		const double before = value_of(simt_shfl_u64(warp, bits_of(value), from));

		if (simt_shfl_u32(warp, vertex, from) == vertex && lane >= step)
			value += before;
	}
	if ((lane + 1 == width || behind != vertex) && value != 0)
		gn_state_add_f64(&w->a->share, w->any, vertex, value);
}

/* ---- edges ---- */

SIMT_INLINE_FN uint32_t depth_of(const struct gn_bc_args *a, uint32_t vertex, const int any)
{
	return gn_state_load_u32(&a->depth, any, vertex);
}

/* One lane: does an edge lead to the next level? *found: the lane was the first to see the vertex. */
SIMT_INLINE_FN int reaches(const struct gn_bc_args *a, uint32_t vertex, int *found, const int any)
{
	const uint32_t none = (uint32_t)GN_BC_NONE;
	const uint32_t depth = depth_of(a, vertex, any);

	*found = depth == none && gn_state_cas_u32(&a->depth, any, vertex, none, a->at + 1) == none;
	return depth == none || depth == a->at + 1;
}

/* One lane: where does its edge lead? Returns 0 if it has none, or none to a vertex. */
SIMT_INLINE_FN int end_of(struct walker *w, const struct gn_scan_edge *mine, uint32_t *to)
{
	*to = mine->is ? gn_scan_neighbour(&w->graph, mine->edge) : 0;
	return mine->is && gn_scan_is_vertex(&w->a->scan, *to);
}

SIMT_INLINE_FN void forward_round(void *job, uint32_t warp, struct gn_scan_edge mine)
{
	struct walker *w = (struct walker *)job;
	const struct gn_bc_args *a = w->a;
	uint64_t place;
	uint32_t to;
	int found = 0;

	if (end_of(w, &mine, &to) && reaches(a, to, &found, w->any))
		gn_state_add_f64(&a->paths, w->any, to, gn_state_get_f64(&a->paths, w->any, mine.vertex));
	place = gn_scan_place(&a->scan, warp, found);
	if (found)
		gn_state_set_u32(&a->order, w->any, a->next + place, to);
}

SIMT_FN void forward_part(void *job, uint32_t warp, struct gn_scan_part part)
{
	gn_scan_rounds(job, warp, part, forward_round);
}

SIMT_INLINE_FN void backward_round(void *job, uint32_t warp, struct gn_scan_edge mine)
{
	struct walker *w = (struct walker *)job;
	uint32_t to;
	const int is_successor = end_of(w, &mine, &to) && depth_of(w->a, to, w->any) == w->a->at + 1;

	add_by_vertex(w, warp, mine.is ? mine.vertex : (uint32_t)GN_BC_NONE,
	              is_successor ? gn_state_get_f64(&w->a->share, w->any, to) : 0);
}

SIMT_FN void backward_part(void *job, uint32_t warp, struct gn_scan_part part)
{
	gn_scan_rounds(job, warp, part, backward_round);
}

/* Items are entries of the level, or, in a launch by chunks of edges, any vertex. */
SIMT_FN int is_listed(const struct walker *w)
{
	return w->graph.handing == GN_SCAN_BY_VERTEX;
}

/* Of any vertex those of the level have work. */
SIMT_INLINE_FN int wants(void *job, uint64_t item)
{
	const struct walker *w = (const struct walker *)job;

	return is_listed(w) || depth_of(w->a, (uint32_t)item, w->any) == w->a->at;
}

SIMT_INLINE_FN struct gn_scan_part list_of(void *job, uint64_t item)
{
	struct walker *w = (struct walker *)job;
	const uint32_t vertex =
	    is_listed(w) ? gn_state_get_u32(&w->a->order, w->any, w->a->level + item) : (uint32_t)item;
	const struct gn_scan_part part = {
	    gn_scan_first_chunk(&w->graph, vertex, gn_scan_list(&w->graph, vertex)), vertex, 0};

	return part;
}

SIMT_INLINE_FN void fetch(void *job, uint64_t edge)
{
	gn_scan_neighbour(&((struct walker *)job)->graph, edge);
}

SIMT_FN uint32_t no_value(void *job, uint32_t vertex)
{
	(void)job;
	(void)vertex;
	return 0;
}

/* ---- kernels ---- */

SIMT_INLINE_FN void forward_lists(const struct gn_bc_args *a, const int any,
                                  const enum gn_scan_handing handing)
{
	struct walker w = walker_init(a, any);

	w.graph.handing = handing;
	gn_scan_visit_all(&a->scan, &w.graph, &w, wants, list_of, fetch, forward_part, forward_round);
	gn_scan_reader_end(&w.graph);
}
GN_SCAN_LISTS_KERNEL(gn_bc_forward, forward_lists, struct gn_bc_args, GN_SCAN_BY_CHUNK)

SIMT_INLINE_FN void forward_chunks(const struct gn_bc_args *a, const int any)
{
	struct walker w = walker_init(a, any);

	gn_scan_visit_chunks(&a->scan, &w, no_value, forward_part);
	gn_scan_reader_end(&w.graph);
}
GN_SCAN_KERNEL(gn_bc_forward_chunks, forward_chunks, struct gn_bc_args)

SIMT_INLINE_FN void backward_lists(const struct gn_bc_args *a, const int any,
                                   const enum gn_scan_handing handing)
{
	struct walker w = walker_init(a, any);

	w.graph.handing = handing;
	gn_scan_visit_all(&a->scan, &w.graph, &w, wants, list_of, fetch, backward_part, backward_round);
	gn_scan_reader_end(&w.graph);
}
GN_SCAN_LISTS_KERNEL(gn_bc_backward, backward_lists, struct gn_bc_args, GN_SCAN_BY_CHUNK)

SIMT_INLINE_FN void backward_chunks(const struct gn_bc_args *a, const int any)
{
	struct walker w = walker_init(a, any);

	gn_scan_visit_chunks(&a->scan, &w, no_value, backward_part);
	gn_scan_reader_end(&w.graph);
}
GN_SCAN_KERNEL(gn_bc_backward_chunks, backward_chunks, struct gn_bc_args)

SIMT_INLINE_FN void clear(const struct gn_bc_args *a, const int any)
{
	for (uint64_t v = simt_global_thread(); v < a->scan.graph.vertices; v += simt_global_threads()) {
		const int is_source = v == a->source;

		gn_state_set_u32(&a->depth, any, v, is_source ? 0 : (uint32_t)GN_BC_NONE);
		gn_state_set_f64(&a->paths, any, v, is_source ? 1 : 0);
		gn_state_set_f64(&a->share, any, v, 0);
		if (is_source)
			gn_state_set_u32(&a->order, any, 0, a->source);
	}
}
GN_SCAN_KERNEL(gn_bc_clear, clear, struct gn_bc_args)

/* Beyond 2^1000 paths a quotient may be smaller than a double can hold exactly. */
SIMT_INLINE_FN void settle(const struct gn_bc_args *a, const int any)
{
	for (uint64_t k = simt_global_thread(); k < a->scan.item_count; k += simt_global_threads()) {
		const uint32_t v = gn_state_get_u32(&a->order, any, a->level + k);
		const double paths = gn_state_get_f64(&a->paths, any, v),
		             dependency = paths * gn_state_get_f64(&a->share, any, v);

		gn_state_set_f64(&a->score, any, v, gn_state_get_f64(&a->score, any, v) + dependency);
		gn_state_set_f64(&a->share, any, v, (1 + dependency) / paths);
		if (!(paths <= 0x1p1000))
			simt_reduce_add_relaxed_dev_u64(&a->scan.shared->found, 1);
	}
}
GN_SCAN_KERNEL(gn_bc_settle, settle, struct gn_bc_args)

SIMT_FN void gn_bc_have_edges(const struct gn_bc_args *a)
{
	const struct gn_scan_reader r = gn_scan_reader_init(&a->scan, 0, 0);

	for (uint64_t k = simt_global_thread(); k < GN_BC_CANDIDATES; k += simt_global_threads())
		a->candidates[k] = gn_scan_degree(&r, a->candidates[k]) != 0;
}
SIMT_KERNEL(gn_bc_have_edges, struct gn_bc_args)
