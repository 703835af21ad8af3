/* SPDX-License-Identifier: Apache-2.0 */
/* A graph of any format, behind a store. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/order.h"
#include "graph/read.h"
#include "graph_job.h"
#include "store_move.h"

static int open_file(struct graph_input *in, struct simt_machine *machine, const struct graph_options *o,
                     const char *path, struct gn_error *e)
{
	const uint32_t transfer = o->mode == GRAPH_AUTO ? (uint32_t)GRAPH_AUTO_PAGE : o->far.page_bytes;

	return tool_far_open(&in->store, machine, &o->far, o->subcommand, o->machine.name,
	                     o->far.baseline ? "host" : "file", path, tool_far_file_query(&o->far), transfer,
	                     e);
}

/* ---- a .gng file ---- */

static void use_sections(struct graph_input *in, const struct graph_options *o, const struct gn_graph_file *f)
{
	in->vertices = f->vertices;
	in->edges = f->edges;
	in->id_bytes = f->id_bytes;
	in->offsets_at = f->offsets.at;
	in->neighbours_at = f->neighbours.at;
	in->weights_at = f->weights.at;
	in->weight = o->weights ? f->weight : (uint32_t)GN_WEIGHT_NONE;
	in->bytes = f->offsets.bytes + f->neighbours.bytes + (in->weight ? f->weights.bytes : 0);
	in->both_directions = f->flags & GN_GRAPH_UNDIRECTED;
}

/* Copy the file into host memory, a piece at a time. */
static int load_file(struct graph_input *in, const struct gn_progress *progress, struct gn_error *e)
{
	const uint64_t piece = 4u << 20;
	char *buffer = (char *)malloc(piece);
	int rc = buffer ? 0 : gn_error_set(e, -GN_ENOMEM, "%s: out of memory", in->file.name);

	for (uint64_t at = 0; !rc && at < in->file.bytes;) {
		uint64_t want = in->file.bytes - at < piece ? in->file.bytes - at : piece;
		ssize_t got = pread(in->file.fd, buffer, want, (off_t)at);

		if (got <= 0) {
			rc = gn_error_set(e, -GN_EIO, "%s: %s at byte %llu; make the file again",
			                  in->file.name,
			                  got ? strerror(errno)
			                      : "the file ends early (it was shortened while it was read)",
			                  (unsigned long long)at);
			break;
		}
		rc = gn_store_write_host(in->store, at, buffer, (size_t)got, e);
		at += (uint64_t)got;
		gn_progress_step(progress, "loading", at, in->file.bytes);
	}
	free(buffer);
	return rc;
}

static int refuse_there(const struct graph_input *in, const struct graph_options *o, struct gn_error *e)
{
	return gn_error_set(
	    e, -GN_EBADMSG,
	    "%s: the store does not have the bytes of %s; name its members in the same order and "
	    "with the same unit= as when it was written, write the bytes with grapnel store "
	    "write, or give --overwrite",
	    o->far.store, in->file.name);
}

/* Is a page of the store that of the file? */
static int compare_page(const struct graph_input *in, const struct graph_options *o, uint64_t page,
                        struct gn_error *e)
{
	char file[GN_GRAPH_FILE_PAGE], store[GN_GRAPH_FILE_PAGE];
	const uint64_t at = page * GN_GRAPH_FILE_PAGE, left = in->file.bytes - at;
	const size_t bytes = left < GN_GRAPH_FILE_PAGE ? (size_t)left : (size_t)GN_GRAPH_FILE_PAGE;
	int rc;

	if (pread(in->file.fd, file, bytes, (off_t)at) != (ssize_t)bytes)
		return gn_error_set(e, -GN_EIO, "%s: the bytes at %llu cannot be read; make the file again",
		                    in->file.name, (unsigned long long)at);
	rc = gn_store_read_host(in->store, at, store, bytes, e);
	return rc || !memcmp(file, store, bytes) ? rc : refuse_there(in, o, e);
}

/*
 * The store that has the file's bytes: its first page, with the checksums of all others, must be the file's.
 * More pages, at distances that are no multiple of a row, tell a stripe in another order or of another unit.
 */
static int open_there(struct graph_input *in, struct simt_machine *machine, const struct graph_options *o,
                      struct gn_error *e)
{
	enum { PAGES = 251 };
	const uint64_t pages = (in->file.bytes + GN_GRAPH_FILE_PAGE - 1) / GN_GRAPH_FILE_PAGE;
	int rc = tool_far_there(&in->store, machine, &o->far, in->file.bytes, e);

