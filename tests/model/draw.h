/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h - numbers from a seed, for kernels and hosts: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
#ifndef GN_TESTS_DRAW_H
#define GN_TESTS_DRAW_H

#include <grapnel/simt.h>

SIMT_FN uint64_t draw_mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

SIMT_FN uint64_t draw(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15u;
	return draw_mix(*state);
}

/* Below bound, which is not 0. */
SIMT_FN uint32_t draw_below(uint64_t *state, uint32_t bound)
{
	return (uint32_t)((draw(state) >> 32) * bound >> 32);
}

/* True so many times in a hundred. */
SIMT_FN int draw_chance(uint64_t *state, uint32_t percent)
{
	return draw_below(state, 100) < percent;
}

#endif
