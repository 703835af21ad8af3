/* SPDX-License-Identifier: Apache-2.0 */
#include "test_graph_support.h"

#include <omp.h>

#include "graph/build.h"
#include "graph/draw.h"

static struct gn_graph draw(enum gn_generator kind, unsigned scale, bool undirected, bool keep, uint64_t seed)
{
	struct gn_generate_options o;
	struct gn_error e = {0};
	struct gn_graph g;

	memset(&o, 0, sizeof o);
	o.kind = kind;
	o.scale = scale;
	o.degree = 16;
	o.seed = seed;
	o.undirected = undirected;
	o.keep = keep;
	if (gn_graph_generate(&g, &o, &e))
		fail_msg("%s", e.text);
	return g;
}

static uint64_t degree_of(const struct gn_graph *g, uint64_t v)
{
	return g->offsets[v + 1] - g->offsets[v];
}

static uint64_t largest_degree(const struct gn_graph *g)
{
	uint64_t largest = 0;

	for (uint64_t v = 0; v < g->vertices; v++)
		largest = degree_of(g, v) > largest ? degree_of(g, v) : largest;
	return largest;
}

/* Which quadrant an edge falls into at its first level is a draw from A, B, C, D. */
static void quadrants(void **state)
{
	enum { DRAWS = 400000 };
	const double want[4] = {0.57, 0.19, 0.19, 0.05};
	struct gn_generate_options o;
	struct gn_draw d;
	unsigned got[4] = {0, 0, 0, 0};

	(void)state;
	memset(&o, 0, sizeof o);
	o.scale = 8;
	o.seed = 1;
	d = gn_draw_init(&o);
	for (uint64_t i = 0; i < DRAWS; i++) {
		struct gn_edge edge = gn_draw_quadrants(o.scale, gn_draw_stream(&d, i));

		got[(edge.from >> 7) * 2 + (edge.to >> 7)]++;
	}
	for (int k = 0; k < 4; k++)
		assert_true(got[k] > (want[k] - 0.004) * DRAWS && got[k] < (want[k] + 0.004) * DRAWS);
}

static void permutation_is_one(void **state)
{
	(void)state;
	for (unsigned scale = 0; scale <= 13; scale++) {
		uint32_t n = UINT32_C(1) << scale;
		unsigned char *seen = (unsigned char *)calloc(n, 1);
		uint32_t fixed = 0;
		struct gn_generate_options o;
		struct gn_draw d;

		memset(&o, 0, sizeof o);
		o.scale = scale;
		o.seed = 7;
		d = gn_draw_init(&o);
		for (uint32_t id = 0; id < n; id++) {
			uint32_t to = gn_draw_permute(&d, id);

			assert_true(to < n);
			assert_int_equal(seen[to], 0);
			seen[to] = 1;
			fixed += to == id;
		}
		if (scale > 6)
			assert_true(fixed < 20);
		free(seen);
	}
}

static void uniform_degrees(void **state)
{
	struct gn_graph g = draw(GN_GENERATOR_URAND, 12, false, true, 1);
	double variance = 0;

	(void)state;
	assert_int_equal(g.vertices, 4096);
	assert_int_equal(g.edges, 16 * 4096);
	for (uint64_t v = 0; v < g.vertices; v++)
		variance += ((double)degree_of(&g, v) - 16) * ((double)degree_of(&g, v) - 16) / 4096;
	/* a binomial distribution of mean 16 has variance 16 */
	assert_true(variance > 14 && variance < 18);
	assert_true(largest_degree(&g) < 45);
	gn_graph_fini(&g);
}

/* A Kronecker graph is skewed: a few vertices of very many edges, many of none. */
static void kron_degrees(void **state)
{
	struct gn_graph g = draw(GN_GENERATOR_KRON, 14, true, false, 1);
	uint64_t lonely = 0;

	(void)state;
	for (uint64_t v = 0; v < g.vertices; v++)
		lonely += degree_of(&g, v) == 0;
	assert_true(largest_degree(&g) > 50 * 32);
	assert_true(lonely > g.vertices / 10 && lonely < g.vertices / 2);
	assert_true(g.edges < 2 * 16 * g.vertices && g.edges > 2 * 10 * g.vertices);
	gn_graph_fini(&g);
}

static bool has_edge(const struct gn_graph *g, uint32_t from, uint32_t to)
{
	for (uint64_t i = g->offsets[from]; i < g->offsets[from + 1]; i++) {
		if (g->neighbours[i] == to)
			return true;
	}
	return false;
}

static void undirected_is_symmetric_and_simple(void **state)
{
	struct gn_graph g = draw(GN_GENERATOR_KRON, 8, true, false, 3);

	(void)state;
	assert_int_equal(g.flags, GN_GRAPH_UNDIRECTED | GN_GRAPH_SORTED);
	for (uint32_t v = 0; v < g.vertices; v++) {
		for (uint64_t i = g.offsets[v]; i < g.offsets[v + 1]; i++) {
			assert_true(has_edge(&g, g.neighbours[i], v));
			assert_int_not_equal(g.neighbours[i], v);
			if (i > g.offsets[v])
				assert_true(g.neighbours[i - 1] < g.neighbours[i]);
		}
	}
	gn_graph_fini(&g);
}

