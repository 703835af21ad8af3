/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks of graphs whose ranks are known, and of random ones against the reference, pulled and pushed, for
 * several widths of warps: they are the same bit by bit.
 */
#include "far_graph.h"

#include <math.h>

#include "pagerank/pagerank.h"

/* Each iteration does the same; until the values stop moving it takes a few more. */
enum { ITERATIONS = 3 };
#define UNTIL_STOPPED few_drawn(3, 8)

static void expect_reference(const struct gn_graph *g, const struct gn_pagerank_options *o,
                             const struct gn_pagerank_result *result, const uint64_t *rank)
{
	struct gn_pagerank_check found;

	far_must(gn_pagerank_verify(g, o, result, rank, &found, &far_error));
	assert_true(found.distance <= found.bound && found.bound < 1e-9);
	assert_true(found.error <= 0.85 * result->moved + 1e-9);
}

/* In so many ways; the first says what all must say. */
static void check_graph(const struct gn_graph *g, int both_directions, double tolerance, unsigned ways)
{
	const uint64_t bytes = g->vertices * sizeof(uint64_t);
	const uint32_t most = tolerance > 0 ? UNTIL_STOPPED : ITERATIONS;
	uint64_t *first = (uint64_t *)malloc(bytes), *rank = (uint64_t *)malloc(bytes), *to = first;

	for (unsigned k = far_turn() % FAR_STEP % ways; k < ways; k += FAR_STEP)
		for (int pull = 0; pull <= both_directions; pull++) {
			const struct gn_pagerank_options o = {pull ? GN_PAGERANK_PULL : GN_PAGERANK_PUSH,
			                                      most, tolerance};
			struct gn_pagerank_result result;
			struct far_graph f;

			open_far_way(&f, g, &far_ways[k], GN_PAGERANK_STATE);
			memset(to, 0x55, bytes);
			far_must(gn_pagerank(f.machine, &f.arrays, &o, to, &result, NULL, &far_error));
			assert_int_equal(result.edges, g->edges * result.iterations);
			assert_true(result.converged ? result.moved < tolerance : result.iterations == most);
			if (to == first)
				expect_reference(g, &o, &result, first);
			assert_memory_equal(to, first, bytes);
			to = rank;
			close_far(&f);
		}
	free(rank);
	free(first);
}

static void check(int both_directions)
{
	struct gn_graph g;

	build_rows(&g);
	if (few_drawn(0, 1))
		check_graph(&g, both_directions, 0, FAR_WAYS);
	check_graph(&g, both_directions, 0.01, 2); /* when to stop is the host's matter */
	gn_graph_fini(&g);
}

/* ---- graphs ---- */

static void a_path(void **state)
{
	(void)state;
	begin_list(300, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v + 1 < 300; v++)
		add_both(v, v + 1, 0);
	check(1);
}

/* The hub's list is put aside in chunks. */
static void a_star(void **state)
{
	(void)state;
	begin_list(FAR_STAR + 1, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < FAR_STAR; v++)
		add_both(FAR_STAR, v, 0);
	check(1);
}

static void a_grid(void **state)
{
	(void)state;
	begin_list(400, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < 400; v++) {
		if (v % 20 < 19)
			add_both(v, v + 1, 0);
		if (v < 380)
			add_both(v, v + 20, 0);
	}
	check(1);
}

static void a_complete_bipartite_graph(void **state)
{
	(void)state;
	begin_list(60, GN_WEIGHT_NONE);
	for (uint32_t u = 0; u < 20; u++)
		for (uint32_t v = 20; v < 60; v++)
			add_both(u, v, 0);
	check(1);
}

static void two_components_and_isolated_vertices(void **state)
{
	(void)state;
	begin_list(120, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v + 2 < 100; v++)
		add_both(v, v + 2, 0);
	check(1);
	begin_list(9, GN_WEIGHT_NONE);
	check(1);
	begin_list(1, GN_WEIGHT_NONE);
	add_edge(0, 0, 0);
	check(1);
}

/* Loops and edges that are there twice; in odd rounds in one direction only. */
static void random_graphs(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < FAR_ROUNDS(6); round++) {
		begin_list(20 + 100 * round, GN_WEIGHT_NONE);
		for (uint32_t k = 0; k < list.vertices * (1 + round % 4); k++) {
			const uint64_t x = draw_number();

			add_edge((uint32_t)(x % list.vertices), (uint32_t)((x >> 32) % list.vertices), 0);
			if (!(round & 1))
				add_edge(list.to[list.count - 1], list.from[list.count - 1], 0);
		}
		check(!(round & 1));
	}
}

/*
 * Each warp of few reads the lists of its vertices in order, and fetches a page about twice. Of many warps
 * each finds that others have taken its page away, and fetches it twenty times.
 */
static void few_pages_are_shared_by_few_warps(void **state)
{
	enum { VERTICES = 4096, PAGE = 512, PAGES = 16 };
	const struct gn_pagerank_options o = {GN_PAGERANK_PULL, 2, 0};
	struct gn_pagerank_result result;
	struct gn_cache_info cache;
	struct far_graph f;
	struct gn_graph g;
	uint64_t *rank, pages;

	(void)state;
	begin_list(VERTICES, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < VERTICES; v++)
		for (uint32_t k = 1; k <= 2; k++)
			add_both(v, (v * 2654435761u + k * 40503u) % VERTICES, 0);
	build_rows(&g);
	rank = (uint64_t *)malloc(g.vertices * sizeof *rank);
	far_kind = "memq";
	open_far(&f, &g, 1, PAGE);
	far_kind = "host";
	f.arrays.pages = PAGES;
	/* two iterations, and the pass that finds the degrees */
	pages = (2 * g.edges * 4 + 3 * g.vertices * 8) / PAGE;
	far_must(gn_pagerank(f.machine, &f.arrays, &o, rank, &result, NULL, &far_error));
	expect_reference(&g, &o, &result, rank);
	gn_cache_describe(f.cache, &cache, NULL);
	assert_in_range(cache.statistics.fetched, pages, 5 * pages);
	close_far(&f);
	free(rank);
	gn_graph_fini(&g);
}

