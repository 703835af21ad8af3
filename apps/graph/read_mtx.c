/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix Market exchange format, coordinate (Boisvert, Pozo, Remington: The Matrix Market Exchange
 * Formats, NIST 1996). Row i, column j is an edge from i - 1 to j - 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "build.h"
#include "edges.h"
#include "formats.h"
#include "text.h"

struct matrix_reader {
	struct gn_text text;
	struct gn_edges edges;
	uint32_t weight;       /* GN_WEIGHT_* */
	enum gn_mirror mirror; /* what the symmetry asks for */
	uint64_t size;         /* rows and columns */
	uint64_t entries;      /* as stated */
};

static int unsupported(const struct matrix_reader *r, const char *what, struct gn_error *e)
{
	return gn_error_set(e, -GN_ENOTSUP,
	                    "%s: line 1: Grapnel does not read %s; use a coordinate matrix of pattern, "
	                    "integer or real, general, symmetric or skew-symmetric",
	                    r->text.name, what);
}

static int set_kind(struct matrix_reader *r, const char *format, const char *field, const char *symmetry,
                    struct gn_error *e)
{
	if (strcasecmp(format, "coordinate"))
		return unsupported(r, "a matrix that is not 'coordinate'", e);
	if (!strcasecmp(field, "pattern"))
		r->weight = GN_WEIGHT_NONE;
	else if (!strcasecmp(field, "integer"))
		r->weight = GN_WEIGHT_I32;
	else if (!strcasecmp(field, "real"))
		r->weight = GN_WEIGHT_F32;
	else
		return unsupported(r, "a matrix of this kind of number", e);
	if (!strcasecmp(symmetry, "general"))
		r->mirror = GN_MIRROR_NONE;
	else if (!strcasecmp(symmetry, "symmetric"))
		r->mirror = GN_MIRROR_SAME;
	else if (!strcasecmp(symmetry, "skew-symmetric"))
		r->mirror = GN_MIRROR_NEGATED;
	else
		return unsupported(r, "a matrix of this symmetry", e);
	if (r->mirror == GN_MIRROR_NEGATED && r->weight == GN_WEIGHT_NONE)
		return unsupported(r, "a skew-symmetric pattern", e);
	r->edges.weighted = r->weight;
	return 0;
}

static int next_line(struct matrix_reader *r, const char *want, char **line, struct gn_error *e)
{
	int more = gn__text_line(&r->text, line, e);

	if (more == 0)
		return gn_error_set(
		    e, -GN_EBADMSG,
		    "%s: the file ends after line %llu, before %s; the file is cut, copy it again",
		    r->text.name, (unsigned long long)r->text.line, want);
	return more < 0 ? more : 0;
}

static int read_banner(struct matrix_reader *r, struct gn_error *e)
{
	char object[32];
	char format[32];
	char field[32];
	char symmetry[32];
	char more[2];
	char *line;
	int err = next_line(r, "its first line", &line, e);

	if (err)
		return err;
	if (strncasecmp(line, "%%MatrixMarket ", 15) ||
	    sscanf(line + 15, "%31s %31s %31s %31s %1s", object, format, field, symmetry, more) != 4 ||
	    strcasecmp(object, "matrix"))
		return gn__text_fail(&r->text, line, "'%%MatrixMarket matrix FORMAT FIELD SYMMETRY'", e);
	return set_kind(r, format, field, symmetry, e);
}

static int read_sizes(struct matrix_reader *r, const char *line, struct gn_error *e)
{
	const char *p = line;
	uint64_t columns;

	if (!gn__field_u64(&p, &r->size) || !gn__field_u64(&p, &columns) || !gn__field_u64(&p, &r->entries) ||
	    !gn__field_end(&p))
		return gn__text_fail(&r->text, line, "'ROWS COLUMNS ENTRIES'", e);
	if (r->size != columns)
		return gn__text_fail(&r->text, line, "a square matrix, as the adjacency matrix of a graph is",
		                     e);
	if (r->size > GN_GRAPH_MAX_VERTICES || r->entries > GN_GRAPH_MAX_EDGES)
		return gn__text_fail(&r->text, line, "a graph of at most 4294967295 vertices and 2^56 edges",
		                     e);
	return 0;
}

