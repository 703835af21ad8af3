/* SPDX-License-Identifier: Apache-2.0 */
/* Which vertices --sources draws: of random graphs, by every seed alike, and of a file that is read in parts.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph_search.h"
#include "unit.h"

enum { VERTICES = 700, PART = 1 << 19 };

static uint64_t offsets[VERTICES + 1];

/* A degree from 0 to 4 for each vertex. Returns how many have more than two edges. */
static uint32_t make_graph(uint64_t x)
{
	uint32_t enough = 0;

	for (uint32_t v = 0; v < VERTICES; v++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		offsets[v + 1] = offsets[v] + (x >> 40) % 5;
		enough += offsets[v + 1] - offsets[v] > 2;
	}
	return enough;
}

/* Look at the graph in pieces of so many vertices. */
static void look(struct graph_sources *s, uint64_t seed, uint32_t count, uint64_t piece)
{
	graph_sources_begin(s, seed, count);
	for (uint64_t v = 0; v < VERTICES; v += piece)
		graph_sources_look(s, offsets + v, v, v + piece < VERTICES ? piece : VERTICES - v);
}

static void test_different_vertices_with_enough_edges_are_drawn(void **state)
{
	static struct graph_sources all, some;
	static int seen[VERTICES];

	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		const uint32_t enough = make_graph(seed);

		memset(seen, 0, sizeof seen);
		look(&all, seed, GRAPH_MOST_SOURCES, VERTICES);
		assert_int_equal(all.found, enough);
		for (uint32_t k = 0; k < all.found; k++) {
			const uint32_t v = all.vertex[k];

			assert_true(v < VERTICES && offsets[v + 1] - offsets[v] > 2 && !seen[v]++);
		}
		for (uint32_t count = 1; count < enough; count += 1 + count / 2) {
			look(&some, seed, count, 1 + seed * 7);
			assert_int_equal(some.found, count);
			assert_memory_equal(some.vertex, all.vertex, count * sizeof *all.vertex);
		}
	}
}

/* 5 of the vertices by 40 seeds a vertex: each comes as often as others, but for chance. */
static void test_seeds_draw_all_alike(void **state)
{
	static struct graph_sources s;
	static uint32_t times[VERTICES];
	const uint32_t enough = make_graph(3);

	(void)state;
	memset(times, 0, sizeof times);
	for (uint64_t seed = 0; seed < 40u * enough; seed++) {
		look(&s, seed, 5, VERTICES);
		for (uint32_t k = 0; k < 5; k++)
			times[s.vertex[k]]++;
	}
	for (uint32_t v = 0; v < VERTICES; v++)
		if (offsets[v + 1] - offsets[v] > 2)
			assert_in_range(times[v], 120, 280);
}

/* ---- a graph in a file ---- */

static const uint64_t with_edges[] = {0, PART - 1, PART, PART + 1, PART + 99};

static int is_with_edges(uint64_t vertex)
{
	int is = 0;

	for (uint32_t k = 0; k < 5; k++)
		is |= with_edges[k] == vertex;
	return is;
}

static void make_large(struct gn_graph *g)
{
	struct gn_error e;

	assert_int_equal(gn_graph_init(g, PART + 100, 15, GN_WEIGHT_NONE, 0, &e), 0);
	memset(g->neighbours, 0, 15 * sizeof *g->neighbours);
	g->offsets[0] = 0;
	for (uint64_t v = 0; v < g->vertices; v++)
		g->offsets[v + 1] = g->offsets[v] + (is_with_edges(v) ? 3 : 0);
}

static void test_a_file_is_as_its_graph(void **state)
{
	static struct graph_search_options o;
	uint32_t from_memory[7], from_file[7];
	char path[] = "/tmp/grapnel-sources-XXXXXX.gng";
	struct graph_input in;
	struct gn_error e;

	(void)state;
	memset(&in, 0, sizeof in);
	o.seed = 1;
	o.sources = 7;
	close(mkstemps(path, 4));
	make_large(&in.graph);
	in.has_graph = true;
	assert_int_equal(graph_sources_draw(&in, &o, from_memory, &e), 0);
	assert_int_equal(gn_graph_file_write(&in.graph, path, NULL, &e), 0);
	assert_int_equal(gn_graph_file_open(&in.file, path, &e), 0);
	unlink(path);
	in.has_graph = false;
	assert_int_equal(graph_sources_draw(&in, &o, from_file, &e), 0);
	assert_memory_equal(from_memory, from_file, sizeof from_file);
	for (uint32_t k = 0; k < 7; k++)
		assert_true(is_with_edges(from_file[k]));
	for (uint32_t k = 0; k < 2; k++)
		assert_int_equal(from_file[k + 5], from_file[k]);
	gn_graph_file_close(&in.file);
	gn_graph_fini(&in.graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_different_vertices_with_enough_edges_are_drawn),
	    cmocka_unit_test(test_seeds_draw_all_alike),
	    cmocka_unit_test(test_a_file_is_as_its_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
