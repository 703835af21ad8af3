/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats.h - one reader a format. Each reads all of fd, which stays the caller's, into g and
 * returns 0 or a code of gn_graph_read; on failure g holds nothing. Private to this folder.
 */
#ifndef GN_GRAPH_FORMATS_H
#define GN_GRAPH_FORMATS_H

#include "read.h"

#ifdef __cplusplus
extern "C" {
#endif

int gn__read_mtx(struct gn_graph *g, int fd, const char *name, const struct gn_graph_read_options *o,
                 struct gn_error *e);

int gn__read_el(struct gn_graph *g, int fd, const char *name, bool weighted,
                const struct gn_graph_read_options *o, struct gn_error *e);

int gn__read_sg(struct gn_graph *g, int fd, const char *name, bool weighted,
                const struct gn_graph_read_options *o, struct gn_error *e);

/*
 * gn__read_rebuild - give a graph that was read whole the directions and rows that o asks for.
 * @g  replaced; on failure it holds nothing
 */
int gn__read_rebuild(struct gn_graph *g, const struct gn_graph_read_options *o, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
