/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - what measured memory is filled with: words that differ with their position, look random
 * (hardware may compress, and be faster on, what is constant), and can be made anywhere: scope_pattern is
 * device code too.
 */
#ifndef GN_SCOPE_PATTERN_H
#define GN_SCOPE_PATTERN_H

#include <stdint.h>

#include <grapnel/error.h>
#include <grapnel/detail/simt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * scope_pattern - word k (of 8 bytes) of the pattern of a seed: the finaliser of SplitMix64 over a Weyl
 * sequence.
 */
SIMT_FN uint64_t scope_pattern(uint64_t seed, uint64_t k)
{
	uint64_t x = (seed + k + 1) * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* scope_fill - host memory with a pattern; bytes may be any number, the last word is cut. */
void scope_fill(void *memory, uint64_t bytes, uint64_t seed);

/*
 * scope_check - does host memory hold the pattern? Returns 0, or -GN_EIO: e says `what`, the first byte that
 * differs, how many words do.
 */
int scope_check(const void *memory, uint64_t bytes, uint64_t seed, const char *what, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
