/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - what the host hands to the kernel of a step.
 */
#ifndef GN_STENCIL_KERNELS_H
#define GN_STENCIL_KERNELS_H

#include <grapnel/array.h>
#include <grapnel/simt.h>

/* The new value of an inner point. Sums and a product by a power of two: every machine rounds them alike. */
SIMT_FN float gn_stencil_point(float north, float south, float west, float east)
{
	return ((north + south) + (west + east)) * 0.25f;
}

struct gn_stencil_args {
	struct gn_array from, to; /* f32, row after row */
	uint64_t rows, columns;
	uint64_t width;      /* columns of a tile */
	uint64_t tiles;      /* side by side */
	uint64_t group_rows; /* rows of a tile */
	uint64_t groups;     /* one below the other */
	/* [warps][3][width + 2]: of the warp's tile, the rows around the one that is written, with a column
	 * on either side */
	float *lines;
};

/* One step: a warp takes a tile, and reads each row of it once. */
SIMT_KERNEL_DECLARE(gn_stencil_step);

#endif
