/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - host memory that lies where, and in pages of the size, that a row says; and its cache lines. For
 * rows of GPUs too. It is touched, so that nothing is faulted in while it is measured.
 */
#ifndef GN_SCOPE_HOST_MEMORY_H
#define GN_SCOPE_HOST_MEMORY_H

#include "scope/scope.h"

#ifdef __cplusplus
extern "C" {
#endif

enum scope_pages {
	SCOPE_PAGES_ANY,         /* as the system has it */
	SCOPE_PAGES_SMALL,       /* the processor's smallest; no transparent huge pages */
	SCOPE_PAGES_TRANSPARENT, /* huge pages, as madvise gets them */
	SCOPE_PAGES_HUGE,        /* of those that the administrator has reserved */
};

enum { SCOPE_ANY_NODE = 0xffffffff };

/* scope_pages_missing - why there are no such pages on this machine, or NULL. */
const char *scope_pages_missing(const struct scope_machine *m, enum scope_pages pages);

/* Memory of the system. All zero bytes is one that release accepts. */
struct scope_mapping {
	void *at; /* on a page, a huge one where pages are huge */
	uint64_t bytes;
	void *mapping; /* what there is of it in all */
	uint64_t mapped;
};

/*
 * scope_mapping_take - memory, touched. @node: the system's number of the node it must lie on, or
 * SCOPE_ANY_NODE.
 * Returns 0; -GN_ENOMEM; -GN_ENOTSUP: such pages or such a place are not to be had here, checked after the
 * touch.
 */
int scope_mapping_take(struct scope_mapping *memory, uint64_t bytes, enum scope_pages pages, uint32_t node,
                       struct gn_error *e);
void scope_mapping_release(struct scope_mapping *memory);

/*
 * scope_lines_flush - write every line of it back and drop it from all caches of the host. -GN_ENOTSUP: not
 * for programs here.
 */
int scope_lines_flush(const void *memory, uint64_t bytes, uint32_t line_bytes, struct gn_error *e);

/*
 * scope_lines_check - does that work? Times loads that depend on each other, flushed and not. 0; -GN_EIO: no;
 * -GN_ENOTSUP.
 */
int scope_lines_check(uint32_t line_bytes, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
