/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_device.h - how kernels read adjacency lists: a warp takes as many vertices as it has lanes.
 *
 * Each lane reads the offsets of one vertex. Then all lanes read the edges of all these vertices side by
 * side, because most adjacency lists are shorter than a warp (Merrill, Garland and Grimshaw, "Scalable GPU
 * graph traversal", 2012, section 5.1, gather by prefix sums). Of a long list a warp reads a chunk, and puts
 * the rest aside for all warps, so that one hub does not hold up a launch. In a balanced graph it takes all
 * lists, and parts of lists, that lie in one chunk of edges.
 */
#ifndef GN_GRAPH_SCAN_DEVICE_H
#define GN_GRAPH_SCAN_DEVICE_H

#include "balance.h"
#include "scan.h"

/* Edges begin to end - 1: a list, or a part of it. */
struct gn_scan_edges {
	uint64_t begin, end;
};

/* Where a lane reads the graph, through arrays or on plain pointers, and what it has seen. */
struct gn_scan_reader {
	const struct gn_scan *scan;
	struct gn_cursor neighbours; /* adjacency lists lie side by side; offsets are read at random */
	uint64_t edges;              /* of the lists that this lane took */
	struct gn_scan_edges window; /* not by vertex: of the chunk at hand */
	int plain;
	int any;     /* as of GN_SCAN_KERNEL */
	int handing; /* enum gn_scan_handing */
};

SIMT_INLINE_FN struct gn_scan_reader gn_scan_reader_init(const struct gn_scan *scan, const int plain,
                                                         const int any)
{
	struct gn_scan_reader r;

	r.scan = scan;
	r.neighbours = gn_cursor_init(&scan->graph.neighbours);
	r.edges = 0;
	r.plain = plain;
	r.any = any;
	r.handing = GN_SCAN_BY_VERTEX;
	r.window.begin = 0;
	r.window.end = 0;
	return r;
}

SIMT_FN void gn_scan_reader_end(struct gn_scan_reader *r)
{
	if (!r->plain)
		gn_cursor_end(&r->neighbours);
	if (r->edges)
		simt_reduce_add_relaxed_dev_u64(&r->scan->shared->edges, r->edges);
}

SIMT_FN uint64_t gn_scan_offset(const struct gn_scan_reader *r, uint64_t vertex)
{
	return r->plain ? r->scan->graph.plain_offsets[vertex] : gn_read_u64(&r->scan->graph.offsets, vertex);
}

/*
 * A vertex that 32 bits do not hold is none: it becomes the id that no vertex has. No cursor: on the cpu
 * machine a source with cursors of two widths moves those of 4 bytes by code for either, which takes a tenth
 * longer.
 */
SIMT_FN uint32_t gn_scan_wide_neighbour(const struct gn_scan *scan, uint64_t edge)
{
	const uint64_t vertex = gn_read_u64(&scan->graph.neighbours, edge);

	return vertex < 0xffffffffu ? (uint32_t)vertex : 0xffffffffu;
}

/* The neighbour of an edge, by a cursor over the neighbours. */
SIMT_INLINE_FN uint32_t gn_scan_read(const struct gn_scan *scan, struct gn_cursor *c, uint64_t edge,
                                     const int any)
{
	return any && scan->graph.wide ? gn_scan_wide_neighbour(scan, edge) : gn_cursor_read_u32(c, edge);
}

SIMT_INLINE_FN uint32_t gn_scan_neighbour(struct gn_scan_reader *r, uint64_t edge)
{
	return r->plain ? r->scan->graph.plain_neighbours[edge]
	                : gn_scan_read(r->scan, &r->neighbours, edge, r->any);
}

/* The neighbours of `count` edges: edge, edge + stride and so on. A neighbour that cannot be read is 0. */
SIMT_INLINE_FN void gn_scan_neighbours(struct gn_scan_reader *r, uint64_t edge, uint32_t stride,
                                       uint32_t count, uint32_t *to)
{
	if (!r->plain && !(r->any && r->scan->graph.wide)) {
		gn_cursor_read_every_u32(&r->neighbours, edge, stride, count, to);
		return;
	}
	for (uint32_t k = 0; k < count; k++)
		to[k] = gn_scan_neighbour(r, edge + k * stride);
}

SIMT_FN void gn_scan_report(const struct gn_scan *scan, uint32_t fault, uint32_t vertex)
{
	if (!simt_cas_relaxed_dev_u32(&scan->shared->fault, GN_SCAN_SOUND, fault))
		scan->shared->fault_vertex = vertex;
}

/* Is this neighbour a vertex? If not the host hears of it. */
SIMT_FN int gn_scan_is_vertex(const struct gn_scan *scan, uint32_t vertex)
{
	if (vertex < scan->graph.vertices)
		return 1;
	gn_scan_report(scan, GN_SCAN_BAD_NEIGHBOUR, vertex);
	return 0;
}

/* Items that a warp has taken: begin to end - 1. */
struct gn_scan_taken {
	uint64_t begin, end;
};

/* All lanes of the warp: take the next items, `batch` of them if so many are left. Returns 0 if none is. */
SIMT_FN int gn_scan_take(const struct gn_scan *scan, uint32_t warp, uint32_t batch, struct gn_scan_taken *t)
{
	t->begin = 0;
	if (simt_lane() == 0)
		t->begin = simt_add_relaxed_dev_u64(&scan->shared->taken, batch);
	t->begin = simt_shfl_u64(warp, t->begin, 0);
	t->end = t->begin + batch < scan->item_count ? t->begin + batch : scan->item_count;
	return t->begin < t->end;
}

/* One lane: a vertex's list; an empty one if it could not be read, which the array knows, or is damaged. */
SIMT_FN struct gn_scan_edges gn_scan_list(const struct gn_scan_reader *r, uint32_t vertex)
{
	struct gn_scan_edges list = {gn_scan_offset(r, vertex), gn_scan_offset(r, (uint64_t)vertex + 1)};

	if (list.begin > list.end || list.end > r->scan->graph.edges) {
		gn_scan_report(r->scan, GN_SCAN_BAD_OFFSETS, vertex);
		/* not the offset read: rounds of a warp up to there may pass 2^64, and begin again at 0 */
		list.begin = 0;
		list.end = 0;
	}
	return list;
}

/* One lane: the length of a vertex's list. */
SIMT_FN uint64_t gn_scan_degree(const struct gn_scan_reader *r, uint32_t vertex)
{
	const struct gn_scan_edges list = gn_scan_list(r, vertex);

	return list.end - list.begin;
}

/* Put edges aside, in chunks. Sound offsets never need more than there is. */
SIMT_FN void gn_scan_put_aside(const struct gn_scan *scan, uint32_t vertex, uint64_t begin, uint64_t end)
{
	const uint32_t most = scan->chunk_edges;
	const uint64_t chunks = (end - begin + most - 1) / most;
	uint64_t at = simt_add_relaxed_dev_u64(&scan->shared->chunk_count, chunks);

	if (at + chunks > scan->chunk_capacity) {
		gn_scan_report(scan, GN_SCAN_BAD_OFFSETS, vertex);
		return;
	}
	for (; begin < end; begin += most, at++) {
		const uint64_t left = end - begin;

		scan->chunks[at].begin = begin;
		scan->chunks[at].edges = left < most ? (uint32_t)left : most;
		scan->chunks[at].vertex = vertex;
	}
}

/* One lane: where the warp's part of a list ends. Chunks of a balanced graph end where its pages do. */
SIMT_FN uint64_t gn_scan_cut(const struct gn_scan_reader *r, struct gn_scan_edges list)
{
	const uint64_t most = r->scan->chunk_edges, cut = list.begin + most;

	if (list.end - list.begin <= most)
		return list.end;
	return r->scan->graph.starts ? cut - (cut & (most - 1)) : cut;
}

/* The edges of a list that lie in the chunk which the warp works on. One lane. */
SIMT_FN struct gn_scan_edges gn_scan_within_chunk(const struct gn_scan_reader *r, struct gn_scan_edges list)
{
	if (list.begin < r->window.begin)
		list.begin = r->window.begin;
	if (list.end > r->window.end)
		list.end = r->window.end;
	if (list.begin > list.end)
		list.begin = list.end;
	return list;
}

/* One lane: what the warp is to read of a list now; the rest is put aside, or is other warps' work. */
SIMT_FN struct gn_scan_edges gn_scan_first_chunk(struct gn_scan_reader *r, uint32_t vertex,
                                                 struct gn_scan_edges list)
{
	uint64_t cut;

	if (r->handing == GN_SCAN_BY_CHUNK)
		list = gn_scan_within_chunk(r, list);
	r->edges += list.end - list.begin;
	if (r->handing == GN_SCAN_BY_CHUNK)
		return list;
	cut = gn_scan_cut(r, list);
	if (cut < list.end)
		gn_scan_put_aside(r->scan, vertex, cut, list.end);
	list.end = cut;
	return list;
}

/* Vertices begin to end - 1. */
struct gn_scan_vertices {
	uint64_t begin, end;
};

/* Behind the last edge: each vertex has an empty list. */
SIMT_FN struct gn_scan_vertices gn_scan_stretch(struct gn_scan_reader *r, uint64_t number)
{
	const struct gn_graph_arrays *g = &r->scan->graph;
	const uint64_t begin = g->start_end + number * GN_BALANCE_STRETCH, end = begin + GN_BALANCE_STRETCH;
	const struct gn_scan_vertices v = {begin, end < g->vertices ? end : g->vertices};

	r->window.begin = g->edges;
	r->window.end = g->edges;
	return v;
}

/* The edges of a chunk. */
SIMT_FN struct gn_scan_edges gn_scan_chunk_edges(const struct gn_graph_arrays *g, uint64_t chunk)
{
	const uint64_t begin = chunk * g->start_edges, end = begin + g->start_edges;
	const struct gn_scan_edges edges = {begin, end < g->edges ? end : g->edges};

	return edges;
}

/*
 * Take an item of a launch that is not by vertex: the vertices to look at. By chunk the list of the first one
 * may begin before the chunk; by start none does.
 */
SIMT_FN struct gn_scan_vertices gn_scan_enter(struct gn_scan_reader *r, uint64_t item)
{
	const struct gn_graph_arrays *g = &r->scan->graph;
	struct gn_scan_vertices v;

	if (item >= g->start_chunks)
		return gn_scan_stretch(r, item - g->start_chunks);
	v.begin = g->starts[item];
	v.end = g->starts[item + 1];
	if (r->handing == GN_SCAN_BY_CHUNK && v.begin)
		v.begin--;
	r->window = gn_scan_chunk_edges(g, item);
	return v;
}

/* All lanes of the warp: a place of its own for each lane that found something; found counts all. */
SIMT_FN uint64_t gn_scan_place(const struct gn_scan *scan, uint32_t warp, int found)
{
	const uint32_t finders = simt_ballot(warp, found);
	uint64_t first = 0;

	if (!finders)
		return 0;
	if (simt_lane() == simt_first_lane(finders))
		first = simt_add_relaxed_dev_u64(&scan->shared->found, simt_popcount(finders));
	return simt_shfl_u64(warp, first, simt_first_lane(finders)) + simt_rank(finders);
}

/* All lanes of the warp: those that found a vertex put it into the list. What does not fit is counted only.
 */
SIMT_FN void gn_scan_append(const struct gn_scan *scan, uint32_t warp, int found, uint32_t *list,
                            uint64_t capacity, uint32_t vertex)
{
	const uint64_t place = gn_scan_place(scan, warp, found);

	if (found && place < capacity)
		list[place] = vertex;
}

/* The sum of the values of the caller's lane and of those before it. */
SIMT_FN uint32_t gn_scan_sum_up_to_lane(uint32_t warp, uint32_t value)
{
	const uint32_t lane = simt_lane();

	for (uint32_t step = 1; step < simt_warp_width(); step *= 2) {
		const uint32_t before = simt_shfl_u32(warp, value, lane >= step ? lane - step : lane);

		value += lane >= step ? before : 0;
	}
	return value;
}

/* The position of set bit number n of a word, counted from 0. */
SIMT_FN uint32_t gn_scan_nth_bit(uint32_t bits, uint32_t n)
{
	uint32_t at = 0;

	for (uint32_t width = 16; width; width /= 2) {
		const uint32_t here = simt_popcount(bits >> at & ((1u << width) - 1));

		at += n >= here ? width : 0;
		n -= n >= here ? here : 0;
	}
	return at;
}

/*
 * Items that have work, gathered from several groups of as many items as the warp has lanes: where few have,
 * a warp that read the lists of each group alone would wait for far memory with most lanes idle, and a miss
 * takes as long for one lane as for all.
 */
struct gn_scan_gathered {
	uint32_t many; /* the same in all lanes; lanes 0 to many - 1 have one each */
	uint64_t item;
};

/* Is there no room for the items of these lanes? */
SIMT_FN int gn_scan_is_full(const struct gn_scan_gathered *g, uint32_t wanted)
{
	return g->many + simt_popcount(wanted) > simt_warp_width();
}

/* All lanes of the warp: add the items of a group that have work. There is room. @first  item of lane 0 */
SIMT_FN void gn_scan_gather(struct gn_scan_gathered *g, uint64_t first, uint32_t wanted)
{
	const uint32_t place = simt_lane() - g->many, many = simt_popcount(wanted);

	if (simt_lane() >= g->many && place < many)
		g->item = first + gn_scan_nth_bit(wanted, place);
	g->many += many;
}

enum { GN_SCAN_FAR = 128 }; /* edges between two lists that count as far from each other */

/*
 * All lanes of the warp: are the lines that the lists lie in worth fetching together before the edges are
 * read side by side? Yes if the graph is larger than its cache, and at least half of the lists are far from
 * the next lane's.
 */
SIMT_FN int gn_scan_is_scattered(const struct gn_scan *scan, uint32_t warp, struct gn_scan_edges edges)
{
	const uint32_t lane = simt_lane(), last = simt_warp_width() - 1;
	const uint32_t owners = simt_ballot(warp, edges.begin < edges.end);
	const uint64_t next = simt_shfl_u64(warp, edges.begin, lane < last ? lane + 1 : lane);
	const uint64_t gap = next - edges.end; /* large, too, if the next one lies before */
	const int both = lane < last && (owners >> lane & 3) == 3;

	if (!scan->graph.pages || scan->graph.choice)
		return 0;
	return 2 * simt_popcount(simt_ballot(warp, both && gap > GN_SCAN_FAR)) >= simt_popcount(owners);
}

/* The lane that has item k: lane l has those from up_to of the lane before it to its own up_to - 1. */
SIMT_FN uint32_t gn_scan_owner_of(uint32_t warp, uint32_t up_to, uint32_t k)
{
	uint32_t lane = 0;

	for (uint32_t step = simt_warp_width() / 2; step; step /= 2)
		lane += simt_shfl_u32(warp, up_to, lane + step - 1) <= k ? step : 0;
	return lane;
}

#endif
