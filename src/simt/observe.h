/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe.h - reports the accesses of a kernel's lanes as they make them.
 *
 * The compiler inserts the calls: with -fsanitize=thread a call before each load and store and in place of
 * each atomic, and with -fsanitize-coverage=trace-pc a call at the head of each basic block. Sources are
 * observed without change if they are compiled so (gn_observed in cmake/kernels.cmake) and linked with
 * observe.c, which defines the called functions. It cannot be used in builds for the thread sanitizer itself,
 * which also defines them.
 */
#ifndef SIMT_OBSERVE_H
#define SIMT_OBSERVE_H

#include <simt/engine.h>

enum simt__seen_kind {
	SIMT__SEEN_BLOCK, /* a basic block begins */
	SIMT__SEEN_LOAD,  /* also an atomic that changed nothing */
	SIMT__SEEN_STORE,
	SIMT__SEEN_UPDATE, /* an atomic that read and wrote */
	SIMT__SEEN_BARRIER /* of the block: the lane is about to wait there */
};

/*
 * One event of a lane. Lanes of a warp that make the same event have the same site and stack depth. A warp
 * with one instruction counter makes the deepest of several events first, then the one with the lowest site
 * (the order in which warp.c resumes lanes).
 */
struct simt__seen {
	uint64_t site;    /* address in the code */
	uint64_t address; /* of a load, store or update */
	uint32_t depth;
	uint16_t bytes; /* of a load, store or update: 1 to 16 */
	uint8_t kind;
};

struct simt__observer {
	void (*see)(struct simt__observer *self, const struct simt__fiber *lane,
	            const struct simt__seen *seen);
};

/* The observer of the lanes that this OS thread runs; NULL: none. */
extern __thread struct simt__observer *simt__observer;

#endif
