/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_visit.h - go over the edges of a launch's items, or of the chunks that were put aside, with functions
 * of the job's own. They are constants at each call and become part of the kernel.
 */
#ifndef GN_GRAPH_SCAN_VISIT_H
#define GN_GRAPH_SCAN_VISIT_H

#include "scan_device.h"

/* A list, or a part of it, that all lanes of a warp read together: the same for all. */
struct gn_scan_part {
	struct gn_scan_edges edges;
	uint32_t vertex; /* it begins there */
	uint32_t value;  /* what the job says of the vertex */
};

/* A lane's edge of a round. Lanes whose edges begin at the same vertex are side by side. */
struct gn_scan_edge {
	uint64_t edge;
	uint32_t vertex, value; /* as above */
	int is;                 /* 0: this lane has none */
};

/*
 * What a job does. Each is called with the job's own view of the kernel.
 *   wants  one lane: may the item have edges that are to be read now? It looks at the state of the job alone
 *   list   one lane: the edges of an item that are to be read now, their vertex and its value; none: an
 *          empty list
 *   fetch  one lane: read what the round will read of an edge from far memory, and drop it; or NULL
 *   value  one lane: the value of a vertex whose chunk is read
 *   part   all lanes of the warp: edges of one vertex
 *   round  all lanes of the warp: an edge each, or none
 */
typedef int gn_scan_wants(void *job, uint64_t item);
typedef struct gn_scan_part gn_scan_list_of(void *job, uint64_t item);
typedef void gn_scan_fetch_of(void *job, uint64_t edge);
typedef uint32_t gn_scan_value_of(void *job, uint32_t vertex);
typedef void gn_scan_do_part(void *job, uint32_t warp, struct gn_scan_part part);
typedef void gn_scan_do_round(void *job, uint32_t warp, struct gn_scan_edge mine);

/* All lanes of the warp: the edges of one vertex, in rounds of whole lines (EMOGI, section 4.3). */
SIMT_INLINE_FN void gn_scan_rounds(void *job, uint32_t warp, struct gn_scan_part part,
                                   gn_scan_do_round *round)
{
	const uint32_t width = simt_warp_width();

	for (uint64_t first = part.edges.begin - part.edges.begin % width; first < part.edges.end;
	     first += width) {
		const uint64_t edge = first + simt_lane();
		const struct gn_scan_edge mine = {edge, part.vertex, part.value,
		                                  edge >= part.edges.begin && edge < part.edges.end};

		round(job, warp, mine);
	}
}

/* Each lane has a part of its own, or an empty one; the edges of all are read side by side. */
SIMT_INLINE_FN void gn_scan_visit_together(void *job, uint32_t warp, struct gn_scan_part part,
                                           gn_scan_do_round *round)
{
	const uint32_t width = simt_warp_width(),
	               up_to = gn_scan_sum_up_to_lane(warp, (uint32_t)(part.edges.end - part.edges.begin));
	const uint32_t all = simt_shfl_u32(warp, up_to, width - 1);

	for (uint32_t first = 0; first < all; first += width) {
		const uint32_t k = first + simt_lane(), owner = gn_scan_owner_of(warp, up_to, k);
		const uint64_t behind = simt_shfl_u64(warp, part.edges.end, owner);
		const uint32_t left = simt_shfl_u32(warp, up_to, owner) - k;
		const struct gn_scan_edge mine = {behind - left, simt_shfl_u32(warp, part.vertex, owner),
		                                  simt_shfl_u32(warp, part.value, owner), k < all};

		round(job, warp, mine);
	}
}

/* The part of one lane, for all lanes. */
SIMT_FN struct gn_scan_part gn_scan_part_of(uint32_t warp, struct gn_scan_part part, uint32_t owner)
{
	part.edges.begin = simt_shfl_u64(warp, part.edges.begin, owner);
	part.edges.end = simt_shfl_u64(warp, part.edges.end, owner);
	part.vertex = simt_shfl_u32(warp, part.vertex, owner);
	part.value = simt_shfl_u32(warp, part.value, owner);
	return part;
}

/* For a job whose items all have work. */
SIMT_FN int gn_scan_always(void *job, uint64_t item)
{
	(void)job;
	(void)item;
	return 1;
}

enum { GN_SCAN_FETCH_LINES = 4 }; /* of a list, before its edges are read */

/* All lanes of the warp: fetch the first lines of each list; a miss brings those of all lanes. */
SIMT_INLINE_FN void gn_scan_fetch(const struct gn_scan *s, void *job, uint32_t warp,
                                  struct gn_scan_edges edges, gn_scan_fetch_of *fetch)
{
	const uint64_t line = SIMT_LINE / (s->graph.wide ? sizeof(uint64_t) : sizeof(uint32_t));
	const uint64_t behind = edges.begin + GN_SCAN_FETCH_LINES * line;
	uint64_t edge = edges.begin;

