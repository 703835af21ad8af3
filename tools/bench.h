/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - what `grapnel bench`, `cache-bench`, `gather` and `auto-bench` share: the machine and its data,
 * and rows that are measured, printed and written as a report of scope.
 *
 * Rows stand in groups; those of a group do the same work in different ways, and one of them is the limit,
 * beside which the others are set. A workload of `grapnel bench` is one file with one function of the type in
 * struct bench_workload, which opens groups.
 */
#ifndef GN_TOOLS_BENCH_H
#define GN_TOOLS_BENCH_H

#include <stdint.h>

#include <grapnel/array.h>
#include <grapnel/simt.h>

#include "scope/grapnel/fixture.h"
#include "scope/sampling.h"
#include "tool.h"

enum { BENCH_ROWS = 400, BENCH_RUNS = 99 };

/* What the command line asked for. */
struct bench_request {
	struct simt_options machine;
	struct tool_files files;
	const char *store;    /* NULL: host memory */
	uint64_t data_bytes;  /* of each array; 0: what suits the machine */
	uint64_t cache_bytes; /* 0: a part of the data that the command names */
	uint32_t page_bytes;  /* of bench: of the caches of natural loops and of C = A + B; 0: not said */
	enum gn_cache_table table;
	unsigned repeat;
};

/* A row of the report, its name "group/way", and what came of it. Its limit is a row of its group. */
struct bench_kept {
	struct scope_row row;
	char name[96], title[160], limit[96];
};

struct bench {
	const char *command; /* such as "bench" */
	const struct bench_request *q;
	struct fixture fixture;    /* its store holds all arrays of the workload that has most of them */
	struct simt_grid grid;     /* for work without waits: more blocks than run at once */
	struct simt_grid resident; /* one wave */
	char *memory;              /* of the store; NULL: it has none */
	uint64_t bytes;            /* of each array, a multiple of 64 KiB */
	uint64_t *wrong;           /* kernels count here; in SIMT_PINNED memory */
	/* the group that rows are added to: its name, title and the row that is 100 % */
	char group[32], title[160], limit[96];
	uint32_t rows, printed;
	struct bench_kept row[BENCH_ROWS];
	struct scope_result result[BENCH_ROWS];
};

struct bench_workload {
	const char *name, *summary;
	int (*run)(struct bench *b, struct gn_error *e);
	unsigned arrays; /* of b->bytes each, side by side in the store */
};

int bench_sequential(struct bench *b, struct gn_error *e);
int bench_pages(struct bench *b, struct gn_error *e);
int bench_words(struct bench *b, struct gn_error *e);
int bench_add(struct bench *b, struct gn_error *e);
int bench_reuse(struct bench *b, struct gn_error *e);
int bench_sum(struct bench *b, struct gn_error *e);
int bench_scattered_rows(struct bench *b, struct gn_error *e);
int bench_random(struct bench *b, struct gn_error *e);
int bench_hot_rows(struct bench *b, struct gn_error *e);
int bench_few_frames(struct bench *b, struct gn_error *e);
int bench_search(struct bench *b, struct gn_error *e);
int bench_stores(struct bench *b, struct gn_error *e);
int bench_patterns(struct bench *b, struct gn_error *e);

/* ---- the fixture (bench_fixture.c) ---- */

/*
 * --machine and the like, --json and the like, --data, --store, --cache, --page, --table, --repeat: children
 * of a command's argp, whose parser calls bench_inputs at ARGP_KEY_INIT.
 */
extern const struct argp_child bench_children[];
void bench_inputs(const struct argp_state *state, struct bench_request *q);

/*
 * bench_standard - what options are before they are read. bench_complete - what they left open: pages as they
 * were tuned, a cache of this share of the data.
 */
void bench_standard(struct bench_request *q, uint64_t data_bytes, unsigned repeat);
void bench_complete(struct bench_request *q, const char *command, unsigned cache_part);

/*
 * bench_open - the machine of b->q, and grids for it. bench_store - a store on it: the one named, or else so
 * many bytes of host memory. bench_memory_store - the same; one without memory is refused. bench_close ends
 * both, whatever they returned.
 */
int bench_open(struct bench *b, struct gn_error *e);
int bench_store(struct bench *b, uint64_t bytes, struct gn_error *e);
int bench_memory_store(struct bench *b, uint64_t bytes, struct gn_error *e);
void bench_close(struct bench *b);

/* bench_fill - write the words of gn_base_word to memory that the machine reaches, on the machine. */
int bench_fill(struct bench *b, void *to, uint64_t bytes, struct gn_error *e);

