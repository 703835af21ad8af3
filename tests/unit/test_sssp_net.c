/* SPDX-License-Identifier: Apache-2.0 */
/* Shortest ways over nodes are those of Dijkstra's algorithm. */
#include "test_spread_support.h"

#include "sssp/net/sssp.h"

struct trial {
	const struct gn_graph *graph;
	uint32_t source;
	uint64_t *lengths;
	const uint64_t *want;
};

static uint64_t reached_of(const struct trial *t)
{
	uint64_t reached = 0;

	for (uint64_t v = 0; v < t->graph->vertices; v++)
		reached += t->want[v] != sssp_none;
	return reached;
}

static int node_main(struct gn_net *net, void *argument)
{
	const struct trial *t = (const struct trial *)argument;
	struct sssp_result result;

	CHECK_EQUAL(sssp_run(net, t->graph, t->source, t->lengths, &result, NULL), 0);
	CHECK_EQUAL(result.reached, reached_of(t));
	CHECK(result.sends >= result.reached);
	return 0;
}

/* Returns the vertices that can be reached. */
static uint64_t run_all(const struct gn_graph *g, uint32_t source)
{
	const uint64_t bytes = g->vertices * sizeof(uint64_t);
	uint64_t *want = (uint64_t *)malloc(bytes), *lengths = (uint64_t *)malloc(bytes);
	struct trial t = {g, source, lengths, want};
	uint64_t reached;

	assert_int_equal(sssp_reference(g, source, want), 0);
	reached = reached_of(&t);
	for (unsigned k = 0; k < SHAPES; k++) {
		memset(lengths, 0, bytes);
		run_on(&shapes[k], sssp_heap(g->vertices, shapes[k].nodes), node_main, &t);
		assert_memory_equal(lengths, want, bytes);
	}
	free(lengths);
	free(want);
	return reached;
}

static uint32_t busiest(const struct gn_graph *g)
{
	uint32_t best = 0;

	for (uint32_t v = 1; v < g->vertices; v++)
		if (g->offsets[v + 1] - g->offsets[v] > g->offsets[best + 1] - g->offsets[best])
			best = v;
	return best;
}

static void lengths_are_dijkstras(void **state)
{
	struct gn_graph g;
	struct gn_error e;

	(void)state;
	draw(&g, false); /* directed: not all can be reached */
	assert_int_equal(sssp_weights(&g, 255, &e), 0);
	assert_in_range(run_all(&g, busiest(&g)), 100, 500);
	gn_graph_fini(&g);
}

/* Every vertex has so many edges that the lanes of a warp share them. */
static void lengths_in_a_clique_are_dijkstras(void **state)
{
	struct gn_graph g;
	struct gn_error e;

	(void)state;
	clique(&g, 80);
	assert_int_equal(sssp_weights(&g, 1000, &e), 0);
	assert_int_equal(run_all(&g, 7), 80);
	gn_graph_fini(&g);
}

/* By hand: on a path with edges of 1 the length is the distance; more rounds than nodes are needed. */
static void a_path_is_as_long_as_it_is(void **state)
{
	enum { VERTICES = 40 };
	uint64_t lengths[VERTICES];
	struct gn_graph g;
	struct gn_error e;

	(void)state;
	path(&g, VERTICES);
	assert_int_equal(sssp_weights(&g, 1, &e), 0);
	assert_int_equal(sssp_reference(&g, VERTICES - 1, lengths), 0);
	for (uint32_t v = 0; v < VERTICES; v++)
		assert_int_equal(lengths[v], VERTICES - 1 - v);
	run_all(&g, VERTICES - 1);
	gn_graph_fini(&g);
}

static void weights_are_the_same_both_ways_or_refused(void **state)
{
	struct gn_graph g;
	struct gn_error e;

	(void)state;
	path(&g, 3);
	assert_int_equal(sssp_weights(&g, 1000, &e), 0);
	assert_int_equal(g.weights[0], g.weights[1]);
	assert_int_equal(g.weights[2], g.weights[3]);
	assert_true(g.weights[0] != g.weights[2] && g.weights[0] >= 1 && g.weights[0] <= 1000);
	g.weights[2] = (uint32_t)-4;
	assert_int_equal(sssp_weights(&g, 1, &e), -GN_EINVAL);
	assert_non_null(strstr(e.text, "-4"));
	g.weight = GN_WEIGHT_F32;
	assert_int_equal(sssp_weights(&g, 1, &e), -GN_ENOTSUP);
	gn_graph_fini(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lengths_are_dijkstras),
	    cmocka_unit_test(lengths_in_a_clique_are_dijkstras),
	    cmocka_unit_test(a_path_is_as_long_as_it_is),
	    cmocka_unit_test(weights_are_the_same_both_ways_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
