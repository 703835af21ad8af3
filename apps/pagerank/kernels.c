/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PageRank. Shares are whole numbers (ranks.h), so they may be added in any order: by a warp in its registers
 * (pull), or by atomic additions (push).
 */
#define GN_READ_MISSES_CALL /* several reads in a kernel: one copy of a miss */
#include "pagerank/kernels.h"

#include "graph/scan_visit.h"
#include "graph/state_device.h"
#include "pagerank/ranks.h"

/* A lane's view of a launch. */
struct worker {
	const struct gn_pagerank_args *a;
	struct gn_scan_reader graph;
	int any; /* as of state_device.h */
};

SIMT_INLINE_FN struct worker worker_init(const struct gn_pagerank_args *a, const int any)
{
	struct worker w;

	w.a = a;
	w.graph = gn_scan_reader_init(&a->scan, 0, any);
	w.any = any;
	return w;
}

SIMT_INLINE_FN struct gn_scan_part list_of(void *job, uint64_t item)
{
	struct worker *w = (struct worker *)job;
	const uint32_t vertex = (uint32_t)item;
	const struct gn_scan_part part = {
	    gn_scan_first_chunk(&w->graph, vertex, gn_scan_list(&w->graph, vertex)), vertex, 0};

	return part;
}

SIMT_FN uint32_t no_value(void *job, uint32_t vertex)
{
	(void)job;
	(void)vertex;
	return 0;
}

/* ---- pull ---- */

/*
 * So many edges of a lane are read by one call, and their shares are loaded side by side. On the cpu machine
 * no other warp runs while a lane waits for a load.
 */
enum { TOGETHER = SIMT_ON_CUDA ? 1 : 8 };

/* What comes along an edge to the vertex that has it in its list. */
SIMT_INLINE_FN uint64_t share_from(struct worker *w, uint64_t edge)
{
	const uint32_t from = gn_scan_neighbour(&w->graph, edge);

	return gn_scan_is_vertex(&w->a->scan, from) ? gn_state_get_u64(&w->a->share, w->any, from) : 0;
}

/* The sum of all lanes' values, in lane 0. */
SIMT_FN uint64_t sum_of_warp(uint32_t warp, uint64_t value)
{
	const uint32_t lane = simt_lane();

	for (uint32_t step = simt_warp_width() / 2; step; step /= 2)
		value += simt_shfl_u64(warp, value, lane + step < simt_warp_width() ? lane + step : lane);
	return value;
}

/* The sum of the values of this lane and of those behind it whose key is the same; equal keys are together.
 */
SIMT_FN uint64_t sum_of_equals(uint32_t warp, uint32_t key, uint64_t value)
{
	const uint32_t lane = simt_lane(), width = simt_warp_width();

	for (uint32_t step = 1; step < width; step *= 2) {
		const uint32_t from = lane + step < width ? lane + step : lane;
		const uint64_t behind = simt_shfl_u64(warp, value, from);
		const uint32_t its_key = simt_shfl_u32(warp, key, from);

		value += from != lane && its_key == key ? behind : 0;
	}
	return value;
}

/* The first of the lanes with a vertex adds what has come for it. */
SIMT_INLINE_FN void pull_round(void *job, uint32_t warp, struct gn_scan_edge mine)
{
	struct worker *w = (struct worker *)job;
	const uint32_t key = mine.is ? mine.vertex : 0xffffffffu;
	const uint64_t sum = sum_of_equals(warp, key, mine.is ? share_from(w, mine.edge) : 0);
	const uint32_t before = simt_shfl_u32(warp, key, simt_lane() ? simt_lane() - 1 : 0);

	if (mine.is && (simt_lane() == 0 || before != key) && sum)
		gn_state_add_u64(&w->a->come, w->any, key, sum);
}

/* What comes along as many edges of the caller's lane. */
SIMT_INLINE_FN uint64_t shares_from(struct worker *w, uint64_t edge, uint32_t stride)
{
	uint32_t from[TOGETHER];
	uint64_t sum = 0;

	gn_scan_neighbours(&w->graph, edge, stride, TOGETHER, from);
	SIMT_UNROLL
	for (uint32_t k = 0; k < TOGETHER; k++)
		sum += gn_scan_is_vertex(&w->a->scan, from[k])
		           ? gn_state_get_u64(&w->a->share, w->any, from[k])
		           : 0;
	return sum;
}

SIMT_INLINE_FN void pull_part(void *job, uint32_t warp, struct gn_scan_part part)
{
	struct worker *w = (struct worker *)job;
	const uint32_t width = simt_warp_width();
	uint64_t edge = part.edges.begin - part.edges.begin % width + simt_lane(), sum = 0;

	while (TOGETHER > 1 && edge >= part.edges.begin && edge + (TOGETHER - 1) * width < part.edges.end) {
		sum += shares_from(w, edge, width);
		edge += TOGETHER * width;
	}
	for (; edge < part.edges.end; edge += width)
		sum += edge >= part.edges.begin ? share_from(w, edge) : 0;
	sum = sum_of_warp(warp, sum);
	if (simt_lane() == 0 && sum)
		gn_state_add_u64(&w->a->come, w->any, part.vertex, sum);
}

