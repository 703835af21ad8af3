/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h - the parts of `grapnel gather`: what is asked for, the trials, the report.
 */
#ifndef GN_TOOL_GATHER_H
#define GN_TOOL_GATHER_H

#include "gather/kernels.h"
#include "tool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of rows, runs of each, and the part of a batch that is scattered. */
enum { GATHER_SIZES = 16, GATHER_REPEAT = 99, GATHER_PART = 64 };

/* What the command line asked for. */
struct gather_request {
	struct simt_options machine;
	const char *json;
	uint64_t data_bytes, cache_bytes, count, out_bytes;
	uint32_t page_bytes, row_bytes[GATHER_SIZES];
	enum gn_cache_table table;
	unsigned sizes, draws, repeat; /* draws: 0 both, else one more than enum gn_gb_draw */
	double theta;
};

/* One size of row under one draw. */
struct gather_trial {
	uint32_t row_bytes, draw;
	uint64_t count, reads; /* reads: rows without repeats, as far as the order of the batch shows them */
	double plain, ordered, gather, grid; /* seconds, medians */
	double scatter, block;               /* seconds for a batch of 1 / GATHER_PART of the rows */
};

struct gather_bench {
	const struct gather_request *q;
	struct simt_machine *machine;
	struct simt_info info;
	struct gn_store *store;
	struct gn_cache *cache;
	struct gn_gather *gather;
	struct gn_gb_args args;
	struct simt_grid grid; /* as large as the machine holds, with the memory that gn_gather_grid needs */
	struct gather_trial trial[2 * GATHER_SIZES];
	unsigned trials;
	double stream; /* seconds for all data */
};

/* gather_run - all trials of b->q. Returns 0 or a code with a message; close in any case. */
int gather_run(struct gather_bench *b, struct gn_error *e);
void gather_close(struct gather_bench *b);

void gather_print(const struct gather_bench *b);
int gather_write_json(const struct gather_bench *b, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
