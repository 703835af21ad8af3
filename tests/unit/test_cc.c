/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connected components of graphs whose components are known, and of random ones, by both algorithms, for
 * narrow and wide warps, through a cache of a few small pages.
 */
#include "far_graph.h"

#include "cc/cc.h"

/* ---- what is expected ---- */

/* The labels by going over all edges until nothing changes: slow, and without a tree. */
static void by_force(uint32_t *label)
{
	int changed = 1;

	for (uint32_t v = 0; v < list.vertices; v++)
		label[v] = v;
	while (changed) {
		changed = 0;
		for (uint32_t k = 0; k < list.count; k++) {
			uint32_t *u = &label[list.from[k]], *v = &label[list.to[k]];

			changed |= *u != *v;
			*u = *v = *u < *v ? *u : *v;
		}
	}
}

static void expect_result(const struct gn_cc_result *got, const uint32_t *want)
{
	uint64_t components = 0, largest = 0;

	for (uint32_t v = 0; v < list.vertices; v++) {
		uint64_t size = 0;

		for (uint32_t u = v; u < list.vertices && want[v] == v; u++)
			size += want[u] == v;
		components += want[v] == v;
		largest = size > largest ? size : largest;
	}
	assert_int_equal(got->components, components);
	assert_int_equal(got->largest, largest);
}

/*
 * Both algorithms in both widths, with labels near and far, by vertices and by chunks; the graph has every
 * edge in both directions, or is not said to.
 */
static void check_as(const struct gn_graph *g, const uint32_t *want, int both_directions)
{
	uint32_t *label = (uint32_t *)malloc(g->vertices * sizeof *label);

	for (unsigned k = far_turn() % FAR_STEP; k < few_drawn(6, 16); k += FAR_STEP) {
		const struct gn_cc_options o = {k & 1 ? GN_CC_SV : GN_CC_AFFOREST, both_directions};
		struct gn_cc_result result;
		struct far_graph f;

		open_far(&f, g, k & 2 ? 32 : 1, 512);
		if (k & 4)
			open_far_state(&f, GN_CC_STATE);
		if (k & 8)
			balance_far(&f, g, k & 4 ? 8 : 256);
		memset(label, 0xff, g->vertices * sizeof *label);
		far_must(gn_cc(f.machine, &f.arrays, &o, label, &result, NULL, &far_error));
		assert_memory_equal(label, want, g->vertices * sizeof *label);
		expect_result(&result, want);
		if (o.algorithm == GN_CC_AFFOREST && !both_directions)
			assert_int_equal(result.edges, g->edges);
		close_far(&f);
	}
	free(label);
}

static void check(int both_directions)
{
	uint32_t *want = (uint32_t *)malloc(list.vertices * sizeof *want);
	uint32_t *reference = (uint32_t *)malloc(list.vertices * sizeof *want);
	struct gn_graph g;

	build_rows(&g);
	by_force(want);
	gn_cc_reference(&g, reference);
	assert_memory_equal(reference, want, g.vertices * sizeof *want);
	for (int said = few_drawn(both_directions, 0); said <= both_directions; said++)
		check_as(&g, want, said);
	gn_graph_fini(&g);
	free(want);
	free(reference);
}

/* ---- graphs ---- */

static void a_path_is_one_component(void **state)
{
	(void)state;
	begin_list(300, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v + 1 < 300; v++)
		add_both(v, v + 1, 0);
	check(1);
}

/* Its vertices in an order that makes trees deep. */
static void a_scattered_path_is_one_component(void **state)
{
	(void)state;
	begin_list(301, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v + 1 < 301; v++)
		add_both(v * 7 % 301, (v + 1) * 7 % 301, 0);
	check(1);
}

/* The hub's list is put aside in chunks. */
static void a_star_is_one_component(void **state)
{
	(void)state;
	begin_list(FAR_STAR + 1, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < FAR_STAR; v++)
		add_both(FAR_STAR, v, 0);
	check(1);
}

static void a_complete_bipartite_graph_is_one_component(void **state)
{
	(void)state;
	begin_list(60, GN_WEIGHT_NONE);
	for (uint32_t u = 0; u < 20; u++)
		for (uint32_t v = 20; v < 60; v++)
			add_both(u, v, 0);
	check(1);
}

