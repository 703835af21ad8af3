/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <string.h>

/* An edge has a key in each of two arrays. One byte more is for the counts of tiles and what the sort takes.
 */
enum { EDGE_BYTES = 17, MOST_RANGES = 1 << 24 };

uint64_t gn_generate_plan_memory(uint64_t edges)
{
	return edges * EDGE_BYTES;
}

void gn_generate_plan_init(struct gn_generate_plan *plan, unsigned scale, uint64_t memory)
{
	memset(plan, 0, sizeof *plan);
	plan->vertices = UINT64_C(1) << scale;
	plan->ranges = plan->vertices;
	while (plan->ranges > 1 && (plan->ranges > MOST_RANGES || plan->ranges > memory / sizeof(uint64_t))) {
		plan->ranges /= 2;
		plan->shift++;
	}
	plan->capacity = memory / EDGE_BYTES;
}

uint64_t gn_generate_plan_part(const struct gn_generate_plan *plan, const uint64_t *count, uint64_t first,
                               uint64_t *edges)
{
	uint64_t end = first;

	*edges = 0;
	do
		*edges += count[end++];
	while (end < plan->ranges && *edges < plan->target && *edges + count[end] <= plan->capacity);
	return end;
}

/* As few parts as the capacity allows, of about the same size. */
static void choose_target(struct gn_generate_plan *plan)
{
	const uint64_t parts = plan->edges / (plan->capacity ? plan->capacity : 1) + 1;

	plan->target = plan->edges / parts + 1;
}

uint64_t gn_generate_plan_count(struct gn_generate_plan *plan, const uint64_t *count)
{
	uint64_t edges;

	for (uint64_t k = 0; k < plan->ranges; k++) {
		if (count[k] > plan->capacity)
			return k;
		plan->edges += count[k];
	}
	choose_target(plan);
	for (uint64_t k = 0; k < plan->ranges; plan->parts++) {
		k = gn_generate_plan_part(plan, count, k, &edges);
		plan->largest = edges > plan->largest ? edges : plan->largest;
	}
	return plan->ranges;
}
