/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats.h - one reader a format. Each reads all of fd, which stays the caller's, into g and
 * returns 0 or a code of gn_graph_read; on failure g holds nothing. Private to this folder.
 */
#ifndef GN_GRAPH_FORMATS_H
#define GN_GRAPH_FORMATS_H

#include "read.h"

int gn__read_mtx(struct gn_graph *g, int fd, const char *name, const struct gn_graph_read_options *o,
                 struct gn_error *e);

int gn__read_el(struct gn_graph *g, int fd, const char *name, bool weighted,
                const struct gn_graph_read_options *o, struct gn_error *e);

int gn__read_sg(struct gn_graph *g, int fd, const char *name, bool weighted,
                const struct gn_graph_read_options *o, struct gn_error *e);

int gn__read_bcsr(struct gn_graph *g, int fd, const char *name, bool weighted,
                  const struct gn_graph_read_options *o, struct gn_error *e);

/* ---- files that hold compressed sparse rows ---- */

/* One array of a file. */
struct gn_foreign_array {
	int fd;
	const char *name; /* of the file, for messages */
	uint64_t at;      /* byte of the first element */
};

/* Rows as another program lays them out. The counts have been held against the sizes of the files. */
struct gn_foreign_rows {
	struct gn_foreign_array offsets, neighbours;
	struct gn_foreign_array weights; /* u32; without a name there is no such array */
	uint64_t vertices, edges;
	unsigned offset_bytes;    /* 4 or 8 */
	unsigned neighbour_bytes; /* 4 or 8 */
	bool last_offset;      /* vertices + 1 offsets; else vertices, and the last row ends with the edges */
	bool pairs;            /* each neighbour is followed by its weight, u32 */
	bool unsigned_weights; /* those that an i32 does not hold are refused */
};

/* gn__read_rows - read them into g, and make of them what o asks for. @flags  GN_GRAPH_* of what is read */
int gn__read_rows(struct gn_graph *g, const struct gn_foreign_rows *r, uint32_t flags,
                  const struct gn_graph_read_options *o, struct gn_error *e);

/* ---- EMOGI's three files ---- */

enum { GN_BEL_OFFSETS, GN_BEL_NEIGHBOURS, GN_BEL_WEIGHTS, GN_BEL_FILES };

/* The ends of their names. */
extern const char *const gn__bel_suffix[GN_BEL_FILES];

/* gn__bel_name - the name of one of them, to be freed; NULL with a message if there is no memory. */
char *gn__bel_name(const char *path, unsigned file, struct gn_error *e);

/* gn__read_bel - open the files beside path, NAME.bel, and read them. Without weights there is no third. */
int gn__read_bel(struct gn_graph *g, const char *path, const struct gn_graph_read_options *o,
                 struct gn_error *e);

/* gn__read_bel_files - the same of open files; the third has no name where there are no weights. */
int gn__read_bel_files(struct gn_graph *g, const struct gn_foreign_array *file,
                       const struct gn_graph_read_options *o, struct gn_error *e);

/* ---- what several readers do ---- */

/*
 * gn__read_rebuild - give a graph that was read whole the directions and rows that o asks for.
 * @g  replaced; on failure it holds nothing
 */
int gn__read_rebuild(struct gn_graph *g, const struct gn_graph_read_options *o, struct gn_error *e);

#endif
