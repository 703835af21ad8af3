/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which vertices several searches start from. Each vertex with enough edges has a key, which looks random;
 * those with the least keys are drawn. One pass over the offsets finds them, wherever they lie.
 */
#include "graph/draw.h"
#include "graph_search.h"

void graph_sources_begin(struct graph_sources *s, uint64_t seed, uint32_t count)
{
	s->stream = spread_finish(seed + gn_draw_gamma);
	s->count = count;
	s->found = 0;
}

/* Keep the vertex if its key is among the least; no two vertices have the same key. */
static void offer(struct graph_sources *s, uint32_t vertex)
{
	const uint64_t key = spread_finish(s->stream + (vertex + UINT64_C(1)) * gn_draw_gamma);
	uint32_t k = s->found;

	if (k < s->count)
		s->found++;
	else if (key > s->key[--k])
		return;
	for (; k && s->key[k - 1] > key; k--) {
		s->key[k] = s->key[k - 1];
		s->vertex[k] = s->vertex[k - 1];
	}
	s->key[k] = key;
	s->vertex[k] = vertex;
}

void graph_sources_look(struct graph_sources *s, const uint64_t *offsets, uint64_t first, uint64_t n)
{
	for (uint64_t k = 0; k < n; k++)
		if (offsets[k + 1] >= offsets[k] + GRAPH_LEAST_DEGREE)
			offer(s, (uint32_t)(first + k));
}

static int look(void *context, const uint64_t *offsets, uint64_t first, uint64_t n, struct gn_error *e)
{
	(void)e;
	graph_sources_look((struct graph_sources *)context, offsets, first, n);
	return 0;
}

int graph_sources_draw(const struct graph_input *in, const struct graph_search_options *o, uint32_t *source,
                       struct gn_error *e)
{
	struct graph_sources s;
	int rc;

	graph_sources_begin(&s, o->seed, o->sources);
	rc = graph_input_offsets(in, look, &s, e);
	if (!rc && !s.found)
		rc = gn_error_set(
		    e, -GN_ENOENT,
		    "--sources %u: no vertex of %s has more than %d edges that begin at it; give one "
		    "vertex by --source",
		    o->sources, o->graph.graph, GRAPH_LEAST_DEGREE - 1);
	for (uint32_t k = 0; k < o->sources && !rc; k++)
		source[k] = s.vertex[k % s.found];
	return rc;
}
