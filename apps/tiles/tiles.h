/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiles.h - passes over arrays in host memory, tile by tile: copied to the machine, worked on by the kernels
 * that a job has anyway, copied back. Two tiles are under way at once, each with a stream and memory of its
 * own, so that copies in both directions and kernels overlap.
 */
#ifndef GN_TILES_TILES_H
#define GN_TILES_TILES_H

#include <grapnel/array.h>
#include <grapnel/error.h>
#include <grapnel/simt.h>
#include <grapnel/store.h>

enum { GN_TILES_SLOTS = 2 };

/* The tiles of one array that are under way, one in each slot. */
struct gn_tiled {
	struct simt_machine *machine;
	char *far; /* the whole array */
	struct gn_store *store[GN_TILES_SLOTS];
	struct gn_array array[GN_TILES_SLOTS]; /* in direct mode; element 0 is the first of the tile */
	unsigned slots;                        /* that are open */
};

/*
 * gn_tiled_open - memory on the machine for tiles of an array.
 * @far            a host: store in pinned memory, with the array at its begin; outlives the tiles
 * @bytes          of a tile at most
 * Host. Returns 0 or a code with a message; close in any case.
 */
int gn_tiled_open(struct gn_tiled *t, struct simt_machine *machine, struct gn_store *far, uint64_t bytes,
                  uint32_t element_bytes, struct gn_error *error);
void gn_tiled_close(struct gn_tiled *t);

/*
 * gn_tiled_in, gn_tiled_out - copy bytes of the array from byte far on to byte near of the tile in a slot, or
 * back; on the tile's stream, and wait. Return 0 or -GN_EIO.
 */
int gn_tiled_in(const struct gn_tiled *t, struct simt_stream *stream, unsigned slot, uint64_t far,
                uint64_t near, uint64_t bytes, struct gn_error *error);
int gn_tiled_out(const struct gn_tiled *t, struct simt_stream *stream, unsigned slot, uint64_t far,
                 uint64_t near, uint64_t bytes, struct gn_error *error);

/* gn_tiled_failure - the first failure of an access to a tile. Returns 0 or its code. */
int gn_tiled_failure(struct gn_tiled *t, struct gn_error *error);

/* gn_tiles_launch - launch on the tile's stream, and wait. Returns 0 or a code with a message. */
int gn_tiles_launch(struct simt_stream *stream, const struct simt_kernel *kernel, struct simt_grid grid,
                    const void *arguments, struct gn_error *error);

/*
 * gn_tiles_run - call work for each tile, from 0 to count - 1; a host thread for each slot.
 * @work  everything of one tile: copies in, launches, copies out; must not use the other slot's stream
 * Host; returns when all tiles are done. Where one fails, its slot does no more. Returns 0 or its code.
 */
int gn_tiles_run(struct simt_machine *machine, uint64_t count,
                 int (*work)(void *user, struct simt_stream *stream, unsigned slot, uint64_t tile,
                             struct gn_error *error),
                 void *user, struct gn_error *error);

#endif