/* 0 -> 1, by hand: after one iteration 0 has (0.15 + 0.85 / 2) / 2, vertex 1 that and 0.85 / 2. */
static void two_vertices_by_hand(void **state)
{
	const struct gn_pagerank_options o = {GN_PAGERANK_PUSH, 1, 0};
	struct gn_pagerank_result result;
	struct far_graph f;
	struct gn_graph g;
	uint64_t rank[2];

	(void)state;
	begin_list(2, GN_WEIGHT_NONE);
	add_edge(0, 1, 0);
	build_rows(&g);
	open_far(&f, &g, far_ways[0].width, far_ways[0].page_bytes);
	far_must(gn_pagerank(f.machine, &f.arrays, &o, rank, &result, NULL, &far_error));
	assert_true(fabs((double)rank[0] / (double)pagerank_one - 0.2875) < 1e-15);
	assert_true(fabs((double)rank[1] / (double)pagerank_one - 0.7125) < 1e-15);
	assert_int_equal(rank[0] + rank[1], pagerank_one);
	close_far(&f);
	gn_graph_fini(&g);
}

/* ---- what is wrong is said ---- */

static void expect_refused(const struct gn_graph *g, enum gn_pagerank_algorithm algorithm, int code,
                           const char *words)
{
	for (unsigned k = 0; k < FAR_WAYS; k++) {
		const struct gn_pagerank_options o = {algorithm, ITERATIONS, 0};
		struct gn_pagerank_result result;
		struct far_graph f;
		uint64_t rank[8];

		open_far(&f, g, far_ways[k].width, far_ways[k].page_bytes);
		assert_int_equal(gn_pagerank(f.machine, &f.arrays, &o, rank, &result, NULL, &far_error),
		                 code);
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
	expect_refused(&g, GN_PAGERANK_PULL, -GN_EBADMSG, "neighbour 4");
	expect_refused(&g, GN_PAGERANK_PUSH, -GN_EBADMSG, "neighbour 4");
	g.neighbours[2] = 3;
	g.offsets[2] = 5;
	expect_refused(&g, GN_PAGERANK_PULL, -GN_EBADMSG, "offsets of vertex");
	gn_graph_fini(&g);
}

/* Where edges are there in one direction only, more comes than is given, or less. */
static void pulling_along_half_the_edges_is_noticed(void **state)
{
	struct gn_graph g;

	(void)state;
	begin_list(3, GN_WEIGHT_NONE);
	add_edge(0, 1, 0);
	add_edge(0, 2, 0);
	build_rows(&g);
	expect_refused(&g, GN_PAGERANK_PULL, -GN_EBADMSG, "instead of 1");
	gn_graph_fini(&g);
	begin_list(0, GN_WEIGHT_NONE);
	build_rows(&g);
	expect_refused(&g, GN_PAGERANK_PULL, -GN_EINVAL, "no vertex");
	gn_graph_fini(&g);
}

static void verify_says_how_far(void **state)
{
	const struct gn_pagerank_options o = {GN_PAGERANK_PUSH, ITERATIONS, 1e-4};
	const struct gn_pagerank_result result = {1, 0, 0, 0, 0}, converged = {1, 1, 0, 0, 0};
	const uint64_t even[2] = {pagerank_one / 2, pagerank_one / 2};
	const uint64_t right[2] = {(uint64_t)(0.2875 * (double)pagerank_one),
	                           (uint64_t)(0.7125 * (double)pagerank_one)};
	struct gn_pagerank_check found;
	struct gn_graph g;

	(void)state;
	begin_list(2, GN_WEIGHT_NONE);
	add_edge(0, 1, 0);
	build_rows(&g);
	assert_int_equal(gn_pagerank_verify(&g, &o, &result, right, &found, &far_error), 0);
	assert_int_equal(gn_pagerank_verify(&g, &o, &result, even, &found, &far_error), -GN_EBADMSG);
	expect_words("0.425 from the reference");
	assert_true(fabs(found.error - 0.425) < 1e-12);
	assert_int_equal(gn_pagerank_verify(&g, &o, &converged, right, &found, &far_error), -GN_EBADMSG);
	expect_words("one more iteration");
	gn_graph_fini(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_path),
	    cmocka_unit_test(a_star),
	    cmocka_unit_test(a_grid),
	    cmocka_unit_test(a_complete_bipartite_graph),
	    cmocka_unit_test(two_components_and_isolated_vertices),
	    cmocka_unit_test(random_graphs),
	    cmocka_unit_test(few_pages_are_shared_by_few_warps),
	    cmocka_unit_test(two_vertices_by_hand),
	    cmocka_unit_test(a_damaged_graph_is_refused),
	    cmocka_unit_test(pulling_along_half_the_edges_is_noticed),
	    cmocka_unit_test(verify_says_how_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
