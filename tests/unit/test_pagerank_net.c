/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks over nodes: their sum is 1, they are the reference's, and they do not depend on who computed them. */
#include "test_spread_support.h"

#include <math.h>

#include "pagerank/net/pagerank.h"

enum { ITERATIONS = 8 };

struct trial {
	const struct gn_graph *graph;
	uint64_t *ranks;
};

static int node_main(struct gn_net *net, void *argument)
{
	const struct trial *t = (const struct trial *)argument;
	struct pagerank_result result;

	CHECK_EQUAL(pagerank_run(net, t->graph, ITERATIONS, t->ranks, &result, NULL), 0);
	CHECK_EQUAL(result.sum, pagerank_one);
	return 0;
}

static void expect_reference(const struct gn_graph *g, const uint64_t *ranks)
{
	double *want = (double *)malloc(g->vertices * sizeof *want), distance = 0, sum = 0;

	assert_int_equal(pagerank_reference(g, ITERATIONS, want), 0);
	for (uint64_t v = 0; v < g->vertices; v++) {
		distance += fabs((double)ranks[v] / (double)pagerank_one - want[v]);
		sum += want[v];
	}
	assert_true(fabs(sum - 1) < 1e-12);
	assert_true(distance <= pagerank_bound(g));
	assert_true(pagerank_bound(g) < 1e-9);
	free(want);
}

static void run_all(const struct gn_graph *g)
{
	const uint64_t bytes = g->vertices * sizeof(uint64_t);
	uint64_t *first = (uint64_t *)malloc(bytes), *ranks = (uint64_t *)malloc(bytes);
	struct trial t = {g, first};

	for (unsigned k = 0; k < SHAPES; k++) {
		memset(t.ranks, 0xff, bytes);
		run_on(&shapes[k], pagerank_heap(g->vertices, shapes[k].nodes), node_main, &t);
		if (!k)
			expect_reference(g, first);
		assert_memory_equal(first, t.ranks, bytes);
		t.ranks = ranks;
	}
	free(ranks);
	free(first);
}

static void ranks_are_the_references(void **state)
{
	struct gn_graph g;

	(void)state;
	draw(&g, false);
	run_all(&g);
	gn_graph_fini(&g);
}

/* Every vertex has so many edges that the lanes of a warp share them. */
static void ranks_of_a_clique_are_equal(void **state)
{
	struct gn_graph g;

	(void)state;
	clique(&g, 80);
	run_all(&g);
	gn_graph_fini(&g);
}

static void nodes_without_vertices_do_no_harm(void **state)
{
	struct gn_graph g;

	(void)state;
	path(&g, 5);
	run_all(&g);
	gn_graph_fini(&g);
}

/* 0 -> 1, by hand: after one iteration 0 has (0.15 + 0.85 / 2) / 2, vertex 1 that and 0.85 / 2. */
static void two_vertices_by_hand(void **state)
{
	struct gn_graph g;
	double rank[2];

	(void)state;
	assert_int_equal(gn_graph_init(&g, 2, 1, GN_WEIGHT_NONE, 0, NULL), 0);
	g.offsets[1] = g.offsets[2] = 1;
	g.neighbours[0] = 1;
	assert_int_equal(pagerank_reference(&g, 1, rank), 0);
	assert_true(fabs(rank[0] - 0.2875) < 1e-15);
	assert_true(fabs(rank[1] - 0.7125) < 1e-15);
	run_all(&g);
	gn_graph_fini(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ranks_are_the_references),
	    cmocka_unit_test(ranks_of_a_clique_are_equal),
	    cmocka_unit_test(nodes_without_vertices_do_no_harm),
	    cmocka_unit_test(two_vertices_by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
