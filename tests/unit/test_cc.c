/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connected components of graphs whose components are known, and of random ones, by both algorithms, for
 * narrow and wide warps, through a cache of a few small pages.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grapnel/cache.h>
#include <grapnel/store.h>

#include "cc/cc.h"

enum { PAGE = 512, CACHE = 16 * PAGE, MOST_EDGES = 20000 };

/* Edges in the order in which they were added. */
struct edges {
	uint32_t vertices, count;
	uint32_t from[MOST_EDGES], to[MOST_EDGES];
};

static struct edges list;

static void begin(uint32_t vertices)
{
	list.vertices = vertices;
	list.count = 0;
}

static void add(uint32_t from, uint32_t to)
{
	assert_true(list.count < MOST_EDGES);
	list.from[list.count] = from;
	list.to[list.count++] = to;
}

static void add_both(uint32_t from, uint32_t to)
{
	add(from, to);
	add(to, from);
}

/* Compressed sparse rows, by counting. */
static void build(struct gn_graph *g)
{
	assert_int_equal(gn_graph_init(g, list.vertices, list.count, GN_WEIGHT_NONE, 0, NULL), 0);
	for (uint32_t k = 0; k < list.count; k++)
		g->offsets[list.from[k] + 1]++;
	for (uint32_t v = 0; v < list.vertices; v++)
		g->offsets[v + 1] += g->offsets[v];
	for (uint32_t k = list.count; k--;)
		g->neighbours[--g->offsets[list.from[k] + 1]] = list.to[k];
	for (uint32_t v = 0; v < list.vertices; v++)
		g->offsets[v] = g->offsets[v + 1];
	g->offsets[list.vertices] = list.count;
}

/* ---- the graph behind a cache ---- */

struct far {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_cache *cache;
	struct gn_graph_arrays arrays;
};

static struct gn_error error;

static void must(int rc)
{
	if (rc)
		fail_msg("%s: %s", gn_error_name(rc), error.text);
}

static void open_store(struct far *f, const struct gn_graph *g, uint64_t neighbours_at)
{
	struct gn_cache_options c;
	char uri[64];

	snprintf(uri, sizeof uri, "host:%llu", (unsigned long long)(neighbours_at + g->edges * 4 + PAGE));
	must(gn_store_open(&f->store, f->machine, uri, NULL, &error));
	must(gn_store_write_host(f->store, 0, g->offsets, (g->vertices + 1) * 8, &error));
	if (g->edges)
		must(gn_store_write_host(f->store, neighbours_at, g->neighbours, g->edges * 4, &error));
	memset(&c, 0, sizeof c);
	c.page_bytes = PAGE;
	c.bytes = CACHE;
	must(gn_cache_create(&f->cache, f->machine, &f->store, 1, &c, &error));
}

static void open_far(struct far *f, const struct gn_graph *g, unsigned width)
{
	const uint64_t neighbours_at = ((g->vertices + 1) * 8 + PAGE - 1) / PAGE * PAGE;
	struct gn_array_options a = {GN_PAGED, NULL, NULL, 0, g->vertices + 1, 8};
	struct simt_options machine;

	memset(f, 0, sizeof *f);
	memset(&machine, 0, sizeof machine);
	machine.name = "cpu";
	machine.threads = 2;
	machine.warp_width = width;
	must(simt_open(&f->machine, &machine, &error));
	open_store(f, g, neighbours_at);
	a.cache = f->cache;
	a.store = f->store;
	must(gn_array_create(&f->arrays.offsets, f->machine, &a, &error));
	a.offset = g->edges ? neighbours_at : 0;
	a.count = g->edges;
	a.element_bytes = 4;
	must(gn_array_create(&f->arrays.neighbours, f->machine, &a, &error));
	f->arrays.vertices = g->vertices;
	f->arrays.edges = g->edges;
}

static void close_far(struct far *f)
{
	gn_array_destroy(&f->arrays.neighbours, f->machine);
	gn_array_destroy(&f->arrays.offsets, f->machine);
	gn_cache_destroy(f->cache);
	gn_store_close(f->store);
	simt_close(f->machine);
}

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

