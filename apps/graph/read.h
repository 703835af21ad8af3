/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.h - read a graph of any format into memory.
 *
 * Format by the end of the name: .gng, .mtx, .el, .wel, .sg, .wsg, .bel, .bcsr, .bwcsr; the three text
 * formats also as .gz. What each means, and what is kept of it, is in docs/graph-format.md.
 */
#ifndef GN_GRAPH_READ_H
#define GN_GRAPH_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "graph.h"
#include <grapnel/error.h>
#include "progress.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gn_graph_format {
	GN_FORMAT_GNG,  /* Grapnel's own */
	GN_FORMAT_MTX,  /* Matrix Market, coordinate */
	GN_FORMAT_EL,   /* text: from to */
	GN_FORMAT_WEL,  /* text: from to weight */
	GN_FORMAT_SG,   /* GAP serialized */
	GN_FORMAT_WSG,  /* GAP serialized, weighted */
	GN_FORMAT_BEL,  /* EMOGI's: three files, NAME.bel.col and so on, beside NAME.bel, which need not be
	                   there */
	GN_FORMAT_BCSR, /* Subway's */
	GN_FORMAT_BWCSR /* Subway's, weighted */
};

struct gn_graph_read_options {
	bool undirected;       /* add the other direction of every edge, unless it is there already */
	bool simple;           /* drop self loops and duplicate edges; else they are kept */
	uint64_t memory_limit; /* as in gn_graph_init */
	struct gn_progress progress;
};

/*
 * gn_graph_format_of - the format that a file's name stands for.
 * Returns 0, or -GN_ENOTSUP with a message that lists the formats.
 */
int gn_graph_format_of(const char *path, enum gn_graph_format *format, struct gn_error *e);

/*
 * gn_graph_read - read a whole graph.
 * @g        receives the graph, neighbours ascending; fini it
 * @path     a regular file; its name decides the format. Of NAME.bel the files NAME.bel.col and so on
 * @options  NULL means all zero
 * Returns 0; a code of gn_graph_file_open for a path that cannot be read; -GN_EBADMSG, with line or
 * byte offset, for content that is not a graph, for a file that ends too early and for one that
 * shrank while it was read; -GN_ENOTSUP for a flavour of the format that is not a graph;
 * -GN_EFBIG; -GN_ENOMEM. On failure g holds nothing. Not to be called twice on one g without fini.
 */
int gn_graph_read(struct gn_graph *g, const char *path, const struct gn_graph_read_options *options,
                  struct gn_error *e);

/*
 * gn_graph_read_fd - the same on an open descriptor, which stays the caller's.
 * @name    for messages
 * @format  not GN_FORMAT_BEL: -GN_EINVAL
 */
int gn_graph_read_fd(struct gn_graph *g, int fd, const char *name, enum gn_graph_format format,
                     const struct gn_graph_read_options *options, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