static bool read_weight(const struct matrix_reader *r, const char **p, uint32_t *bits)
{
	int32_t integer;
	float real;

	*bits = 0;
	if (r->weight == GN_WEIGHT_NONE)
		return true;
	if (r->weight == GN_WEIGHT_I32) {
		if (!gn__field_i32(p, &integer))
			return false;
		memcpy(bits, &integer, sizeof *bits);
		return true;
	}
	if (!gn__field_f32(p, &real))
		return false;
	memcpy(bits, &real, sizeof *bits);
	return true;
}

static int add_entry(struct matrix_reader *r, const char *line, struct gn_error *e)
{
	const char *p = line;
	uint64_t row;
	uint64_t column;
	uint32_t weight;

	if (!gn__field_u64(&p, &row) || !gn__field_u64(&p, &column) || !read_weight(r, &p, &weight) ||
	    !gn__field_end(&p))
		return gn__text_fail(&r->text, line,
		                     r->weight ? "an entry 'ROW COLUMN VALUE', the value of 32 bits"
		                               : "an entry 'ROW COLUMN'",
		                     e);
	if (row < 1 || column < 1 || row > r->size || column > r->size)
		return gn__text_fail(&r->text, line, "an entry inside the matrix, counted from 1", e);
	if (r->edges.count == r->entries)
		return gn__text_fail(&r->text, line,
		                     "expected: the entries that the sizes state were all read before", e);
	return gn__edges_add(&r->edges, (uint32_t)(row - 1), (uint32_t)(column - 1), weight, e);
}

static int read_entries(struct matrix_reader *r, struct gn_error *e)
{
	bool sized = false;
	char *line;
	int more;
	int err = 0;

	while ((more = gn__text_line(&r->text, &line, e)) > 0) {
		const char *p = line;

		if (gn__field_end(&p) || *p == '%')
			continue;
		err = sized ? add_entry(r, line, e) : read_sizes(r, line, e);
		sized = true;
		if (err)
			return err;
	}
	if (more < 0)
		return more;
	if (!sized || r->edges.count != r->entries)
		return gn_error_set(e, -GN_EBADMSG,
		                    "%s: the file ends after line %llu with %llu of %llu entries; the file "
		                    "is cut, copy it again",
		                    r->text.name, (unsigned long long)r->text.line,
		                    (unsigned long long)r->edges.count, (unsigned long long)r->entries);
	return 0;
}

static int build(struct gn_graph *g, const struct matrix_reader *r, const struct gn_graph_read_options *o,
                 struct gn_error *e)
{
	struct gn_build b = {0};

	b.source = gn__edges_source(&r->edges);
	b.vertices = r->size;
	b.weight = r->weight;
	/* a symmetric matrix has both directions already, whatever is asked for */
	b.mirror = r->mirror;
	if (r->mirror == GN_MIRROR_NONE && o->undirected)
		b.mirror = GN_MIRROR_SAME;
	b.simple = o->simple;
	b.memory_limit = o->memory_limit;
	b.progress = &o->progress;
	return gn__graph_build(g, &b, e);
}

int gn__read_mtx(struct gn_graph *g, int fd, const char *name, const struct gn_graph_read_options *o,
                 struct gn_error *e)
{
	struct matrix_reader *r = (struct matrix_reader *)calloc(1, sizeof *r);
	int err;

	if (!r)
		return gn_error_set(e, -GN_ENOMEM, "%s: out of memory to read the file", name);
	r->edges.memory_limit = o->memory_limit;
	err = gn__text_open(&r->text, fd, name, &o->progress, e);
	if (!err)
		err = read_banner(r, e);
	if (!err)
		err = read_entries(r, e);
	gn__text_close(&r->text);
	if (!err)
		err = build(g, r, o, e);
	gn__edges_fini(&r->edges);
	free(r);
	return err;
}
