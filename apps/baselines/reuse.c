/* SPDX-License-Identifier: Apache-2.0 */
#include "reuse.h"

#include <math.h>

static double zeta(uint64_t count, double exponent)
{
	double sum = 0;

	for (uint64_t k = count; k; k--)
		sum += pow((double)k, -exponent);
	return sum;
}

void gn_base_zipf(struct gn_base_reuse_args *a, double exponent)
{
	const double count = (double)a->order.count;

	a->zeta = zeta(a->order.count, exponent);
	a->alpha = 1 / (1 - exponent);
	a->eta = (1 - pow(2 / count, 1 - exponent)) / (1 - zeta(2, exponent) / a->zeta);
}

/* A rank from 0, the most frequent, of a number in [0, 1). */
SIMT_FN uint64_t rank_of(const struct gn_base_reuse_args *a, double u)
{
	const double count = (double)a->order.count;
	uint64_t rank;

	if (u * a->zeta < 1)
		return 0;
	if (u * a->zeta < 1 + pow(0.5, 1 - 1 / a->alpha))
		return 1;
	rank = (uint64_t)(count * pow(a->eta * u - a->eta + 1, a->alpha));
	return rank < a->order.count ? rank : a->order.count - 1;
}

SIMT_FN void gn_base_reuse_draw(const struct gn_base_reuse_args *a)
{
	for (uint64_t k = simt_global_thread(); k < a->touches; k += simt_global_threads()) {
		const double u = (double)gn_base_draw(k, a->seed, 1ull << 53) / (double)(1ull << 53);

		a->trace[k] = (uint32_t)gn_base_touch(&a->order, rank_of(a, u));
	}
}
SIMT_KERNEL(gn_base_reuse_draw, struct gn_base_reuse_args)

SIMT_FN void gn_base_reuse_pointer(const struct gn_base_reuse_args *a)
{
	const uint64_t page_words = a->page_bytes / 4;
	uint64_t wrong = 0;

	for (uint64_t k = gn_base_warp(); k < a->touches; k += gn_base_warps()) {
		const uint64_t first = a->trace[k] * page_words;

		wrong += gn_base_compare(a->memory + first, first, page_words);
	}
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL(gn_base_reuse_pointer, struct gn_base_reuse_args)

SIMT_FN void gn_base_reuse_cached(const struct gn_base_reuse_args *a)
{
	const uint64_t page_words = a->page_bytes / 4;
	uint64_t wrong = 0;

	for (uint64_t k = gn_base_warp(); k < a->touches; k += gn_base_warps())
		wrong += gn_base_compare_page(&a->array, a->trace[k] * page_words, page_words);
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL(gn_base_reuse_cached, struct gn_base_reuse_args)