/* bench_launch - run a kernel over a grid and wait. @seconds  how long that took */
int bench_launch(struct bench *b, const struct simt_kernel *kernel, struct simt_grid grid,
                 const void *arguments, double *seconds, struct gn_error *e);

/*
 * bench_cache - a cache over the store, b->fixture.cache, and an array of u32 of the first b->bytes of it.
 * @part  the cache's share of the data, as in 16 for a sixteenth, where the command line does not say it
 * bench_uncache ends both; it returns rc, or what the array failed with.
 */
int bench_cache(struct bench *b, struct gn_array *array, unsigned part, uint32_t page_bytes, int counters,
                struct gn_error *e);
int bench_uncache(struct bench *b, struct gn_array *array, int rc, struct gn_error *e);

/*
 * bench_batch - how many pages a warp may hold, so that all warps that run at once hold at most a quarter of
 * the frames: at most so many, and at least one.
 */
uint32_t bench_batch(const struct bench *b, uint32_t most);

/* ---- rows (bench_rows.c) ---- */

/* bench_begin - a group. @limit  the name of a row of it; @title  as for printf */
void bench_begin(struct bench *b, const char *name, const char *limit, const char *title, ...)
    __attribute__((format(printf, 4, 5)));

/* A way to do the work. */
struct bench_way {
	const char *name;
	enum scope_role role;
	enum scope_unit unit; /* SCOPE_LATENCY: the time of a run is all there is */
	double amount;        /* bytes or accesses of a run */
	/* Do it once; *seconds is what counts of it. */
	int (*run)(struct bench *b, void *user, double *seconds, struct gn_error *e);
	void *user;
	unsigned runs; /* 0: as many as the command line says, behind one that does not count */
};

/*
 * bench_measure - run a way; its times are a row of the group.
 * @result  receives the row's, to add what to know about it (why); may be NULL
 * Returns what a run returned, or -GN_EBADMSG if words were wrong.
 */
int bench_measure(struct bench *b, const struct bench_way *way, struct scope_result **result,
                  struct gn_error *e);

/* bench_right - 0, or -GN_EBADMSG and a message if words were wrong. */
int bench_right(struct bench *b, const char *what, struct gn_error *e);

/* bench_keep - a row of so many times that were measured elsewhere. Returns 0 or -GN_ENOMEM. */
int bench_keep(struct bench *b, const struct bench_way *way, const double *seconds, unsigned runs,
               struct scope_result **result, struct gn_error *e);

/* bench_moved - a run of this row of bytes came to so many, which was not known before. */
void bench_moved(struct scope_result *r, double bytes);

/* bench_seconds - of one run, the median. */
double bench_seconds(const struct scope_result *r);

/* The work of a group's rows, where a run is one launch. */
struct bench_work {
	const void *arguments;
	uint32_t *seed;        /* one more each run, if not NULL */
	struct simt_grid grid; /* of no blocks: b->grid */
	enum scope_unit unit;
	double amount; /* bytes or accesses of a run */
};

/*
 * bench_row - measure a kernel that does the work. b->fixture.cache, if there is one, forgets its pages
 * before each run. @result  as of bench_measure
 */
int bench_row(struct bench *b, const struct bench_work *work, const char *name, enum scope_role role,
              const struct simt_kernel *kernel, struct scope_result **result, struct gn_error *e);

/* bench_stream - the row "stream": all words of the data in order, by plain loads. */
int bench_stream(struct bench *b, struct gn_error *e);

/* ---- what only the CUDA runtime can (bench_cuda.c); calls of it stand inside #ifdef GN_CUDA ---- */

/* Each adds rows to the last group, if the machine is a GPU. */
int bench_cuda_copies(struct bench *b, struct gn_error *e);
int bench_cuda_sequential(struct bench *b, struct gn_error *e);
int bench_cuda_pages(struct bench *b, uint32_t page_bytes, struct gn_error *e);
int bench_cuda_words(struct bench *b, uint64_t touches, struct gn_error *e);

/* ---- saying it ---- */

/* bench_print - the rows since the last call, as a table; none where a file goes to standard output. */
void bench_print(struct bench *b);

/*
 * bench_end - write the files that were asked for, and end the fixture.
 * @rc        what the measuring returned
 * @settings  of the command, beside machine, store and repeat; taken over
 * Returns an exit status.
 */
int bench_end(struct bench *b, int rc, json_t *settings, struct gn_error *e);

#endif
