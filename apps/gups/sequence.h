/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence.h - the random sequence of HPCC's RandomAccess: x = x << 1, xor POLY if a bit fell out. It repeats
 * after 1317624576693539401 numbers, and any place in it is found in 64 steps.
 */
#ifndef GN_GUPS_SEQUENCE_H
#define GN_GUPS_SEQUENCE_H

#include <grapnel/detail/simt/base.h>

static const uint64_t gups_poly = 7, gups_period = 1317624576693539401ull;

SIMT_FN uint64_t gups_next(uint64_t x)
{
	return x << 1 ^ ((int64_t)x < 0 ? gups_poly : 0);
}

/* The number at a place: x^(2 n) mod the polynomial by squaring, as in HPCC's HPCC_starts. */
SIMT_FN uint64_t gups_at(uint64_t place)
{
	uint64_t square[64], x = 1, sum;
	int bit = 62;

	place %= gups_period;
	if (!place)
		return 1;
	for (int k = 0; k < 64; k++) {
		square[k] = x;
		x = gups_next(gups_next(x));
	}
	while (!(place >> bit & 1))
		bit--;
	x = 2;
	while (bit > 0) {
		sum = 0;
		for (int k = 0; k < 64; k++)
			if (x >> k & 1)
				sum ^= square[k];
		x = sum;
		if (place >> --bit & 1)
			x = gups_next(x);
	}
	return x;
}

#endif
