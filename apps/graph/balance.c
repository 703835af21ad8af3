/* SPDX-License-Identifier: Apache-2.0 */
#include "balance.h"

#include <stdlib.h>
#include <string.h>

#include "arrays.h"

int gn_balance_begin(struct gn_balance *b, uint64_t vertices, uint64_t edges, uint32_t chunk_edges,
                     struct gn_error *e)
{
	memset(b, 0, sizeof *b);
	b->vertices = vertices;
	b->edges = edges;
	b->chunk_edges = chunk_edges;
	b->chunks = edges / chunk_edges + (edges % chunk_edges != 0);
	b->start = (uint32_t *)malloc((b->chunks + 1) * sizeof *b->start);
	return b->start ? 0
	                : gn_error_set(e, -GN_ENOMEM, "out of memory for the start vertices of %llu chunks",
	                               (unsigned long long)b->chunks);
}

/* Where a chunk begins; the one behind the last begins behind all edges. */
static uint64_t border(const struct gn_balance *b, uint64_t chunk)
{
	return chunk < b->chunks ? chunk * b->chunk_edges : b->edges;
}

static int refuse(const struct gn_balance *b, struct gn_error *e)
{
	return gn_error_set(
	    e, -GN_EBADMSG,
	    "the offsets of vertex %llu decrease or do not fit the number of edges; the graph "
	    "is damaged, convert or generate it again",
	    (unsigned long long)(b->added ? b->added - 1 : 0));
}

static int is_sound(const struct gn_balance *b, uint64_t offset)
{
	if (!b->added)
		return offset == 0;
	return offset >= b->last && (b->added < b->vertices ? offset <= b->edges : offset == b->edges);
}

/* The next vertex, or what is behind the last one, begins here. */
static void add(struct gn_balance *b, uint64_t offset)
{
	for (; b->next <= b->chunks && border(b, b->next) <= offset; b->next++) {
		b->start[b->next] = (uint32_t)b->added;
		if (b->next && b->added - b->start[b->next - 1] > b->widest)
			b->widest = b->added - b->start[b->next - 1];
	}
	if (b->added && offset - b->last > b->longest)
		b->longest = offset - b->last;
	b->last = offset;
	b->added++;
}

int gn_balance_add(struct gn_balance *b, const uint64_t *offsets, uint64_t n, struct gn_error *e)
{
	for (uint64_t k = 0; k < n; k++) {
		if (b->added > b->vertices || !is_sound(b, offsets[k]))
			return refuse(b, e);
		add(b, offsets[k]);
	}
	return 0;
}

/* The first of a part is the last of the part before. */
int gn_balance_take(void *b, const uint64_t *offsets, uint64_t first, uint64_t n, struct gn_error *e)
{
	return gn_balance_add((struct gn_balance *)b, first ? offsets + 1 : offsets, first ? n : n + 1, e);
}

int gn_balance_fits(const struct gn_balance *b)
{
	return b->edges && b->widest <= GN_BALANCE_RANGE;
}

int gn_balance_is_skewed(const struct gn_balance *b)
{
	return b->longest / b->chunk_edges >= GN_BALANCE_SKEWED;
}

int gn_balance_suits(const struct gn_balance *b, enum gn_layout asked)
{
	return asked != GN_LAYOUT_CSR && gn_balance_fits(b) &&
	       (asked == GN_LAYOUT_BALANCED || gn_balance_is_skewed(b));
}

int gn_balance_place(const struct gn_balance *b, struct simt_machine *machine, struct gn_graph_arrays *graph,
                     struct gn_error *e)
{
	const uint64_t bytes = (b->chunks + 1) * sizeof *b->start;
	int rc;

	graph->starts = (uint32_t *)simt_alloc(machine, bytes, SIMT_DEVICE, e);
	if (!graph->starts)
		return gn_error_set(
		    e, -GN_ENOMEM,
		    "out of memory on the machine for the start vertices of %llu chunks; give "
		    "--layout csr, or larger chunks",
		    (unsigned long long)b->chunks);
	rc = simt_move(machine, graph->starts, b->start, bytes, e);
	if (rc)
		return gn_error_prefix(e, rc, "the start vertices");
	graph->start_chunks = b->chunks;
	graph->start_edges = b->chunk_edges;
	graph->start_end = b->start[b->chunks];
	return 0;
}

void gn_balance_remove(struct simt_machine *machine, struct gn_graph_arrays *graph)
{
	simt_free(machine, graph->starts);
	graph->starts = NULL;
}

void gn_balance_fini(struct gn_balance *b)
{
	free(b->start);
	memset(b, 0, sizeof *b);
}
