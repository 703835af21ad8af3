/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - memory of every kind that is measured: placed, touched, and kept for the next cell, for getting
 * pinned memory takes longer than most samples.
 *
 * Functions return 0 or a negative code with a message in e. One host thread.
 */
#ifndef GN_SCOPE_CUDA_MEMORY_H
#define GN_SCOPE_CUDA_MEMORY_H

#include <sched.h>

#include "scope/cuda/support.h"
#include "scope/host/memory.h"
#include "scope/host/parts.h"

enum scope_kind {
	SCOPE_PAGEABLE, /* mmap, as the system places it */
	SCOPE_PINNED,   /* cudaHostAlloc, mapped and portable */
	SCOPE_COMBINED, /* the same, write-combined */
	SCOPE_SMALL,    /* mmap of 4 KiB pages, cudaHostRegister */
	SCOPE_LARGE,    /* mmap of transparent huge pages, cudaHostRegister */
	SCOPE_HUGE,     /* mmap of explicit huge pages, cudaHostRegister */
	SCOPE_DEVICE,   /* cudaMalloc */
};

/* As a node of the host: SCOPE_ANY_NODE. */
enum { SCOPE_ANYWHERE = -1 };

struct scope_memory {
	enum scope_kind kind;
	uint32_t gpu;                 /* of device memory; the one that fills it, of other */
	int32_t node;                 /* of the host, or SCOPE_ANYWHERE */
	char *at;                     /* on a page's begin; the same address for host and devices */
	uint64_t bytes;               /* at least those asked for */
	struct scope_mapping mapping; /* of registered and pageable memory, and of a node's */
};

/*
 * scope_memory_open - memory that is touched: every page is where it should be. A node's pinned memory is
 * mapped, bound, touched and registered. -GN_EIO: it lies on another node than asked for; -GN_ENOTSUP: the
 * pages are not as large as asked for.
 */
int scope_memory_open(struct scope_memory *x, enum scope_kind kind, uint32_t gpu, int32_t node,
                      uint64_t bytes, struct gn_error *e);

/* scope_memory_close - back; small ones are kept for the next open. All zero bytes is accepted. */
void scope_memory_close(struct scope_memory *x);

/* Through a GPU where it reaches the memory, else by the host. Units as in support.h. */
int scope_memory_fill(const struct scope_memory *x, uint64_t at, uint64_t bytes, uint64_t seed,
                      struct gn_error *e);
int scope_memory_poison(const struct scope_memory *x, uint64_t at, uint64_t bytes, struct gn_error *e);

/*
 * scope_memory_check - by whoever it belongs to: the device's by its GPU, the host's by GPU (where it is
 * mapped) and host.
 */
int scope_memory_check(const struct scope_memory *x, uint64_t at, uint64_t bytes, uint64_t seed,
                       struct gn_error *e);

/* scope_memory_host - is it the host's? */
static inline bool scope_memory_host(const struct scope_memory *x)
{
	return x->kind != SCOPE_DEVICE;
}

/*
 * scope_kind_missing - why memory of this kind cannot be had on this machine; NULL: it can. Asks nothing of a
 * device.
 */
const char *scope_kind_missing(const struct scope_machine *m, enum scope_kind kind);

/* scope_map - host memory of a kind that is not pinned, write-combined or a device's; not yet registered. */
int scope_map(struct scope_mapping *to, enum scope_kind kind, int32_t node, uint64_t bytes,
              struct gn_error *e);

/*
 * scope_node_enter - this thread on the processors of a node of the system; leave restores what was.
 * SCOPE_ANYWHERE: nothing.
 */
struct scope_node_visit {
	bool moved;
	cpu_set_t before;
};

int scope_node_enter(struct scope_node_visit *v, int32_t node, struct gn_error *e);
void scope_node_leave(struct scope_node_visit *v);

#endif
