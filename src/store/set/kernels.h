/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - the kernel that puts a member of a replica back, a step a launch. */
#ifndef GN_STORE_SET_KERNELS_H
#define GN_STORE_SET_KERNELS_H

#include <store/set/back.h>

enum gn_back_step { GN_BACK_BEGINS, GN_BACK_COPIES, GN_BACK_ENDS, GN_BACK_IS_SOUND, GN_BACK_NEWS };

enum { GN_BACK_PIECE_MOST_LOG2 = 16 };

/* What a step did; zeroed before it. */
struct gn_back_result {
	int32_t code;
	uint32_t end;               /* of a copy: enum gn_back_end */
	struct gn_store_status why; /* if it could not be read or not be written */
};

struct gn_back_args {
	struct gn_back back;
	uint32_t step;                     /* enum gn_back_step */
	uint32_t queue_count, host_queues; /* of the member */
	uint32_t reserved;
	const struct gn_nvmeq *queue; /* of the member, if it was opened just now; or NULL */
	uint64_t first, end;          /* windows to copy */
	struct gn_back_news news;
	struct gn_back_result result;
};

/*
 * What the host and the warp share, in pinned memory. A launch starts when the program's kernels leave room
 * for it. The host must hold up nobody meanwhile, so it launches first, and lets the warp do its step when it
 * runs; or it calls the launch off, which then does nothing whenever it starts.
 */
struct gn_back_shared {
	uint64_t started; /* number of the last launch that began to run */
	uint64_t go;      /* 2 N: launch N waits; 2 N + 1: it does its step; more: it is called off */
	struct gn_back_args args;
};

struct gn_back_launch {
	struct gn_back_shared *shared;
	uint64_t number; /* from 1; 0: it does its step at once */
};

SIMT_KERNEL_DECLARE(gn_back_do); /* one warp of one block */

#ifdef __cplusplus
extern "C" {
#endif

/* gn_back_do_on_host - the same by the calling thread, on the cpu machine. */
void gn_back_do_on_host(struct gn_back_args *a);

#ifdef __cplusplus
}
#endif

#endif
