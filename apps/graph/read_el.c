/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "build.h"
#include "edges.h"
#include "formats.h"
#include "text.h"

struct list_reader {
	struct gn_text text;
	struct gn_edges edges;
	bool stated;       /* the first line stated the counts */
	uint64_t vertices; /* as stated */
	uint64_t count;
};

/*
 * A first line "# VERTICES,EDGES,d" or "# VERTICES,EDGES,u", with any more fields behind a comma,
 * states the counts. Anything else behind a # is a comment.
 */
static void read_statement(struct list_reader *r, const char *line)
{
	unsigned long long vertices;
	unsigned long long edges;
	char direction;
	char after = ',';

	if (sscanf(line, "# %19llu,%19llu,%c%c", &vertices, &edges, &direction, &after) < 3)
		return;
	if ((direction != 'd' && direction != 'u') || after != ',')
		return;
	r->stated = true;
	r->vertices = vertices;
	r->count = edges;
}

static bool skipped(const char *line)
{
	return gn__field_end(&line) || *line == '#' || *line == '%';
}

static int add_line(struct list_reader *r, const char *line, struct gn_error *e)
{
	const char *p = line;
	uint64_t from;
	uint64_t to;
	int32_t weight = 0;
	bool right = gn__field_u64(&p, &from) && gn__field_u64(&p, &to);

	if (right && r->edges.weighted)
		right = gn__field_i32(&p, &weight);
	if (!right || !gn__field_end(&p))
		return gn__text_fail(
		    &r->text, line,
		    r->edges.weighted
		        ? "an edge of a .wel file, 'FROM TO WEIGHT', the weight a 32-bit integer"
		        : "an edge of an .el file, 'FROM TO' (with weights it is a .wel file)",
		    e);
	if (from >= GN_GRAPH_MAX_VERTICES || to >= GN_GRAPH_MAX_VERTICES)
		return gn__text_fail(&r->text, line, "an edge of vertices up to 4294967294", e);
	if (r->stated && (from >= r->vertices || to >= r->vertices))
		return gn__text_fail(&r->text, line,
		                     "an edge of vertices below the number that the first line states", e);
	return gn__edges_add(&r->edges, (uint32_t)from, (uint32_t)to, (uint32_t)weight, e);
}

static int read_lines(struct list_reader *r, struct gn_error *e)
{
	char *line;
	int more;
	int err = 0;

	while ((more = gn__text_line(&r->text, &line, e)) > 0) {
		if (r->text.line == 1)
			read_statement(r, line);
		if (r->stated && r->vertices > GN_GRAPH_MAX_VERTICES)
			err = gn__text_fail(&r->text, line, "a number of vertices up to 4294967295", e);
		else if (!skipped(line))
			err = add_line(r, line, e);
		if (err)
			return err;
	}
	if (more < 0)
		return more;
	if (r->stated && r->count != r->edges.count)
		return gn_error_set(e, -GN_EBADMSG,
		                    "%s: line 1 states %llu edges, but the file has %llu; the file is cut or "
		                    "the line is wrong, copy or correct it",
		                    r->text.name, (unsigned long long)r->count,
		                    (unsigned long long)r->edges.count);
	return 0;
}

static int build(struct gn_graph *g, const struct list_reader *r, const struct gn_graph_read_options *o,
                 struct gn_error *e)
{
	struct gn_build b = {0};

	b.source = gn__edges_source(&r->edges);
	b.vertices = r->edges.count ? (uint64_t)r->edges.largest + 1 : 0;
	if (r->stated)
		b.vertices = r->vertices;
	b.weight = r->edges.weighted ? GN_WEIGHT_I32 : GN_WEIGHT_NONE;
	b.mirror = o->undirected ? GN_MIRROR_SAME : GN_MIRROR_NONE;
	b.simple = o->simple;
	b.memory_limit = o->memory_limit;
	b.progress = &o->progress;
	return gn__graph_build(g, &b, e);
}

int gn__read_el(struct gn_graph *g, int fd, const char *name, bool weighted,
                const struct gn_graph_read_options *o, struct gn_error *e)
{
	struct list_reader *r = (struct list_reader *)calloc(1, sizeof *r);
	int err;

	if (!r)
		return gn_error_set(e, -GN_ENOMEM, "%s: out of memory to read the file", name);
	r->edges.weighted = weighted;
	r->edges.memory_limit = o->memory_limit;
	err = gn__text_open(&r->text, fd, name, &o->progress, e);
	if (!err)
		err = read_lines(r, e);
	gn__text_close(&r->text);
	if (!err)
		err = build(g, r, o, e);
	gn__edges_fini(&r->edges);
	free(r);
	return err;
}
