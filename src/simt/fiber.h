/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fiber.h - contexts: a flow of control with a stack of its own. The switch is Boost.Context's assembly. Only
 * fiber.c tells the sanitizers and valgrind about switches.
 */
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

#include <stddef.h>

#if defined(__has_feature)
#define SIMT__HAS_FEATURE(x) __has_feature(x)
#else
#define SIMT__HAS_FEATURE(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || SIMT__HAS_FEATURE(address_sanitizer)
#define SIMT_ASAN 1
#else
#define SIMT_ASAN 0
#endif

/* The build compiles the scheduler without thread instrumentation (see CMakeLists.txt) and says so here. */
#ifndef SIMT_TSAN
#define SIMT_TSAN 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct simt__context {
	void *resume;                             /* where the context continues */
	void (*body)(struct simt__context *self); /* where the context begins; never returns */
	const void *low;                          /* lowest byte of its stack */
	size_t bytes;
	struct simt__context *to; /* the context that it switched to last */
	void *tsan, *asan;        /* handles of the sanitizers */
	unsigned tsan_uses;       /* contexts that have had the handle */
	unsigned valgrind;        /* handle of valgrind */
};

/* simt__context_adopt - make self the context of the calling OS thread. */
void simt__context_adopt(struct simt__context *self);

/* simt__context_init - prepare self to begin in body, on the stack [low, low + bytes). */
void simt__context_init(struct simt__context *self, void *low, size_t bytes,
                        void (*body)(struct simt__context *self));

/*
 * simt__context_fini - self does not run again: free the sanitizers' handles. All that self did is ordered
 * before a SIMT__ACQUIRE of end. The caller runs on `caller`.
 */
void simt__context_fini(struct simt__context *self, struct simt__context *caller, void *end);

/*
 * simt__context_switch - switch from the running context `from` to `to`; returns after a switch back to
 * from.
 */
void simt__context_switch(struct simt__context *from, struct simt__context *to);

/*
 * Order between fibers, for the thread sanitizer. A switch orders nothing, because fibers of one OS thread
 * are concurrent threads of a kernel. So the edges that the contract promises are declared here.
 */
#if SIMT_TSAN
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define SIMT__ACQUIRE(p) __tsan_acquire(p)
#define SIMT__RELEASE(p) __tsan_release(p)
#else
#define SIMT__ACQUIRE(p) ((void)0)
#define SIMT__RELEASE(p) ((void)0)
#endif

#ifdef __cplusplus
}
#endif

#endif
