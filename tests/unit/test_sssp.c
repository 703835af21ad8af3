/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortest paths in graphs whose lengths are known, and in random ones against Dijkstra and brute force, with
 * whole, real and drawn weights, for several widths of warps and steps.
 */
#include "far_graph.h"

#include <math.h>

#include "sssp/reference.h"
#include "sssp/sssp.h"
#include "sssp/weights.h"

enum { MOST = 255 };

static uint32_t f32(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static float number(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

/* ---- what is expected ---- */

static uint32_t none_of(const struct gn_graph *g)
{
	return g->weight == GN_WEIGHT_F32 ? GN_SSSP_NONE_F32 : GN_SSSP_NONE;
}

static uint32_t longer(const struct gn_graph *g, uint32_t length, uint64_t edge)
{
	const uint64_t sum = (uint64_t)length + g->weights[edge];

	if (g->weight == GN_WEIGHT_F32)
		return f32(number(length) + number(g->weights[edge]));
	return sum < GN_SSSP_NONE ? (uint32_t)sum : GN_SSSP_NONE;
}

/* Bellman and Ford: all edges until nothing changes. */
static void by_force(const struct gn_graph *g, uint32_t source, uint32_t *length)
{
	int changed = 1;

	for (uint64_t v = 0; v < g->vertices; v++)
		length[v] = none_of(g);
	length[source] = 0;
	while (changed) {
		changed = 0;
		for (uint32_t v = 0; v < g->vertices; v++)
			for (uint64_t k = g->offsets[v]; length[v] != none_of(g) && k < g->offsets[v + 1];
			     k++)
				if (longer(g, length[v], k) < length[g->neighbours[k]]) {
					length[g->neighbours[k]] = longer(g, length[v], k);
					changed = 1;
				}
	}
}

static uint64_t count_reached(const struct gn_graph *g, const uint32_t *want)
{
	uint64_t reached = 0;

	for (uint64_t v = 0; v < g->vertices; v++)
		reached += want[v] != none_of(g);
	return reached;
}

static uint64_t edges_of_reached(const struct gn_graph *g, const uint32_t *want)
{
	uint64_t edges = 0;

	for (uint64_t v = 0; v < g->vertices; v++)
		edges += want[v] != none_of(g) ? g->offsets[v + 1] - g->offsets[v] : 0;
	return edges;
}

static void expect_run(const struct gn_graph *g, const struct far_way *way, const struct gn_sssp_options *o,
                       const uint32_t *want)
{
	const uint64_t bytes = g->vertices * sizeof *want;
	uint32_t *length = (uint32_t *)malloc(bytes);
	struct gn_sssp_result result;
	struct far_graph f;

	open_far_way(&f, g, way, GN_SSSP_STATE);
	memset(length, 0x55, bytes);
	far_must(gn_sssp(f.machine, &f.arrays, o, length, &result, NULL, &far_error));
	assert_memory_equal(length, want, bytes);
	assert_int_equal(result.reached, count_reached(g, want));
	assert_int_equal(result.edges_needed, edges_of_reached(g, want));
	assert_true(result.edges >= result.edges_needed);
	assert_true(result.delta > 0);
	close_far(&f);
	free(length);
}

/* A stored graph in every way, in narrow or wide steps: the next graph's are others, so that each way meets
 * each. */
static void check_graph(const struct gn_graph *g, uint32_t source, const uint32_t *want)
{
	const double deltas[] = {0, 1e30, 1, 40};
	const unsigned turn = far_turn();

	for (unsigned k = turn % FAR_STEP; k < FAR_WAYS; k += FAR_STEP) {
		const struct gn_sssp_options o = {source, deltas[(turn + k) % 4], MOST};

		expect_run(g, &far_ways[k], &o, want);
	}
}

/* The graph of the list. Where it has no weights, want is of those that are drawn. */
static void check(uint32_t source)
{
	uint32_t *want = (uint32_t *)malloc(list.vertices * sizeof *want);
	uint64_t *reference = (uint64_t *)malloc(list.vertices * sizeof *reference);
	struct gn_graph stored, g;

	build_rows(&stored);
	build_rows(&g);
	assert_int_equal(sssp_draw_weights(&g, MOST, &far_error), 0);
	by_force(&g, source, want);
	assert_int_equal(sssp_reference(&g, source, reference), 0);
	far_must(gn_sssp_verify(want, reference, g.vertices, g.weight, &far_error));
	check_graph(&stored, source, want);
	gn_graph_fini(&stored);
	gn_graph_fini(&g);
	free(reference);
	free(want);
}

/* ---- graphs ---- */

static const uint32_t kinds[] = {GN_WEIGHT_NONE, GN_WEIGHT_I32, GN_WEIGHT_F32};

/* Drawn weights have a test of their own besides. */
enum { KINDS = sizeof kinds / sizeof *kinds };

#define FIRST_KIND few_drawn(1, 0)

/* The bits of a weight of the list's kind: as a real number a tenth, which has no exact f32. */
static uint32_t weight(uint32_t value)
{
	return list.weight == GN_WEIGHT_F32 ? f32(0.1f * (float)value) : value;
}

static void a_path(void **state)
{
	(void)state;
	for (unsigned k = FIRST_KIND; k < KINDS; k++) {
		begin_list(200, kinds[k]);
		for (uint32_t v = 0; v + 1 < 200; v++)
			add_both(v, v + 1, weight(v % 9));
		check(0);
		check(77);
	}
}

/* The hub's list is put aside in chunks, and the hub comes nearer more than once. */
static void a_star(void **state)
{
	const uint32_t hub = FAR_STAR, source = hub + 1, between = hub + 2;

	(void)state;
	for (unsigned k = FIRST_KIND; k < KINDS; k++) {
		begin_list(FAR_STAR + 3, kinds[k]);
		for (uint32_t v = 0; v < FAR_STAR; v++)
			add_edge(hub, v, weight(v % 100));
		add_edge(source, hub, weight(90));
		add_edge(source, between, weight(2));
		add_edge(between, hub, weight(3));
		check(source);
	}
}

static void a_grid(void **state)
{
	(void)state;
	for (unsigned k = FIRST_KIND; k < KINDS; k++) {
		begin_list(400, kinds[k]);
		for (uint32_t v = 0; v < 400; v++) {
			if (v % 20 < 19)
				add_both(v, v + 1, weight(1 + v * 7 % 13));
			if (v < 380)
				add_both(v, v + 20, weight(v * 5 % 11));
		}
		check(210);
	}
}

static void a_complete_bipartite_graph(void **state)
{
	(void)state;
	for (unsigned k = FIRST_KIND; k < KINDS; k++) {
		begin_list(60, kinds[k]);
		for (uint32_t u = 0; u < 20; u++)
			for (uint32_t v = 20; v < 60; v++)
				add_both(u, v, weight(u * v % 200));
		check(3);
	}
}

static void two_components_and_a_vertex_without_edges(void **state)
{
	(void)state;
	for (unsigned k = FIRST_KIND; k < KINDS; k++) {
		begin_list(101, kinds[k]);
		for (uint32_t v = 0; v + 2 < 100; v++)
			add_both(v, v + 2, weight(3));
		check(4);
		check(100);
	}
	begin_list(1, GN_WEIGHT_F32);
	check(0);
}

/* Loops, edges that are there twice, weights of zero. */
static void random_graphs(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < FAR_ROUNDS(6); round++) {
		begin_list(20 + 120 * round, kinds[round % KINDS]);
		for (uint32_t k = 0; k < list.vertices * (2 + round % 3); k++) {
			const uint64_t x = draw_number();

			add_edge((uint32_t)(x % list.vertices), (uint32_t)((x >> 20) % list.vertices),
			         weight((uint32_t)(x >> 40) % (round & 1 ? 1000 : 8)));
		}
		check((uint32_t)(draw_number() % list.vertices));
	}
}

/* By hand: every weight that is drawn is 1, so a length is a number of edges. */
static void drawn_weights_of_one_count_edges(void **state)
{
	const struct gn_sssp_options o = {0, 0, 1};
	uint32_t want[50];
	struct gn_graph g;

	(void)state;
	begin_list(50, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v + 1 < 50; v++)
		add_both(v, v + 1, 0);
	for (uint32_t v = 0; v < 50; v++)
		want[v] = v;
	build_rows(&g);
	expect_run(&g, &far_ways[1], &o, want);
	gn_graph_fini(&g);
}

/* ---- what is wrong is said ---- */

static void expect_refused(const struct gn_sssp_options *o, int code, const char *words)
{
	uint32_t length[8];
	struct gn_graph g;

	build_rows(&g);
	for (unsigned k = 0; k < FAR_WAYS; k++) {
		struct gn_sssp_result result;
		struct far_graph f;

		open_far(&f, &g, far_ways[k].width, far_ways[k].page_bytes);
		assert_int_equal(gn_sssp(f.machine, &f.arrays, o, length, &result, NULL, &far_error), code);
		expect_words(words);
		close_far(&f);
	}
	gn_graph_fini(&g);
}

static const struct gn_sssp_options from_0 = {0, 0, MOST};

static void expect_weight_refused(uint32_t kind, uint32_t bits)
{
	begin_list(4, kind);
	add_edge(0, 1, 0);
	add_edge(1, 2, bits);
	expect_refused(&from_0, -GN_EINVAL, "vertex 1 has a weight");
}

static void weights_that_are_no_lengths_are_refused(void **state)
{
	(void)state;
	expect_weight_refused(GN_WEIGHT_I32, (uint32_t)-1);
	expect_weight_refused(GN_WEIGHT_I32, 0x80000000u);
	expect_weight_refused(GN_WEIGHT_F32, f32(-0.5f));
	expect_weight_refused(GN_WEIGHT_F32, f32(NAN));
	expect_weight_refused(GN_WEIGHT_F32, f32(INFINITY));
	/* minus zero is a zero */
	begin_list(3, GN_WEIGHT_F32);
	add_edge(0, 1, f32(-0.0f));
	add_edge(1, 2, f32(1));
	check(0);
}

/* Two edges of 2^31 - 1 are the limit, whatever follows them. */
static void lengths_that_overflow_are_refused(void **state)
{
	(void)state;
	for (uint32_t last = 0; last < 2; last++) {
		begin_list(5, GN_WEIGHT_I32);
		add_edge(0, 1, 0x7fffffff);
		add_edge(1, 2, 0x7fffffff);
		add_edge(2, 3, last);
		expect_refused(&from_0, -GN_EFBIG,
		               "to vertex 2 has the length 4294967294 or more, which is not held");
	}
	begin_list(4, GN_WEIGHT_F32);
	add_edge(0, 1, f32(3e38f));
	add_edge(1, 2, f32(3e38f));
	expect_refused(&from_0, -GN_EFBIG, "to vertex 2");
}

/* A way that is too long does no harm if another is not. */
static void a_way_that_overflows_may_be_passed_by(void **state)
{
	(void)state;
	begin_list(5, GN_WEIGHT_I32);
	add_edge(0, 1, 0x7fffffff);
	add_edge(1, 2, 0x7fffffff);
	add_edge(0, 3, 1);
	add_edge(3, 2, 0x7ffffffe);
	add_edge(2, 4, 0x7ffffffe);
	check(0);
	begin_list(4, GN_WEIGHT_F32);
	add_edge(0, 1, f32(3e38f));
	add_edge(1, 2, f32(3e38f));
	add_edge(0, 3, f32(1e38f));
	add_edge(3, 2, f32(2e38f));
	check(0);
}

static void a_source_or_width_that_cannot_be_is_refused(void **state)
{
	const struct gn_sssp_options far_away = {4, 0, MOST}, half = {0, 0.5, MOST}, less = {0, -1, MOST},
	                             more = {0, 1e300, MOST};

	(void)state;
	begin_list(4, GN_WEIGHT_I32);
	add_edge(0, 1, 1);
	expect_refused(&far_away, -GN_ERANGE, "4 vertices");
	expect_refused(&half, -GN_EINVAL, "give 1 or more");
	expect_refused(&less, -GN_EINVAL, "above 0");
	expect_refused(&more, -GN_EINVAL, "delta 1e+300: give a number above 0 and at most 3.4e38");
}

static void a_neighbour_that_is_no_vertex_is_refused(void **state)
{
	(void)state;
	begin_list(4, GN_WEIGHT_I32);
	add_edge(0, 4, 1);
	expect_refused(&from_0, -GN_EBADMSG, "neighbour 4");
}

static void verify_names_the_first(void **state)
{
	const uint64_t want[3] = {0, 5, sssp_none};
	const uint32_t right[3] = {0, 5, GN_SSSP_NONE}, got[3] = {0, 6, 7};
	const uint64_t long_want[1] = {4294967292};
	const uint32_t long_got[1] = {4294967293};

	(void)state;
	assert_int_equal(gn_sssp_verify(right, want, 3, GN_WEIGHT_I32, &far_error), 0);
	assert_int_equal(gn_sssp_verify(got, want, 3, GN_WEIGHT_I32, &far_error), -GN_EBADMSG);
	expect_words("vertex 1 has length 6, but the reference says 5; 2 of 3");
	assert_int_equal(gn_sssp_verify(long_got, long_want, 1, GN_WEIGHT_I32, &far_error), -GN_EBADMSG);
	expect_words("has length 4294967293, but the reference says 4294967292");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_path),
	    cmocka_unit_test(a_star),
	    cmocka_unit_test(a_grid),
	    cmocka_unit_test(a_complete_bipartite_graph),
	    cmocka_unit_test(two_components_and_a_vertex_without_edges),
	    cmocka_unit_test(random_graphs),
	    cmocka_unit_test(drawn_weights_of_one_count_edges),
	    cmocka_unit_test(weights_that_are_no_lengths_are_refused),
	    cmocka_unit_test(lengths_that_overflow_are_refused),
	    cmocka_unit_test(a_way_that_overflows_may_be_passed_by),
	    cmocka_unit_test(a_source_or_width_that_cannot_be_is_refused),
	    cmocka_unit_test(a_neighbour_that_is_no_vertex_is_refused),
	    cmocka_unit_test(verify_names_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
