/* SPDX-License-Identifier: Apache-2.0 */
#include <grapnel/ring.h>

int gn_ring_init(struct gn_ring *ring, uint32_t *turn, uint32_t *turn_address, uint32_t depth, uint32_t start)
{
	/* with a depth of 1 the turns "full" (ticket + 1) and "free again" (ticket + depth) would be equal */
	if (depth < 2 || depth & (depth - 1) || depth > 1u << 30)
		return -GN_EINVAL;
	memset(ring, 0, sizeof *ring);
	ring->tail = ring->head = start;
	ring->turn = turn_address;
	ring->depth = depth;
	for (uint32_t k = 0; k < depth; k++)
		turn[(start + k) & (depth - 1)] = start + k;
	return 0;
}
