/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe.h - what the lanes of a kernel do, as they do it.
 *
 * The compiler tells it. It puts a call before each load and store and in place of each atomic where it is
 * asked to look for races (-fsanitize=thread), and at the head of each basic block where it is asked for
 * coverage (-fsanitize-coverage=trace-pc). Sources compiled so (gn_observed in cmake/kernels.cmake) and
 * linked with observe.c, which has these functions, are observed, unchanged. Not in builds for the thread
 * sanitizer itself, which has them too.
 */
#ifndef SIMT_OBSERVE_H
#define SIMT_OBSERVE_H

#include <simt/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

enum simt__seen_kind {
	SIMT__SEEN_BLOCK, /* a basic block begins */
	SIMT__SEEN_LOAD,  /* also an atomic that changed nothing */
	SIMT__SEEN_STORE,
	SIMT__SEEN_UPDATE, /* an atomic that read and wrote */
	SIMT__SEEN_BARRIER /* of the block: the lane is about to wait there */
};

/*
 * One thing that a lane does. Lanes of a warp that do the same thing are at the same site, equally deep in
 * their stacks; of several, a warp with one instruction counter does the deepest first, then the one with the
 * lowest site (as warp.c lets lanes go on).
 */
struct simt__seen {
	uint64_t site;    /* in the code */
	uint64_t address; /* of loads, stores, updates */
	uint32_t depth;
	uint16_t bytes; /* of them, 1 to 16 */
	uint8_t kind;
};

struct simt__observer {
	void (*see)(struct simt__observer *self, const struct simt__fiber *lane,
	            const struct simt__seen *seen);
};

/* Who observes the lanes that this OS thread runs; NULL: nobody. */
extern __thread struct simt__observer *simt__observer;

#ifdef __cplusplus
}
#endif

#endif
