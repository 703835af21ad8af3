/* SPDX-License-Identifier: Apache-2.0 */
/* sort_keys.h - keys for the tests of sorts: their bits. */
#ifndef GN_TEST_SORT_KEYS_H
#define GN_TEST_SORT_KEYS_H

#include <stdint.h>

enum { RANDOM, FEW, EQUAL, SORTED, REVERSED, SKEWED, KINDS };

static inline uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (*state >> 32 | *state << 32) * 0x9e3779b97f4a7c15ull;
}

static inline uint64_t key_of(unsigned kind, uint64_t i, uint64_t count, uint64_t *state)
{
	const uint64_t x = next_random(state);

	switch (kind) {
	case RANDOM: return x;
	case FEW: return x % 3 * 0x8000400020001001ull;
	case EQUAL: return 0xfedcba9876543210ull;
	case SORTED: return i * 0x10003;
	case REVERSED: return (count - i) * 0x100000001ull;
	default: return x >> x % 61;
	}
}

#endif
