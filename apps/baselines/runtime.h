/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h - what a program without Grapnel has: copies by the CUDA runtime, and its managed memory.
 *
 * Only in builds with GN_CUDA, and for machines that simt_info.is_cuda. Host; every function waits until its
 * work is done. Returns of all: 0, -GN_ENOMEM, -GN_EIO (what the runtime said, in the message).
 */
#ifndef GN_BASELINES_RUNTIME_H
#define GN_BASELINES_RUNTIME_H

#include <grapnel/error.h>
#include <grapnel/simt.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- copies ---- */

/*
 * gn_base_copies - how fast the runtime copies between pinned host memory and device memory.
 * @host, @device  at least bytes of each, 2 * bytes of both if both directions are asked for
 * @rates  receives bytes a second: host to device, device to host, and both at once (of both together)
 */
int gn_base_copies(char *host, char *device, uint64_t bytes, double rates[3], struct gn_error *error);

/* ---- tiles ---- */

enum { GN_BASE_STREAMS = 4 };

/*
 * One pass over arrays in pinned host memory, tile by tile: copied in, worked on by a kernel, copied out,
 * with a stream and buffers for each of a few tiles, so that copies in both directions and the kernel
 * overlap.
 */
struct gn_base_tiling {
	const char *in[2];   /* host memory; NULL: not this one */
	char *out;           /* host memory or NULL */
	uint64_t bytes;      /* of each of them: a multiple of 16 */
	uint64_t tile_bytes; /* of each, likewise */
	unsigned streams;    /* tiles under way at once, 2 to GN_BASE_STREAMS */
	char *buffer;        /* device memory: streams * tile_bytes for each of in and out that is there */
	const struct simt_kernel *kernel;
	struct simt_grid grid;
	/* Fill in the kernel's arguments for a tile that begins at byte `at` of the arrays. They are copied
	 * at once. */
	void (*arguments)(void *user, void *arguments, uint64_t at, uint64_t bytes, char *const in[2],
	                  char *out);
	void *user;
};

/* gn_base_tile - do the pass. @seconds  receives how long it took. */
int gn_base_tile(const struct gn_base_tiling *t, double *seconds, struct gn_error *error);

/* ---- managed memory ---- */

/*
 * gn_base_managed_alloc - managed memory, of which the device must have twice as much free: a program that
 * asks for more than there is can hang a GPU.
 */
int gn_base_managed_alloc(void **memory, uint64_t bytes, struct gn_error *error);
void gn_base_managed_free(void *memory);

/* What a program tells the runtime beforehand. */
enum gn_base_hint {
	GN_BASE_NO_HINT,
	GN_BASE_READ_MOSTLY,   /* copies of pages are made on both sides */
	GN_BASE_PREFER_DEVICE, /* pages stay on the device once they are there */
	GN_BASE_MAP_HOST,      /* pages stay in host memory, and the device has them mapped: no faults */
};

/* gn_base_managed_cool - all of it back to host memory, with this hint and no other for what follows. */
int gn_base_managed_cool(void *memory, uint64_t bytes, enum gn_base_hint hint, struct gn_error *error);

/* gn_base_managed_fetch - bring it to the device in one call, as a program does that knows what it needs. */
int gn_base_managed_fetch(void *memory, uint64_t bytes, struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