/* Even and odd vertices, and some that have no edge. */
static void two_components_and_isolated_vertices(void **state)
{
	(void)state;
	begin_list(500, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v + 2 < 400; v++)
		add_both(v, v + 2, 0);
	check(1);
}

static void without_edges_each_vertex_is_one(void **state)
{
	(void)state;
	begin_list(100, GN_WEIGHT_NONE);
	check(1);
	begin_list(1, GN_WEIGHT_NONE);
	check(1);
}

static void self_loops_join_nothing(void **state)
{
	(void)state;
	begin_list(70, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < 70; v++)
		add_edge(v, v, 0);
	add_both(3, 69, 0);
	check(1);
	begin_list(1, GN_WEIGHT_NONE);
	add_edge(0, 0, 0);
	check(1);
}

/*
 * A vertex of the largest component has, behind its first two edges, the only edge to another part: Afforest
 * may not leave out its list.
 */
static void directed_edges_join_too(void **state)
{
	(void)state;
	begin_list(400, GN_WEIGHT_NONE);
	for (uint32_t v = 1; v < 300; v++)
		add_edge(v, v - 1, 0);
	for (uint32_t k = 0; k < 3; k++)
		add_edge(150, 149 - k, 0);
	for (uint32_t v = 300; v < 399; v++)
		add_edge(v, v + 1, 0);
	add_edge(150, 399, 0);
	check(0);
}

static void random_graphs_equal_brute_force(void **state)
{
	uint64_t x = 88172645463325252u;

	(void)state;
	for (uint32_t round = 0; round < FAR_ROUNDS(20); round++) {
		begin_list(20 + 17 * round, GN_WEIGHT_NONE);
		for (uint32_t k = 0; k < list.vertices * (1 + round % 3) / 2; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			add_both((uint32_t)(x % list.vertices), (uint32_t)((x >> 32) % list.vertices), 0);
		}
		check(1);
	}
}

/* ---- what is wrong is said ---- */

static void expect_refused(const struct gn_graph *g, const char *words)
{
	for (unsigned k = 0; k < 2; k++) {
		const struct gn_cc_options o = {k ? GN_CC_SV : GN_CC_AFFOREST, 0};
		struct gn_cc_result result;
		uint32_t label[8];
		struct far_graph f;

		open_far(&f, g, 1, 512);
		assert_int_equal(gn_cc(f.machine, &f.arrays, &o, label, &result, NULL, &far_error),
		                 -GN_EBADMSG);
		expect_words(words);
		close_far(&f);
	}
}

static void a_damaged_graph_is_refused(void **state)
{
	struct gn_graph g;

	(void)state;
	begin_list(4, GN_WEIGHT_NONE);
	add_both(0, 1, 0);
	add_both(2, 3, 0);
	build_rows(&g);
	g.neighbours[2] = 4;
	expect_refused(&g, "neighbour 4");
	g.neighbours[2] = 3;
	g.offsets[2] = 5;
	expect_refused(&g, "offsets of vertex");
	gn_graph_fini(&g);
}

static void verify_names_the_first(void **state)
{
	const uint32_t want[4] = {0, 0, 2, 2}, got[4] = {0, 1, 2, 3};

	(void)state;
	assert_int_equal(gn_cc_verify(want, want, 4, &far_error), 0);
	assert_int_equal(gn_cc_verify(got, want, 4, &far_error), -GN_EBADMSG);
	assert_non_null(
	    strstr(far_error.text, "vertex 1 is in component 1, but the reference says 0; 2 of 4"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_path_is_one_component),
	    cmocka_unit_test(a_scattered_path_is_one_component),
	    cmocka_unit_test(a_star_is_one_component),
	    cmocka_unit_test(a_complete_bipartite_graph_is_one_component),
	    cmocka_unit_test(two_components_and_isolated_vertices),
	    cmocka_unit_test(without_edges_each_vertex_is_one),
	    cmocka_unit_test(self_loops_join_nothing),
	    cmocka_unit_test(directed_edges_join_too),
	    cmocka_unit_test(random_graphs_equal_brute_force),
	    cmocka_unit_test(a_damaged_graph_is_refused),
	    cmocka_unit_test(verify_names_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
