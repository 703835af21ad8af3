/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/host/ring.h"

#include <stdlib.h>
#include <string.h>

#include "scope/host/words.h"

struct line {
	struct line *next;
	uint64_t rank; /* how many steps it is from the ring's first */
	uint64_t rest[SCOPE_LINE / 8 - 2];
};

/* A permutation of which each is equally likely (Fisher and Yates). */
static uint32_t *shuffled(uint64_t count)
{
	uint32_t *order = (uint32_t *)malloc(count * sizeof *order);

	for (uint64_t k = 0; order && k < count; k++) {
		const uint64_t other = scope_pattern(7, k) % (k + 1);

		order[k] = order[other];
		order[other] = (uint32_t)k;
	}
	return order;
}

static void tie(struct scope_ring *r, const uint32_t *order)
{
	struct line *line = (struct line *)r->memory.at;

	for (uint64_t k = 0; k < r->lines; k++) {
		line[order[k]].next = &line[order[(k + 1) % r->lines]];
		line[order[k]].rank = k;
	}
	r->at = &line[order[0]];
}

int scope_ring_open(struct scope_ring *r, uint64_t bytes, enum scope_pages pages, uint32_t node,
                    struct gn_error *e)
{
	uint32_t *order;
	int rc;

	memset(r, 0, sizeof *r);
	rc = scope_mapping_take(&r->memory, bytes, pages, node, e);
	if (rc)
		return rc;
	r->lines = bytes / sizeof(struct line);
	order = shuffled(r->lines);
	if (!order) {
		scope_ring_close(r);
		return gn_error_set(e, -GN_ENOMEM, "out of memory to shuffle %llu lines",
		                    (unsigned long long)r->lines);
	}
	tie(r, order);
	free(order);
	return 0;
}

void scope_ring_close(struct scope_ring *r)
{
	scope_mapping_release(&r->memory);
}

void scope_ring_chase(struct scope_ring *r, uint64_t steps)
{
	r->at = scope_words_chase(r->at, steps);
	r->steps += steps;
}

int scope_ring_check(const struct scope_ring *r, struct gn_error *e)
{
	const uint64_t rank = ((const struct line *)r->at)->rank, expected = r->steps % r->lines;

	if (rank == expected)
		return 0;
	return gn_error_set(
	    e, -GN_EIO, "wrong data: %llu steps ended at line %llu of the ring, but must end at line %llu",
	    (unsigned long long)r->steps, (unsigned long long)rank, (unsigned long long)expected);
}
