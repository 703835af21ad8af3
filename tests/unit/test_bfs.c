/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search of graphs with known depths, and of random ones, top-down and direction-optimising,
 * for narrow and wide warps, through caches of a few pages and without one; and that steps bottom-up read
 * less.
 */
#include "far_graph.h"

#include "bfs/bfs.h"
#include "graph/generate.h"
#include "graph/reference.h"

/* What the steps of a search did, added up. */
struct seen {
	uint32_t steps, bottom_up;
	uint64_t edges, frontiers;
};

static int see(void *user, const struct gn_graph_step *step, struct gn_error *e)
{
	struct seen *seen = (struct seen *)user;

	(void)e;
	assert_int_equal(step->number, seen->steps);
	assert_true(step->frontier > 0 && step->seconds >= 0);
	seen->steps++;
	seen->bottom_up += !strcmp(step->direction, "bottom-up");
	seen->edges += step->edges;
	seen->frontiers += step->frontier;
	return 0;
}

static void search(struct far_graph *f, uint64_t source, enum gn_bfs_algorithm algorithm, uint32_t *depth,
                   struct gn_bfs_result *result, struct seen *seen)
{
	struct gn_bfs_options o;

	memset(&o, 0, sizeof o);
	memset(seen, 0, sizeof *seen);
	o.source = source;
	o.algorithm = algorithm;
	o.listener.step = see;
	o.listener.user = seen;
	far_must(gn_bfs(f->machine, &f->arrays, &o, depth, result, NULL, &far_error));
	assert_int_equal(seen->steps, result->levels);
	assert_int_equal(seen->edges, result->edges);
	assert_int_equal(seen->frontiers, result->reached);
}

static const struct far_way ways[] = {{1, 512, 0, 0},   {32, 512, 1, 0},  {32, 512, 0, 0}, {1, 512, 1, 0},
                                      {8, 4096, 0, 0},  {1, 0, 0, 0},     {32, 0, 1, 0},   {32, 512, 0, 64},
                                      {1, 512, 1, 128}, {32, 0, 0, 1024}, {8, 512, 0, 4}};

#define WAYS few_drawn(2, sizeof ways / sizeof *ways)

/* Both algorithms, by each of these ways to reach the graph. Returns the steps bottom-up of all. */
static uint32_t check_ways(const struct gn_graph *g, uint64_t source, const struct far_way *way,
                           unsigned count)
{
	uint32_t *want = (uint32_t *)malloc(g->vertices * sizeof *want);
	uint32_t *depth = (uint32_t *)malloc(g->vertices * sizeof *depth);
	uint32_t bottom_up = 0;

	far_must(gn_bfs_reference(g, source, want, &far_error));
	for (unsigned k = 0; k < 2 * count; k++) {
		const enum gn_bfs_algorithm algorithm = k & 1 ? GN_BFS_DIRECTION : GN_BFS_TOP_DOWN;
		struct gn_bfs_result result;
		struct seen seen;
		struct far_graph f;

		open_far_way(&f, g, &way[k / 2], GN_BFS_STATE);
		search(&f, source, algorithm, depth, &result, &seen);
		far_must(gn_depths_verify(depth, want, g->vertices, &far_error));
		if (algorithm == GN_BFS_TOP_DOWN)
			assert_int_equal(seen.bottom_up, 0);
		bottom_up += seen.bottom_up;
		close_far(&f);
	}
	free(want);
	free(depth);
	return bottom_up;
}

static uint32_t check(uint64_t source)
{
	struct gn_graph g;
	uint32_t bottom_up;

	build_rows(&g);
	bottom_up = check_ways(&g, source, ways, WAYS);
	gn_graph_fini(&g);
	return bottom_up;
}

/* ---- graphs ---- */

static void a_path(void **state)
{
	(void)state;
	begin_list(100, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v + 1 < 100; v++)
		add_both(v, v + 1, 0);
	check(0);
	check(50);
}

/* From a leaf: the hub finds its parent, then all leaves find the hub. */
static void a_star(void **state)
{
	(void)state;
	begin_list(FAR_STAR + 1, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < FAR_STAR; v++)
		add_both(FAR_STAR, v, 0);
	assert_true(check(0) > 0);
	assert_true(check(FAR_STAR) > 0);
	assert_true(check(FAR_STAR - 1) > 0);
}

/*
 * Two hubs, whose only neighbour in the frontier is at the end of their lists, so that a chunk that was put
 * aside finds it. The next step goes bottom-up too, and needs their bits.
 */
