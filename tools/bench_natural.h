/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_natural.h - what the workloads of natural loops share: elements, sums, the best plain loop, a cache
 * that is cold.
 */
#ifndef GN_TOOLS_BENCH_NATURAL_H
#define GN_TOOLS_BENCH_NATURAL_H

#include "bench.h"
#include "natural/natural.h"

struct bench_natural {
	struct bench *b;
	struct gn_natural_args args;
	const struct simt_kernel *check; /* of what a run has written with salt; NULL: it only reads */
	uint64_t want;                   /* what the sum of a run or, if there is one, of its check must be */
	enum scope_unit unit;            /* of the rows, and how many of it a run has */
	double amount;
};

/*
 * bench_natural_open - elements made by this kernel over the whole of the data. Close it in any case: it puts
 * the words of the other workloads back, and returns rc if that is not 0.
 */
int bench_natural_open(struct bench_natural *n, struct bench *b, const struct simt_kernel *fill,
                       struct gn_error *e);
int bench_natural_close(struct bench_natural *n, int rc, struct gn_error *e);

/*
 * bench_natural_pattern - what follows is this pattern: so many touches (0: as it says), and what they add up
 * to.
 */
int bench_natural_pattern(struct bench_natural *n, const struct gn_natural_pattern *p, uint64_t touches,
                          struct gn_error *e);

/*
 * bench_natural_limit - the row of the fastest of count kernels that do not use the library, each tried over
 * several grids.
 * @kernels  NULL: not one
 */
int bench_natural_limit(struct bench_natural *n, const char *name, const struct simt_kernel *const *kernels,
                        unsigned count, struct gn_error *e);

/*
 * bench_natural_cache - a cache of so many bytes (0: of so many frames) with the pages of --page, and
 * args.array in it. bench_uncache(n->b, &n->args.array, rc, e) ends them.
 */
int bench_natural_cache(struct bench_natural *n, uint64_t bytes, uint64_t frames, struct gn_error *e);

/* When the cache of a run is cold. */
enum bench_natural_cache_state {
	BENCH_COLD,
	BENCH_AGAIN /* behind a run that does the same, which does not count */
};

/* bench_natural_row - a row of ours: a kernel over the grid that simt_info advises. */
int bench_natural_row(struct bench_natural *n, const char *name, const struct simt_kernel *kernel,
                      enum bench_natural_cache_state state, struct gn_error *e);

#endif
