/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed sparse rows in files of other programs: read in parts, every number held against the counts. */
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "io.h"

struct reading {
	const struct gn_foreign_rows *r;
	struct gn_graph *g;
	const struct gn_graph_read_options *options;
	uint64_t previous; /* the offset read last */
	struct gn_error *e;
};

/* Take elements first to first + n - 1. */
typedef int (*take_part)(struct reading *s, const unsigned char *part, uint64_t first, uint64_t n);

static uint64_t number(const unsigned char *at, unsigned bytes)
{
	uint64_t wide;
	uint32_t narrow;

	if (bytes == 8) {
		memcpy(&wide, at, sizeof wide);
		return wide;
	}
	memcpy(&narrow, at, sizeof narrow);
	return narrow;
}

static int bad_offset(const struct reading *s, uint64_t v, uint64_t offset)
{
	const struct gn_foreign_rows *r = s->r;

	return gn_error_set(s->e, -GN_EBADMSG,
	                    "%s: byte %llu: offset %llu is %llu; offsets must not decrease, from 0 to %llu "
	                    "edges: the file is damaged, copy it again",
	                    r->offsets.name, (unsigned long long)(r->offsets.at + v * r->offset_bytes),
	                    (unsigned long long)v, (unsigned long long)offset, (unsigned long long)r->edges);
}

static int take_offsets(struct reading *s, const unsigned char *part, uint64_t first, uint64_t n)
{
	const struct gn_foreign_rows *r = s->r;

	for (uint64_t i = 0; i < n; i++) {
		const uint64_t v = first + i, offset = number(part + i * r->offset_bytes, r->offset_bytes);

		if (offset < s->previous || offset > r->edges || (v == 0 && offset) ||
		    (v == r->vertices && offset != r->edges))
			return bad_offset(s, v, offset);
		s->g->offsets[v] = offset;
		s->previous = offset;
	}
	return 0;
}

static int take_weight(const struct reading *s, const struct gn_foreign_array *where, uint64_t at, uint64_t i,
                       uint32_t weight)
{
	if (s->r->unsigned_weights && weight > INT32_MAX)
		return gn_error_set(
		    s->e, -GN_EBADMSG,
		    "%s: byte %llu: weight %llu is %lu; at most 2147483647 can be read: use smaller "
		    "weights, or copy the file again if it is damaged",
		    where->name, (unsigned long long)at, (unsigned long long)i, (unsigned long)weight);
	s->g->weights[i] = weight;
	return 0;
}

static int take_neighbours(struct reading *s, const unsigned char *part, uint64_t first, uint64_t n)
{
	const struct gn_foreign_rows *r = s->r;
	const unsigned width = r->neighbour_bytes + (r->pairs ? 4 : 0);
	int err = 0;

	for (uint64_t i = 0; i < n && !err; i++) {
		const unsigned char *from = part + i * width;
		const uint64_t to = number(from, r->neighbour_bytes),
		               at = r->neighbours.at + (first + i) * width;

		if (to >= r->vertices)
			return gn_error_set(s->e, -GN_EBADMSG,
			                    "%s: byte %llu: neighbour %llu is %llu, but the graph has %llu "
			                    "vertices: the file is damaged, copy it again",
			                    r->neighbours.name, (unsigned long long)at,
			                    (unsigned long long)(first + i), (unsigned long long)to,
			                    (unsigned long long)r->vertices);
		s->g->neighbours[first + i] = (uint32_t)to;
		if (r->pairs)
			err = take_weight(s, &r->neighbours, at + r->neighbour_bytes, first + i,
			                  (uint32_t)number(from + r->neighbour_bytes, 4));
	}
	return err;
}

static int take_weights(struct reading *s, const unsigned char *part, uint64_t first, uint64_t n)
{
	int err = 0;

	for (uint64_t i = 0; i < n && !err; i++)
		err = take_weight(s, &s->r->weights, s->r->weights.at + (first + i) * 4, first + i,
		                  (uint32_t)number(part + i * 4, 4));
	return err;
}

static int read_array(struct reading *s, const struct gn_foreign_array *a, uint64_t count, unsigned width,
                      take_part take)
{
	const uint64_t most = (UINT64_C(1) << 22) / width;
	unsigned char *part = (unsigned char *)malloc(gn__min_u64(count, most) * width + 1);
	int err = 0;

	if (!part)
		return gn_error_set(s->e, -GN_ENOMEM, "%s: out of memory to read the file", a->name);
	for (uint64_t first = 0; first < count && !err; first += most) {
		const uint64_t n = gn__min_u64(count - first, most);

		gn_progress_step(&s->options->progress, "reading", first, count);
		err = gn__input_read(a->fd, a->name, a->at + first * width, part, n * width, s->e);
		if (!err)
			err = take(s, part, first, n);
	}
	free(part);
	return err;
}

int gn__read_rows(struct gn_graph *g, const struct gn_foreign_rows *r, uint32_t flags,
                  const struct gn_graph_read_options *o, struct gn_error *e)
{
	struct reading s = {r, g, o, 0, e};
	const bool weighted = r->pairs || r->weights.name;
	int err = gn_graph_init(g, r->vertices, r->edges, weighted ? GN_WEIGHT_I32 : GN_WEIGHT_NONE,
	                        o->memory_limit, e);

	if (err)
		return err;
	g->flags = flags;
	g->offsets[r->vertices] = r->edges;
	err = read_array(&s, &r->offsets, r->vertices + (r->last_offset ? 1 : 0), r->offset_bytes,
	                 take_offsets);
	if (!err)
		err = read_array(&s, &r->neighbours, r->edges, r->neighbour_bytes + (r->pairs ? 4 : 0),
		                 take_neighbours);
	if (!err && r->weights.name)
		err = read_array(&s, &r->weights, r->edges, 4, take_weights);
	if (err)
		gn_graph_fini(g);
	return err ? err : gn__read_rebuild(g, o, e);
}
