/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connected components. The labels are a forest: label[v] is the vertex above v. A root is put below a
 * smaller root by compare-and-swap, so that no cycle comes about and no hook is lost. Lists are read as
 * graph/scan_visit.h says. An edge works in either direction, so one stored direction is enough.
 */
#define GN_READ_MISSES_CALL /* several reads in a kernel: one copy of a miss */
#include "kernels.h"

#include "graph/scan_visit.h"
#include "graph/state_device.h"

/* A lane's view of the job. */
struct worker {
	const struct gn_cc_args *a;
	struct gn_scan_reader graph;
	uint64_t hooks;
	int hook; /* 1: Shiloach and Vishkin's step, 0: Afforest's */
	int any;  /* as of state_device.h */
};

SIMT_INLINE_FN struct worker worker_init(const struct gn_cc_args *a, const int hook, const int any,
                                         const enum gn_scan_handing handing)
{
	struct worker w;

	w.a = a;
	w.graph = gn_scan_reader_init(&a->scan, 0, any);
	w.graph.handing = handing;
	w.hooks = 0;
	w.hook = hook;
	w.any = any;
	return w;
}

SIMT_INLINE_FN void worker_end(struct worker *w)
{
	gn_scan_reader_end(&w->graph);
	if (w->hooks)
		simt_reduce_add_relaxed_dev_u64(&w->a->scan.shared->found, w->hooks);
}

SIMT_INLINE_FN uint32_t label_of(const struct gn_cc_args *a, uint32_t vertex, const int any)
{
	return gn_state_load_u32(&a->label, any, vertex);
}

/* Put the root `high` below `low`, which is smaller. Is it done? Not if another thread hooked it before. */
SIMT_INLINE_FN int hook_root(const struct gn_cc_args *a, uint32_t high, uint32_t low, const int any)
{
	return label_of(a, high, any) == high && gn_state_cas_u32(&a->label, any, high, high, low) == high;
}

/* Where trees are not deeper than one, the labels are roots. If not both are, a later pass does it. */
SIMT_INLINE_FN int hook_once(const struct gn_cc_args *a, uint32_t u, uint32_t v, const int any)
{
	const uint32_t x = label_of(a, u, any), y = label_of(a, v, any);

	return x != y && hook_root(a, x > y ? x : y, x > y ? y : x, any);
}

/*
 * Climb from both ends until they meet or a root was hooked (Sutton, Ben-Nun and Barak, "Optimizing parallel
 * graph connectivity computation via subgraph sampling", 2018).
 */
SIMT_INLINE_FN int link_trees(const struct gn_cc_args *a, uint32_t u, uint32_t v, const int any)
{
	uint32_t x = label_of(a, u, any), y = label_of(a, v, any);

	while (x != y) {
		const uint32_t high = x > y ? x : y, low = x > y ? y : x;

		if (hook_root(a, high, low, any))
			return 1;
		x = label_of(a, label_of(a, high, any), any);
		y = label_of(a, low, any);
		if (x == high && y == low && gn_state_is_lost(&a->label, any))
			return 0;
	}
	return 0;
}

/* One lane: the edge of a vertex. */
SIMT_INLINE_FN void visit(struct worker *w, uint32_t vertex, uint64_t edge)
{
	const uint32_t neighbour = gn_scan_neighbour(&w->graph, edge);

	if (!gn_scan_is_vertex(&w->a->scan, neighbour))
		return;
	w->hooks += (uint64_t)(w->hook ? hook_once(w->a, vertex, neighbour, w->any)
	                               : link_trees(w->a, vertex, neighbour, w->any));
}

/* One lane: the edges of its vertex that this launch is to read; what is too long is put aside. */
SIMT_INLINE_FN struct gn_scan_edges edges_of(struct worker *w, uint32_t vertex)
{
	const struct gn_cc_args *a = w->a;
	struct gn_scan_edges list = {0, 0};

	if (a->skip != (uint32_t)GN_CC_NONE && label_of(a, vertex, w->any) == a->skip)
		return list;
	list = gn_scan_list(&w->graph, vertex);
	if (list.end - list.begin > a->end)
		list.end = list.begin + a->end;
	list.begin = list.end - list.begin > a->begin ? list.begin + a->begin : list.end;
	return gn_scan_first_chunk(&w->graph, vertex, list);
}

