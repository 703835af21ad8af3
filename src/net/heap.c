/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.c - allocates symmetric memory: the same calls on every node give the same places. First fit in a list
 * of pieces in the order of addresses. The list is not in the memory itself, which may be a device's.
 */
#include <net/node.h>

#include <stdlib.h>
#include <string.h>

/*
 * Large heaps begin at a multiple of MOST_ALIGNMENT, so that a place has the same alignment on all nodes.
 */
enum { ALIGNMENT = 64, PAGE = 4096, MOST_ALIGNMENT = 16 << 20 };

struct piece {
	struct piece *next;
	uint64_t at, bytes;
	int used;
};

struct gn_heap {
	struct simt_machine *machine; /* NULL: the host reaches it */
	char *memory;
	uint64_t bytes;
	struct piece *first;
};

int gn__heap_create(struct gn_heap **heap, struct simt_machine *machine, char *memory, uint64_t used,
                    uint64_t bytes)
{
	struct gn_heap *h = (struct gn_heap *)calloc(1, sizeof *h);
	struct piece *p = (struct piece *)calloc(1, sizeof *p);
	const uint64_t first = (used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

	if (!h || !p || bytes <= first) {
		free(h);
		free(p);
		return -GN_ENOMEM;
	}
	p->at = first;
	p->bytes = bytes - first;
	h->machine = machine;
	h->memory = memory;
	h->bytes = bytes;
	h->first = p;
	*heap = h;
	return 0;
}

void gn__heap_destroy(struct gn_heap *heap)
{
	struct piece *next;

	if (!heap)
		return;
	for (struct piece *p = heap->first; p; p = next) {
		next = p->next;
		free(p);
	}
	free(heap);
}

/* Cut a free piece to size; the rest becomes a free piece behind it. Returns 0 or -GN_ENOMEM. */
static int cut(struct piece *p, uint64_t bytes)
{
	struct piece *rest;

	if (p->bytes == bytes)
		return 0;
	rest = (struct piece *)calloc(1, sizeof *rest);
	if (!rest)
		return -GN_ENOMEM;
	rest->at = p->at + bytes;
	rest->bytes = p->bytes - bytes;
	rest->next = p->next;
	p->next = rest;
	p->bytes = bytes;
	return 0;
}

/* Zero memory, by the host or by the heap's machine. Returns 0 or the code of the failure. */
static int clear(const struct gn_heap *heap, char *memory, uint64_t bytes, struct gn_error *error)
{
	const struct gn_device_zero_args a = {(uint64_t *)(void *)memory, bytes / 8};
	const struct simt_grid grid = {256, 256, 0};
	int rc;

	if (!heap->machine) {
		memset(memory, 0, bytes);
		return 0;
	}
	rc = simt_launch(heap->machine, &gn_device_zero_kernel, grid, &a, error);
	return rc ? rc : simt_wait(heap->machine, error);
}

uint64_t gn__heap_alignment(uint64_t bytes)
{
	return bytes >= 2 * MOST_ALIGNMENT ? MOST_ALIGNMENT : PAGE;
}

/* Bytes of a piece before its first multiple of the alignment. */
static uint64_t skip(const struct piece *p, uint64_t alignment)
{
	return (alignment - p->at % alignment) % alignment;
}

static int fits(const struct piece *p, uint64_t alignment, uint64_t bytes)
{
	return !p->used && p->bytes >= bytes && p->bytes - bytes >= skip(p, alignment);
}

/*
 * Cut a piece at its first multiple of the alignment; the part before stays free. Returns the part behind, or
 * NULL: no memory.
 */
static struct piece *cut_before(struct piece *p, uint64_t alignment)
{
	const uint64_t before = skip(p, alignment);

	if (!before)
		return p;
	return cut(p, before) ? NULL : p->next;
}

static void *no_room(const struct gn_heap *heap, uint64_t bytes, struct gn_error *error)
{
	gn_error_set(error, -GN_ENOMEM,
	             "a heap of %llu bytes has no piece of %llu bytes left; free memory, or give a larger "
	             "heap_bytes, or shared_bytes for shared memory",
	             (unsigned long long)heap->bytes, (unsigned long long)bytes);
	return NULL;
}

static void *take(struct gn_heap *heap, uint64_t alignment, uint64_t bytes, struct gn_error *error)
{
	const uint64_t wanted = ((bytes ? bytes : 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	const uint64_t aligned = alignment > ALIGNMENT ? alignment : (uint64_t)ALIGNMENT;
	struct piece *p = heap->first;

	if (alignment & (alignment - 1) || aligned > gn__heap_alignment(heap->bytes)) {
		gn_error_set(error, -GN_EINVAL,
		             "an alignment of %llu bytes is not possible; give a power of two up to %llu",
		             (unsigned long long)alignment,
		             (unsigned long long)gn__heap_alignment(heap->bytes));
		return NULL;
	}
	if (wanted < bytes)
		return no_room(heap, bytes, error);
	while (p && !fits(p, aligned, wanted))
		p = p->next;
	if (!p)
		return no_room(heap, bytes, error);
	p = cut_before(p, aligned);
	if (!p || cut(p, wanted)) {
		gn_error_set(error, -GN_ENOMEM, "out of host memory for a piece of the heap");
		return NULL;
	}
	p->used = 1;
	if (!clear(heap, heap->memory + p->at, wanted, error))
		return heap->memory + p->at;
	p->used = 0;
	return NULL;
}

void *gn_net_alloc_aligned(struct gn_net *net, uint64_t alignment, uint64_t bytes, struct gn_error *error)
{
	return take(net->heap, alignment, bytes, error);
}

void *gn_net_alloc(struct gn_net *net, uint64_t bytes, struct gn_error *error)
{
	return take(net->heap, ALIGNMENT, bytes, error);
}

void *gn_net_alloc_shared(struct gn_net *net, uint64_t bytes, struct gn_error *error)
{
	return take(net->data ? net->data : net->heap, ALIGNMENT, bytes, error);
}

/* The piece that begins at memory, and the piece before it in *before. Returns NULL if there is none. */
static struct piece *find(const struct gn_heap *heap, const void *memory, struct piece **before)
{
	struct piece *p = heap->first;

	*before = NULL;
	while (p && (!p->used || heap->memory + p->at != memory)) {
		*before = p;
		p = p->next;
	}
	return p;
}

uint64_t gn_net_bytes(const struct gn_net *net, const void *memory)
{
	struct piece *before, *p = find(net->heap, memory, &before);

	if (!p && net->data)
		p = find(net->data, memory, &before);
	return p ? p->bytes : 0;
}

static void join_next(struct piece *p)
{
	struct piece *next = p->next;

	if (!next || p->used || next->used)
		return;
	p->bytes += next->bytes;
	p->next = next->next;
	free(next);
}

static void give(struct gn_heap *heap, const char *memory)
{
	struct piece *before, *p = find(heap, memory, &before);

	if (!p)
		return;
	p->used = 0;
	join_next(p);
	if (before)
		join_next(before);
}

void gn_net_free(struct gn_net *net, void *memory)
{
	const uintptr_t at = (uintptr_t)memory, data = net->data ? (uintptr_t)net->data->memory : 0;

	give(net->data && at - data < net->data->bytes ? net->data : net->heap, (const char *)memory);
}
