/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which vertices several searches start from. Each vertex with enough edges has a key, which looks random;
 * those with the least keys are drawn. One pass over the offsets finds them, wherever they lie.
 */
#include <stdlib.h>

#include "graph/draw.h"
#include "graph/io.h"
#include "graph_search.h"

enum { PART = 1 << 19 }; /* offsets that are read at once */

void graph_sources_begin(struct graph_sources *s, uint64_t seed, uint32_t count)
{
	s->stream = gn_draw_mix(seed + gn_draw_gamma);
	s->count = count;
	s->found = 0;
}

/* Keep the vertex if its key is among the least; no two vertices have the same key. */
static void offer(struct graph_sources *s, uint32_t vertex)
{
	const uint64_t key = gn_draw_mix(s->stream + (vertex + UINT64_C(1)) * gn_draw_gamma);
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

static int look_at_file(struct graph_sources *s, const struct gn_graph_file *f, struct gn_error *e)
{
	uint64_t *part = (uint64_t *)malloc((PART + 1) * sizeof *part);
	int rc = part ? 0 : gn_error_set(e, -GN_ENOMEM, "%s: out of memory for offsets", f->name);

	for (uint64_t first = 0; first < f->vertices && !rc; first += PART) {
		const uint64_t n = f->vertices - first < PART ? f->vertices - first : (uint64_t)PART;

		rc = gn__input_read(f->fd, f->name, f->offsets.at + first * sizeof *part, part,
		                    (n + 1) * sizeof *part, e);
		if (!rc)
			graph_sources_look(s, part, first, n);
	}
	free(part);
	return rc;
}

static int look(struct graph_sources *s, const struct graph_input *in, struct gn_error *e)
{
	if (!in->has_graph)
		return look_at_file(s, &in->file, e);
	graph_sources_look(s, in->graph.offsets, 0, in->graph.vertices);
	return 0;
}

int graph_sources_draw(const struct graph_input *in, const struct graph_search_options *o, uint32_t *source,
                       struct gn_error *e)
{
	struct graph_sources s;
	int rc;

	graph_sources_begin(&s, o->seed, o->sources);
	rc = look(&s, in, e);
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
