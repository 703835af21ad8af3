/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortest paths with a near and a far pile. A round reads the lists of the near pile's vertices; a length
 * that becomes less below the border puts its vertex into the next near pile. When that is empty the border
 * moves. The far pile is no list: its vertices are found by going over the lengths, in the order in which
 * their adjacency lists lie in the store.
 */
#define GN_READ_MISSES_CALL /* several reads in a kernel: one copy of a miss */
#include "sssp/kernels.h"

#include <string.h>

#include "graph/graph.h"
#include "graph/scan_visit.h"
#include "graph/state_device.h"
#include "sssp/weights.h"

/* A lane's view of a round. */
struct worker {
	const struct gn_sssp_args *a;
	struct gn_scan_reader graph;
	struct gn_cursor weights;
	uint32_t least; /* of what this lane put into the far pile */
	uint64_t reached, edges;
	int any; /* as of state_device.h */
};

SIMT_INLINE_FN struct worker worker_init(const struct gn_sssp_args *a, const int any)
{
	struct worker w;

	w.a = a;
	w.graph = gn_scan_reader_init(&a->scan, 0, any);
	w.weights = gn_cursor_init(&a->scan.graph.weights);
	w.least = a->none;
	w.reached = 0;
	w.edges = 0;
	w.any = any;
	return w;
}

SIMT_INLINE_FN void worker_end(struct worker *w)
{
	struct gn_sssp_counts *c = w->a->counts;

	gn_scan_reader_end(&w->graph);
	if (w->a->scan.graph.weight)
		gn_cursor_end(&w->weights);
	if (w->least < simt_load_relaxed_dev_u32(&c->least))
		simt_reduce_min_relaxed_dev_u32(&c->least, w->least);
	if (!w->reached)
		return;
	simt_reduce_add_relaxed_dev_u64(&c->reached, w->reached);
	simt_reduce_add_relaxed_dev_u64(&c->edges, w->edges);
}

SIMT_INLINE_FN uint32_t length_of(const struct gn_sssp_args *a, uint32_t vertex, const int any)
{
	return gn_state_load_u32(&a->length, any, vertex);
}

/* ---- lengths of edges ---- */

SIMT_FN int is_sound(uint32_t kind, uint32_t weight)
{
	/* of an f32: below infinity, or minus zero */
	return kind == GN_WEIGHT_F32 ? weight < 0x7f800000u || weight == 0x80000000u : !(weight >> 31);
}

SIMT_FN uint32_t sum_f32(uint32_t length, uint32_t weight)
{
	float a, b;

	memcpy(&a, &length, sizeof a);
	memcpy(&b, &weight, sizeof b);
	a += b;
	memcpy(&length, &a, sizeof length);
	return length;
}

/* The length of a way with one more edge, at most the limit. */
SIMT_FN uint32_t sum(const struct gn_sssp_args *a, uint32_t length, uint32_t weight)
{
	uint64_t both = (uint64_t)length + weight;

	if (a->scan.graph.weight == GN_WEIGHT_F32)
		both = sum_f32(length, weight);
	return both < a->limit ? (uint32_t)both : a->limit;
}

/* The way through an edge to another vertex; none if the weight is no length. */
SIMT_INLINE_FN uint32_t way_through(struct worker *w, const struct gn_scan_edge *e, uint32_t to)
{
	const struct gn_sssp_args *a = w->a;
	const uint32_t kind = a->scan.graph.weight;
	uint32_t weight;

	if (kind == GN_WEIGHT_NONE)
		return sum(a, e->value, sssp_drawn(e->vertex, to, a->most));
	weight = gn_cursor_read_u32(&w->weights, e->edge);
	if (is_sound(kind, weight))
		return sum(a, e->value, weight);
	gn_scan_report(&a->scan, GN_SCAN_BAD_WEIGHT, e->vertex);
	return a->none;
}

/* ---- piles ---- */

/* Is this the first time that the vertex is put into the next near pile? */
SIMT_INLINE_FN int is_new(const struct gn_sssp_args *a, uint32_t vertex, const int any)
{
	const uint32_t before = gn_state_load_u32(&a->mark, any, vertex);

	return before != a->round && gn_state_cas_u32(&a->mark, any, vertex, before, a->round) == before;
}

/* One lane: follow an edge. Is its end to be put into the next near pile? */
SIMT_INLINE_FN int follow(struct worker *w, const struct gn_scan_edge *e, uint32_t *to)
{
	const struct gn_sssp_args *a = w->a;
	uint32_t way;

	*to = gn_scan_neighbour(&w->graph, e->edge);
	if (!gn_scan_is_vertex(&a->scan, *to))
		return 0;
	way = way_through(w, e, *to);
	if (way >= length_of(a, *to, w->any) || way >= gn_state_min_u32(&a->length, w->any, *to, way))
		return 0;
	if (way < a->border)
		return is_new(a, *to, w->any);
	w->least = way < w->least ? way : w->least;
	return 0;
}

/* ---- a round ---- */

SIMT_INLINE_FN void relax_round(void *job, uint32_t warp, struct gn_scan_edge mine)
{
	struct worker *w = (struct worker *)job;
	uint32_t to = 0;
	const int found = mine.is && follow(w, &mine, &to);

	gn_scan_append(&w->a->scan, warp, found, w->a->next, w->a->capacity, to);
}

