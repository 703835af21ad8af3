/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stencil.h - Jacobi's iteration with five points over a grid that may be larger than the machine's memory.
 */
#ifndef GN_STENCIL_STENCIL_H
#define GN_STENCIL_STENCIL_H

#include <grapnel/array.h>
#include <grapnel/error.h>
#include <grapnel/simt.h>

#include "tiles/tiles.h"

struct gn_stencil {
	struct gn_array grid[2]; /* f32, row after row; step k reads grid[k % 2] and writes the other */
	uint64_t rows, columns;
	uint64_t cache_bytes; /* of the cache in front of them; 0: none */
	/* NULL: they are where they are. Else [2]: kernels read and write copies of tiles, of so many whole
	 * rows each, and one more on either side. */
	struct gn_tiled *tiled;
	uint64_t tile_rows;
};

/*
 * gn_stencil_run - steps: each inner point becomes the mean of its four neighbours; the rim stays.
 * @seconds  receives the time of the launches
 * The result is in grid[steps % 2], behind the cache: flush it to have it in the store. Memory on the
 * machine: at most 24 KiB a warp. Host. Returns 0; -GN_EINVAL (a grid without points, or whose size is not
 * the arrays'); -GN_ENOMEM; what an array could not read or write; what the machine failed with.
 */
int gn_stencil_run(struct simt_machine *machine, struct gn_stencil *s, uint64_t steps, double *seconds,
                   struct gn_error *error);

/* gn_stencil_reference - the same in two grids in memory, by one thread; the result is in grid[steps % 2]. */
void gn_stencil_reference(float *const grid[2], uint64_t rows, uint64_t columns, uint64_t steps);

#endif
