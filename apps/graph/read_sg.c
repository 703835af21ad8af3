/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GAP benchmark suite's serialized graphs: one byte "directed", the number of stored edges and
 * of vertices (i64 each, unaligned), vertices + 1 offsets (i64), then the neighbours: i32, or pairs
 * of i32 neighbour and weight in a .wsg. A directed graph has offsets and neighbours of the reverse
 * edges behind them, which are not needed here.
 */
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

int gn__read_sg(struct gn_graph *g, int fd, const char *name, bool weighted,
                const struct gn_graph_read_options *o, struct gn_error *e)
{
	struct serialized s = {fd, name, weighted, false, 0, 0};
	struct gn_foreign_rows rows = {
	    {fd, name, SG_HEADER}, {fd, name, 0}, {0}, 0, 0, 8, 4, true, weighted, false};
	uint64_t bytes;
	int err;

	err = gn__input_size(fd, name, &bytes, e);
	if (!err)
		err = read_header(&s, bytes, e);
	if (err)
		return err;
	rows.vertices = s.vertices;
	rows.edges = s.edges;
	rows.neighbours.at = SG_HEADER + (s.vertices + 1) * 8;
	return gn__read_rows(g, &rows, s.directed ? 0 : GN_GRAPH_UNDIRECTED, o, e);
}
