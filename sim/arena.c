/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - blocks, of which pieces are taken one behind the other. */
#include <sim/arena.h>

#include <simt/fiber.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	LINE = 64,
	LARGE = 2 << 20,
#if SIMT_ASAN
	A_BLOCK = LINE /* each piece is a block, so that the sanitizer sees a use behind its last line */
#else
	A_BLOCK = LARGE
#endif
};

struct sim_arena_block {
	struct sim_arena_block *older;
	size_t bytes, used;
};

static size_t up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static struct sim_arena_block *block_new(struct sim_arena *a, size_t bytes)
{
	const size_t all = up(LINE + bytes, A_BLOCK);
	struct sim_arena_block *b = (struct sim_arena_block *)aligned_alloc(A_BLOCK, all);

	if (!b)
		return NULL;
	if (A_BLOCK == LARGE)
		madvise(b, all, MADV_HUGEPAGE);
	memset(b, 0, all);
	b->older = a->newest;
	b->bytes = all;
	b->used = LINE;
	a->newest = b;
	return b;
}

void *sim_arena_take(struct sim_arena *a, size_t count, size_t bytes)
{
	struct sim_arena_block *b = a->newest;
	size_t all;
	void *piece;

	if (__builtin_mul_overflow(count, bytes, &all) || all > SIZE_MAX / 2)
		return NULL;
	all = up(all, LINE);
	if (!b || b->bytes - b->used < all)
		b = block_new(a, all);
	if (!b)
		return NULL;
	piece = (char *)b + b->used;
	b->used += all;
	return piece;
}

void sim_arena_free(struct sim_arena *a)
{
	while (a->newest) {
		struct sim_arena_block *b = a->newest;

		a->newest = b->older;
		free(b);
	}
}