	for (uint64_t k = 0; k < PAGES && !rc; k++)
		rc = compare_page(in, o, pages / PAGES * k + pages % PAGES * k / PAGES, e);
	return rc;
}

/*
 * The file itself, or a copy of it in memory. What a managed baseline needs of a file the store knows: a
 * mapping, or a copy.
 */
static bool stays_in_file(const struct graph_options *o)
{
	if (o->far.baseline)
		return o->far.baseline == TOOL_MANAGED;
	return !o->far.store || !strcmp(o->far.store, "file");
}

static int open_sections(struct graph_input *in, struct simt_machine *machine, const struct graph_options *o,
                         const struct gn_progress *progress, struct gn_error *e)
{
	const double begin = tool_seconds();
	int rc;

	if (stays_in_file(o)) {
		rc = open_file(in, machine, o, o->graph, e);
	} else if (tool_far_is_there(&o->far)) {
		rc = open_there(in, machine, o, e);
	} else {
		rc = tool_far_memory(&in->store, machine, &o->far, in->file.bytes, false, e);
		if (!rc)
			rc = load_file(in, progress, e);
	}
	in->load_seconds = tool_seconds() - begin;
	return rc;
}

/* The graph in memory, ordered, into a store. */
static int open_ordered(struct graph_input *in, struct simt_machine *machine, const struct graph_options *o,
                        const struct gn_progress *progress, struct gn_error *e);

static int open_gng(struct graph_input *in, struct simt_machine *machine, const struct graph_options *o,
                    const struct gn_progress *progress, struct gn_error *e)
{
	bool wanted;
	int rc = gn_graph_file_open(&in->file, o->graph, e);

	if (rc)
		return rc;
	in->has_file = true;
	use_sections(in, o, &in->file);
	if (in->vertices > GN_GRAPH_MAX_VERTICES)
		return gn_error_set(
		    e, -GN_EFBIG,
		    "%s: the file has %llu vertices, but jobs number vertices by 32 bits; give a "
		    "graph of at most 2^32 - 1 vertices",
		    o->graph, (unsigned long long)in->vertices);
	if (o->undirected && !(in->file.flags & GN_GRAPH_UNDIRECTED))
		return gn_error_set(e, -GN_EINVAL,
		                    "%s: the file holds directed edges; make an undirected one with grapnel "
		                    "convert --undirected",
		                    o->graph);
	rc = graph_order_check(o, in->file.flags, e);
	if (!rc && !o->trust)
		rc = gn_graph_file_check(&in->file, progress, e);
	if (!rc)
		rc = graph_order_wanted(in, o, &wanted, e);
	if (rc)
		return rc;
	if (wanted)
		return open_ordered(in, machine, o, progress, e);
	return open_sections(in, machine, o, progress, e);
}

/* ---- every other format: read into memory, then into a store ---- */

static uint64_t page_up(uint64_t bytes)
{
	return (bytes + GN_GRAPH_FILE_PAGE - 1) / GN_GRAPH_FILE_PAGE * GN_GRAPH_FILE_PAGE;
}

/* Offsets, neighbours and weights, each from the next page on. */
static int store_graph(struct graph_input *in, struct simt_machine *machine, const struct graph_options *o,
                       const struct gn_graph *graph, struct gn_error *e)
{
	const uint64_t offsets = (in->vertices + 1) * sizeof(uint64_t),
	               neighbours = in->edges * sizeof(uint32_t);
	const uint32_t *weights = o->weights ? graph->weights : NULL;
	const double begin = tool_seconds();
	int rc;

	in->id_bytes = 4;
	in->weight = weights ? graph->weight : (uint32_t)GN_WEIGHT_NONE;
	in->offsets_at = 0;
	in->neighbours_at = page_up(offsets);
	in->weights_at = in->neighbours_at + page_up(neighbours);
	in->bytes = offsets + (weights ? 2 : 1) * neighbours;
	rc = tool_far_memory(&in->store, machine, &o->far,
	                     in->weights_at + (weights ? neighbours : 0) + GN_GRAPH_FILE_PAGE, false, e);
	if (!rc)
		rc = gn_store_write_host(in->store, in->offsets_at, graph->offsets, offsets, e);
	if (!rc && neighbours)
		rc = gn_store_write_host(in->store, in->neighbours_at, graph->neighbours, neighbours, e);
	if (!rc && weights)
		rc = gn_store_write_host(in->store, in->weights_at, weights, neighbours, e);
	if (!rc)
		rc = gn_store_flush(in->store, e);
	in->load_seconds = tool_seconds() - begin;
	return rc;
}