SIMT_FN void relax_part(void *job, uint32_t warp, struct gn_scan_part part)
{
	gn_scan_rounds(job, warp, part, relax_round);
}

SIMT_INLINE_FN uint32_t vertex_of(const struct gn_sssp_args *a, uint64_t item)
{
	return a->dense ? (uint32_t)item : a->list[item];
}

/* Is the vertex in the near pile? */
SIMT_INLINE_FN int wants(void *job, uint64_t item)
{
	const struct worker *w = (const struct worker *)job;
	const uint32_t vertex = vertex_of(w->a, item), length = length_of(w->a, vertex, w->any);

	return length < w->a->border && length < gn_state_get_u32(&w->a->read, w->any, vertex);
}

/* What a round reads of an edge: its end, and its weight if that is not drawn. */
SIMT_INLINE_FN void fetch(void *job, uint64_t edge)
{
	struct worker *w = (struct worker *)job;

	gn_scan_neighbour(&w->graph, edge);
	if (w->a->scan.graph.weight != GN_WEIGHT_NONE)
		gn_cursor_read_u32(&w->weights, edge);
}

SIMT_INLINE_FN struct gn_scan_part list_of(void *job, uint64_t item)
{
	struct worker *w = (struct worker *)job;
	const struct gn_sssp_args *a = w->a;
	const uint32_t vertex = vertex_of(a, item);
	struct gn_scan_part part = {{0, 0}, vertex, length_of(a, vertex, w->any)};
	const uint32_t before = gn_state_get_u32(&a->read, w->any, vertex);

	gn_state_set_u32(&a->read, w->any, vertex, part.value);
	part.edges = gn_scan_list(&w->graph, vertex);
	if (before == a->none) {
		w->reached++;
		w->edges += part.edges.end - part.edges.begin;
	}
	part.edges = gn_scan_first_chunk(&w->graph, vertex, part.edges);
	return part;
}

/* A length that has become less meanwhile is as good: the vertex is in a pile again. */
SIMT_INLINE_FN uint32_t value_of(void *job, uint32_t vertex)
{
	const struct worker *w = (const struct worker *)job;

	return length_of(w->a, vertex, w->any);
}

/* A round asks for each list at most once. A length that became less since `wants` looked is in time. */
SIMT_INLINE_FN void relax_lists(const struct gn_sssp_args *a, const int any,
                                const enum gn_scan_handing handing)
{
	struct worker w = worker_init(a, any);

	w.graph.handing = handing;
	gn_scan_visit_all(&a->scan, &w.graph, &w, wants, list_of, fetch, relax_part, relax_round);
	worker_end(&w);
}
GN_SCAN_LISTS_KERNEL(gn_sssp_relax, relax_lists, struct gn_sssp_args, GN_SCAN_BY_START)

SIMT_INLINE_FN void relax_chunks(const struct gn_sssp_args *a, const int any)
{
	struct worker w = worker_init(a, any);

	gn_scan_visit_chunks(&a->scan, &w, value_of, relax_part);
	worker_end(&w);
}
GN_SCAN_KERNEL(gn_sssp_relax_chunks, relax_chunks, struct gn_sssp_args)

/* ---- between the steps ---- */

/* Warps go round all vertices together: lanes put vertices into the list in their order. */
SIMT_INLINE_FN void split(const struct gn_sssp_args *a, const int any)
{
	const uint32_t warp = simt_whole_warp();
	const uint64_t vertices = a->scan.graph.vertices;
	uint32_t least = a->none;

	for (uint64_t first = simt_global_thread() - simt_lane(); first < vertices;
	     first += simt_global_threads()) {
		const uint64_t v = first + simt_lane();
		const uint32_t length = v < vertices ? length_of(a, (uint32_t)v, any) : a->none;
		const int waits = v < vertices && length < gn_state_get_u32(&a->read, any, v);

		gn_scan_append(&a->scan, warp, waits && length < a->border, a->next, a->capacity,
		               (uint32_t)v);
		if (waits && length >= a->border && length < least)
			least = length;
	}
	if (least < a->none)
		simt_reduce_min_relaxed_dev_u32(&a->counts->least, least);
}
GN_SCAN_KERNEL(gn_sssp_split, split, struct gn_sssp_args)

/* Fibonacci hashing, as in cc: products with 2^64 divided by the golden ratio are spread evenly. */
SIMT_FN void gn_sssp_sample(const struct gn_sssp_args *a)
{
	for (uint64_t k = simt_global_thread(); k < GN_SSSP_SAMPLES; k += simt_global_threads()) {
		const uint64_t spread = (k + 1) * 0x9e3779b97f4a7c15u >> 32;
		const uint64_t edges = a->scan.graph.edges;
		/* below edges, which may be more than 2^32 */
		const uint64_t edge = (spread * (edges >> 32)) + (spread * (edges & 0xffffffffu) >> 32);

		a->sample[k] = gn_read_u32(&a->scan.graph.weights, edge);
	}
}
SIMT_KERNEL(gn_sssp_sample, struct gn_sssp_args)
