/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h - the edges of a generated graph, as host code and kernels draw them. Private to apps/.
 *
 * Random numbers come from their position: hash(seed, edge, draw). So any thread can draw any edge, as often
 * as it likes. The hash is SplitMix64's finalizer (spread/mix.h).
 */
#ifndef GN_GRAPH_DRAW_H
#define GN_GRAPH_DRAW_H

#include <stdint.h>

#include <grapnel/simt.h>

#include "edges.h"
#include "generate.h"
#include "spread/mix.h"

enum { GN_DRAW_ROUNDS = 4 }; /* of the permutation */

/* What all edges of a graph have in common; plain data, for arguments of kernels. */
struct gn_draw {
	uint64_t stream;                 /* of the seed */
	uint64_t factor[GN_DRAW_ROUNDS]; /* odd */
	uint64_t addend[GN_DRAW_ROUNDS]; /* of the permutation's rounds */
	uint32_t scale;                  /* 2^scale vertices */
	uint32_t kron;                   /* 0: both ends are uniformly random */
};

/* Probabilities of the R-MAT quadrants as fractions of 2^32: A 0.57, A+B 0.76, A+B+C 0.95. */
static const uint32_t gn_draw_a = UINT32_C(2448131359);
static const uint32_t gn_draw_ab = UINT32_C(3264175145);
static const uint32_t gn_draw_abc = UINT32_C(4080218931);

static const uint64_t gn_draw_gamma = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 by the golden ratio */

SIMT_FN uint64_t gn_draw_next(uint64_t *state)
{
	*state += gn_draw_gamma;
	return spread_finish(*state);
}

/* Where the random numbers of an edge begin. */
SIMT_FN uint64_t gn_draw_stream(const struct gn_draw *d, uint64_t edge)
{
	return spread_finish(d->stream ^ ((edge + 1) * gn_draw_gamma));
}

/* gn_draw_init - what the edges of this graph are drawn from. */
SIMT_FN struct gn_draw gn_draw_init(const struct gn_generate_options *o)
{
	uint64_t state = ~o->seed;
	struct gn_draw d;

	d.stream = spread_finish(o->seed + gn_draw_gamma);
	for (uint32_t round = 0; round < GN_DRAW_ROUNDS; round++) {
		d.factor[round] = gn_draw_next(&state) | 1;
		d.addend[round] = gn_draw_next(&state);
	}
	d.scale = o->scale;
	d.kron = o->kind == GN_GENERATOR_KRON;
	return d;
}

/*
 * A permutation of [0, 2^scale) without a table: each step, multiplication by an odd number, addition and xor
 * with the upper half, can be undone within scale bits.
 */
SIMT_FN uint32_t gn_draw_permute(const struct gn_draw *d, uint32_t id)
{
	const uint64_t mask = (UINT64_C(1) << d->scale) - 1;
	uint64_t x = id;

	SIMT_UNROLL
	for (uint32_t round = 0; round < GN_DRAW_ROUNDS; round++) {
		x = (x * d->factor[round] + d->addend[round]) & mask;
		x ^= x >> (d->scale / 2 + 1);
	}
	return (uint32_t)x;
}

/* One edge falls through scale levels of quadrants; a level takes 32 random bits. */
SIMT_FN struct gn_edge gn_draw_quadrants(uint32_t scale, uint64_t state)
{
	uint64_t bits = 0;
	struct gn_edge edge = {0, 0};

	for (uint32_t level = 0; level < scale; level++) {
		uint32_t r;

		bits = level & 1 ? bits >> 32 : gn_draw_next(&state);
		r = (uint32_t)bits;
		edge.from = edge.from << 1 | (r >= gn_draw_ab);
		edge.to = edge.to << 1 | ((uint32_t)(r >= gn_draw_a) & (uint32_t)(r < gn_draw_ab)) |
		          (r >= gn_draw_abc);
	}
	return edge;
}

SIMT_FN struct gn_edge gn_draw_kron(const struct gn_draw *d, uint64_t i)
{
	struct gn_edge edge = gn_draw_quadrants(d->scale, gn_draw_stream(d, i));

	edge.from = gn_draw_permute(d, edge.from);
	edge.to = gn_draw_permute(d, edge.to);
	return edge;
}

SIMT_FN struct gn_edge gn_draw_urand(const struct gn_draw *d, uint64_t i)
{
	const uint32_t mask = (uint32_t)((UINT64_C(1) << d->scale) - 1);
	uint64_t state = gn_draw_stream(d, i);
	const uint64_t bits = gn_draw_next(&state);
	struct gn_edge edge;

	edge.from = (uint32_t)(bits >> 32) & mask;
	edge.to = (uint32_t)bits & mask;
	return edge;
}

/* gn_draw_edge - edge number i. Any thread, host or device. */
SIMT_FN struct gn_edge gn_draw_edge(const struct gn_draw *d, uint64_t i)
{
	return d->kron ? gn_draw_kron(d, i) : gn_draw_urand(d, i);
}

#endif