static void parents_at_the_end_of_long_lists(void **state)
{
	const uint32_t hub[2] = {4502, 4503}, centre = 4500, source = 4501;

	(void)state;
	begin_list(4504, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < 2500; v++) {
		add_both(hub[0], v, 0);
		add_both(hub[1], v, 0);
	}
	for (uint32_t v = 2500; v < 4500; v++)
		add_both(centre, v, 0);
	add_both(centre, source, 0);
	add_both(centre, hub[0], 0);
	add_both(centre, hub[1], 0);
	assert_true(check(source) > 0);
}

/*
 * More lists of vertices that the search does not reach than the graph has chunks. A step bottom-up reads all
 * of them to their ends.
 */
static void many_long_lists_without_a_parent(void **state)
{
	static const struct far_way long_chunks[] = {{1, 512, 0, 8192}, {32, 0, 0, 8192}, {32, 512, 0, 0}};
	const uint32_t hubs = 6, others = 1060, leaves = 1500;
	struct gn_graph g;

	(void)state;
	begin_list(hubs + others + leaves + 1, GN_WEIGHT_NONE);
	for (uint32_t k = 0; k < hubs * others; k++)
		add_both(k % hubs, hubs + k / hubs, 0);
	for (uint32_t v = 0; v < leaves; v++)
		add_both(hubs + others + v, hubs + others + leaves, 0);
	build_rows(&g);
	assert_true(check_ways(&g, hubs + others, long_chunks, 3) > 0);
	gn_graph_fini(&g);
}

static void two_components_and_isolated_vertices(void **state)
{
	(void)state;
	begin_list(517, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v + 2 < 400; v++)
		add_both(v, v + 2, 0);
	check(0);
	check(7);
	check(516);
	begin_list(1, GN_WEIGHT_NONE);
	check(0);
}

static void loops_and_edges_that_come_twice(void **state)
{
	(void)state;
	begin_list(70, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < 70; v++)
		add_edge(v, v, 0);
	for (uint32_t v = 0; v < 69; v++)
		for (uint32_t k = 0; k < 3; k++)
			add_both(v, v + 1, 0);
	check(0);
	check(33);
}

static void random_graphs(void **state)
{
	uint64_t x;
	uint32_t bottom_up = 0;

	(void)state;
	for (uint32_t round = 0; round < FAR_ROUNDS(12); round++) {
		begin_list(20 + 37 * round, GN_WEIGHT_NONE);
		for (uint32_t k = 0; k < list.vertices * (1 + round % 6); k++) {
			x = draw_number();
			add_both((uint32_t)(x % list.vertices), (uint32_t)((x >> 32) % list.vertices), 0);
		}
		bottom_up += check(x % list.vertices);
	}
	assert_true(bottom_up > 0);
}

/* ---- what direction-optimising is for ---- */

static uint64_t moved(const struct far_graph *f)
{
	struct gn_cache_info info;

	assert_int_equal(gn_cache_describe(f->cache, &info, NULL), 0);
	return info.statistics.fetched_bytes;
}

/* The first vertex that has edges. */
static uint32_t with_edges(const struct gn_graph *g)
{
	uint32_t v = 0;

	while (g->offsets[v] == g->offsets[v + 1])
		v++;
	return v;
}

/* On a Kronecker graph it reads a quarter of the edges, and moves fewer bytes, with any warps. */
static void it_reads_and_moves_less_of_a_kronecker_graph(void **state)
{
	struct gn_generate_options o;
	struct gn_graph g;
	uint32_t *depth;

	(void)state;
	memset(&o, 0, sizeof o);
	o.kind = GN_GENERATOR_KRON;
	o.scale = few_drawn(10, 12);
	o.degree = 16;
	o.seed = 1;
	o.undirected = true;
	far_must(gn_graph_generate(&g, &o, &far_error));
	depth = (uint32_t *)malloc(g.vertices * sizeof *depth);
	for (unsigned width = 1; width <= 32; width *= 32) {
		struct gn_bfs_result result[2];
		uint64_t bytes[2];

		for (unsigned k = 0; k < 2; k++) {
			struct seen seen;
			struct far_graph f;

			open_far(&f, &g, width, 512);
			search(&f, with_edges(&g), k ? GN_BFS_DIRECTION : GN_BFS_TOP_DOWN, depth, &result[k],
			       &seen);
			assert_true(k ? seen.bottom_up > 0 : !seen.bottom_up);
			bytes[k] = moved(&f);
			close_far(&f);
		}
		assert_int_equal(result[0].reached, result[1].reached);
		assert_true(result[1].edges < result[0].edges / 4);
		assert_true(bytes[1] < bytes[0]);
	}
	free(depth);
	gn_graph_fini(&g);
}

/* ---- vertices without edges ---- */

enum { HUB_LEAVES = 400 };

/*
 * A hub, its neighbours, and one more neighbour for each of them. From one of the last: steps bottom-up find
 * the hub's neighbours, and then theirs. Returns the elements of the graph that the search read.
 */
