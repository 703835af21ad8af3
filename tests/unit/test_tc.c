/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triangles of graphs whose number is known, and of random ones, with the vertices as they are and by degree,
 * for narrow and wide warps, through a cache of a few small pages and without one.
 */
#include "far_graph.h"

#include "graph/order.h"
#include "tc/tc.h"

static uint64_t count(const struct gn_graph *g, unsigned width, enum gn_mode mode)
{
	const struct gn_tc_options o = {0};
	struct gn_tc_result result;
	struct far_graph f;

	open_far(&f, g, width, mode == GN_PAGED ? 512 : 0);
	f.arrays.pages = mode == GN_PAGED ? 16 : 0;
	far_must(gn_tc(f.machine, &f.arrays, &o, &result, NULL, &far_error));
	assert_int_equal(result.edges, g->edges);
	close_far(&f);
	return result.triangles;
}

static void check_graph(const struct gn_graph *g, uint64_t want)
{
	assert_int_equal(count(g, 1, GN_PAGED), want);
	assert_int_equal(count(g, 32, GN_PAGED), want);
	assert_int_equal(count(g, 8, GN_DIRECT), want);
}

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The graph of the list, its neighbours ascending. */
static void build_sorted(struct gn_graph *g)
{
	build_rows(g);
	for (uint64_t v = 0; v < g->vertices; v++)
		if (g->edges)
			qsort(g->neighbours + g->offsets[v], g->offsets[v + 1] - g->offsets[v], 4, by_number);
}

static void check(uint64_t want)
{
	struct gn_graph g, ordered;
	uint64_t reference = UINT64_MAX;

	build_sorted(&g);
	far_must(gn_tc_reference(&g, &reference, &far_error));
	assert_int_equal(reference, want);
	check_graph(&g, want);
	far_must(gn_graph_order(&ordered, &g, NULL, &far_error));
	check_graph(&ordered, want);
	gn_graph_fini(&ordered);
	gn_graph_fini(&g);
}

/* ---- graphs ---- */

/* n choose 3. */
static void a_complete_graph_has_all(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= 40; n += 13) {
		begin_list(n, GN_WEIGHT_NONE);
		for (uint32_t u = 0; u < n; u++)
			for (uint32_t v = 0; v < u; v++)
				add_both(u, v, 0);
		check((uint64_t)n * (n - 1) * (n - 2) / 6);
	}
}

static void without_edges_there_is_none(void **state)
{
	(void)state;
	begin_list(100, GN_WEIGHT_NONE);
	check(0);
	begin_list(3, GN_WEIGHT_NONE);
	add_both(0, 1, 0);
	check(0);
}

static void a_star_has_none(void **state)
{
	(void)state;
	begin_list(3001, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < 3000; v++)
		add_both(3000, v, 0);
	check(0);
}

static void a_grid_has_none(void **state)
{
	(void)state;
	begin_list(30 * 30, GN_WEIGHT_NONE);
	for (uint32_t y = 0; y < 30; y++) {
		for (uint32_t x = 0; x < 30; x++) {
			if (x)
				add_both(30 * y + x, 30 * y + x - 1, 0);
			if (y)
				add_both(30 * y + x, 30 * y + x - 30, 0);
		}
	}
	check(0);
}

static void a_complete_bipartite_graph_has_none(void **state)
{
	(void)state;
	begin_list(60, GN_WEIGHT_NONE);
	for (uint32_t u = 0; u < 20; u++)
		for (uint32_t v = 20; v < 60; v++)
			add_both(u, v, 0);
	check(0);
}

/* One a spoke. The hub's list is put aside in chunks; it comes first, last and amid the others. */
static void a_wheel_has_one_a_spoke(void **state)
{
	enum { SPOKES = 2000 };

	(void)state;
	for (uint32_t hub = 0; hub <= SPOKES; hub += few_drawn(SPOKES, SPOKES / 2)) {
		begin_list(SPOKES + 1, GN_WEIGHT_NONE);
		for (uint32_t k = 0; k < SPOKES; k++) {
			const uint32_t next = (k + 1) % SPOKES;
			const uint32_t u = k < hub ? k : k + 1, v = next < hub ? next : next + 1;

			add_both(hub, u, 0);
			add_both(u, v, 0);
		}
		check(SPOKES);
	}
}

/* Two complete graphs of 20, their vertices even and odd. */
static void two_components_have_both(void **state)
{
	(void)state;
	begin_list(40, GN_WEIGHT_NONE);
	for (uint32_t u = 0; u < 40; u++)
		for (uint32_t v = u % 2; v < u; v += 2)
			add_both(u, v, 0);
	check(2 * (20 * 19 * 18 / 6));
}

/* Two hubs with the same 600 neighbours, which one edge joins: the lists that are compared are long. */
static void two_hubs_share_their_neighbours(void **state)
{
	(void)state;
	begin_list(602, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < 600; v++) {
		add_both(600, v, 0);
		add_both(601, v, 0);
	}
	add_both(600, 601, 0);
	check(600);
}

static void what_is_there_twice_counts_once(void **state)
{
	(void)state;
	begin_list(5, GN_WEIGHT_NONE);
	for (uint32_t times = 0; times < 3; times++) {
		add_both(0, 1, 0);
		add_both(1, 2, 0);
		add_both(4, 2, 0);
		add_both(4, 1, 0);
		for (uint32_t v = 0; v < 5; v++)
			add_edge(v, v, 0);
	}
	add_both(0, 2, 0);
	check(2);
}

