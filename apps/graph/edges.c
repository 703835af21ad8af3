/* SPDX-License-Identifier: Apache-2.0 */
#include "edges.h"

#include <stdlib.h>
#include <string.h>

#include "graph.h"

int gn__edges_grow(struct gn_edges *l, struct gn_error *e)
{
	uint64_t capacity = l->capacity ? l->capacity + l->capacity / 2 : 1024;
	uint64_t each = sizeof *l->edges + (l->weighted ? sizeof *l->weights : 0);
	void *grown;
	int err = gn_graph_memory_fits(capacity * each, l->memory_limit, "the edge list", e);

	if (err)
		return err;
	grown = realloc(l->edges, capacity * sizeof *l->edges);
	if (grown)
		l->edges = (struct gn_edge *)grown;
	if (grown && l->weighted) {
		grown = realloc(l->weights, capacity * sizeof *l->weights);
		if (grown)
			l->weights = (uint32_t *)grown;
	}
	if (!grown)
		return gn_error_set(e, -GN_ENOMEM,
		                    "out of memory for a list of %llu edges; free memory, or raise ulimit -v",
		                    (unsigned long long)capacity);
	l->capacity = capacity;
	return 0;
}

void gn__edges_fini(struct gn_edges *l)
{
	free(l->edges);
	free(l->weights);
	memset(l, 0, sizeof *l);
}