SIMT_INLINE_FN void pull_lists(const struct gn_pagerank_args *a, const int any,
                               const enum gn_scan_handing handing)
{
	struct worker w = worker_init(a, any);

	w.graph.handing = handing;
	gn_scan_visit_all(&a->scan, &w.graph, &w, gn_scan_always, list_of, NULL, pull_part, pull_round);
	gn_scan_reader_end(&w.graph);
}
GN_SCAN_LISTS_KERNEL(gn_pagerank_pull, pull_lists, struct gn_pagerank_args, GN_SCAN_BY_CHUNK)

SIMT_INLINE_FN void pull_chunks(const struct gn_pagerank_args *a, const int any)
{
	struct worker w = worker_init(a, any);

	gn_scan_visit_chunks(&a->scan, &w, no_value, pull_part);
	gn_scan_reader_end(&w.graph);
}
GN_SCAN_KERNEL(gn_pagerank_pull_chunks, pull_chunks, struct gn_pagerank_args)

/* ---- push ---- */

SIMT_INLINE_FN void push_round(void *job, uint32_t warp, struct gn_scan_edge mine)
{
	struct worker *w = (struct worker *)job;
	uint32_t to;

	(void)warp;
	if (!mine.is)
		return;
	to = gn_scan_neighbour(&w->graph, mine.edge);
	if (gn_scan_is_vertex(&w->a->scan, to))
		gn_state_add_u64(&w->a->come, w->any, to,
		                 gn_state_get_u64(&w->a->share, w->any, mine.vertex));
}

SIMT_FN void push_part(void *job, uint32_t warp, struct gn_scan_part part)
{
	gn_scan_rounds(job, warp, part, push_round);
}

SIMT_INLINE_FN void push_lists(const struct gn_pagerank_args *a, const int any,
                               const enum gn_scan_handing handing)
{
	struct worker w = worker_init(a, any);

	w.graph.handing = handing;
	gn_scan_visit_all(&a->scan, &w.graph, &w, gn_scan_always, list_of, NULL, push_part, push_round);
	gn_scan_reader_end(&w.graph);
}
GN_SCAN_LISTS_KERNEL(gn_pagerank_push, push_lists, struct gn_pagerank_args, GN_SCAN_BY_CHUNK)

SIMT_INLINE_FN void push_chunks(const struct gn_pagerank_args *a, const int any)
{
	struct worker w = worker_init(a, any);

	gn_scan_visit_chunks(&a->scan, &w, no_value, push_part);
	gn_scan_reader_end(&w.graph);
}
GN_SCAN_KERNEL(gn_pagerank_push_chunks, push_chunks, struct gn_pagerank_args)

/* ---- over all vertices ---- */

SIMT_INLINE_FN void degrees(const struct gn_pagerank_args *a, const int any)
{
	const struct gn_scan_reader graph = gn_scan_reader_init(&a->scan, 0, any);
	uint64_t widest = 0;

	for (uint64_t v = simt_global_thread(); v < a->scan.graph.vertices; v += simt_global_threads()) {
		const struct gn_scan_edges list = gn_scan_list(&graph, (uint32_t)v);
		const uint64_t degree = list.end - list.begin;

		gn_state_set_u32(&a->degree, any, v, (uint32_t)degree);
		widest = degree > widest ? degree : widest;
	}
	simt_reduce_max_relaxed_dev_u64(&a->counts->widest, widest);
}
GN_SCAN_KERNEL(gn_pagerank_degrees, degrees, struct gn_pagerank_args)

SIMT_INLINE_FN void take(const struct gn_pagerank_args *a, const int any)
{
	uint64_t moved = 0, given = 0;

	for (uint64_t v = simt_global_thread(); v < a->scan.graph.vertices; v += simt_global_threads()) {
		const uint64_t rank = gn_state_get_u64(&a->come, any, v) + a->base + (v < a->extra),
		               old = gn_state_get_u64(&a->rank, any, v);
		const uint32_t degree = gn_state_get_u32(&a->degree, any, v);
		const uint64_t share = pagerank_share(rank, degree);

		moved += rank > old ? rank - old : old - rank;
		gn_state_set_u64(&a->rank, any, v, rank);
		gn_state_set_u64(&a->share, any, v, share);
		gn_state_set_u64(&a->come, any, v, 0);
		given += share * degree;
	}
	moved = sum_of_warp(simt_whole_warp(), moved);
	given = sum_of_warp(simt_whole_warp(), given);
	if (simt_lane() == 0) {
		simt_reduce_add_relaxed_dev_u64(&a->counts->moved, moved);
		simt_reduce_add_relaxed_dev_u64(&a->counts->given, given);
	}
}
GN_SCAN_KERNEL(gn_pagerank_take, take, struct gn_pagerank_args)
