/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bfs.h - the parts of `grapnel bfs`: options, the graph behind a store, the report.
 */
#ifndef GN_TOOL_BFS_H
#define GN_TOOL_BFS_H

#include <stdbool.h>

#include "bfs/bfs.h"
#include "graph/file.h"
#include "tool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In the order of the words of --mode. */
enum bfs_mode { BFS_PAGED, BFS_DIRECT, BFS_AUTO };

struct bfs_options {
	const char *graph;
	uint64_t source;
	bool undirected;
	struct simt_options machine;
	const char *store;    /* "host", "file" or NULL: what suits the graph's format */
	uint64_t cache_bytes; /* 0: one eighth of the graph */
	uint32_t page_bytes;
	enum bfs_mode mode;
	enum gn_cache_policy policy;
	uint64_t deadline_ms;
	const char *out;
	const char *json;
	const char *svg;
	bool verify;
	bool trust;
	bool explain;
};

/* A graph behind a store, ready to be searched. */
struct bfs_input {
	struct gn_graph_file file; /* of a .gng file */
	struct gn_graph graph;     /* in memory: other formats, or for verifying */
	bool has_file, has_graph;
	uint64_t vertices, edges;
	uint64_t offsets_at, neighbours_at; /* in the store */
	uint64_t bytes;                     /* of both arrays */
	struct gn_store *store;
};

/*
 * bfs_input_open - read what must be read, prove it sound unless o->trust, and open the store.
 * Returns 0 or a code with a message; then nothing is left open.
 */
int bfs_input_open(struct bfs_input *in, struct simt_machine *machine, const struct bfs_options *o,
                   const struct gn_progress *progress, struct gn_error *e);
void bfs_input_close(struct bfs_input *in);

/* The graph in memory, read now if it is not there yet. */
int bfs_input_graph(struct bfs_input *in, const struct gn_progress *progress, struct gn_error *e);

/* The arrays over a graph's store, as the mode has them. */
struct bfs_arrays {
	struct gn_cache *cache; /* paged: of both; auto: of the offsets; else NULL */
	struct gn_bfs_graph graph;
};

struct bfs_report;

/* bfs_arrays_open - Returns 0 or a code with a message; close in any case. */
int bfs_arrays_open(struct bfs_arrays *a, struct simt_machine *machine, const struct bfs_input *in,
                    const struct bfs_options *o, struct gn_error *e);
void bfs_arrays_close(struct bfs_arrays *a, struct simt_machine *machine);

/* The report's cache, choice and explanation. */
void bfs_arrays_describe(const struct bfs_arrays *a, struct bfs_report *r);

const char *bfs_mode_name(enum bfs_mode mode);

/* Everything there is to say about a run. */
struct bfs_report {
	const struct bfs_options *options;
	const struct bfs_input *input;
	struct simt_info machine;
	struct gn_bfs_result result;
	struct gn_cache_info cache;  /* zero in direct mode */
	struct gn_auto_state choice; /* mode auto: at the end */
	/* mode auto: in words; empty if nothing was chosen, because there are no edges */
	char explain[4096];
	struct gn_store_statistics store;
	const char *path; /* which way the bytes went */
	int verified;     /* 1, 0, or -1: was not asked */
};

/* Bytes that any search must read: the adjacency lists and offsets of the reached vertices. */
uint64_t bfs_needed_bytes(const struct bfs_report *r);

void bfs_print_table(const struct bfs_report *r, FILE *to);
int bfs_write_json(const struct bfs_report *r, const char *path, struct gn_error *e);
int bfs_write_svg(const struct bfs_report *r, const char *path, struct gn_error *e);
int bfs_write_depths(const char *path, const uint32_t *depth, uint64_t vertices, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