/* All triples of vertices, looked up in a matrix. */
static uint64_t by_force(void)
{
	static unsigned char edge[160][160];
	uint64_t found = 0;

	memset(edge, 0, sizeof edge);
	for (uint32_t k = 0; k < list.count; k++)
		edge[list.from[k]][list.to[k]] = 1;
	for (uint32_t u = 0; u < list.vertices; u++)
		for (uint32_t v = 0; v < u; v++)
			for (uint32_t w = 0; w < v; w++)
				found += edge[u][v] && edge[u][w] && edge[v][w];
	return found;
}

/* With self loops and edges that are there twice; those of later rounds are dense around a few vertices. */
static void random_graphs_equal_brute_force(void **state)
{
	uint64_t x = 88172645463325252u, all = 0;

	(void)state;
	for (uint32_t round = 0; round < 12; round++) {
		begin_list(20 + 12 * round, GN_WEIGHT_NONE);
		for (uint32_t k = 0; k < list.vertices * (2 + round % 5); k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			add_both((uint32_t)(x % list.vertices),
			         (uint32_t)((x >> 32) % (round % 2 ? list.vertices : 12)), 0);
		}
		all += by_force();
		check(by_force());
	}
	assert_true(all > 1000);
}

/* ---- order ---- */

static void by_degree_the_hub_comes_first(void **state)
{
	struct gn_graph g, ordered;

	(void)state;
	begin_list(6, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < 5; v++)
		add_both(5, v, 0);
	add_both(2, 3, 0);
	add_edge(4, 4, 0);
	build_sorted(&g);
	far_must(gn_graph_order(&ordered, &g, NULL, &far_error));
	assert_int_equal(ordered.edges, 6);
	assert_int_equal(ordered.offsets[1], 0);
	for (uint32_t v = 1; v < 6; v++)
		assert_int_equal(ordered.neighbours[ordered.offsets[v]], 0);
	gn_graph_fini(&ordered);
	gn_graph_fini(&g);
}

static void order_pays_for_skewed_degrees(void **state)
{
	uint64_t even[4] = {20, 20, 20, 20}, skewed[5] = {0, 90, 5, 5, 5}, none[2] = {0, 0};

	(void)state;
	assert_false(gn_graph_order_pays(4, 80, even, 4));
	assert_true(gn_graph_order_pays(5, 105, skewed, 5));
	assert_false(gn_graph_order_pays(5, 99, skewed, 5));
	assert_false(gn_graph_order_pays(2, 100, none, 2));
	for (uint32_t k = 0; k < GN_ORDER_SAMPLES; k++)
		assert_true(gn_graph_order_sample(7, k) < 7);
}

/* ---- what is wrong is said ---- */

static void expect_refused(const struct gn_graph *g, const char *words)
{
	const struct gn_tc_options o = {0};
	struct gn_tc_result result;
	struct far_graph f;

	open_far(&f, g, 1, 512);
	assert_int_equal(gn_tc(f.machine, &f.arrays, &o, &result, NULL, &far_error), -GN_EBADMSG);
	expect_words(words);
	close_far(&f);
}

static void a_damaged_graph_is_refused(void **state)
{
	struct gn_graph g;

	(void)state;
	begin_list(4, GN_WEIGHT_NONE);
	add_both(0, 1, 0);
	add_both(2, 3, 0);
	add_both(2, 1, 0);
	build_sorted(&g);
	g.neighbours[5] = 4;
	expect_refused(&g, "neighbour 4");
	g.neighbours[5] = 2;
	g.neighbours[3] = 3;
	g.neighbours[4] = 1;
	expect_refused(&g, "neighbours of vertex 2 do not ascend");
	g.neighbours[3] = 1;
	g.neighbours[4] = 3;
	g.offsets[2] = 7;
	expect_refused(&g, "offsets of vertex");
	gn_graph_fini(&g);
}

static void verify_says_both(void **state)
{
	(void)state;
	assert_int_equal(gn_tc_verify(7, 7, &far_error), 0);
	assert_int_equal(gn_tc_verify(8, 7, &far_error), -GN_EBADMSG);
	assert_non_null(strstr(far_error.text, "8 triangles were counted, but the reference says 7"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_complete_graph_has_all),
	    cmocka_unit_test(without_edges_there_is_none),
	    cmocka_unit_test(a_star_has_none),
	    cmocka_unit_test(a_grid_has_none),
	    cmocka_unit_test(a_complete_bipartite_graph_has_none),
	    cmocka_unit_test(a_wheel_has_one_a_spoke),
	    cmocka_unit_test(two_components_have_both),
	    cmocka_unit_test(two_hubs_share_their_neighbours),
	    cmocka_unit_test(what_is_there_twice_counts_once),
	    cmocka_unit_test(random_graphs_equal_brute_force),
	    cmocka_unit_test(by_degree_the_hub_comes_first),
	    cmocka_unit_test(order_pays_for_skewed_degrees),
	    cmocka_unit_test(a_damaged_graph_is_refused),
	    cmocka_unit_test(verify_says_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