static uint64_t elements_read_beside(uint32_t isolated, uint32_t *bottom_up)
{
	const uint32_t vertices = 2 * HUB_LEAVES + 1 + isolated;
	uint32_t *depth = (uint32_t *)malloc(vertices * sizeof *depth);
	struct gn_bfs_result result;
	struct gn_cache_info info;
	struct far_graph f;
	struct gn_graph g;
	struct seen seen;

	begin_list(vertices, GN_WEIGHT_NONE);
	for (uint32_t v = 1; v <= HUB_LEAVES; v++) {
		add_both(0, v, 0);
		add_both(v, HUB_LEAVES + v, 0);
	}
	build_rows(&g);
	open_far(&f, &g, 1, 512);
	search(&f, HUB_LEAVES + 1, GN_BFS_DIRECTION, depth, &result, &seen);
	assert_int_equal(result.reached, 2 * HUB_LEAVES + 1);
	far_must(gn_cache_describe(f.cache, &info, NULL));
	close_far(&f);
	gn_graph_fini(&g);
	free(depth);
	*bottom_up = seen.bottom_up;
	return info.statistics.hits + info.statistics.misses;
}

/* The first step bottom-up reads the two offsets of such a vertex, and no later step does. */
static void vertices_without_edges_are_looked_at_once(void **state)
{
	enum { ISOLATED = 4000 };
	uint32_t steps[2];
	const uint64_t none = elements_read_beside(0, &steps[0]),
	               some = elements_read_beside(ISOLATED, &steps[1]);

	(void)state;
	assert_true(steps[0] >= 2 && steps[1] >= 2);
	assert_true(some - none < 3 * ISOLATED);
}

/* ---- what is wrong is said ---- */

static void expect_refused(struct far_graph *f, struct gn_bfs_options o, int code, const char *words)
{
	struct gn_bfs_result result;
	uint32_t depth[8];

	assert_int_equal(gn_bfs(f->machine, &f->arrays, &o, depth, &result, NULL, &far_error), code);
	expect_words(words);
}

/* The graph is damaged where a step bottom-up looks first. */
static void what_is_wrong_is_said(void **state)
{
	struct gn_bfs_options o;
	struct gn_graph g;
	struct far_graph f;

	(void)state;
	memset(&o, 0, sizeof o);
	o.algorithm = GN_BFS_DIRECTION;
	begin_list(8, GN_WEIGHT_NONE);
	add_both(0, 1, 0);
	for (uint32_t v = 2; v < 8; v++)
		add_both(1, v, 0);
	build_rows(&g);
	g.neighbours[g.offsets[5]] = 8;
	open_far(&f, &g, 32, 512);
	expect_refused(&f, o, -GN_EBADMSG, "neighbour 8");
	o.source = 8;
	expect_refused(&f, o, -GN_ERANGE, "source 8");
	o.source = 0;
	f.arrays.plain_offsets = g.offsets;
	f.arrays.plain_neighbours = g.neighbours;
	expect_refused(&f, o, -GN_EINVAL, "top-down");
	close_far(&f);
	gn_graph_fini(&g);
}

/* The largest offset there is, of the source itself: a round of lanes from there on would begin again at 0.
 */
static void a_search_from_a_damaged_offset_ends(void **state)
{
	struct gn_bfs_options o;
	struct gn_graph g;

	(void)state;
	memset(&o, 0, sizeof o);
	o.source = 5;
	begin_list(8, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < 7; v++)
		add_both(v, v + 1, 0);
	build_rows(&g);
	g.offsets[5] = UINT64_MAX;
	for (unsigned k = 0; k < 4; k++) {
		struct far_graph f;

		open_far(&f, &g, k & 1 ? 32 : 1, 512);
		o.algorithm = k & 2 ? GN_BFS_DIRECTION : GN_BFS_TOP_DOWN;
		expect_refused(&f, o, -GN_EBADMSG, "vertex 5");
		close_far(&f);
	}
	gn_graph_fini(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_path),
	    cmocka_unit_test(a_star),
	    cmocka_unit_test(parents_at_the_end_of_long_lists),
	    cmocka_unit_test(many_long_lists_without_a_parent),
	    cmocka_unit_test(two_components_and_isolated_vertices),
	    cmocka_unit_test(loops_and_edges_that_come_twice),
	    cmocka_unit_test(random_graphs),
	    cmocka_unit_test(it_reads_and_moves_less_of_a_kronecker_graph),
	    cmocka_unit_test(vertices_without_edges_are_looked_at_once),
	    cmocka_unit_test(what_is_wrong_is_said),
	    cmocka_unit_test(a_search_from_a_damaged_offset_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
