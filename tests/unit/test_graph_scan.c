/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches in which few items have work: lanes gather them, and fetch the first lines of lists that lie far
 * from each other together.
 */
#include "graph/scan_visit.h"

#include "far_graph.h"

enum { VERTICES = 700, LINE_EDGES = SIMT_LINE / 4, HUB = 147 };

struct few_args {
	struct gn_scan scan;
	uint32_t every;    /* vertices whose number it divides have work */
	uint32_t *looked;  /* [edges]: looks at each */
	uint32_t *fetched; /* [edges]: fetches of each */
	uint32_t *asked;   /* [vertices]: how often its list was asked for */
};

struct few {
	const struct few_args *a;
	struct gn_scan_reader graph;
};

SIMT_INLINE_FN int wants(void *job, uint64_t item)
{
	return item % ((const struct few *)job)->a->every == 0;
}

SIMT_INLINE_FN struct gn_scan_part list_of(void *job, uint64_t item)
{
	struct few *w = (struct few *)job;
	const uint32_t vertex = (uint32_t)item;
	const struct gn_scan_part part = {
	    gn_scan_first_chunk(&w->graph, vertex, gn_scan_list(&w->graph, vertex)), vertex, 0};

	simt_add_relaxed_dev_u32(&w->a->asked[vertex], 1);
	return part;
}

SIMT_INLINE_FN void fetch(void *job, uint64_t edge)
{
	simt_add_relaxed_dev_u32(&((const struct few *)job)->a->fetched[edge], 1);
}

SIMT_INLINE_FN uint32_t value_of(void *job, uint32_t vertex)
{
	(void)job;
	(void)vertex;
	return 0;
}

SIMT_INLINE_FN void look(void *job, uint32_t warp, struct gn_scan_edge mine)
{
	(void)warp;
	if (mine.is)
		simt_add_relaxed_dev_u32(&((const struct few *)job)->a->looked[mine.edge], 1);
}

SIMT_FN void look_part(void *job, uint32_t warp, struct gn_scan_part part)
{
	gn_scan_rounds(job, warp, part, look);
}

SIMT_INLINE_FN void look_at_few(const struct few_args *a, const int any, const enum gn_scan_handing handing)
{
	struct few w;

	w.a = a;
	w.graph = gn_scan_reader_init(&a->scan, 0, any);
	w.graph.handing = handing;
	gn_scan_visit_all(&a->scan, &w.graph, &w, wants, list_of, fetch, look_part, look);
	gn_scan_reader_end(&w.graph);
}
GN_SCAN_LISTS_KERNEL(few_lists, look_at_few, struct few_args, GN_SCAN_BY_START)

SIMT_INLINE_FN void look_at_chunks(const struct few_args *a, const int any)
{
	struct few w;

	w.a = a;
	w.graph = gn_scan_reader_init(&a->scan, 0, any);
	gn_scan_visit_chunks(&a->scan, &w, value_of, look_part);
	gn_scan_reader_end(&w.graph);
}
GN_SCAN_KERNEL(few_chunks, look_at_chunks, struct few_args)

static uint32_t looked[FAR_MOST_EDGES], fetched[FAR_MOST_EDGES], asked[VERTICES];

/* Each edge of the vertices with work is looked at once, and no other. */
static void expect_looks(const struct gn_graph *g, uint32_t every)
{
	for (uint64_t v = 0; v < g->vertices; v++) {
		const uint32_t once = v % every == 0;

		assert_int_equal(asked[v], once);
		for (uint64_t k = g->offsets[v]; k < g->offsets[v + 1]; k++)
			assert_int_equal(looked[k], once);
	}
}

/*
 * A launch fetches either nothing of a list, or one edge in each of its first lines. Returns how many lists
 * it fetched edges of.
 */
static uint32_t expect_fetches(const struct gn_graph *g)
{
	uint32_t lists = 0;

	for (uint64_t v = 0; v < g->vertices; v++) {
		const uint64_t begin = g->offsets[v], end = g->offsets[v + 1],
		               behind = begin + GN_SCAN_FETCH_LINES * LINE_EDGES;
		const uint32_t is = begin < end && fetched[begin];

		lists += is;
		for (uint64_t k = begin; k < end; k++)
			assert_int_equal(fetched[k], is && k < behind && (k == begin || k % LINE_EDGES == 0));
	}
	return lists;
}

