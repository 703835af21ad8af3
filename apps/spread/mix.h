/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mix.h - a number that looks random and depends on another alone: the end of Steele, Lea and Flood's
 * SplitMix (OOPSLA 2014). No two numbers give the same.
 */
#ifndef GN_SPREAD_MIX_H
#define GN_SPREAD_MIX_H

#include <grapnel/simt.h>

/* Of numbers that are far apart already. */
SIMT_FN uint64_t spread_finish(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

SIMT_FN uint64_t spread_mix(uint64_t x)
{
	return spread_finish(x + 0x9e3779b97f4a7c15ull);
}

#endif
