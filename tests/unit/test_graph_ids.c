/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of 64 bits: the bytes of a .gng file of version 2 against docs/graph-format.md, what is wrong in one,
 * and kernels that read such neighbours.
 */
#include "far_graph.h"
#include "test_graph_support.h"

#include <zlib.h>

#include "bfs/bfs.h"
#include "cc/cc.h"
#include "graph/layout.h"
#include "graph/reference.h"

enum { VERTICES = 700, NEIGHBOURS_AT = 8192 };

/* Rows that ascend: each vertex has the three behind it, as far as they are there. */
static void ladder(struct gn_graph *g)
{
	begin_list(VERTICES, GN_WEIGHT_I32);
	for (uint32_t v = 0; v < VERTICES; v++)
		for (uint32_t k = 1; k <= 3 && v + k < VERTICES; k++)
			add_edge(v, v + k, v * k);
	build_rows(g);
	for (uint32_t v = 0; v < VERTICES; v++)
		for (uint64_t k = g->offsets[v]; k < g->offsets[v + 1]; k++) {
			g->neighbours[k] = v + 1 + (uint32_t)(k - g->offsets[v]);
			g->weights[k] = v * (1 + (uint32_t)(k - g->offsets[v]));
		}
	g->flags = GN_GRAPH_SORTED;
	g->wide = 1;
}

/* ---- the file ---- */

struct specimen {
	char *directory, *path;
	unsigned char *bytes;
	size_t n;
};

static void specimen_make(struct specimen *s, const struct gn_graph *g)
{
	FILE *f;

	s->directory = scratch_directory();
	s->path = path_in(s->directory, "wide.gng");
	far_must(gn_graph_file_write(g, s->path, NULL, &far_error));
	s->bytes = (unsigned char *)malloc(1 << 20);
	f = fopen(s->path, "rb");
	s->n = fread(s->bytes, 1, 1 << 20, f);
	fclose(f);
}

static void specimen_remove(struct specimen *s)
{
	unlink(s->path);
	assert_int_equal(rmdir(s->directory), 0);
	free(s->path);
	free(s->directory);
	free(s->bytes);
}

/* The bytes as they are now, with checksums that are right again. */
static void write_back(const struct specimen *s, uint64_t edges)
{
	FILE *f = fopen(s->path, "wb");

	gn__put_u32(s->bytes, 72 + 16,
	            (uint32_t)crc32(0, s->bytes + NEIGHBOURS_AT + 4096, (uInt)(edges * 8)));
	gn__put_u32(s->bytes, GN_HEADER_CRC, gn__header_crc(s->bytes));
	assert_int_equal(fwrite(s->bytes, 1, s->n, f), s->n);
	fclose(f);
}

static void bytes_are_as_documented(void **state)
{
	struct gn_graph g, back;
	struct gn_graph_file f;
	struct specimen s;

	(void)state;
	ladder(&g);
	specimen_make(&s, &g);
	assert_int_equal(gn__get_u32(s.bytes, 8), 2);
	assert_int_equal(gn__get_u32(s.bytes, 28), 0);
	assert_int_equal(gn__get_u64(s.bytes, 72), NEIGHBOURS_AT + 4096);
	assert_int_equal(gn__get_u64(s.bytes, 80), g.edges * 8);
	for (uint64_t k = 0; k < g.edges; k++)
		assert_int_equal(gn__get_u64(s.bytes + NEIGHBOURS_AT + 4096, (unsigned)k * 8),
		                 g.neighbours[k]);
	assert_int_equal(gn__get_u32(s.bytes, 88),
	                 crc32(0, s.bytes + NEIGHBOURS_AT + 4096, (uInt)(g.edges * 8)));
	far_must(gn_graph_file_open(&f, s.path, &far_error));
	assert_int_equal(f.id_bytes, 8);
	far_must(gn_graph_file_check(&f, NULL, &far_error));
	far_must(gn_graph_file_load(&f, &back, 0, NULL, &far_error));
	assert_memory_equal(back.offsets, g.offsets, (VERTICES + 1) * sizeof *g.offsets);
	assert_memory_equal(back.neighbours, g.neighbours, g.edges * sizeof *g.neighbours);
	assert_memory_equal(back.weights, g.weights, g.edges * sizeof *g.weights);
	gn_graph_file_close(&f);
	gn_graph_fini(&back);
	gn_graph_fini(&g);
	specimen_remove(&s);
}

/* Refused by the check and by loading, and both say the words. */
static void expect_damaged(const struct specimen *s, const char *words)
{
	struct gn_graph_file f;
	struct gn_graph g;

	far_must(gn_graph_file_open(&f, s->path, &far_error));
	assert_int_equal(gn_graph_file_check(&f, NULL, &far_error), -GN_EBADMSG);
	expect_words(words);
	assert_int_equal(gn_graph_file_load(&f, &g, 0, NULL, &far_error), -GN_EBADMSG);
	expect_words(words);
	gn_graph_file_close(&f);
}

