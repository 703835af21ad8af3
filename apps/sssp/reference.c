/* SPDX-License-Identifier: Apache-2.0 */
#include "sssp/reference.h"

#include <stdlib.h>
#include <string.h>

/* A binary heap of vertices by length; a vertex may be in it more than once, the nearest counts. */
struct entry {
	uint64_t length;
	uint32_t vertex;
};

struct heap {
	struct entry *entry;
	uint64_t count;
};

static void put(struct heap *h, uint64_t length, uint32_t vertex)
{
	const struct entry entry = {length, vertex};
	uint64_t at = h->count++;

	for (; at && h->entry[(at - 1) / 2].length > length; at = (at - 1) / 2)
		h->entry[at] = h->entry[(at - 1) / 2];
	h->entry[at] = entry;
}

static struct entry take(struct heap *h)
{
	const struct entry top = h->entry[0], last = h->entry[--h->count];
	uint64_t at = 0, child;

	while ((child = 2 * at + 1) < h->count) {
		child += child + 1 < h->count && h->entry[child + 1].length < h->entry[child].length;
		if (h->entry[child].length >= last.length)
			break;
		h->entry[at] = h->entry[child];
		at = child;
	}
	h->entry[at] = last;
	return top;
}

/* Bits of numbers that are not negative ascend as the numbers do. */
static uint64_t sum_f32(uint64_t length, uint32_t weight)
{
	const uint32_t bits = (uint32_t)length;
	float a, b;

	memcpy(&a, &bits, sizeof a);
	memcpy(&b, &weight, sizeof b);
	a += b;
	memcpy(&weight, &a, sizeof weight);
	return weight;
}

static uint64_t longer(const struct gn_graph *graph, uint64_t length, uint64_t edge)
{
	const uint32_t weight = graph->weights[edge];

	return graph->weight == GN_WEIGHT_F32 ? sum_f32(length, weight) : length + weight;
}

int sssp_reference(const struct gn_graph *graph, uint32_t source, uint64_t *lengths)
{
	struct heap h = {(struct entry *)malloc((graph->edges + 1) * sizeof *h.entry), 0};

	if (!h.entry)
		return -GN_ENOMEM;
	for (uint64_t v = 0; v < graph->vertices; v++)
		lengths[v] = sssp_none;
	lengths[source] = 0;
	put(&h, 0, source);
	while (h.count) {
		const struct entry from = take(&h);

		if (from.length > lengths[from.vertex])
			continue;
		for (uint64_t k = graph->offsets[from.vertex]; k < graph->offsets[from.vertex + 1ull]; k++) {
			const uint32_t to = graph->neighbours[k];
			const uint64_t length = longer(graph, from.length, k);

			if (length >= lengths[to])
				continue;
			lengths[to] = length;
			put(&h, length, to);
		}
	}
	free(h.entry);
	return 0;
}
