/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - what an element is, the three ways to read it, and the loops that the patterns are made of. A
 * way to read and the place of a touch are functions that are constants at every call, so that each kernel is
 * the loop that a user would write.
 */
#ifndef GN_NATURAL_ACCESS_H
#define GN_NATURAL_ACCESS_H

#include "natural/natural.h"
#include "spread/mix.h"

/* A number that depends on k alone. */
SIMT_FN uint64_t gn_natural_draw(uint64_t k)
{
	return spread_mix(k * 0x9e3779b97f4a7c15ull);
}

/* Element i: a whole number below 256, so that sums of fewer than 2^45 of them are exact in any order. */
SIMT_FN float gn_natural_value(uint64_t i)
{
	return (float)(((uint32_t)i * 2654435761u ^ (uint32_t)(i >> 32)) >> 13 & 255);
}

/* ---- ways to read ---- */

typedef float (*gn_natural_reader)(const struct gn_natural_args *a, uint64_t i);

SIMT_FN float gn_natural_plain(const struct gn_natural_args *a, uint64_t i)
{
	return ((const float *)a->memory)[i];
}

SIMT_FN float gn_natural_read(const struct gn_natural_args *a, uint64_t i)
{
	return gn_read_f32(&a->array, i);
}

SIMT_FN float gn_natural_known(const struct gn_natural_args *a, uint64_t i)
{
	(void)a;
	return gn_natural_value(i);
}

/* ---- loops ---- */

/* Which element touch k reads. */
typedef uint64_t (*gn_natural_place)(const struct gn_natural_args *a, uint64_t k);

/* Threads side by side, each every so-many-th touch. */
SIMT_INLINE_FN double gn_natural_flat(const struct gn_natural_args *a, gn_natural_reader at,
                                      gn_natural_place place)
{
	double mine = 0;

	for (uint64_t k = simt_global_thread(); k < a->touches; k += simt_global_threads())
		mine += at(a, place(a, k));
	return mine;
}

/* The same with four loads of a thread under way, by hand. */
SIMT_INLINE_FN double gn_natural_four(const struct gn_natural_args *a, gn_natural_place place)
{
	const uint64_t step = simt_global_threads();
	uint64_t k = simt_global_thread();
	double mine = 0;

	for (; k + 3 * step < a->touches; k += 4 * step) {
		const float w = gn_natural_plain(a, place(a, k)), x = gn_natural_plain(a, place(a, k + step));
		const float y = gn_natural_plain(a, place(a, k + 2 * step)),
		            z = gn_natural_plain(a, place(a, k + 3 * step));

		mine += (double)(w + x) + (double)(y + z);
	}
	for (; k < a->touches; k += step)
		mine += gn_natural_plain(a, place(a, k));
	return mine;
}

/* Each thread does so many touches one after the other, and then as many elsewhere. */
SIMT_INLINE_FN double gn_natural_walk(const struct gn_natural_args *a, gn_natural_reader at,
                                      gn_natural_place place, uint32_t steps)
{
	double mine = 0;

	for (uint64_t item = simt_global_thread(); item < a->touches / steps; item += simt_global_threads())
		for (uint32_t j = 0; j < steps; j++)
			mine += at(a, place(a, item * steps + j));
	return mine;
}

/* Each warp does so many touches, its lanes side by side, and then as many elsewhere. */
SIMT_INLINE_FN double gn_natural_warps(const struct gn_natural_args *a, gn_natural_reader at,
                                       gn_natural_place place, uint32_t steps)
{
	const uint32_t width = simt_warp_width();
	double mine = 0;

	for (uint64_t item = simt_global_thread() / width; item < a->touches / steps;
	     item += simt_global_threads() / width)
		for (uint32_t j = simt_lane(); j < steps; j += width)
			mine += at(a, place(a, item * steps + j));
	return mine;
}

/* One atomic a thread. */
SIMT_FN void gn_natural_add(const struct gn_natural_args *a, double mine)
{
	simt_reduce_add_relaxed_dev_u64(a->sum, (uint64_t)mine);
}

#endif
