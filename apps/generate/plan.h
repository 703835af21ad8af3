/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - how a generated graph is cut into parts that fit a machine's memory. Private to this folder.
 *
 * The vertices are cut into ranges of equal length. The edges of each range are counted. A part is a row of
 * neighbouring ranges. All counts include the duplicates, which are dropped later.
 */
#ifndef GN_GENERATE_PLAN_H
#define GN_GENERATE_PLAN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gn_generate_plan {
	uint64_t vertices;
	uint64_t ranges;
	uint32_t shift;    /* a range has 2^shift vertices */
	uint64_t capacity; /* edges that a part may have */
	uint64_t target;   /* edges that a part should have */
	/* by gn_generate_plan_count: */
	uint64_t edges; /* of all ranges */
	uint64_t parts;
	uint64_t largest; /* edges of a part, at most */
};

/*
 * gn_generate_plan_init - the ranges of 2^scale vertices, and the capacity.
 * @memory  bytes of the machine's memory that may be used
 * The counts of the ranges take at most memory bytes and 128 MiB.
 */
void gn_generate_plan_init(struct gn_generate_plan *plan, unsigned scale, uint64_t memory);

/*
 * gn_generate_plan_count - choose the parts.
 * @count  [ranges], edges of each range
 * Returns a range that has more edges than a part may have, or ranges if there is none.
 */
uint64_t gn_generate_plan_count(struct gn_generate_plan *plan, const uint64_t *count);

/*
 * gn_generate_plan_part - the end of the part that begins with range `first`: its last range and one.
 * @edges  receives the edges of the part
 */
uint64_t gn_generate_plan_part(const struct gn_generate_plan *plan, const uint64_t *count, uint64_t first,
                               uint64_t *edges);

/* gn_generate_plan_memory - bytes that are needed for a part of so many edges. */
uint64_t gn_generate_plan_memory(uint64_t edges);

#ifdef __cplusplus
}
#endif

#endif
