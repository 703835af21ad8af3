/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Betweenness centrality of graphs whose scores are known, and of random ones against the definition, for
 * narrow and wide warps, through caches of a few pages and without one.
 */
#include "far_graph.h"

#include <math.h>

#include "bc/bc.h"

enum { MOST = 6000, SMALL = 60 };

static const struct far_way ways[] = {{1, 512, 0, 0},   {32, 512, 1, 4},  {32, 512, 0, 0},  {1, 512, 1, 0},
                                      {8, 4096, 0, 64}, {32, 0, 0, 1024}, {1, 512, 0, 128}, {32, 0, 0, 0}};

/* The scores of the list's graph equal these, by the kernels and by the reference. */
static void check(const uint32_t *sources, uint32_t count, const float *want)
{
	const struct gn_bc_options o = {sources, count};
	static float score[MOST];
	struct gn_graph g;

	build_rows(&g);
	far_must(gn_bc_reference(&g, &o, score, &far_error));
	far_must(gn_bc_verify(score, want, g.vertices, &far_error));
	for (unsigned k = 0; k < few_drawn(2, sizeof ways / sizeof *ways); k++) {
		struct gn_bc_result result;
		struct far_graph f;

		open_far_way(&f, &g, &ways[k], GN_BC_STATE);
		memset(score, 0xff, sizeof score);
		far_must(gn_bc(f.machine, &f.arrays, &o, score, &result, NULL, &far_error));
		far_must(gn_bc_verify(score, want, g.vertices, &far_error));
		close_far(&f);
	}
	gn_graph_fini(&g);
}

/* ---- known scores ---- */

/* From its end, vertex v has n - 1 - v others behind it. */
static void a_path(void **state)
{
	static float want[100];
	const uint32_t source = 0;

	(void)state;
	begin_list(100, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v + 1 < 100; v++)
		add_both(v, v + 1, 0);
	for (uint32_t v = 0; v < 100; v++)
		want[v] = (float)(99 - v) / 99;
	check(&source, 1, want);
}

/* From a leaf all others hang on the leaf, and one less on the hub, whose list comes in chunks. */
static void a_star(void **state)
{
	static float want[FAR_STAR + 1];
	const uint32_t leaf = 17, hub = FAR_STAR;

	(void)state;
	begin_list(FAR_STAR + 1, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < FAR_STAR; v++)
		add_both(hub, v, 0);
	want[leaf] = 1;
	want[hub] = (float)(FAR_STAR - 1) / FAR_STAR;
	check(&leaf, 1, want);
	want[leaf] = 0;
	want[hub] = 1;
	check(&hub, 1, want);
}

/* 20 and 40 vertices, from one of the 20: each of the 40 carries a part of 19 others. */
static void a_complete_bipartite_graph(void **state)
{
	static float want[60];
	const uint32_t source = 0;

	(void)state;
	begin_list(60, GN_WEIGHT_NONE);
	for (uint32_t u = 0; u < 20; u++)
		for (uint32_t v = 20; v < 60; v++)
			add_both(u, v, 0);
	want[0] = 1; /* all 59 others */
	for (uint32_t v = 20; v < 60; v++)
		want[v] = (float)(19.0 / 40 / 59);
	check(&source, 1, want);
}

/* ---- the definition ---- */

static double paths[SMALL][SMALL];
static uint32_t distance[SMALL][SMALL];

/* Distances by Floyd and Warshall; paths of each length from those that are one shorter. */
static void count_by_force(void)
{
	const uint32_t n = list.vertices;

	memset(paths, 0, sizeof paths);
	for (uint32_t u = 0; u < n; u++)
		for (uint32_t v = 0; v < n; v++)
			distance[u][v] = u == v ? 0 : 1000;
	for (uint32_t k = 0; k < list.count; k++)
		if (list.from[k] != list.to[k])
			distance[list.from[k]][list.to[k]] = 1;
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t u = 0; u < n; u++)
			for (uint32_t v = 0; v < n; v++)
				if (distance[u][k] + distance[k][v] < distance[u][v])
					distance[u][v] = distance[u][k] + distance[k][v];
	for (uint32_t u = 0; u < n; u++)
		paths[u][u] = 1;
	for (uint32_t length = 1; length < n; length++)
		for (uint32_t u = 0; u < n; u++)
			for (uint32_t k = 0; k < list.count; k++)
				if (distance[u][list.to[k]] == length &&
				    distance[u][list.from[k]] + 1 == length)
					paths[u][list.to[k]] += paths[u][list.from[k]];
}

/* Of all shortest paths from s to t, the part that goes through v or begins there. */
static double part(uint32_t s, uint32_t v, uint32_t t)
{
	if (t == v || distance[s][t] >= 1000 || distance[s][v] + distance[v][t] != distance[s][t])
		return 0;
	return paths[s][v] * paths[v][t] / paths[s][t];
}

static void check_by_force(const uint32_t *sources, uint32_t count)
{
	double sum[SMALL] = {0}, largest = 0;
	float want[SMALL];

	count_by_force();
	for (uint32_t v = 0; v < list.vertices; v++) {
		for (uint32_t k = 0; k < count; k++)
			for (uint32_t t = 0; t < list.vertices; t++)
				sum[v] += part(sources[k], v, t);
		largest = sum[v] > largest ? sum[v] : largest;
	}
	for (uint32_t v = 0; v < list.vertices; v++)
		want[v] = largest > 0 ? (float)(sum[v] / largest) : 0;
	check(sources, count, want);
}

static void a_grid(void **state)
{
	const uint32_t sources[3] = {0, 24, 48};

	(void)state;
	begin_list(49, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < 49; v++) {
		if (v % 7 < 6)
			add_both(v, v + 1, 0);
		if (v + 7 < 49)
			add_both(v, v + 7, 0);
	}
	check_by_force(sources, 3);
}

