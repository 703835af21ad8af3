/* SPDX-License-Identifier: Apache-2.0 */
/* Where the rows of a generated graph go: host memory, or a file. */
#include <stdlib.h>
#include <string.h>

#include "graph/build.h"
#include "graph/file_parts.h"
#include "machine.h"

/* ---- host memory ---- */

struct memory {
	struct gn_graph *graph;
	uint64_t memory_limit;
	uint64_t offsets; /* how many are there */
	uint64_t edges;
};

static int memory_begin(void *self, uint64_t vertices, uint64_t most_edges, uint32_t flags,
                        struct gn_error *e)
{
	struct memory *m = (struct memory *)self;
	const int err = gn_graph_init(m->graph, vertices, most_edges, GN_WEIGHT_NONE, m->memory_limit, e);

	m->graph->flags = flags;
	return err;
}

static int memory_offsets(void *self, const uint64_t *offsets, uint64_t n, struct gn_error *e)
{
	struct memory *m = (struct memory *)self;

	(void)e;
	memcpy(m->graph->offsets + m->offsets, offsets, n * sizeof *offsets);
	m->offsets += n;
	return 0;
}

static int memory_neighbours(void *self, const void *neighbours, uint64_t n, struct gn_error *e)
{
	struct memory *m = (struct memory *)self;

	(void)e;
	memcpy(m->graph->neighbours + m->edges, neighbours, n * sizeof *m->graph->neighbours);
	m->edges += n;
	return 0;
}

int gn_generate_graph(struct gn_graph *g, struct simt_machine *machine,
                      const struct gn_generate_options *options, uint64_t memory, struct gn_error *e)
{
	struct memory m = {g, options->memory_limit, 0, 0};
	const struct gn_generate_output output = {&m, sizeof *g->neighbours, memory_begin, memory_offsets,
	                                          memory_neighbours};
	int err;

	memset(g, 0, sizeof *g);
	err = gn__generate(machine, options, memory, &output, e);
	if (err)
		gn_graph_fini(g);
	else
		gn__graph_shrink(g, m.edges);
	g->wide = !err && options->wide;
	return err;
}

/* ---- a file ---- */

struct file {
	struct gn_graph_parts parts;
	const char *path;
	uint32_t id_bytes;
	int is_begun;
};

static int file_begin(void *self, uint64_t vertices, uint64_t most_edges, uint32_t flags, struct gn_error *e)
{
	struct file *f = (struct file *)self;
	const int err =
	    gn__graph_parts_begin(&f->parts, f->path, vertices, most_edges, flags, f->id_bytes, e);

	f->is_begun = !err;
	return err;
}

static int file_offsets(void *self, const uint64_t *offsets, uint64_t n, struct gn_error *e)
{
	return gn__graph_parts_offsets(&((struct file *)self)->parts, offsets, n, e);
}

static int file_neighbours(void *self, const void *neighbours, uint64_t n, struct gn_error *e)
{
	return gn__graph_parts_neighbours(&((struct file *)self)->parts, neighbours, n, e);
}

int gn_generate_file(const char *path, struct gn_graph *g, struct simt_machine *machine,
                     const struct gn_generate_options *options, uint64_t memory, struct gn_error *e)
{
	struct file f;
	const uint32_t id_bytes = options->wide ? 8 : 4;
	const struct gn_generate_output output = {&f, id_bytes, file_begin, file_offsets, file_neighbours};
	int err;

	memset(&f, 0, sizeof f);
	memset(g, 0, sizeof *g);
	f.path = path;
	f.id_bytes = id_bytes;
	err = gn__generate(machine, options, memory, &output, e);
	if (err && f.is_begun)
		gn__graph_parts_drop(&f.parts);
	if (err)
		return err;
	g->vertices = f.parts.file.vertices;
	g->edges = f.parts.file.edges;
	g->flags = f.parts.file.flags;
	g->wide = options->wide;
	return gn__graph_parts_end(&f.parts, e);
}
