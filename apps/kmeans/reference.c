/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "kmeans/kernels.h"

struct work {
	const struct kmeans *k;
	uint32_t *point;  /* [points][dimensions] */
	uint32_t *joined; /* [points]: its cluster, and 1 */
	uint64_t *sum;    /* [clusters][dimensions] */
};

static uint64_t square_of(const uint32_t *a, const uint32_t *b, uint32_t dimensions)
{
	uint64_t sum = 0;

	while (dimensions--) {
		const uint64_t apart = a[dimensions] > b[dimensions] ? a[dimensions] - b[dimensions]
		                                                     : b[dimensions] - a[dimensions];

		sum += apart * apart;
	}
	return sum;
}

/* Every point joins the nearest centre. Returns how many change. */
static uint64_t join(struct work *w, struct kmeans_result *r)
{
	const uint32_t n = w->k->dimensions;
	uint64_t moved = 0;

	r->distance = 0;
	for (uint64_t p = 0; p < w->k->points; p++) {
		uint64_t least = UINT64_MAX;
		uint32_t cluster = 0;

		for (uint32_t c = w->k->clusters; c-- > 0;) {
			const uint64_t square = square_of(&w->point[p * n], &r->centres[c * n], n);

			if (square <= least) { /* the first of equals is looked at last */
				least = square;
				cluster = c;
			}
		}
		moved += w->joined[p] != cluster + 1;
		w->joined[p] = cluster + 1;
		r->distance += least;
	}
	return moved;
}

static void move(struct work *w, struct kmeans_result *r)
{
	const uint32_t n = w->k->dimensions;

	memset(w->sum, 0, 8ull * w->k->clusters * n);
	memset(r->sizes, 0, 8ull * w->k->clusters);
	for (uint64_t p = 0; p < w->k->points; p++) {
		r->sizes[w->joined[p] - 1]++;
		for (uint32_t d = 0; d < n; d++)
			w->sum[(w->joined[p] - 1) * n + d] += w->point[p * n + d];
	}
	for (uint32_t c = 0; c < w->k->clusters; c++)
		for (uint32_t d = 0; d < n && r->sizes[c]; d++)
			r->centres[c * n + d] =
			    (uint32_t)((w->sum[c * n + d] + r->sizes[c] / 2) / r->sizes[c]);
}

static void iterate(struct work *w, struct kmeans_result *r)
{
	const uint32_t n = w->k->dimensions;
	uint64_t moved = 1;

	for (uint64_t p = 0; p < w->k->points; p++)
		for (uint32_t d = 0; d < n; d++)
			w->point[p * n + d] = kmeans_coordinate(w->k, p, d);
	memcpy(r->centres, w->point, 4ull * w->k->clusters * n);
	for (r->iterations = 0; moved && r->iterations < w->k->iterations; r->iterations++) {
		moved = join(w, r);
		move(w, r);
	}
}

int kmeans_reference(const struct kmeans *k, struct kmeans_result *result)
{
	struct work w;
	int rc = -GN_ENOMEM;

	w.k = k;
	w.point = (uint32_t *)malloc(4 * k->points * k->dimensions);
	w.joined = (uint32_t *)calloc(k->points, 4);
	w.sum = (uint64_t *)malloc(8ull * k->clusters * k->dimensions);
	if (w.point && w.joined && w.sum) {
		iterate(&w, result);
		rc = 0;
	}
	free(w.sum);
	free(w.joined);
	free(w.point);
	return rc;
}
