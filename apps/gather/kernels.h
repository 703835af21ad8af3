/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - what `grapnel gather` runs: the same batch of rows read in several ways, and the check of all
 * of it.
 *
 * Word i of the data is a function of i, so every row that was gathered can be compared with what it should
 * be.
 */
#ifndef GN_GATHER_BENCH_KERNELS_H
#define GN_GATHER_BENCH_KERNELS_H

#include <grapnel/gather.h>
#include <grapnel/simt.h>

/* Rows that a group of lanes of gn_gb_ordered reads one after the other. */
enum { GN_GB_ROUNDS = 8 };

/* How row numbers are drawn. */
enum gn_gb_draw { GN_GB_UNIFORM, GN_GB_ZIPF };

/*
 * Zipf's law with exponent theta over n ranks, drawn by inverting an approximation of the sum: J. Gray and
 * others, "Quickly generating billion-record synthetic databases" (1994), section 3.2.
 */
struct gn_gb_zipf {
	double theta, zeta, alpha, eta;
};

struct gn_gb_args {
	struct gn_array array; /* u32, through the cache */
	struct gn_batch batch;
	struct gn_gather_view view;
	struct gn_gb_zipf zipf;
	uint32_t *store; /* the data where they rest */
	uint64_t words;  /* of the data */
	uint64_t rows;   /* of the data */
	uint64_t *wrong; /* words that were not what they should be, or failures */
	uint64_t *reads; /* rows that gn_gb_ordered read; in the machine's memory */
	uint64_t seed;
	uint64_t touches; /* of gn_gb_warm */
	uint32_t draw;    /* enum gn_gb_draw */
	uint32_t mask;    /* what the words of the rows are xor-ed with */
};

SIMT_KERNEL_DECLARE(gn_gb_fill);   /* write every word of the data */
SIMT_KERNEL_DECLARE(gn_gb_draw);   /* draw the batch's row numbers */
SIMT_KERNEL_DECLARE(gn_gb_stream); /* read all data in order: what the link gives */
SIMT_KERNEL_DECLARE(gn_gb_plain);  /* the rows as they come, from the store by plain loads */
/* each row of the last batch once, in order, from the store: what order gives */
SIMT_KERNEL_DECLARE(gn_gb_ordered);
SIMT_KERNEL_DECLARE(gn_gb_grid);  /* gn_gather_grid */
SIMT_KERNEL_DECLARE(gn_gb_warm);  /* touch pages as the draw touches rows */
SIMT_KERNEL_DECLARE(gn_gb_block); /* gn_gather_block, each block a part of the batch */
SIMT_KERNEL_DECLARE(gn_gb_set);   /* make the rows what the data are, xor-ed with the mask */
SIMT_KERNEL_DECLARE(gn_gb_check); /* compare every word of every row */

#endif