SIMT_INLINE_FN struct gn_scan_part list_of(void *job, uint64_t item)
{
	const struct gn_scan_part part = {edges_of((struct worker *)job, (uint32_t)item), (uint32_t)item, 0};

	return part;
}

SIMT_FN uint32_t no_value(void *job, uint32_t vertex)
{
	(void)job;
	(void)vertex;
	return 0;
}

SIMT_FN void visit_round(void *job, uint32_t warp, struct gn_scan_edge mine)
{
	(void)warp;
	if (mine.is)
		visit((struct worker *)job, mine.vertex, mine.edge);
}

SIMT_INLINE_FN void visit_part(void *job, uint32_t warp, struct gn_scan_part part)
{
	gn_scan_rounds(job, warp, part, visit_round);
}

SIMT_INLINE_FN void visit_all(const struct gn_cc_args *a, const int hook, const int any,
                              const enum gn_scan_handing handing)
{
	struct worker w = worker_init(a, hook, any, handing);

	gn_scan_visit_all(&a->scan, &w.graph, &w, gn_scan_always, list_of, NULL, visit_part, visit_round);
	worker_end(&w);
}

SIMT_INLINE_FN void visit_chunks(const struct gn_cc_args *a, const int hook, const int any)
{
	struct worker w = worker_init(a, hook, any, GN_SCAN_BY_VERTEX);

	gn_scan_visit_chunks(&a->scan, &w, no_value, visit_part);
	worker_end(&w);
}

SIMT_INLINE_FN void hook_lists(const struct gn_cc_args *a, const int any, const enum gn_scan_handing handing)
{
	visit_all(a, 1, any, handing);
}
GN_SCAN_LISTS_KERNEL(gn_cc_hook, hook_lists, struct gn_cc_args, GN_SCAN_BY_CHUNK)

SIMT_INLINE_FN void hook_chunks(const struct gn_cc_args *a, const int any)
{
	visit_chunks(a, 1, any);
}
GN_SCAN_KERNEL(gn_cc_hook_chunks, hook_chunks, struct gn_cc_args)

SIMT_INLINE_FN void link_lists(const struct gn_cc_args *a, const int any, const enum gn_scan_handing handing)
{
	visit_all(a, 0, any, handing);
}
GN_SCAN_LISTS_KERNEL(gn_cc_link, link_lists, struct gn_cc_args, GN_SCAN_BY_CHUNK)

SIMT_INLINE_FN void link_chunks(const struct gn_cc_args *a, const int any)
{
	visit_chunks(a, 0, any);
}
GN_SCAN_KERNEL(gn_cc_link_chunks, link_chunks, struct gn_cc_args)

/* Each vertex is changed by one thread; others may read its old label, which leads to the same root. */
SIMT_INLINE_FN void compress(const struct gn_cc_args *a, const int any)
{
	for (uint64_t v = simt_global_thread(); v < a->scan.graph.vertices; v += simt_global_threads()) {
		const uint32_t label = label_of(a, (uint32_t)v, any);
		uint32_t root = label;

		while (label_of(a, root, any) != root)
			root = label_of(a, root, any);
		if (root != label)
			gn_state_store_u32(&a->label, any, v, root);
	}
}
GN_SCAN_KERNEL(gn_cc_compress, compress, struct gn_cc_args)

/* Fibonacci hashing: products with 2^64 divided by the golden ratio are spread evenly over the 64-bit
 * numbers. */
SIMT_INLINE_FN void sample(const struct gn_cc_args *a, const int any)
{
	for (uint64_t k = simt_global_thread(); k < GN_CC_SAMPLES; k += simt_global_threads()) {
		const uint64_t spread = (k + 1) * 0x9e3779b97f4a7c15u >> 32;

		a->sample[k] = label_of(a, (uint32_t)(spread * a->scan.graph.vertices >> 32), any);
	}
}
GN_SCAN_KERNEL(gn_cc_sample, sample, struct gn_cc_args)