/* A block store needs a file: one that has no name any more as soon as it is open. */
static int file_graph(struct graph_input *in, struct simt_machine *machine, const struct graph_options *o,
                      const struct gn_graph *graph, const struct gn_progress *progress, struct gn_error *e)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	struct gn_graph_file made;
	int fd, rc;

	snprintf(path, sizeof path, "%s/grapnel-XXXXXX.gng", folder && *folder ? folder : "/tmp");
	fd = mkstemps(path, 4);
	if (fd < 0)
		return gn_error_set(e, -GN_EACCES,
		                    "%s: %s; set TMPDIR to a folder with enough space for the graph", path,
		                    strerror(errno));
	close(fd);
	rc = gn_graph_file_write(graph, path, progress, e);
	if (!rc)
		rc = gn_graph_file_open(&made, path, e);
	if (!rc) {
		use_sections(in, o, &made);
		gn_graph_file_close(&made);
		rc = open_file(in, machine, o, path, e);
	}
	unlink(path);
	return rc;
}

static int open_memory(struct graph_input *in, struct simt_machine *machine, const struct graph_options *o,
                       const struct gn_graph *graph, const struct gn_progress *progress, struct gn_error *e)
{
	in->vertices = graph->vertices;
	in->edges = graph->edges;
	if (!o->far.baseline && (o->far.store ? !strcmp(o->far.store, "file") : in->has_file))
		return file_graph(in, machine, o, graph, progress, e);
	return store_graph(in, machine, o, graph, e);
}

static int open_ordered(struct graph_input *in, struct simt_machine *machine, const struct graph_options *o,
                        const struct gn_progress *progress, struct gn_error *e)
{
	struct gn_graph ordered;
	double begin;
	int rc = graph_input_load(in, progress, e);

	begin = tool_seconds();
	if (!rc)
		rc = gn_graph_order(&ordered, &in->graph, progress, e);
	if (rc)
		return rc;
	in->ordered = true;
	in->order_seconds = tool_seconds() - begin;
	rc = open_memory(in, machine, o, &ordered, progress, e);
	gn_graph_fini(&ordered);
	return rc;
}

static int open_other(struct graph_input *in, struct simt_machine *machine, const struct graph_options *o,
                      const struct gn_progress *progress, struct gn_error *e)
{
	struct gn_graph_read_options read = {0};
	bool wanted;
	int rc;

	read.undirected = o->undirected;
	read.progress = *progress;
	rc = gn_graph_read(&in->graph, o->graph, &read, e);
	if (rc)
		return rc;
	in->has_graph = true;
	in->both_directions = in->graph.flags & GN_GRAPH_UNDIRECTED;
	in->edges = in->graph.edges;
	in->vertices = in->graph.vertices;
	rc = graph_order_check(o, in->graph.flags, e);
	if (!rc)
		rc = graph_order_wanted(in, o, &wanted, e);
	if (rc)
		return rc;
	return wanted ? open_ordered(in, machine, o, progress, e)
	              : open_memory(in, machine, o, &in->graph, progress, e);
}

int graph_input_open(struct graph_input *in, struct simt_machine *machine, const struct graph_options *o,
                     const struct gn_progress *progress, struct gn_error *e)
{
	enum gn_graph_format format;
	int rc;

	memset(in, 0, sizeof *in);
	rc = gn_graph_format_of(o->graph, &format, e);
	if (!rc)
		rc = format == GN_FORMAT_GNG ? open_gng(in, machine, o, progress, e)
		                             : open_other(in, machine, o, progress, e);
	in->subcommand = o->subcommand;
	if (!rc)
		tool_store_warn(in->subcommand, in->store, false);
	else
		graph_input_close(in);
	return rc;
}

void graph_input_close(struct graph_input *in)
{
	if (in->store) {
		tool_store_warn(in->subcommand, in->store, true);
		gn_store_close(in->store);
	}
	if (in->has_graph)
		gn_graph_fini(&in->graph);
	if (in->has_file)
		gn_graph_file_close(&in->file);
	memset(in, 0, sizeof *in);
}

int graph_input_load(struct graph_input *in, const struct gn_progress *progress, struct gn_error *e)
{
	int rc;

	if (in->has_graph)
		return 0;
	rc = gn_graph_file_load(&in->file, &in->graph, 0, progress, e);
	in->has_graph = !rc;
	return rc;
}