static void two_components(void **state)
{
	const uint32_t sources[3] = {0, 9, 9};

	(void)state;
	begin_list(50, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v + 2 < 40; v++)
		add_both(v, v + 2, 0);
	check_by_force(sources, 3);
	check_by_force(sources, 1);
}

static void without_edges_all_scores_are_0(void **state)
{
	const uint32_t source = 0;

	(void)state;
	begin_list(10, GN_WEIGHT_NONE);
	check_by_force(&source, 1);
	begin_list(1, GN_WEIGHT_NONE);
	check_by_force(&source, 1);
}

/* Directed ones, with loops and edges that come twice, which are paths of their own. */
static void random_graphs_equal_the_definition(void **state)
{
	uint64_t x;

	(void)state;
	for (uint32_t round = 0; round < FAR_ROUNDS(24); round++) {
		uint32_t sources[4];

		begin_list(20 + round, GN_WEIGHT_NONE);
		for (uint32_t k = 0; k < list.vertices * (1 + round % 4); k++) {
			x = draw_number();
			add_edge((uint32_t)(x % list.vertices), (uint32_t)((x >> 32) % list.vertices), 0);
		}
		for (uint32_t k = 0; k < 4; k++)
			sources[k] = (uint32_t)(draw_number() % list.vertices);
		check_by_force(sources, 4);
	}
}

/* ---- sources ---- */

static void chosen_sources_have_edges(void **state)
{
	uint32_t first[8], again[8], other[8];
	struct gn_graph g;
	struct far_graph f;

	(void)state;
	begin_list(1000, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < 1000; v += 10)
		add_edge(v, v + 1, 0);
	build_rows(&g);
	open_far(&f, &g, 1, 512);
	far_must(gn_bc_choose_sources(f.machine, &f.arrays, 1, 8, first, &far_error));
	far_must(gn_bc_choose_sources(f.machine, &f.arrays, 1, 8, again, &far_error));
	far_must(gn_bc_choose_sources(f.machine, &f.arrays, 2, 8, other, &far_error));
	for (uint32_t k = 0; k < 8; k++)
		assert_true(first[k] < 1000 && first[k] % 10 == 0);
	assert_memory_equal(first, again, sizeof first);
	assert_memory_not_equal(first, other, sizeof first);
	close_far(&f);
	gn_graph_fini(&g);
}

/* ---- what is wrong is said ---- */

static void expect_refused(struct far_graph *f, uint32_t source, int code, const char *words)
{
	const struct gn_bc_options o = {&source, 1};
	static float score[MOST];
	struct gn_bc_result result;

	assert_int_equal(gn_bc(f->machine, &f->arrays, &o, score, &result, NULL, &far_error), code);
	expect_words(words);
}

/* Of a graph without edges. */
static void expect_no_source(uint32_t vertices, const char *words)
{
	uint32_t none[1];
	struct gn_graph g;
	struct far_graph f;

	begin_list(vertices, GN_WEIGHT_NONE);
	build_rows(&g);
	open_far(&f, &g, 1, 512);
	assert_int_equal(gn_bc_choose_sources(f.machine, &f.arrays, 1, 1, none, &far_error), -GN_ENOENT);
	expect_words(words);
	close_far(&f);
	gn_graph_fini(&g);
}

static void what_is_wrong_is_said(void **state)
{
	struct gn_graph g;
	struct far_graph f;

	(void)state;
	begin_list(4, GN_WEIGHT_NONE);
	add_both(0, 1, 0);
	build_rows(&g);
	g.neighbours[0] = 4;
	open_far(&f, &g, 1, 512);
	expect_refused(&f, 0, -GN_EBADMSG, "neighbour 4");
	expect_refused(&f, 4, -GN_ERANGE, "source 4");
	close_far(&f);
	gn_graph_fini(&g);
	expect_no_source(4, "no vertex has an edge");
	expect_no_source(0, "the graph has no vertex to begin at");
}

/* Each of 1100 diamonds doubles the paths. */
static void too_many_paths_are_refused(void **state)
{
	struct gn_graph g;
	struct far_graph f;

	(void)state;
	begin_list(3301, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < 3300; v += 3) {
		add_edge(v, v + 1, 0);
		add_edge(v, v + 2, 0);
		add_edge(v + 1, v + 3, 0);
		add_edge(v + 2, v + 3, 0);
	}
	build_rows(&g);
	open_far(&f, &g, 1, 512);
	expect_refused(&f, 0, -GN_ERANGE, "2^1000");
	close_far(&f);
	gn_graph_fini(&g);
}

static void verify_names_the_first(void **state)
{
	const float want[3] = {0, 0.5f, 1}, near[3] = {0, 0.50000006f, 1}, got[3] = {0, 0.501f, NAN};

	(void)state;
	assert_int_equal(gn_bc_verify(near, want, 3, &far_error), 0);
	assert_int_equal(gn_bc_verify(got, want, 3, &far_error), -GN_EBADMSG);
	assert_non_null(strstr(far_error.text, "vertex 1 has score 0.500999"));
	assert_non_null(strstr(far_error.text, "2 of 3"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_path),
	    cmocka_unit_test(a_star),
	    cmocka_unit_test(a_complete_bipartite_graph),
	    cmocka_unit_test(a_grid),
	    cmocka_unit_test(two_components),
	    cmocka_unit_test(without_edges_all_scores_are_0),
	    cmocka_unit_test(random_graphs_equal_the_definition),
	    cmocka_unit_test(chosen_sources_have_edges),
	    cmocka_unit_test(what_is_wrong_is_said),
	    cmocka_unit_test(too_many_paths_are_refused),
	    cmocka_unit_test(verify_names_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
