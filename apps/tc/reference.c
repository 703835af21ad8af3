/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All edges as pairs of vertices in a hash table, each pair once; of these, lists again, in the table's
 * order. For each pair the members of one end's list are looked up as pairs with the other end. So every
 * triangle is found at each of its three edges.
 */
#include "tc.h"

#include <stdlib.h>

#define EMPTY UINT64_MAX /* no pair: it would join a vertex, which there is not, to itself */

struct pairs {
	uint64_t *slot;   /* [mask + 1]: the smaller vertex in the upper half, or EMPTY */
	uint64_t mask;    /* more than twice as many slots as pairs, a power of two */
	uint64_t *offset; /* [vertices + 1] */
	uint32_t *member; /* the other ends of each vertex's pairs */
};

static uint64_t pair_of(uint32_t u, uint32_t v)
{
	return u < v ? (uint64_t)u << 32 | v : (uint64_t)v << 32 | u;
}

/* The slot that has the pair, or the empty one where it belongs. */
static uint64_t slot_of(const struct pairs *p, uint64_t pair)
{
	uint64_t at = pair * 0x9e3779b97f4a7c15u >> 20 & p->mask;

	while (p->slot[at] != EMPTY && p->slot[at] != pair)
		at = (at + 1) & p->mask;
	return at;
}

static void fill_table(struct pairs *p, const struct gn_graph *g)
{
	for (uint64_t at = 0; at <= p->mask; at++)
		p->slot[at] = EMPTY;
	for (uint64_t v = 0; v < g->vertices; v++) {
		for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++) {
			const uint64_t pair = pair_of((uint32_t)v, g->neighbours[i]);

			if (g->neighbours[i] != v)
				p->slot[slot_of(p, pair)] = pair;
		}
	}
}

/* Counts become places, and then, as members are placed, the ends of the lists, which the next begin at. */
static void fill_lists(struct pairs *p, uint64_t vertices)
{
	uint64_t total = 0;

	for (uint64_t at = 0; at <= p->mask; at++) {
		if (p->slot[at] == EMPTY)
			continue;
		p->offset[(p->slot[at] >> 32) + 1]++;
		p->offset[(uint32_t)p->slot[at] + 1]++;
	}
	for (uint64_t v = 0; v < vertices; v++) {
		const uint64_t count = p->offset[v + 1];

		p->offset[v + 1] = total;
		total += count;
	}
	for (uint64_t at = 0; at <= p->mask; at++) {
		const uint32_t u = (uint32_t)(p->slot[at] >> 32), v = (uint32_t)p->slot[at];

		if (p->slot[at] == EMPTY)
			continue;
		p->member[p->offset[(uint64_t)u + 1]++] = v;
		p->member[p->offset[(uint64_t)v + 1]++] = u;
	}
}

static uint64_t members(const struct pairs *p, uint32_t v)
{
	return p->offset[(uint64_t)v + 1] - p->offset[v];
}

static uint64_t count_at(const struct pairs *p, uint32_t u, uint32_t v)
{
	uint64_t found = 0;

	if (members(p, u) > members(p, v))
		return count_at(p, v, u);
	for (uint64_t i = p->offset[u]; i < p->offset[(uint64_t)u + 1]; i++)
		found += p->member[i] != v && p->slot[slot_of(p, pair_of(p->member[i], v))] != EMPTY;
	return found;
}

static int allocate(struct pairs *p, const struct gn_graph *g)
{
	p->mask = 15;
	while (p->mask < 2 * g->edges)
		p->mask = 2 * p->mask + 1;
	p->slot = (uint64_t *)malloc((p->mask + 1) * sizeof *p->slot);
	p->offset = (uint64_t *)calloc(g->vertices + 1, sizeof *p->offset);
	p->member = (uint32_t *)malloc((2 * g->edges + 1) * sizeof *p->member);
	return p->slot && p->offset && p->member;
}

static uint64_t count_all(const struct pairs *p)
{
	uint64_t found = 0;

	for (uint64_t at = 0; at <= p->mask; at++)
		if (p->slot[at] != EMPTY)
			found += count_at(p, (uint32_t)(p->slot[at] >> 32), (uint32_t)p->slot[at]);
	return found / 3;
}

int gn_tc_reference(const struct gn_graph *g, uint64_t *triangles, struct gn_error *error)
{
	struct pairs p;
	int rc = 0;

	if (allocate(&p, g)) {
		fill_table(&p, g);
		fill_lists(&p, g->vertices);
		*triangles = count_all(&p);
	} else {
		rc = gn_error_set(error, -GN_ENOMEM, "tc: out of memory for a table of %llu edges",
		                  (unsigned long long)g->edges);
	}
	free(p.slot);
	free(p.offset);
	free(p.member);
	return rc;
}

int gn_tc_verify(uint64_t got, uint64_t want, struct gn_error *error)
{
	if (got == want)
		return 0;
	return gn_error_set(
	    error, -GN_EBADMSG,
	    "%llu triangles were counted, but the reference says %llu: the number is wrong; if "
	    "the graph's file says that it is undirected, check that every edge is there in "
	    "both directions, else please report it",
	    (unsigned long long)got, (unsigned long long)want);
}
