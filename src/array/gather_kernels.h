/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather_kernels.h - the steps of gn_gather_rows and gn_scatter_rows. Each step is a kernel, so the end of a
 * step is a barrier of the grid.
 */
#ifndef GN_ARRAY_GATHER_KERNELS_H
#define GN_ARRAY_GATHER_KERNELS_H

#include <grapnel/gather.h>

struct gn_gather_args {
	struct gn_array array;
	struct gn_batch batch;
	struct gn_gather_view view;
	uint32_t pass; /* number of the digit; entries are in view.entry[pass % 2] */
	uint32_t is_scatter;
};

/* A gather of direct mode by one of the devices that have the array's memory (gather_there.h). */
struct gn_gather_there_args {
	struct gn_array array;
	struct gn_batch batch;
	uint64_t first; /* byte of the spread memory where the array begins */
	uint32_t
	    piece_log2; /* of the bytes that lie together on a device; piece k is on device k % devices */
	uint32_t devices;
	uint32_t device; /* this one's place among them */
};

SIMT_KERNEL_DECLARE(gn_gather_load);         /* make entries of the indices and count their first digit */
SIMT_KERNEL_DECLARE(gn_gather_count);        /* count a digit */
SIMT_KERNEL_DECLARE(gn_gather_sort);         /* sort the entries by a digit */
SIMT_KERNEL_DECLARE(gn_gather_move);         /* move the rows */
SIMT_KERNEL_DECLARE(gn_gather_as_they_come); /* cpu: gather without a sort */
SIMT_KERNEL_DECLARE(gn_gather_few);          /* a GPU: gather few rows without a sort */
SIMT_KERNEL_DECLARE(gn_gather_there);        /* gather the rows that lie on this device */

#endif