static void threads_change_nothing(void **state)
{
#ifdef __SANITIZE_THREAD__
	/* the OpenMP runtime is not instrumented, so every barrier of it would be reported */
	skip();
#endif
	for (int kind = 0; kind < 2; kind++) {
		enum gn_generator generator = kind ? GN_GENERATOR_URAND : GN_GENERATOR_KRON;
		struct gn_graph one;

		(void)state;
		omp_set_num_threads(1);
		one = draw(generator, 13, kind, kind, 5);
		for (int threads = 2; threads <= 7; threads += 5) {
			struct gn_graph many;

			omp_set_num_threads(threads);
			many = draw(generator, 13, kind, kind, 5);
			assert_same_graph(&one, &many);
			gn_graph_fini(&many);
		}
		gn_graph_fini(&one);
	}
}

static void seeds_differ(void **state)
{
	struct gn_graph a = draw(GN_GENERATOR_URAND, 8, false, true, 1);
	struct gn_graph b = draw(GN_GENERATOR_URAND, 8, false, true, 2);

	(void)state;
	assert_int_equal(a.edges, b.edges);
	assert_memory_not_equal(a.neighbours, b.neighbours, a.edges * 4);
	gn_graph_fini(&a);
	gn_graph_fini(&b);
}

static void smallest(void **state)
{
	struct gn_graph g = draw(GN_GENERATOR_KRON, 0, true, true, 1);

	(void)state;
	assert_int_equal(g.vertices, 1);
	assert_int_equal(g.edges, 16);
	gn_graph_fini(&g);
	g = draw(GN_GENERATOR_KRON, 0, true, false, 1);
	assert_int_equal(g.edges, 0);
	gn_graph_fini(&g);
}

static void too_large(void **state)
{
	struct gn_generate_options o;
	struct gn_error e = {0};
	struct gn_graph g;

	(void)state;
	memset(&o, 0, sizeof o);
	o.scale = 32;
	o.degree = 1;
	assert_error(gn_graph_generate(&g, &o, &e), -GN_EINVAL, &e, "scale 32", "give at most 31");
	o.scale = 31;
	o.degree = UINT64_C(1) << 40;
	assert_error(gn_graph_generate(&g, &o, &e), -GN_EFBIG, &e, "degree 1099511627776", "at most");
	o.scale = 20;
	o.degree = 16;
	o.memory_limit = 1 << 20;
	assert_error(gn_graph_generate(&g, &o, &e), -GN_ENOMEM, &e, "GiB", "use a smaller graph");
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Rows of many lengths and few different neighbours, against the C library's sort. */
static void rows_are_sorted(void **state)
{
	enum { LONGEST = 5000 };
	static uint32_t neighbours[LONGEST];
	static uint32_t weights[LONGEST];
	static uint64_t keys[LONGEST];
	uint64_t seed = 9;

	(void)state;
	for (uint32_t n = 0; n < LONGEST; n = n * 2 + 1) {
		for (int round = 0; round < 8; round++) {
			uint32_t vertices = round & 1 ? UINT32_C(0xffffffff) : 300;

			for (uint32_t i = 0; i < n; i++) {
				uint64_t bits = gn_draw_next(&seed);

				neighbours[i] = (uint32_t)(bits >> 32) % vertices;
				weights[i] = (uint32_t)bits & 0x7fffffff;
				keys[i] = (uint64_t)neighbours[i] << 32 | weights[i];
			}
			gn__row_sort(neighbours, weights, n, GN_WEIGHT_I32, vertices);
			qsort(keys, n, sizeof *keys, by_key);
			for (uint32_t i = 0; i < n; i++) {
				assert_int_equal(neighbours[i], keys[i] >> 32);
				assert_int_equal(weights[i], (uint32_t)keys[i]);
			}
		}
	}
}

static void weights_order_as_numbers(void **state)
{
	const float reals[5] = {-2.5f, -1.0f, -0.0f, 0.25f, 3.0f};
	const int32_t wholes[5] = {INT32_MIN, -1, 0, 1, INT32_MAX};
	uint32_t row[5] = {0, 0, 0, 0, 0};
	uint32_t bits[5];

	(void)state;
	for (int k = 0; k < 5; k++)
		memcpy(&bits[k], &reals[4 - k], 4);
	gn__row_sort(row, bits, 5, GN_WEIGHT_F32, 1);
	assert_memory_equal(bits, reals, sizeof bits);
	for (int k = 0; k < 5; k++)
		memcpy(&bits[k], &wholes[4 - k], 4);
	gn__row_sort(row, bits, 5, GN_WEIGHT_I32, 1);
	assert_memory_equal(bits, wholes, sizeof bits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(quadrants),
	    cmocka_unit_test(permutation_is_one),
	    cmocka_unit_test(uniform_degrees),
	    cmocka_unit_test(kron_degrees),
	    cmocka_unit_test(undirected_is_symmetric_and_simple),
	    cmocka_unit_test(threads_change_nothing),
	    cmocka_unit_test(seeds_differ),
	    cmocka_unit_test(smallest),
	    cmocka_unit_test(too_large),
	    cmocka_unit_test(rows_are_sorted),
	    cmocka_unit_test(weights_order_as_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