/* The lower half of an id alone would be a vertex. */
static void damage_is_found(void **state)
{
	unsigned char *neighbours;
	struct specimen s;
	struct gn_graph g;

	(void)state;
	ladder(&g);
	specimen_make(&s, &g);
	neighbours = s.bytes + NEIGHBOURS_AT + 4096;
	neighbours[5 * 8 + 4] = 1;
	write_back(&s, g.edges);
	expect_damaged(&s, "neighbour 5 is 42949");
	expect_damaged(&s, "byte 12328");
	neighbours[5 * 8 + 4] = 0;
	gn__put_u64(neighbours, 5 * 8, 0);
	write_back(&s, g.edges);
	expect_damaged(&s, "neighbour 5 is less");
	gn__put_u64(neighbours, 5 * 8, g.neighbours[5]);
	write_back(&s, g.edges);
	neighbours[(g.edges - 1) * 8] ^= 2;
	write_back(&s, 0);
	expect_damaged(&s, "checksum of the neighbours");
	gn_graph_fini(&g);
	specimen_remove(&s);
}

/* A sparse file of 32 GiB; where the file system has no such files nothing is said. */
static void more_vertices_than_memory_holds(void **state)
{

	struct gn_graph_file f;
	struct gn_graph g;
	char *directory = scratch_directory(), *path = path_in(directory, "many.gng");
	unsigned char page[GN_GRAPH_FILE_PAGE];
	FILE *to = fopen(path, "wb");

	(void)state;
	memset(&f, 0, sizeof f);
	f.vertices = (UINT64_C(1) << 32) + 10;
	f.id_bytes = 8;
	gn__layout_fill(&f);
	gn__header_put(page, &f);
	assert_int_equal(fwrite(page, 1, sizeof page, to), sizeof page);
	fclose(to);
	if (!truncate(path, (off_t)f.bytes)) {
		far_must(gn_graph_file_open(&f, path, &far_error));
		assert_int_equal(f.vertices, (UINT64_C(1) << 32) + 10);
		assert_int_equal(gn_graph_file_load(&f, &g, UINT64_MAX, NULL, &far_error), -GN_EFBIG);
		expect_words("2^32 - 1");
		gn_graph_file_close(&f);
	}
	unlink(path);
	assert_int_equal(rmdir(directory), 0);
	free(path);
	free(directory);
}

/* ---- kernels ---- */

/* The graph with its neighbours as u64 in a store of their own. */
static void widen(struct far_graph *f, const struct gn_graph *g, struct gn_store **store, uint64_t last)
{
	struct gn_array_options a = {GN_DIRECT, NULL, NULL, 0, g->edges, 8};
	uint64_t *wide = (uint64_t *)malloc(g->edges * sizeof *wide);

	for (uint64_t k = 0; k < g->edges; k++)
		wide[k] = g->neighbours[k];
	wide[g->edges - 1] = last;
	far_must(gn_store_open(store, f->machine, "host:1M", NULL, &far_error));
	far_must(gn_store_write_host(*store, 0, wide, g->edges * sizeof *wide, &far_error));
	gn_array_destroy(&f->arrays.neighbours, f->machine);
	a.store = *store;
	far_must(gn_array_create(&f->arrays.neighbours, f->machine, &a, &far_error));
	f->arrays.wide = 1;
	free(wide);
}

static void jobs_read_them(void **state)
{
	static uint32_t want[VERTICES], got[VERTICES];
	struct gn_bfs_options o;
	struct gn_bfs_result result;
	struct gn_graph g;

	(void)state;
	memset(&o, 0, sizeof o);
	ladder(&g);
	far_must(gn_bfs_reference(&g, 0, want, &far_error));
	for (unsigned k = 0; k < 4; k++) {
		struct gn_store *store;
		struct far_graph f;

		open_far(&f, &g, k & 1 ? 32 : 1, 512);
		widen(&f, &g, &store, VERTICES - 1);
		if (k & 2)
			open_far_state(&f, GN_BFS_STATE);
		far_must(gn_bfs(f.machine, &f.arrays, &o, got, &result, NULL, &far_error));
		far_must(gn_depths_verify(got, want, VERTICES, &far_error));
		gn_array_destroy(&f.arrays.neighbours, f.machine);
		gn_store_close(store);
		close_far(&f);
	}
	gn_graph_fini(&g);
}

/* Its lower half is a vertex. */
static void a_larger_neighbour_is_refused(void **state)
{
	static uint32_t label[VERTICES];
	const uint64_t last[] = {(UINT64_C(1) << 32) + 5, UINT32_MAX, VERTICES};

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		const struct gn_cc_options o = {GN_CC_SV, 0};
		struct gn_cc_result result;
		struct gn_store *store;
		struct far_graph f;
		struct gn_graph g;

		ladder(&g);
		open_far(&f, &g, 32, 512);
		widen(&f, &g, &store, last[k]);
		assert_int_equal(gn_cc(f.machine, &f.arrays, &o, label, &result, NULL, &far_error),
		                 -GN_EBADMSG);
		expect_words(k < 2 ? "a neighbour is 2^32 - 1 or more" : "neighbour 700 is not below");
		gn_array_destroy(&f.arrays.neighbours, f.machine);
		gn_store_close(store);
		close_far(&f);
		gn_graph_fini(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bytes_are_as_documented),         cmocka_unit_test(damage_is_found),
	    cmocka_unit_test(more_vertices_than_memory_holds), cmocka_unit_test(jobs_read_them),
	    cmocka_unit_test(a_larger_neighbour_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
