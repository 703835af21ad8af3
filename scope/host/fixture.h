/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h - what rows of host memory share: which threads and nodes they are swept over. */
#ifndef GN_SCOPE_HOST_FIXTURE_H
#define GN_SCOPE_HOST_FIXTURE_H

#include "scope/host/memory.h"
#include "scope/host/team.h"
#include "scope/pattern.h"
#include "scope/sampling.h"

enum { SCOPE_LINE = 64, SCOPE_MOST_CPUS = 1024 };

/*
 * scope_plan_threads - sizes from least up for 1, 2, 4 ... and all of so many threads; SCOPE_QUICK: for 1 and
 * all.
 */
int scope_plan_threads(struct scope_plan *p, const struct scope_machine *m, uint64_t least, uint64_t most);

/* scope_plan_nodes - sizes for every pair of nodes, "from" and "to"; skipped where there is one. */
int scope_plan_nodes(struct scope_plan *p, const struct scope_machine *m, uint64_t least, uint64_t most);

/* The part of a buffer that is a member's, in whole lines. */
struct scope_part {
	uint64_t at, bytes;
};

struct scope_part scope_part_of(uint64_t bytes, uint32_t members, uint32_t member);

/* Members for memory of so many bytes: at most one a line. */
uint32_t scope_members(const struct scope_cell *c, uint64_t bytes);

#endif