/* Returns how many lists the launch fetched edges of. */
static uint32_t look_over(struct far_graph *f, const struct gn_graph *g, uint32_t every)
{
	struct gn_scanner s;
	struct few_args a;

	memset(&a, 0, sizeof a);
	memset(looked, 0, sizeof looked);
	memset(fetched, 0, sizeof fetched);
	memset(asked, 0, sizeof asked);
	far_must(gn_scanner_init(&s, &a.scan, f->machine, &f->arrays, "few", &far_error));
	gn_scanner_share_pages(&s, 8); /* two warps, which take many items at once */
	a.every = every;
	a.looked = looked;
	a.fetched = fetched;
	a.asked = asked;
	far_must(gn_scanner_lists(&s, &a.scan, GN_SCAN_LISTS_FOR(&s, few_lists),
	                          GN_SCAN_KERNEL_FOR(&s, few_chunks), gn_scanner_items(&s, GN_SCAN_BY_START),
	                          &far_error));
	expect_looks(g, every);
	gn_scanner_fini(&s, &a.scan);
	return expect_fetches(g);
}

/* Lists of 0 to 44 edges, so that those of every 14th vertex are far apart. The hub's has several chunks. */
static void build_graph(struct gn_graph *g)
{
	begin_list(VERTICES, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < VERTICES; v++)
		for (uint32_t k = 0; k < (v == HUB ? 2500 : v * 13 % 45); k++)
			add_edge(v, k % VERTICES, 0);
	build_rows(g);
}

/* @pages  of the cache that the graph does not fit into; 0: it does */
static void check(unsigned width, uint64_t pages, int far_state, uint32_t chunk)
{
	static const uint32_t everies[] = {1, 3, 14, 90, VERTICES};
	struct gn_graph g;
	struct far_graph f;

	build_graph(&g);
	open_far(&f, &g, width, 512);
	f.arrays.pages = pages;
	if (far_state)
		open_far_state(&f, 4);
	if (chunk)
		balance_far(&f, &g, chunk);
	for (unsigned k = 0; k < sizeof everies / sizeof *everies; k++) {
		const uint32_t lists = look_over(&f, &g, everies[k]);

		if (!pages || width == 1 || everies[k] == 1 || everies[k] == VERTICES)
			assert_int_equal(lists, 0);
		else if (everies[k] == 14 && !chunk)
			assert_true(lists >= VERTICES / 14 / 2);
	}
	close_far(&f);
	gn_graph_fini(&g);
}

static void few_lists_are_each_read_once(void **state)
{
	(void)state;
	for (unsigned width = 1; width <= 32; width *= few_or_all(32, 2))
		check(width, 16, 0, 0);
}

static void what_fits_is_not_fetched(void **state)
{
	(void)state;
	check(32, 0, 0, 0);
}

static void far_state_and_chunks_of_edges(void **state)
{
	(void)state;
	check(32, 16, 1, 0);
	check(32, 16, 0, 64);
	check(8, 16, 1, 512);
}

/* ---- where a long list is cut ---- */

/* Edges of a chunk of a graph that is said to have so many. @pages  0: the cache holds the graph */
static uint32_t chunk_of(const char *kind, uint32_t page_bytes, uint64_t pages, uint64_t edges)
{
	struct gn_scanner s;
	struct gn_scan scan;
	struct far_graph f;
	struct gn_graph g;
	uint32_t chunk;

	build_graph(&g);
	far_kind = kind;
	open_far(&f, &g, 1, page_bytes);
	far_kind = "host";
	f.arrays.pages = pages;
	f.arrays.edges = edges;
	far_must(gn_scanner_init(&s, &scan, f.machine, &f.arrays, "cut", &far_error));
	chunk = scan.chunk_edges;
	assert_true(scan.chunk_capacity >= edges / chunk);
	gn_scanner_fini(&s, &scan);
	close_far(&f);
	gn_graph_fini(&g);
	return chunk;
}

/*
 * After the edges of eight pages where a miss fetches a whole page and pages come again, as long as each of
 * two processors has 64 chunks.
 */
static void a_list_is_cut_behind_whole_pages(void **state)
{
	const uint64_t many = 1 << 24;

	(void)state;
	assert_int_equal(chunk_of("memq", 4096, 16, many), 8 * 1024);
	assert_int_equal(chunk_of("memq", 16384, 16, many), 8 * 4096);
	assert_int_equal(chunk_of("memq", 65536, 16, many), 65536);
	assert_int_equal(chunk_of("memq", 16384, 16, many / 16), many / 16 / 128);
	assert_int_equal(chunk_of("memq", 16384, 16, 10000), GN_SCAN_CHUNK);
	assert_int_equal(chunk_of("memq", 512, 16, many), GN_SCAN_CHUNK);
	assert_int_equal(chunk_of("memq", 16384, 0, many), GN_SCAN_CHUNK);
	assert_int_equal(chunk_of("host", 0, 16, many), GN_SCAN_CHUNK);
	assert_int_equal(chunk_of("host", 16384, 16, many), GN_SCAN_CHUNK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_list_is_cut_behind_whole_pages),
	    cmocka_unit_test(few_lists_are_each_read_once),
	    cmocka_unit_test(what_fits_is_not_fetched),
	    cmocka_unit_test(far_state_and_chunks_of_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
