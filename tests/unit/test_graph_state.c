/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of vertices in a store: jobs that use one place after the other, words that begin as zeros, a
 * place that is too small, a store that fails. The jobs' own tests compare their results.
 */
#include "far_graph.h"

#include "bfs/bfs.h"
#include "cc/cc.h"
#include "graph/scan.h"
#include "sssp/sssp.h"

enum { VERTICES = 1500 };

static void random_rows(struct gn_graph *g)
{
	begin_list(VERTICES, GN_WEIGHT_NONE);
	for (uint32_t k = 0; k < 3 * VERTICES; k++) {
		const uint64_t x = draw_number();

		add_both((uint32_t)(x % VERTICES), (uint32_t)((x >> 32) % VERTICES), 0);
	}
	build_rows(g);
}

static void run_bfs(struct far_graph *f, uint64_t source, uint32_t *depth)
{
	struct gn_bfs_options o;
	struct gn_bfs_result result;

	memset(&o, 0, sizeof o);
	o.source = source;
	o.algorithm = GN_BFS_DIRECTION;
	far_must(gn_bfs(f->machine, &f->arrays, &o, depth, &result, NULL, &far_error));
}

static void run_sssp(struct far_graph *f, uint64_t source, uint32_t *length)
{
	const struct gn_sssp_options o = {source, 0, 255};
	struct gn_sssp_result result;

	far_must(gn_sssp(f->machine, &f->arrays, &o, length, &result, NULL, &far_error));
}

/* ---- jobs ---- */

/* What one left in the cache and in the store is nothing to the next one. */
static void jobs_follow_each_other(void **state)
{
	static uint32_t want[4][VERTICES], got[VERTICES];
	struct gn_graph g;

	(void)state;
	random_rows(&g);
	for (unsigned width = 1; width <= 32; width *= 32) {
		const unsigned jobs = few_or_all(2, 4);
		struct far_graph f;

		open_far(&f, &g, width, 512);
		for (unsigned k = 0; k < jobs; k++)
			(k & 1 ? run_sssp : run_bfs)(&f, 100 * k, want[k]);
		open_far_state(&f, GN_SSSP_STATE);
		for (unsigned k = 0; k < jobs; k++) {
			(k & 1 ? run_sssp : run_bfs)(&f, 100 * k, got);
			assert_memory_equal(got, want[k], sizeof got);
		}
		close_far(&f);
	}
	gn_graph_fini(&g);
}

/* The far state does not fit its cache, so it was fetched and written back. */
static void state_moves(void **state)
{
	static uint32_t depth[VERTICES];
	struct gn_store_statistics before, after;
	struct far_graph f;
	struct gn_graph g;

	(void)state;
	random_rows(&g);
	open_far(&f, &g, 32, 512);
	open_far_state(&f, GN_BFS_STATE);
	gn_store_get_statistics(f.store, &before);
	run_bfs(&f, 0, depth);
	gn_store_get_statistics(f.store, &after);
	assert_int_equal(f.place.used, VERTICES * sizeof *depth);
	assert_memory_equal(&before.writes, &after.writes, sizeof after.writes);
	far_must(gn_store_read_host(f.place.store, 0, depth, sizeof *depth, &far_error));
	assert_int_equal(depth[0], 0);
	close_far(&f);
	gn_graph_fini(&g);
}

/* ---- words ---- */

static void expect_words_of(struct far_graph *f, uint32_t bytes)
{
	static char want[VERTICES * 8], got[VERTICES * 8];
	const uint64_t all = (uint64_t)VERTICES * bytes;

	for (int round = 0; round < 2; round++) {
		struct gn_scanner s;
		struct gn_scan scan;
		struct gn_state word;

		far_must(gn_scanner_init(&s, &scan, f->machine, &f->arrays, "test", &far_error));
		far_must(gn_state_init(&s, &word, bytes, &far_error));
		memset(want, 0, sizeof want);
		far_must(gn_state_read(&s, &word, got, &far_error));
		assert_memory_equal(got, want, all);
		for (uint64_t k = 0; k < all; k++)
			want[k] = (char)(k * 7 + 1);
		far_must(gn_state_write(&s, &word, want, &far_error));
		far_must(gn_state_read(&s, &word, got, &far_error));
		assert_memory_equal(got, want, all);
		gn_scanner_fini(&s, &scan);
	}
}

static void words_begin_as_zeros(void **state)
{
	struct gn_graph g;

	(void)state;
	random_rows(&g);
	for (int far = 0; far < 2; far++)
		for (uint32_t bytes = 4; bytes <= 8; bytes *= 2) {
			struct far_graph f;

			open_far(&f, &g, 1, 512);
			if (far)
				open_far_state(&f, bytes);
			expect_words_of(&f, bytes);
			close_far(&f);
		}
	gn_graph_fini(&g);
}

/* ---- what is wrong is said ---- */

static void a_small_place_is_refused(void **state)
{
	static uint32_t length[VERTICES];
	const struct gn_sssp_options o = {0, 0, 255};
	struct gn_sssp_result result;
	struct far_graph f;
	struct gn_graph g;

	(void)state;
	random_rows(&g);
	g.vertices = 1;
	open_far(&f, &g, 1, 512);
	open_far_state(&f, 4);
	f.arrays.vertices = 100 * VERTICES;
	assert_int_equal(gn_sssp(f.machine, &f.arrays, &o, length, &result, NULL, &far_error), -GN_ERANGE);
	close_far(&f);
	g.vertices = VERTICES;
	gn_graph_fini(&g);
}

/* A loop that waits for a change of its own must end where every change fails. */
static void a_store_that_fails_ends_the_job(void **state)
{
	static uint32_t label[6000];
	const struct gn_fault_plan faults = {1, 0, 0, 0, 0, 0, 1000000, 0, 0, 1};
	const struct gn_cc_options o = {GN_CC_AFFOREST, 1};
	struct gn_store_options store;
	struct gn_cache_options cache;
	struct gn_cc_result result;
	struct far_graph f;
	struct gn_graph g;

	(void)state;
	begin_list(6000, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < 5000; v += 1000)
		add_both(v, v + 1000, 0);
	build_rows(&g);
	open_far(&f, &g, 32, 512);
	memset(&store, 0, sizeof store);
	store.faults = &faults;
	far_must(gn_store_open(&f.place.store, f.machine, "memq:1M", &store, &far_error));
	memset(&cache, 0, sizeof cache);
	cache.page_bytes = 4096;
	cache.bytes = 4 * cache.page_bytes;
	far_must(gn_cache_create(&f.place.cache, f.machine, &f.place.store, 1, &cache, &far_error));
	f.arrays.state = &f.place;
	assert_int_equal(gn_cc(f.machine, &f.arrays, &o, label, &result, NULL, &far_error), -GN_EIO);
	close_far(&f);
	gn_graph_fini(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(jobs_follow_each_other),
	    cmocka_unit_test(state_moves),
	    cmocka_unit_test(words_begin_as_zeros),
	    cmocka_unit_test(a_small_place_is_refused),
	    cmocka_unit_test(a_store_that_fails_ends_the_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
