/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - a launch of a pattern as batches of rows: the list is made, gathered, looked at, and scattered if
 * it is written.
 */
#ifndef GN_PATTERNS_BATCH_H
#define GN_PATTERNS_BATCH_H

#include "kernels.h"
#include "patterns.h"

/* How a pattern is written as batches. */
struct gn_pattern_list {
	const struct simt_kernel *fill;
	uint32_t elements;    /* words of a row */
	uint32_t share_words; /* of the launch's touches, a row each; 0: of all words */
};

/* Room for batches. */
struct gn_pattern_batch {
	struct simt_machine *machine;
	struct gn_gather *gather;
	struct gn_batch rows; /* count: the most of one batch */
	uint64_t all;         /* rows of a launch */
};

/* gn_pattern_batch_open - room for a list's launches. Host. Returns 0, -GN_ENOMEM. Close it in any case. */
int gn_pattern_batch_open(struct gn_pattern_batch *b, struct simt_machine *machine,
                          const struct gn_pattern_list *list, const struct gn_pattern_args *args,
                          struct gn_error *error);
void gn_pattern_batch_close(struct gn_pattern_batch *b);

/*
 * gn_pattern_batch_launch - all batches of a launch on args->array, to their end. Host. Returns 0 or a code.
 */
int gn_pattern_batch_launch(struct gn_pattern_batch *b, const struct gn_pattern *pattern,
                            struct simt_grid grid, struct gn_pattern_args *args, struct gn_error *error);

#endif
