/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - HPCC's sequence of random numbers, as apps/gups draws it, in plain C and CUDA: what the rivals
 * of `grapnel gups` share with it.
 */
#ifndef GN_RIVALS_RANDOM_H
#define GN_RIVALS_RANDOM_H

#include <stdint.h>

#ifdef __CUDACC__
#define RIVAL_FN static __device__
#else
#define RIVAL_FN static
#endif

RIVAL_FN uint64_t random_next(uint64_t x)
{
	return x << 1 ^ ((int64_t)x < 0 ? 7u : 0);
}

/* The number at a place of the sequence, from which random_next goes on. */
RIVAL_FN uint64_t random_at(uint64_t place)
{
	const uint64_t period = 1317624576693539401ull;
	uint64_t square[64], x = 1;
	int bit = 62;

	place %= period;
	if (!place)
		return 1;
	for (int k = 0; k < 64; k++) {
		square[k] = x;
		x = random_next(random_next(x));
	}
	while (!(place >> bit & 1))
		bit--;
	x = 2;
	while (bit > 0) {
		uint64_t sum = 0;

		for (int k = 0; k < 64; k++)
			if (x >> k & 1)
				sum ^= square[k];
		x = sum;
		if (place >> --bit & 1)
			x = random_next(x);
	}
	return x;
}

#endif
