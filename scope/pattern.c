/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/pattern.h"

#include <inttypes.h>
#include <string.h>

void scope_fill(void *memory, uint64_t bytes, uint64_t seed)
{
	uint64_t *word = (uint64_t *)memory;
	const uint64_t words = bytes / 8, last = scope_pattern(seed, words);

	for (uint64_t k = 0; k < words; k++)
		word[k] = scope_pattern(seed, k);
	memcpy(word + words, &last, bytes % 8);
}

/* Zero-extended, so that the last word can be compared too. */
static uint64_t cut(uint64_t word, uint64_t bytes)
{
	return bytes >= 8 ? word : word & ((1ull << 8 * bytes) - 1);
}

int scope_check(const void *memory, uint64_t bytes, uint64_t seed, const char *what, struct gn_error *e)
{
	const uint64_t *word = (const uint64_t *)memory;
	const uint64_t words = bytes / 8;
	uint64_t bad = 0, first = 0, last = 0;

	for (uint64_t k = 0; k < words; k++) {
		if (word[k] != scope_pattern(seed, k) && !bad++)
			first = k;
	}
	memcpy(&last, word + words, bytes % 8);
	if (bytes % 8 && last != cut(scope_pattern(seed, words), bytes % 8) && !bad++)
		first = words;
	if (!bad)
		return 0;
	return gn_error_set(e, -GN_EIO,
	                    "%s: %" PRIu64 " of %" PRIu64 " words are wrong, the first at byte %" PRIu64,
	                    what, bad, (bytes + 7) / 8, 8 * first);
}
