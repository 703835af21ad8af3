/* SPDX-License-Identifier: Apache-2.0 */
/* The reference search against depths that follow from the shape of a graph. */
#include "test_graph_support.h"

static void add(struct gn_graph *g, uint64_t v, uint64_t to)
{
	g->neighbours[g->offsets[v + 1]++] = (uint32_t)to;
}

/* Rows must be filled in the order of vertices: start v where v - 1 ended. */
static void start(struct gn_graph *g, uint64_t v)
{
	g->offsets[v + 1] = g->offsets[v];
}

static uint32_t *search(const struct gn_graph *g, uint64_t source)
{
	struct gn_error e = {0};
	uint32_t *depth = (uint32_t *)malloc(g->vertices * sizeof *depth);

	assert_int_equal(gn_bfs_reference(g, source, depth, &e), 0);
	return depth;
}

static void path(void **state)
{
	enum { N = 1000, SOURCE = 10 };
	struct gn_graph g;
	uint32_t *depth;

	(void)state;
	assert_int_equal(gn_graph_init(&g, N, N - 1, GN_WEIGHT_NONE, 0, NULL), 0);
	for (uint64_t v = 0; v < N; v++) {
		start(&g, v);
		if (v + 1 < N)
			add(&g, v, v + 1);
	}
	depth = search(&g, SOURCE);
	for (uint32_t v = 0; v < N; v++)
		assert_int_equal(depth[v], v < SOURCE ? GN_DEPTH_NONE : v - SOURCE);
	free(depth);
	gn_graph_fini(&g);
}

static void grid(void **state)
{
	enum { SIDE = 30, N = SIDE * SIDE };
	struct gn_graph g;
	uint32_t *depth;

	(void)state;
	assert_int_equal(gn_graph_init(&g, N, 4 * N - 4 * SIDE, GN_WEIGHT_NONE, 0, NULL), 0);
	for (uint64_t v = 0; v < N; v++) {
		start(&g, v);
		if (v >= SIDE)
			add(&g, v, v - SIDE);
		if (v % SIDE)
			add(&g, v, v - 1);
		if (v % SIDE < SIDE - 1)
			add(&g, v, v + 1);
		if (v < N - SIDE)
			add(&g, v, v + SIDE);
	}
	assert_int_equal(g.offsets[N], g.edges);
	depth = search(&g, 0);
	for (uint32_t v = 0; v < N; v++)
		assert_int_equal(depth[v], v / SIDE + v % SIDE);
	free(depth);
	gn_graph_fini(&g);
}

static void self_loop_and_island(void **state)
{
	struct gn_graph g;
	uint32_t *depth;

	(void)state;
	assert_int_equal(gn_graph_init(&g, 2, 2, GN_WEIGHT_NONE, 0, NULL), 0);
	start(&g, 0);
	add(&g, 0, 0);
	add(&g, 0, 0);
	start(&g, 1);
	depth = search(&g, 0);
	assert_int_equal(depth[0], 0);
	assert_int_equal(depth[1], GN_DEPTH_NONE);
	free(depth);
	gn_graph_fini(&g);
}

static void source_out_of_range(void **state)
{
	struct gn_graph g;
	struct gn_error e = {0};
	uint32_t depth;

	(void)state;
	assert_int_equal(gn_graph_init(&g, 1, 0, GN_WEIGHT_NONE, 0, NULL), 0);
	assert_error(gn_bfs_reference(&g, 1, &depth, &e), -GN_ERANGE, &e, "source 1", "has 1");
	gn_graph_fini(&g);
	assert_int_equal(gn_graph_init(&g, 0, 0, GN_WEIGHT_NONE, 0, NULL), 0);
	assert_error(gn_bfs_reference(&g, 0, &depth, &e), -GN_ERANGE, &e, "source 0", "has 0");
	gn_graph_fini(&g);
}

static void verify_names_the_first(void **state)
{
	const uint32_t want[5] = {0, 1, 2, GN_DEPTH_NONE, 3};
	uint32_t got[5] = {0, 1, 2, GN_DEPTH_NONE, 3};
	struct gn_error e = {0};

	(void)state;
	assert_int_equal(gn_depths_verify(got, want, 5, &e), 0);
	assert_int_equal(gn_depths_verify(got, want, 0, &e), 0);
	got[3] = 7;
	got[4] = 8;
	assert_error(gn_depths_verify(got, want, 5, &e), -GN_EBADMSG, &e,
	             "vertex 3 has depth 7, but the reference says -1", "2 of 5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(path),
	    cmocka_unit_test(grid),
	    cmocka_unit_test(self_loop_and_island),
	    cmocka_unit_test(source_out_of_range),
	    cmocka_unit_test(verify_names_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
