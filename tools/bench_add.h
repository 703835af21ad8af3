/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_add.h - C = A + B: what its ways share.
 */
#ifndef GN_TOOLS_BENCH_ADD_H
#define GN_TOOLS_BENCH_ADD_H

#include "baselines/add.h"
#include "bench.h"
#include "tool.h"

struct bench_add {
	struct gn_base_add_args args;
	const struct simt_kernel *kernel;
};

/* bench_add_check - compare every word of C with what a->args.salt makes it. */
int bench_add_check(struct bench *b, struct bench_add *a, struct gn_error *e);

/* bench_add_row - measure a kernel over the whole arrays. */
int bench_add_row(struct bench *b, struct bench_add *a, const char *name, enum scope_role role,
                  const struct simt_kernel *kernel, struct gn_error *e);

/* bench_cuda_add - the rows that need the CUDA runtime (bench_cuda.c). */
int bench_cuda_add(struct bench *b, struct bench_add *a, struct gn_error *e);

#endif
