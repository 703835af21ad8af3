/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - what the workloads of `grapnel bench` share: the machine and its data, and rows that are
 * measured.
 *
 * A workload is one file with one function of the type in struct bench_workload. It opens groups of rows; the
 * rows of a group do the same work in different ways, and one of them is the group's limit, beside which the
 * others are set.
 */
#ifndef GN_TOOLS_BENCH_H
#define GN_TOOLS_BENCH_H

#include <stdint.h>

#include <grapnel/array.h>
#include <grapnel/simt.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_ROWS = 24, BENCH_GROUPS = 40, BENCH_RUNS = 99 };

/* What the command line asked for. */
struct bench_request {
	struct simt_options machine;
	const char *json, *svg;
	uint64_t data_bytes;  /* of each array; 0: what suits the machine */
	uint64_t cache_bytes; /* 0: a part of the data that the workload names */
	uint32_t page_bytes;  /* of the caches of natural loops and of C = A + B; 0: the library's default */
	unsigned repeat;
	int quick;
};

enum bench_role {
	BENCH_LIMIT,    /* what the machine can do, without anybody's bookkeeping */
	BENCH_BASELINE, /* how it is done without Grapnel */
	BENCH_OURS
};

enum bench_unit { BENCH_BYTES, BENCH_ACCESSES };

struct bench_row {
	const char *name;
	enum bench_role role;
	enum bench_unit unit;
	double seconds; /* of one run, the median */
	double amount;  /* bytes or accesses of one run */
	char note[96];
};

struct bench_group {
	char name[32]; /* as in "pages-4K" */
	char title[120];
	const char *limit; /* the row of the group that is 100 % */
	struct bench_row row[BENCH_ROWS];
	unsigned rows;
};

struct bench {
	const struct bench_request *q;
	struct simt_machine *machine;
	struct simt_info info;
	struct simt_grid grid;     /* for work without waits: more blocks than run at once */
	struct simt_grid resident; /* one wave */
	struct gn_store *store;    /* of all arrays of the workload that has most of them */
	char *memory;              /* of the store */
	uint64_t bytes;            /* of each array, a multiple of 64 KiB */
	uint64_t *wrong;           /* kernels count here; in SIMT_PINNED memory */
	struct bench_group group[BENCH_GROUPS];
	unsigned groups;
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

/* ---- the bed (bench_bed.c) ---- */

/* bench_open - machine and store with room for so many arrays; bench_close ends both, whatever bench_open
 * returned. */
int bench_open(struct bench *b, unsigned arrays, struct gn_error *e);
void bench_close(struct bench *b);

/* bench_fill - write the words of gn_base_word to memory that the machine reaches, on the machine. */
int bench_fill(struct bench *b, void *to, uint64_t bytes, struct gn_error *e);

/* bench_launch - run a kernel over a grid and wait. @seconds  how long that took */
int bench_launch(struct bench *b, const struct simt_kernel *kernel, struct simt_grid grid,
                 const void *arguments, double *seconds, struct gn_error *e);

/*
 * bench_cache - a cache over the store, and an array of u32 of the first b->bytes of it.
 * @part  the cache's share of the data, as in 16 for a sixteenth, unless the command line says how large it
 * is bench_uncache ends both; it returns what the array failed with, if it did.
 */
int bench_cache(struct bench *b, struct gn_cache **cache, struct gn_array *array, unsigned part,
                uint32_t page_bytes, int counters, struct gn_error *e);
int bench_uncache(struct bench *b, struct gn_cache *cache, struct gn_array *array, struct gn_error *e);

/*
 * bench_batch - how many pages a warp may hold, so that all warps that run at once hold at most a quarter of
 * the frames: at most so many, and at least one.
 */
uint32_t bench_batch(const struct bench *b, struct gn_cache *cache, uint32_t most);

/* bench_direct - an array of u32 of the first b->bytes of the store, in direct mode. */
int bench_direct(struct bench *b, struct gn_array *array, struct gn_error *e);

/* ---- rows (bench_rows.c) ---- */

/* bench_begin - a group. @limit  the name of a row of it; @title  as for printf */
void bench_begin(struct bench *b, const char *name, const char *limit, const char *title, ...)
    __attribute__((format(printf, 4, 5)));

/* A way to do the work. */
struct bench_way {
	const char *name;
	enum bench_role role;
	enum bench_unit unit;
	double amount;
	/* Do it once; *seconds is what counts of it. */
	int (*run)(struct bench *b, void *user, double *seconds, struct gn_error *e);
	void *user;
	unsigned runs; /* 0: as many as the command line says, behind one that does not count */
};

/*
 * bench_measure - run a way and keep its median as a row of the last group.
 * Returns what a run returned, or -GN_EBADMSG if words were wrong. @row  receives the row, to add a note; may
 * be NULL
 */
int bench_measure(struct bench *b, const struct bench_way *way, struct bench_row **row, struct gn_error *e);

/* The way that is one launch; user of bench_run_kernel. */
struct bench_kernel {
	const struct simt_kernel *kernel;
	const void *arguments;
	struct gn_cache *cool; /* forgets its pages before each run, if not NULL */
	uint32_t *seed;        /* one more each run, if not NULL */
	struct simt_grid grid;
};

int bench_run_kernel(struct bench *b, void *user, double *seconds, struct gn_error *e);

/* Giga bytes or accesses a second, and as a share of the group's limit (0 if that is not there). */
double bench_rate(const struct bench_row *r);
double bench_share(const struct bench_group *g, const struct bench_row *r);

/* ---- what only the CUDA runtime can (bench_cuda.c); calls of it stand inside #ifdef GN_CUDA ---- */

/* Each adds rows to the last group, if the machine is a GPU. */
int bench_cuda_copies(struct bench *b, struct gn_error *e);
int bench_cuda_sequential(struct bench *b, struct gn_error *e);
int bench_cuda_pages(struct bench *b, uint32_t page_bytes, struct gn_error *e);
int bench_cuda_words(struct bench *b, uint64_t touches, struct gn_error *e);

/* ---- saying it ---- */

void bench_print(const struct bench *b, const struct bench_group *g);
int bench_write_json(const struct bench *b, struct gn_error *e);
int bench_write_svg(const struct bench *b, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
