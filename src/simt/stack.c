/* SPDX-License-Identifier: Apache-2.0 */
#include <simt/engine.h>

#include <stdlib.h>
#include <sys/mman.h>

/*
 * A stack is a guard page and STACK_BYTES above it; the fiber itself lies at the top, so that a switch
 * touches one page. The stride is odd in pages and the top is moved by some lines from one stack to the next:
 * else the hot lines of a thousand stacks would fall into the same few sets of the caches.
 */
enum {
	PAGE = 4096,
	LINE = 64,
#if SIMT_ASAN || SIMT_TSAN
	STACK_BYTES = 64 * PAGE,
#else
	STACK_BYTES = 16 * PAGE,
#endif
	STRIDE = STACK_BYTES + PAGE,
	COLOURS = PAGE / 2 / LINE,
};

struct simt__stacks {
	struct simt__stacks *older;
	char *memory;
	uint32_t used;
};

static struct simt__stacks *slab_new(struct simt__stacks *older)
{
	struct simt__stacks *slab = (struct simt__stacks *)malloc(sizeof *slab);

	if (!slab)
		return NULL;
	slab->older = older;
	slab->used = 0;
	slab->memory = (char *)mmap(NULL, (size_t)STRIDE * SIMT__STACKS_A_SLAB, PROT_READ | PROT_WRITE,
	                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (slab->memory == (char *)MAP_FAILED) {
		free(slab);
		return NULL;
	}
	return slab;
}

struct simt__fiber *simt__stack_fiber(struct simt__stacks **stacks, void **low, size_t *bytes)
{
	struct simt__stacks *slab = *stacks;
	char *guard, *top;

	if (!slab || slab->used == SIMT__STACKS_A_SLAB) {
		slab = slab_new(*stacks);
		if (!slab)
			return NULL;
		*stacks = slab;
	}
	guard = slab->memory + (size_t)slab->used * STRIDE;
	if (mprotect(guard, PAGE, PROT_NONE))
		return NULL;
	top = guard + STRIDE - (size_t)(slab->used * 5 % COLOURS) * LINE;
	top -= (sizeof(struct simt__fiber) + LINE - 1) / LINE * LINE;
	slab->used++;
	*low = guard + PAGE;
	*bytes = (size_t)(top - (char *)*low);
	return (struct simt__fiber *)top;
}

void simt__stacks_free(struct simt__stacks *stacks)
{
	while (stacks) {
		struct simt__stacks *older = stacks->older;

		munmap(stacks->memory, (size_t)STRIDE * SIMT__STACKS_A_SLAB);
		free(stacks);
		stacks = older;
	}
}
