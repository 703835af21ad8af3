/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - Grapnel's own graph file, ".gng" (docs/graph-format.md).
 *
 * One header page, then page-aligned little-endian arrays, so that an array on a file store can be
 * laid over a section directly. Opening reads the header page only and holds every number in it
 * against the real size of the file; the data is believed only after gn_graph_file_check or
 * gn_graph_file_load.
 */
#ifndef GN_GRAPH_FILE_H
#define GN_GRAPH_FILE_H

#include <stdint.h>

#include "graph.h"
#include <grapnel/error.h>
#include "progress.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	GN_GRAPH_FILE_PAGE = 4096,
	GN_GRAPH_FILE_VERSION = 1,     /* neighbours are u32 */
	GN_GRAPH_FILE_VERSION_WIDE = 2 /* u64: so the number of vertices may be larger */
};

/* Of a file of 8-byte ids; what is read into memory has GN_GRAPH_MAX_VERTICES at most. */
#define GN_GRAPH_FILE_MAX_VERTICES (UINT64_C(1) << 56)

/* Where one array lies: page-aligned, inside the file. */
struct gn_graph_section {
	uint64_t at;    /* byte offset in the file, a multiple of GN_GRAPH_FILE_PAGE */
	uint64_t bytes; /* length without the padding to the next page; 0 when absent */
	uint32_t crc;   /* zlib's crc32 of those bytes */
};

struct gn_graph_file {
	int fd;         /* open for reading; owned */
	char *name;     /* as it was opened, for messages; owned */
	uint64_t bytes; /* size of the file */
	uint64_t vertices;
	uint64_t edges;
	uint32_t flags;                     /* GN_GRAPH_* */
	uint32_t weight;                    /* GN_WEIGHT_* */
	uint32_t id_bytes;                  /* of a neighbour: 4 or 8 */
	struct gn_graph_section offsets;    /* u64, vertices + 1 */
	struct gn_graph_section neighbours; /* u32 or u64, edges */
	struct gn_graph_section weights;    /* u32, edges or none */
};

/*
 * gn_graph_file_open - open a .gng file and validate its header; no data is read.
 * Returns 0; -GN_ENOENT, -GN_EACCES or another code of open(2); -GN_EINVAL for a directory, a FIFO
 * or anything else that is not a regular file (never blocks on one); -GN_EBADMSG for a header that
 * is damaged or does not agree with the size of the file; -GN_ENOTSUP for a newer version or
 * another byte order. On failure f holds nothing.
 */
int gn_graph_file_open(struct gn_graph_file *f, const char *path, struct gn_error *e);

/*
 * gn_graph_file_open_fd - the same on an open descriptor, which stays the caller's.
 * @name  for messages
 */
int gn_graph_file_open_fd(struct gn_graph_file *f, int fd, const char *name, struct gn_error *e);

/*
 * gn_graph_file_close - close and free; a file that failed to open is fine.
 */
void gn_graph_file_close(struct gn_graph_file *f);

/*
 * gn_graph_file_check - read the whole file once and prove it sound.
 * Checks the checksum of every section, that offsets start at 0, never decrease and end at the
 * number of edges, that neighbours are below the number of vertices, that neighbours ascend where
 * the header says so, and that padding is zero. Uses a few MiB whatever the size of the file.
 * Does NOT check that an "undirected" graph is symmetric.
 * Returns 0, -GN_EBADMSG with the byte offset of the damage, -GN_EIO or another code of pread(2).
 */
int gn_graph_file_check(const struct gn_graph_file *f, const struct gn_progress *progress,
                        struct gn_error *e);

/*
 * gn_graph_file_load - read the whole graph into memory, checked as by gn_graph_file_check.
 * @memory_limit  as in gn_graph_init
 * Ids of 8 bytes become those of 4. Returns 0 or a code of gn_graph_init or gn_graph_file_check; on failure g
 * holds nothing.
 */
int gn_graph_file_load(const struct gn_graph_file *f, struct gn_graph *g, uint64_t memory_limit,
                       const struct gn_progress *progress, struct gn_error *e);

/*
 * Is given n + 1 offsets from vertex `first` on: the first of a part is the last of the part before. Returns
 * 0, or a code with a message, which ends the walk.
 */
typedef int gn_graph_take_offsets(void *context, const uint64_t *offsets, uint64_t first, uint64_t n,
                                  struct gn_error *e);

/*
 * gn_graph_file_offsets - hand out the offsets, unchecked, in parts of 4 MiB.
 * @take  is not called if the graph has no vertex
 * Returns 0; -GN_ENOMEM; a code of pread(2), with the byte offset; what take returned.
 */
int gn_graph_file_offsets(const struct gn_graph_file *f, gn_graph_take_offsets *take, void *context,
                          struct gn_error *e);

/*
 * gn_graph_file_write - write a graph as a .gng file, with ids of 8 bytes if g->wide.
 * The file appears under its name only when it is complete and on the disk; until then it has no
 * name or a temporary one in the same directory, and after a failure neither file is there and
 * what had the name before is as it was. A character device is written in place.
 * Returns 0, -GN_EINVAL for a path that is a directory or a FIFO, -GN_ENOSPC, or another code of
 * open(2), write(2), fsync(2), rename(2).
 */
int gn_graph_file_write(const struct gn_graph *g, const char *path, const struct gn_progress *progress,
                        struct gn_error *e);

/*
 * gn_graph_file_writable - whether gn_graph_file_write could start at path, for whoever has long
 * work to do before. Creates nothing that stays. Does NOT know how large the file will be.
 */
int gn_graph_file_writable(const char *path, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
