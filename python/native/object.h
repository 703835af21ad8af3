/* SPDX-License-Identifier: Apache-2.0 */
/* object.h - what a handle of flat.h stands for. */
#ifndef GN_PYTHON_OBJECT_H
#define GN_PYTHON_OBJECT_H

#include <pthread.h>

#include <grapnel/grapnel.h>

#include "flat.h"

enum gn__kind { GN__FREE, GN__MACHINE, GN__STORE, GN__CACHE, GN__ARRAY, GN__SLOTS };

enum { GN__WAYS = 1024, GN__PARENTS = GN_CACHE_STORES + 1 };

/* A graph and its workspace: whichever ends last frees this. */
struct gn__term {
	uint32_t ended; /* how many of the two have */
};

/* The workspace of a stream, or of one capture of a stream. */
struct gn__way {
	int taken;
	struct gn__term *term;    /* of a capture; NULL: as long as the machine */
	uint64_t stream, capture; /* capture 0: the stream itself */
	struct simt_stream *adopted;
	struct gn_gather *gather;
};

struct gn__machine {
	struct simt_machine *machine;
	int is_cuda, device;
	uint64_t rows;        /* of a workspace */
	pthread_mutex_t lock; /* calls of one machine follow one another */
	struct gn__way way[GN__WAYS];
	unsigned ways;
	struct gn_gather *own; /* of the machine's own stream */
	char *stage;           /* pinned: indices and rows of gn_flat_gather_host */
	uint64_t stage_bytes;
};

struct gn__object {
	int64_t handle;
	enum gn__kind kind;
	int calls;    /* that use it now */
	int children; /* objects that stand on it */
	int forked;   /* the process that opened it is another one */
	int closing;
	struct gn__object *parent[GN__PARENTS];
	unsigned parents;
	struct gn__machine *machine; /* its own, or its machine's */
	struct gn_store *store;      /* of a store, an array or slots */
	struct gn_cache *cache;      /* of a cache or an array */
	struct gn_array array;
	struct gn_slots *slots;
	uint64_t offset, rows; /* of an array */
	uint32_t elements, element_bytes;
};

/* gn__failed - keep a failure for gn_flat_failure; returns its code. */
int gn__failed(int code, uint32_t device, int64_t row, const char *text);
int gn__failed_as(const struct gn_error *error);

/* gn__new - an object on others, which must be open; NULL: there is no memory. It has no handle yet. */
struct gn__object *gn__new(enum gn__kind kind, struct gn__object *const *parent, unsigned parents);

/* gn__publish - give it a handle and return that; or, if code is negative, free it and return code. */
int64_t gn__publish(struct gn__object *object, int code);

/* gn__take - the open object of a handle, which stays open until gn__put; NULL: a failure is kept. */
struct gn__object *gn__take(int64_t handle, enum gn__kind kind);
void gn__put(struct gn__object *object);

/* gn__lock - lock an object's machine. gn__leave - unlock it, put the object, and return rc. */
void gn__lock(struct gn__object *object);
int gn__leave(struct gn__object *object, int rc);

/* gn__way_of - where the batches of a stream go: the stream and its workspace. The machine is locked. */
int gn__way_of(struct gn__machine *m, uint64_t stream, struct gn__way **way);

/* gn__add_way - one more workspace. Not in a capture. The machine is locked. */
int gn__add_way(struct gn__machine *m);

/* gn__capture_of - the number of the capture that a stream is in; 0: in none. On cuda. */
int gn__capture_of(uint64_t stream, uint64_t *capture);

/* gn__term_of - the term of the graph into which a stream is captured; NULL: it cannot be told. */
struct gn__term *gn__term_of(uint64_t stream);

/* gn__term_end - one of the two has ended; NULL is nothing. Any thread. */
void gn__term_end(struct gn__term *term);

/* gn__device_wait - wait for all that a GPU has been given to do. */
int gn__device_wait(int device);

/* gn__host_address - of pinned memory, given the GPU's; NULL: the host does not reach it. */
void *gn__host_address(void *address);

/* gn__settle - wait for all that the device has been given to do. */
int gn__settle(struct gn__machine *m);

/* gn__check - the first failure of the array that was not told, in words. The machine is locked. */
int gn__check(struct gn__object *array);

/* gn__slots_flush_all - write what is marked, wait, and tell what failed. The machine is locked. */
int gn__slots_flush_all(struct gn__object *slots);

/* The ends of objects; without discard what may be refused is done first. The machine is locked. */
int gn__end(struct gn__object *object, int discard);
void gn__machine_end(struct gn__machine *m);

#endif
