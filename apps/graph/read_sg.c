/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GAP benchmark suite's serialized graphs: one byte "directed", the number of stored edges and
 * of vertices (i64 each, unaligned), vertices + 1 offsets (i64), then the neighbours: i32, or pairs
 * of i32 neighbour and weight in a .wsg. A directed graph has offsets and neighbours of the reverse
 * edges behind them, which are not needed here.
 */
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "io.h"

enum { SG_HEADER = 17 };

struct serialized {
	int fd;
	const char *name;
	bool weighted;
	bool directed;
	uint64_t vertices;
	uint64_t edges;
	const struct gn_graph_read_options *options;
};

static int bad_header(const struct serialized *s, unsigned at, const char *what, uint64_t value,
                      struct gn_error *e)
{
	return gn_error_set(e, -GN_EBADMSG,
	                    "%s: byte %u: %s of %llu is not possible; the file is not a GAP serialized "
	                    "graph, or it is damaged",
	                    s->name, at, what, (unsigned long long)value);
}

static int check_size(const struct serialized *s, uint64_t bytes, struct gn_error *e)
{
	uint64_t half = (s->vertices + 1) * 8 + s->edges * (s->weighted ? 8 : 4);
	uint64_t whole = SG_HEADER + (s->directed ? 2 : 1) * half;

	if (bytes == whole)
		return 0;
	return gn_error_set(e, -GN_EBADMSG,
	                    "%s: the file has %llu bytes, but its header asks for %llu; it is cut, damaged, "
	                    "or a %s file: copy or rename it",
	                    s->name, (unsigned long long)bytes, (unsigned long long)whole,
	                    s->weighted ? ".sg" : ".wsg");
}

static int read_header(struct serialized *s, uint64_t bytes, struct gn_error *e)
{
	unsigned char header[SG_HEADER];
	int err;

	if (bytes < sizeof header)
		return gn_error_set(
		    e, -GN_EBADMSG,
		    "%s: the file ends at byte %llu, inside its header of 17 bytes; copy it again", s->name,
		    (unsigned long long)bytes);
	err = gn__input_read(s->fd, s->name, 0, header, sizeof header, e);
	if (err)
		return err;
	s->directed = header[0];
	memcpy(&s->edges, header + 1, 8);
	memcpy(&s->vertices, header + 9, 8);
	if (header[0] > 1)
		return bad_header(s, 0, "a 'directed' byte", header[0], e);
	if (s->edges > GN_GRAPH_MAX_EDGES)
		return bad_header(s, 1, "a number of edges", s->edges, e);
	if (s->vertices > INT32_MAX)
		return bad_header(s, 9, "a number of vertices", s->vertices, e);
	return check_size(s, bytes, e);
}

static int read_offsets(const struct serialized *s, struct gn_graph *g, struct gn_error *e)
{
	uint64_t previous = 0;
	int err = gn__input_read(s->fd, s->name, SG_HEADER, g->offsets, (s->vertices + 1) * 8, e);

	for (uint64_t v = 0; v <= s->vertices && !err; v++) {
		uint64_t offset = g->offsets[v];
		bool right = offset >= previous && offset <= s->edges;

		if (v == 0)
			right = offset == 0;
		if (v == s->vertices && offset != s->edges)
			right = false;
		if (!right)
			err = gn_error_set(e, -GN_EBADMSG,
			                   "%s: byte %llu: offset %llu is %llu; offsets must not decrease, "
			                   "from 0 to %llu edges: the file is damaged, copy it again",
			                   s->name, (unsigned long long)(SG_HEADER + v * 8),
			                   (unsigned long long)v, (unsigned long long)offset,
			                   (unsigned long long)s->edges);
		previous = offset;
	}
	return err;
}

static int add_neighbour(const struct serialized *s, struct gn_graph *g, uint64_t i, const uint32_t *at,
                         struct gn_error *e)
{
	if (*at >= s->vertices)
		return gn_error_set(e, -GN_EBADMSG,
		                    "%s: neighbour %llu is %lu, but the graph has %llu vertices: the file is "
		                    "damaged, copy it again",
		                    s->name, (unsigned long long)i, (unsigned long)*at,
		                    (unsigned long long)s->vertices);
	g->neighbours[i] = at[0];
	if (s->weighted)
		g->weights[i] = at[1];
	return 0;
}

static int read_neighbours(const struct serialized *s, struct gn_graph *g, struct gn_error *e)
{
	enum { PART = 1 << 20 };
	const unsigned width = s->weighted ? 2 : 1;
	const uint64_t start = SG_HEADER + (s->vertices + 1) * 8;
	uint32_t *part = (uint32_t *)malloc(PART * 4);
	int err = 0;

	if (!part)
		return gn_error_set(e, -GN_ENOMEM, "%s: out of memory to read the file", s->name);
	for (uint64_t first = 0; first < s->edges && !err; first += PART / 2) {
		uint64_t n = gn__min_u64(s->edges - first, PART / 2);

		gn_progress_step(&s->options->progress, "reading", first, s->edges);
		err = gn__input_read(s->fd, s->name, start + first * width * 4, part, n * width * 4, e);
		for (uint64_t i = 0; i < n && !err; i++)
			err = add_neighbour(s, g, first + i, part + i * width, e);
	}
	free(part);
	return err;
}

int gn__read_sg(struct gn_graph *g, int fd, const char *name, bool weighted,
                const struct gn_graph_read_options *o, struct gn_error *e)
{
	struct serialized s = {fd, name, weighted, false, 0, 0, o};
	uint64_t bytes;
	int err;

	err = gn__input_size(fd, name, &bytes, e);
	if (!err)
		err = read_header(&s, bytes, e);
	if (!err)
		err = gn_graph_init(g, s.vertices, s.edges, weighted ? GN_WEIGHT_I32 : GN_WEIGHT_NONE,
		                    o->memory_limit, e);
	if (err)
		return err;
	g->flags = s.directed ? 0 : GN_GRAPH_UNDIRECTED;
	err = read_offsets(&s, g, e);
	if (!err)
		err = read_neighbours(&s, g, e);
	if (err)
		gn_graph_fini(g);
	else
		err = gn__read_rebuild(g, o, e);
	return err;
}