/* Both algorithms in both widths; the graph has every edge in both directions, or is not said to. */
static void check_as(const struct gn_graph *g, const uint32_t *want, int both_directions)
{
	uint32_t *label = (uint32_t *)malloc(g->vertices * sizeof *label);

	for (unsigned k = 0; k < 4; k++) {
		const struct gn_cc_options o = {k & 1 ? GN_CC_SV : GN_CC_AFFOREST, both_directions};
		struct gn_cc_result result;
		struct far f;

		open_far(&f, g, k & 2 ? 32 : 1);
		memset(label, 0xff, g->vertices * sizeof *label);
		must(gn_cc(f.machine, &f.arrays, &o, label, &result, NULL, &error));
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

	build(&g);
	by_force(want);
	gn_cc_reference(&g, reference);
	assert_memory_equal(reference, want, g.vertices * sizeof *want);
	check_as(&g, want, 0);
	if (both_directions)
		check_as(&g, want, 1);
	gn_graph_fini(&g);
	free(want);
	free(reference);
}

/* ---- graphs ---- */

static void a_path_is_one_component(void **state)
{
	(void)state;
	begin(300);
	for (uint32_t v = 0; v + 1 < 300; v++)
		add_both(v, v + 1);
	check(1);
}

/* Its vertices in an order that makes trees deep. */
static void a_scattered_path_is_one_component(void **state)
{
	(void)state;
	begin(301);
	for (uint32_t v = 0; v + 1 < 301; v++)
		add_both(v * 7 % 301, (v + 1) * 7 % 301);
	check(1);
}

/* The hub's list is put aside in chunks. */
static void a_star_is_one_component(void **state)
{
	(void)state;
	begin(5001);
	for (uint32_t v = 0; v < 5000; v++)
		add_both(5000, v);
	check(1);
}

static void a_complete_bipartite_graph_is_one_component(void **state)
{
	(void)state;
	begin(60);
	for (uint32_t u = 0; u < 20; u++)
		for (uint32_t v = 20; v < 60; v++)
			add_both(u, v);
	check(1);
}

/* Even and odd vertices, and some that have no edge. */
static void two_components_and_isolated_vertices(void **state)
{
	(void)state;
	begin(500);
	for (uint32_t v = 0; v + 2 < 400; v++)
		add_both(v, v + 2);
	check(1);
}

static void without_edges_each_vertex_is_one(void **state)
{
	(void)state;
	begin(100);
	check(1);
	begin(1);
	check(1);
}

static void self_loops_join_nothing(void **state)
{
	(void)state;
	begin(70);
	for (uint32_t v = 0; v < 70; v++)
		add(v, v);
	add_both(3, 69);
	check(1);
	begin(1);
	add(0, 0);
	check(1);
}

/*
 * A vertex of the largest component has, behind its first two edges, the only edge to another part: Afforest
 * may not leave out its list.
 */
static void directed_edges_join_too(void **state)
{
	(void)state;
	begin(400);
	for (uint32_t v = 1; v < 300; v++)
		add(v, v - 1);
	for (uint32_t k = 0; k < 3; k++)
		add(150, 149 - k);
	for (uint32_t v = 300; v < 399; v++)
		add(v, v + 1);
	add(150, 399);
	check(0);
}

static void random_graphs_equal_brute_force(void **state)
{
	uint64_t x = 88172645463325252u;

	(void)state;
	for (uint32_t round = 0; round < 20; round++) {
		begin(20 + 17 * round);
		for (uint32_t k = 0; k < list.vertices * (1 + round % 3) / 2; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			add_both((uint32_t)(x % list.vertices), (uint32_t)((x >> 32) % list.vertices));
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
		struct far f;

		open_far(&f, g, 1);
		assert_int_equal(gn_cc(f.machine, &f.arrays, &o, label, &result, NULL, &error), -GN_EBADMSG);
		if (!strstr(error.text, words))
			fail_msg("\"%s\" does not say \"%s\"", error.text, words);
		close_far(&f);
	}
}

static void a_damaged_graph_is_refused(void **state)
{
	struct gn_graph g;

	(void)state;
	begin(4);
	add_both(0, 1);
	add_both(2, 3);
	build(&g);
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
	assert_int_equal(gn_cc_verify(want, want, 4, &error), 0);
	assert_int_equal(gn_cc_verify(got, want, 4, &error), -GN_EBADMSG);
	assert_non_null(strstr(error.text, "vertex 1 is in component 1, but the reference says 0; 2 of 4"));
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
