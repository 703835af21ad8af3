/* SPDX-License-Identifier: Apache-2.0 */
#include "cc.h"

#include "graph/reference.h"

/* The root of v's set. Every vertex on the way is put below the one above the next (path halving). */
static uint32_t find(uint32_t *parent, uint32_t v)
{
	while (parent[v] != v) {
		parent[v] = parent[parent[v]];
		v = parent[v];
	}
	return v;
}

/* The smaller root stays one: so a root is the least vertex of its set. */
static void unite(uint32_t *parent, uint32_t u, uint32_t v)
{
	const uint32_t x = find(parent, u), y = find(parent, v);

	if (x < y)
		parent[y] = x;
	else
		parent[x] = y;
}

void gn_cc_reference(const struct gn_graph *g, uint32_t *label)
{
	for (uint64_t v = 0; v < g->vertices; v++)
		label[v] = (uint32_t)v;
	for (uint64_t v = 0; v < g->vertices; v++)
		for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++)
			unite(label, (uint32_t)v, g->neighbours[i]);
	for (uint64_t v = 0; v < g->vertices; v++)
		label[v] = find(label, (uint32_t)v);
}

int gn_cc_verify(const uint32_t *got, const uint32_t *want, uint64_t vertices, struct gn_error *error)
{
	uint64_t first;
	const uint64_t differ = gn_values_differ(got, want, vertices, &first);

	if (!differ)
		return 0;
	return gn_error_set(
	    error, -GN_EBADMSG,
	    "vertex %llu is in component %u, but the reference says %u; %llu of %llu vertices "
	    "differ: the components are wrong; if the graph's file says that it is undirected, "
	    "check that every edge is there in both directions, else please report it",
	    (unsigned long long)first, got[first], want[first], (unsigned long long)differ,
	    (unsigned long long)vertices);
}