	if (edges.end > behind)
		edges.end = behind;
	for (; simt_ballot(warp, edge < edges.end); edge += line - edge % line)
		if (edge < edges.end)
			fetch(job, edge);
}

/* All lanes of the warp: the lists of gathered items. */
SIMT_INLINE_FN void gn_scan_visit_gathered(const struct gn_scan *s, void *job, uint32_t warp,
                                           const struct gn_scan_gathered *g, gn_scan_list_of *list,
                                           gn_scan_fetch_of *fetch, gn_scan_do_part *part,
                                           gn_scan_do_round *round)
{
	struct gn_scan_part mine = {{0, 0}, 0, 0};
	uint32_t owners;

	simt_warp_sync(warp); /* another lane has asked whether the item has work; a vote orders no memory */
	if (simt_lane() < g->many)
		mine = list(job, g->item);
	owners = simt_ballot(warp, mine.edges.begin < mine.edges.end);
	if (owners & (owners - 1)) {
		if (fetch && gn_scan_is_scattered(s, warp, mine.edges))
			gn_scan_fetch(s, job, warp, mine.edges, fetch);
		gn_scan_visit_together(job, warp, mine, round);
	} else if (owners) {
		part(job, warp, gn_scan_part_of(warp, mine, simt_first_lane(owners)));
	}
}

/* All lanes of the warp: items begin to end - 1. */
SIMT_INLINE_FN void gn_scan_visit_items(const struct gn_scan *s, void *job, uint32_t warp, uint64_t begin,
                                        uint64_t end, gn_scan_wants *wants, gn_scan_list_of *list,
                                        gn_scan_fetch_of *fetch, gn_scan_do_part *part,
                                        gn_scan_do_round *round)
{
	struct gn_scan_gathered g = {0, 0};

	for (uint64_t first = begin;; first += simt_warp_width()) {
		const uint64_t item = first + simt_lane();
		const uint32_t wanted = simt_ballot(warp, item < end && wants(job, item));

		if (g.many && (first >= end || gn_scan_is_full(&g, wanted))) {
			gn_scan_visit_gathered(s, job, warp, &g, list, fetch, part, round);
			g.many = 0;
		}
		if (first >= end)
			return;
		gn_scan_gather(&g, first, wanted);
	}
}

/* gn_scan_visit_lists - all threads of a launch over lists. */
SIMT_INLINE_FN void gn_scan_visit_lists(const struct gn_scan *s, void *job, gn_scan_wants *wants,
                                        gn_scan_list_of *list, gn_scan_fetch_of *fetch, gn_scan_do_part *part,
                                        gn_scan_do_round *round)
{
	const uint32_t warp = simt_whole_warp();
	struct gn_scan_taken t;

	while (gn_scan_take(s, warp, s->batch, &t))
		gn_scan_visit_items(s, job, warp, t.begin, t.end, wants, list, fetch, part, round);
}

/* gn_scan_visit_all - all threads of a launch over lists, as the reader's handing says. @r  the job's own */
SIMT_INLINE_FN void gn_scan_visit_all(const struct gn_scan *s, struct gn_scan_reader *r, void *job,
                                      gn_scan_wants *wants, gn_scan_list_of *list, gn_scan_fetch_of *fetch,
                                      gn_scan_do_part *part, gn_scan_do_round *round)
{
	const uint32_t warp = simt_whole_warp();
	struct gn_scan_taken t;

	if (r->handing == GN_SCAN_BY_VERTEX) {
		gn_scan_visit_lists(s, job, wants, list, fetch, part, round);
		return;
	}
	while (gn_scan_take(s, warp, s->chunk_batch, &t))
		for (uint64_t item = t.begin; item < t.end; item++) {
			const struct gn_scan_vertices v = gn_scan_enter(r, item);

			gn_scan_visit_items(s, job, warp, v.begin, v.end, wants, list, fetch, part, round);
		}
}

/* gn_scan_visit_chunks - all threads of a launch over chunks. */
SIMT_INLINE_FN void gn_scan_visit_chunks(const struct gn_scan *s, void *job, gn_scan_value_of *value,
                                         gn_scan_do_part *part)
{
	const uint32_t warp = simt_whole_warp();
	struct gn_scan_taken t;

	while (gn_scan_take(s, warp, s->chunk_batch, &t))
		for (uint64_t k = t.begin; k < t.end; k++) {
			const struct gn_scan_chunk *c = &s->chunks[k];
			const struct gn_scan_part all = {
			    {c->begin, c->begin + c->edges}, c->vertex, value(job, c->vertex)};

			part(job, warp, all);
		}
}

#endif
