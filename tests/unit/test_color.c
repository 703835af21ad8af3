/* SPDX-License-Identifier: Apache-2.0 */
/* Colours over nodes: neighbours differ, and each is the one that giving them one by one comes to. */
#include "test_spread_support.h"

#include "color/color.h"

struct trial {
	const struct gn_graph *graph;
	uint32_t *colors;
	uint64_t expected;
};

static int node_main(struct gn_net *net, void *argument)
{
	const struct trial *t = (const struct trial *)argument;
	struct color_result result;

	CHECK_EQUAL(color_run(net, t->graph, t->colors, &result, NULL), 0);
	CHECK_EQUAL(result.colors, t->expected);
	return 0;
}

/* Returns the colours that were needed. */
static uint64_t run_all(const struct gn_graph *g)
{
	const uint64_t bytes = g->vertices * sizeof(uint32_t);
	uint32_t *want = (uint32_t *)malloc(bytes), *colors = (uint32_t *)malloc(bytes);
	const int64_t count = color_greedy(g, COLOR_BY_RANK, want);
	struct trial t = {g, colors, (uint64_t)count};

	assert_true(count > 0);
	for (unsigned k = 0; k < SHAPES; k++) {
		memset(colors, 0xff, bytes);
		run_on(&shapes[k], color_heap(g, shapes[k].nodes), node_main, &t);
		assert_int_equal(color_conflicts(g, colors), 0);
		assert_memory_equal(colors, want, bytes);
	}
	free(colors);
	free(want);
	return t.expected;
}

static void colors_are_those_given_one_by_one(void **state)
{
	struct gn_graph g;

	(void)state;
	draw(&g, true);
	run_all(&g);
	gn_graph_fini(&g);
}

static void a_path_needs_two_or_three(void **state)
{
	struct gn_graph g;
	uint64_t count;

	(void)state;
	path(&g, 50);
	count = run_all(&g);
	assert_true(count == 2 || count == 3);
	gn_graph_fini(&g);
}

static void fewer_vertices_than_nodes(void **state)
{
	struct gn_graph g;

	(void)state;
	path(&g, 3);
	run_all(&g);
	gn_graph_fini(&g);
}

/* Every vertex needs a colour of its own, more than one window of 64. */
static void all_of_a_clique_differ(void **state)
{
	struct gn_graph g;

	(void)state;
	clique(&g, 100);
	assert_int_equal(run_all(&g), 100);
	gn_graph_fini(&g);
}

static int refused(struct gn_net *net, void *argument)
{
	const struct trial *t = (const struct trial *)argument;
	struct color_result result;

	CHECK_EQUAL(color_run(net, t->graph, t->colors, &result, NULL), -GN_EINVAL);
	return 0;
}

static void an_edge_without_its_other_direction_is_refused(void **state)
{
	const struct shape one = {1, 1, 1};
	uint32_t colors[3];
	struct gn_graph g;
	struct trial t = {&g, colors, 0};

	(void)state;
	path(&g, 3);
	g.neighbours[0] = 2;
	run_on(&one, color_heap(&g, 1), refused, &t);
	gn_graph_fini(&g);
}

static void conflicts_are_counted(void **state)
{
	const uint32_t colors[4] = {0, 0, 1, 1};
	struct gn_graph g;

	(void)state;
	path(&g, 4);
	assert_int_equal(color_conflicts(&g, colors), 2);
	gn_graph_fini(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(colors_are_those_given_one_by_one),
	    cmocka_unit_test(a_path_needs_two_or_three),
	    cmocka_unit_test(fewer_vertices_than_nodes),
	    cmocka_unit_test(all_of_a_clique_differ),
	    cmocka_unit_test(an_edge_without_its_other_direction_is_refused),
	    cmocka_unit_test(conflicts_are_counted),
	};

	few_cases("fewer_vertices_than_nodes");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
