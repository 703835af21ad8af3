/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <stdlib.h>

static void search(const struct gn_graph *g, uint32_t source, uint32_t *depth, uint32_t *queue)
{
	uint64_t head = 0;
	uint64_t tail = 0;

	depth[source] = 0;
	queue[tail++] = source;
	while (head < tail) {
		uint32_t u = queue[head++];

		for (uint64_t i = g->offsets[u]; i < g->offsets[u + UINT64_C(1)]; i++) {
			uint32_t v = g->neighbours[i];

			if (depth[v] != GN_DEPTH_NONE)
				continue;
			depth[v] = depth[u] + 1;
			queue[tail++] = v;
		}
	}
}

int gn_bfs_reference(const struct gn_graph *g, uint64_t source, uint32_t *depth, struct gn_error *e)
{
	uint32_t *queue;

	if (source >= g->vertices)
		return gn_error_set(
		    e, -GN_ERANGE,
		    "source %llu is not a vertex; the graph has %llu vertices, numbered from 0",
		    (unsigned long long)source, (unsigned long long)g->vertices);
	queue = (uint32_t *)malloc(g->vertices * sizeof *queue);
	if (!queue)
		return gn_error_set(e, -GN_ENOMEM,
		                    "out of memory for the queue of the reference search (%llu bytes)",
		                    (unsigned long long)(g->vertices * sizeof *queue));
	for (uint64_t v = 0; v < g->vertices; v++)
		depth[v] = GN_DEPTH_NONE;
	search(g, (uint32_t)source, depth, queue);
	free(queue);
	return 0;
}

uint64_t gn_values_differ(const uint32_t *got, const uint32_t *want, uint64_t vertices, uint64_t *first)
{
	uint64_t differ = 0;

	*first = vertices;
	for (uint64_t v = vertices; v-- > 0;) {
		if (got[v] != want[v]) {
			*first = v;
			differ++;
		}
	}
	return differ;
}

int gn_depths_verify(const uint32_t *got, const uint32_t *want, uint64_t vertices, struct gn_error *e)
{
	uint64_t first;
	const uint64_t differ = gn_values_differ(got, want, vertices, &first);

	if (!differ)
		return 0;
	/* as signed numbers, so that an unreachable vertex reads -1 */
	return gn_error_set(e, -GN_EBADMSG,
	                    "vertex %llu has depth %d, but the reference says %d (-1 is unreachable); %llu "
	                    "of %llu vertices differ: the search is wrong, please report it",
	                    (unsigned long long)first, (int)got[first], (int)want[first],
	                    (unsigned long long)differ, (unsigned long long)vertices);
}
