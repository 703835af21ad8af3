/* SPDX-License-Identifier: Apache-2.0 */
/* In a file of their own: callers see no body, so that no compiler merges one call with the next. */
#include "scope/host/words.h"

/* As wide as every x86-64 and aarch64 has; the compiler may make it wider. */
typedef uint64_t words __attribute__((vector_size(16), may_alias));

uint64_t scope_words_sum(const void *memory, uint64_t bytes)
{
	const words *at = (const words *)memory, *end = at + bytes / sizeof *at;
	words a = {0, 0}, b = {0, 0}, c = {0, 0}, d = {0, 0};

	for (; at < end; at += 4) {
		a += at[0];
		b += at[1];
		c += at[2];
		d += at[3];
	}
	a += b + c + d;
	return a[0] + a[1];
}

void scope_words_write(void *memory, uint64_t bytes, uint64_t first)
{
	words *at = (words *)memory, *end = at + bytes / sizeof *at;
	words value = {first, first + 1};
	const words step = {2, 2};

	for (; at < end; at += 4) {
		at[0] = value;
		at[1] = value + step;
		at[2] = value + 2 * step;
		at[3] = value + 3 * step;
		value += 4 * step;
	}
}

void *scope_words_chase(void *at, uint64_t steps)
{
	while (steps--)
		at = *(void **)at;
	return at;
}
