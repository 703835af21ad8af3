/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.c - symmetric memory: the same calls on every node give the same places. First fit in a list of pieces in the
 * order of addresses, kept beside the memory, which may be a device's.
 */
#include <net/node.h>

#include <stdlib.h>
#include <string.h>

/* Large heaps begin at a multiple of MOST_ALIGNMENT, so that places in them can be aligned alike on all nodes. */
enum { ALIGNMENT = 64, PAGE = 4096, MOST_ALIGNMENT = 16 << 20 };

struct piece {
	struct piece *next;
	uint64_t at, bytes;
	int used;
};

struct gn_heap {
	char *memory;
	struct piece *first;
};

int gn__heap_create(struct gn_heap **heap, char *memory, uint64_t bytes)
{
	struct gn_heap *h = (struct gn_heap *)calloc(1, sizeof *h);
	struct piece *p = (struct piece *)calloc(1, sizeof *p);
	const uint64_t group = (sizeof(struct gn_net_group) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

	if (!h || !p || bytes <= group) {
		free(h);
		free(p);
		return -GN_ENOMEM;
	}
	p->at = group;
	p->bytes = bytes - group;
	h->memory = memory;
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

/* Cut a free piece to size; what is over is a free piece behind it. Returns 0 or -GN_ENOMEM. */
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

/* The piece is cut where the alignment wants it; what is before stays free. Returns the piece behind, NULL: no memory. */
static struct piece *cut_before(struct piece *p, uint64_t alignment)
{
	const uint64_t before = skip(p, alignment);

	if (!before)
		return p;
	return cut(p, before) ? NULL : p->next;
}

void *gn_net_alloc_aligned(struct gn_net *net, uint64_t alignment, uint64_t bytes)
{
	const uint64_t wanted = ((bytes ? bytes : 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	const uint64_t aligned = alignment > ALIGNMENT ? alignment : (uint64_t)ALIGNMENT;
	struct piece *p = net->heap->first;

	if (wanted < bytes || alignment & (alignment - 1) || aligned > gn__heap_alignment(net->config.heap_bytes))
		return NULL;
	while (p && !fits(p, aligned, wanted))
		p = p->next;
	p = p ? cut_before(p, aligned) : NULL;
	if (!p || cut(p, wanted))
		return NULL;
	p->used = 1;
	memset(net->heap->memory + p->at, 0, wanted);
	return net->heap->memory + p->at;
}

void *gn_net_alloc(struct gn_net *net, uint64_t bytes)
{
	return gn_net_alloc_aligned(net, ALIGNMENT, bytes);
}

/* The piece that memory begins; *before: the one in front of it. NULL: none is. */
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
	struct piece *before;
	const struct piece *p = find(net->heap, memory, &before);

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

void gn_net_free(struct gn_net *net, void *memory)
{
	struct piece *before, *p = find(net->heap, memory, &before);

	if (!p)
		return;
	p->used = 0;
	join_next(p);
	if (before)
		join_next(before);
}
