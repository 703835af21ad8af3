/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers come from their position: hash(seed, edge, draw). So any thread can draw any
 * edge, as often as it likes. The hash is SplitMix64's finalizer (Steele, Lea, Flood: Fast
 * Splittable Pseudorandom Number Generators, 2014, figure 15).
 */
#include "generate.h"

#include "build.h"

/* Probabilities of the R-MAT quadrants as fractions of 2^32: A 0.57, A+B 0.76, A+B+C 0.95. */
static const uint32_t quadrant_a = UINT32_C(2448131359);
static const uint32_t quadrant_ab = UINT32_C(3264175145);
static const uint32_t quadrant_abc = UINT32_C(4080218931);

static const uint64_t golden_gamma = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t stream_of(uint64_t seed, uint64_t edge)
{
	return mix(mix(seed + golden_gamma) ^ ((edge + 1) * golden_gamma));
}

static uint64_t next(uint64_t *state)
{
	*state += golden_gamma;
	return mix(*state);
}

/*
 * A permutation of [0, 2^scale) without a table: each step, multiplication by an odd number,
 * addition and xor with the upper half, can be undone within scale bits.
 */
static uint32_t permute(uint32_t id, unsigned scale, uint64_t seed)
{
	uint64_t mask = (UINT64_C(1) << scale) - 1;
	unsigned half = scale / 2 + 1;
	uint64_t x = id;
	uint64_t state = ~seed;

	for (int round = 0; round < 4; round++) {
		x = (x * (next(&state) | 1)) & mask;
		x = (x + next(&state)) & mask;
		x ^= x >> half;
	}
	return (uint32_t)x;
}

/* One edge falls through scale levels of quadrants; a level takes 32 random bits. */
static struct gn_edge kron_edge(const struct gn_generate_options *o, uint64_t state)
{
	uint32_t from = 0;
	uint32_t to = 0;
	uint64_t bits = 0;
	struct gn_edge edge;

	for (unsigned level = 0; level < o->scale; level++) {
		uint32_t r;

		bits = level & 1 ? bits >> 32 : next(&state);
		r = (uint32_t)bits;
		from = from << 1 | (r >= quadrant_ab);
		to = to << 1 | ((r >= quadrant_a) & (r < quadrant_ab)) | (r >= quadrant_abc);
	}
	edge.from = from;
	edge.to = to;
	return edge;
}

static void draw_kron(const void *self, uint64_t first, uint64_t count, struct gn_edge *edges,
                      uint32_t *weights)
{
	const struct gn_generate_options *o = (const struct gn_generate_options *)self;

	(void)weights;
	for (uint64_t i = 0; i < count; i++) {
		struct gn_edge edge = kron_edge(o, stream_of(o->seed, first + i));

		edges[i].from = permute(edge.from, o->scale, o->seed);
		edges[i].to = permute(edge.to, o->scale, o->seed);
	}
}

static void draw_urand(const void *self, uint64_t first, uint64_t count, struct gn_edge *edges,
                       uint32_t *weights)
{
	const struct gn_generate_options *o = (const struct gn_generate_options *)self;
	uint32_t mask = (uint32_t)((UINT64_C(1) << o->scale) - 1);

	(void)weights;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t state = stream_of(o->seed, first + i);
		uint64_t bits = next(&state);

		edges[i].from = (uint32_t)(bits >> 32) & mask;
		edges[i].to = (uint32_t)bits & mask;
	}
}

int gn_graph_generate(struct gn_graph *g, const struct gn_generate_options *options, struct gn_error *e)
{
	struct gn_build b = {0};

	if (options->scale > GN_GENERATOR_MAX_SCALE)
		return gn_error_set(e, -GN_EINVAL, "scale %u is too large; give at most %d", options->scale,
		                    (int)GN_GENERATOR_MAX_SCALE);
	if (options->degree > (GN_GRAPH_MAX_EDGES >> (options->scale + 1)))
		return gn_error_set(e, -GN_EFBIG,
		                    "degree %llu at scale %u is too large; at most 2^55 edges are possible",
		                    (unsigned long long)options->degree, options->scale);
	b.source.self = options;
	b.source.edges = options->degree << options->scale;
	b.source.draw = options->kind == GN_GENERATOR_KRON ? draw_kron : draw_urand;
	b.vertices = UINT64_C(1) << options->scale;
	b.mirror = options->undirected ? GN_MIRROR_SAME : GN_MIRROR_NONE;
	b.simple = !options->keep;
	b.memory_limit = options->memory_limit;
	b.progress = &options->progress;
	return gn__graph_build(g, &b, e);
}
