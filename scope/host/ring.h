/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - lines of memory that point to each other in a shuffled order, one ring of all: what latency is
 * measured by.
 */
#ifndef GN_SCOPE_HOST_RING_H
#define GN_SCOPE_HOST_RING_H

#include "scope/host/fixture.h"

struct scope_ring {
	struct scope_mapping memory;
	uint64_t lines;
	void *at;       /* where the next chase begins */
	uint64_t steps; /* how far all of them have gone */
};

/*
 * scope_ring_open - a ring over so many bytes. 0, -GN_ENOMEM, -GN_ENOTSUP as scope_mapping_take. All zero
 * bytes can be closed.
 */
int scope_ring_open(struct scope_ring *r, uint64_t bytes, enum scope_pages pages, uint32_t node,
                    struct gn_error *e);
void scope_ring_close(struct scope_ring *r);

/* scope_ring_chase - go so many steps on. */
void scope_ring_chase(struct scope_ring *r, uint64_t steps);

/* scope_ring_check - are we where so many steps lead? 0, -GN_EIO. */
int scope_ring_check(const struct scope_ring *r, struct gn_error *e);

#endif
