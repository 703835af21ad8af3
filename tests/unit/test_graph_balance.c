/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Balanced CSR: the list of start vertices against its definition, of graphs whose borders fall on every kind
 * of list; and that launches by chunks look at every edge once, under its vertex, and at no more than they
 * should in one go.
 */
#include "graph/scan_visit.h"

#include "far_graph.h"

enum { MOST_VERTICES = 9000 };

/* ---- the list ---- */

/* The definition: the first vertex whose list begins at the chunk's border or behind it. */
static uint64_t start_of(const uint64_t *offsets, uint64_t vertices, uint64_t border)
{
	uint64_t v = 0;

	while (v < vertices && offsets[v] < border)
		v++;
	return v;
}

/* Offsets that are added in pieces, however they fall. */
static void add_offsets(struct gn_balance *b, const uint64_t *offsets, uint64_t vertices, uint64_t piece)
{
	for (uint64_t k = 0; k < vertices; k += piece)
		far_must(gn_balance_take(b, offsets + k, k, vertices - k < piece ? vertices - k : piece,
		                         &far_error));
}

static void check_starts(const uint64_t *offsets, uint64_t vertices, uint32_t chunk)
{
	const uint64_t edges = offsets[vertices], chunks = (edges + chunk - 1) / chunk;
	uint64_t longest = 0, widest = 0;
	struct gn_balance b;

	far_must(gn_balance_begin(&b, vertices, edges, chunk, &far_error));
	add_offsets(&b, offsets, vertices, chunk % 7 + 1);
	assert_int_equal(b.chunks, chunks);
	for (uint64_t k = 0; k <= chunks; k++) {
		const uint64_t border = k < chunks ? k * chunk : edges,
		               want = start_of(offsets, vertices, border);

		assert_int_equal(b.start[k], want);
		if (k && b.start[k] - b.start[k - 1] > widest)
			widest = b.start[k] - b.start[k - 1];
	}
	for (uint64_t v = 0; v < vertices; v++)
		longest = offsets[v + 1] - offsets[v] > longest ? offsets[v + 1] - offsets[v] : longest;
	assert_int_equal(b.longest, longest);
	assert_int_equal(b.widest, widest);
	gn_balance_fini(&b);
}

static void check_degrees(const uint64_t *degree, uint64_t vertices)
{
	uint64_t *offsets = (uint64_t *)calloc(vertices + 1, sizeof *offsets);

	for (uint64_t v = 0; v < vertices; v++)
		offsets[v + 1] = offsets[v] + degree[v];
	for (uint32_t chunk = 1; chunk <= 64; chunk *= 2)
		check_starts(offsets, vertices, chunk);
	free(offsets);
}

static void starts_are_as_defined(void **state)
{
	static const uint64_t nothing[] = {0, 0, 0}, one[] = {1}, small[] = {3, 0, 2},
	                      span[] = {5, 200, 0, 1},                     /* a list over many chunks */
	    at_borders[] = {16, 0, 0, 16, 0, 32, 0, 0, 64, 0},             /* empty lists where chunks end */
	    before[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 7},                     /* no edge at first */
	    behind[] = {64, 0, 0, 0, 0, 0, 0, 0, 0, 0},                    /* and none at last */
	    amid[] = {3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 61}; /* a gap in a chunk */

	(void)state;
	check_degrees(nothing, 3);
	check_degrees(one, 1);
	check_degrees(small, 3);
	check_degrees(span, 4);
	check_degrees(at_borders, 10);
	check_degrees(before, 10);
	check_degrees(behind, 10);
	check_degrees(amid, 17);
}

static void starts_of_random_lists(void **state)
{
	uint64_t degree[300];

	(void)state;
	for (unsigned round = 0; round < 50; round++) {
		for (unsigned v = 0; v < 300; v++) {
			const uint64_t x = draw_number();

			degree[v] = x & 3 ? x >> 32 & 7 : x & 60 ? 0 : x >> 32 & 511;
		}
		check_degrees(degree, 1 + round * 6 % 300);
	}
}

/* Numbers above 2^32, without the edges. */
static void more_edges_than_32_bits_count(void **state)
{
	const uint64_t giga = UINT64_C(1) << 30;
	const uint64_t offsets[] = {0,           3, 5 * giga + 1, 5 * giga + 1, 5 * giga + 2, 9 * giga + 7,
	                            9 * giga + 7};
	const struct gn_scan_edges hub = {3, 5 * giga + 1}, high = {5 * giga + 1, 9 * giga};
	struct gn_scan_edges part;
	struct gn_scan scan;
	struct gn_scan_reader r;

	(void)state;
	check_starts(offsets, 6, 1 << 20);
	memset(&scan, 0, sizeof scan);
	memset(&r, 0, sizeof r);
	r.scan = &scan;
	scan.chunk_edges = 1024;
	scan.graph.start_edges = 1024;
	scan.graph.edges = 5 * giga + 1;
	r.window = gn_scan_chunk_edges(&scan.graph, 4 * giga / 1024 + 1);
	assert_int_equal(r.window.begin, 4 * giga + 1024);
	assert_int_equal(r.window.end, 4 * giga + 2048);
	part = gn_scan_within_chunk(&r, hub);
	assert_int_equal(part.begin, 4 * giga + 1024);
	assert_int_equal(part.end, 4 * giga + 2048);
	r.window = gn_scan_chunk_edges(&scan.graph, 5 * giga / 1024);
	assert_int_equal(r.window.end - r.window.begin, 1);
	/* the rest of a long list begins at a border where there are chunks */
	assert_int_equal(gn_scan_cut(&r, high), 5 * giga + 1025);
	scan.graph.starts = (uint32_t *)&scan;
	assert_int_equal(gn_scan_cut(&r, high), 5 * giga + 1024);
}

static void expect_damaged(const uint64_t *offsets, uint64_t vertices, uint64_t edges, const char *words)
{
	struct gn_balance b;

	far_must(gn_balance_begin(&b, vertices, edges, 4, &far_error));
	assert_int_equal(gn_balance_add(&b, offsets, vertices + 1, &far_error), -GN_EBADMSG);
	expect_words(words);
	gn_balance_fini(&b);
}

static void damaged_offsets_are_refused(void **state)
{
	const uint64_t first[] = {1, 2, 3}, falls[] = {0, 7, 5, 9}, far[] = {0, 12, 9}, less[] = {0, 3, 8},
	               sound[] = {0, 3, 9};
	struct gn_balance b;

	(void)state;
	expect_damaged(first, 2, 3, "vertex 0 decrease");
	expect_damaged(falls, 3, 9, "vertex 1 decrease");
	expect_damaged(far, 2, 9, "vertex 0 decrease");
	expect_damaged(less, 2, 9, "vertex 1 decrease");
	far_must(gn_balance_begin(&b, 2, 9, 4, &far_error));
	far_must(gn_balance_add(&b, sound, 3, &far_error));
	assert_int_equal(gn_balance_add(&b, sound + 2, 1, &far_error), -GN_EBADMSG);
	gn_balance_fini(&b);
}

/* A list of 16 chunks is skewed; 16385 vertices that begin in one chunk are too many. */
static void what_suits_a_graph(void **state)
{
	static uint64_t offsets[GN_BALANCE_RANGE + 3];
	struct gn_balance b;

	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		const uint64_t vertices = GN_BALANCE_RANGE + 1 + more;

		/* the first has a list of 63 or 64 edges, and the last one; between them none has */
		for (uint64_t v = 1; v <= vertices; v++)
			offsets[v] = 63 + more + (v == vertices);
		far_must(gn_balance_begin(&b, vertices, offsets[vertices], 128, &far_error));
		far_must(gn_balance_add(&b, offsets, vertices + 1, &far_error));
		assert_int_equal(b.widest, vertices);
		assert_false(gn_balance_fits(&b));
		gn_balance_fini(&b);
		far_must(gn_balance_begin(&b, vertices, offsets[vertices], 4, &far_error));
		far_must(gn_balance_add(&b, offsets, vertices + 1, &far_error));
		assert_int_equal(gn_balance_is_skewed(&b), more);
		assert_int_equal(gn_balance_fits(&b), !more);
		gn_balance_fini(&b);
	}
	offsets[0] = 0;
	offsets[1] = 0;
	far_must(gn_balance_begin(&b, 1, 0, 4, &far_error));
	far_must(gn_balance_add(&b, offsets, 2, &far_error));
	assert_false(gn_balance_fits(&b));
	gn_balance_fini(&b);
}

/* ---- launches ---- */

struct look_args {
	struct gn_scan scan;
	uint32_t *edge;   /* [edges]: looks at each */
	uint32_t *vertex; /* [vertices]: how often its list was asked for */
	uint32_t *wrong;  /* edges that were not of their vertex, or not of the chunk at hand */
};

struct looker {
	const struct look_args *a;
	struct gn_scan_reader graph;
};

SIMT_INLINE_FN struct gn_scan_part list_of(void *job, uint64_t item)
{
	struct looker *l = (struct looker *)job;
	const uint32_t vertex = (uint32_t)item;
	const struct gn_scan_part part = {
	    gn_scan_first_chunk(&l->graph, vertex, gn_scan_list(&l->graph, vertex)), vertex, vertex ^ 7};

	simt_reduce_add_relaxed_dev_u32(&l->a->vertex[vertex], 1);
	return part;
}

SIMT_FN uint32_t value_of(void *job, uint32_t vertex)
{
	(void)job;
	return vertex ^ 7;
}

SIMT_FN int is_of(const struct looker *l, const struct gn_scan_edge *e)
{
	const struct gn_scan_edges own = gn_scan_list(&l->graph, e->vertex);

	return e->edge >= own.begin && e->edge < own.end && e->value == (e->vertex ^ 7);
}

SIMT_FN void look(void *job, uint32_t warp, struct gn_scan_edge mine)
{
	struct looker *l = (struct looker *)job;
	const struct gn_scan_edges *w = &l->graph.window;
	const int chunked = l->graph.handing != GN_SCAN_BY_VERTEX;
	const uint64_t more = l->graph.handing == GN_SCAN_BY_START ? l->a->scan.chunk_edges - 1 : 0;

	(void)warp;
	if (!mine.is)
		return;
	if (!is_of(l, &mine) || (chunked && (mine.edge < w->begin || mine.edge >= w->end + more)))
		simt_reduce_add_relaxed_dev_u32(l->a->wrong, 1);
	simt_reduce_add_relaxed_dev_u32(&l->a->edge[mine.edge], 1);
}

SIMT_INLINE_FN void look_part(void *job, uint32_t warp, struct gn_scan_part part)
{
	const struct looker *l = (const struct looker *)job;

	if (part.edges.end - part.edges.begin > l->a->scan.chunk_edges)
		simt_reduce_add_relaxed_dev_u32(l->a->wrong, 1);
	gn_scan_rounds(job, warp, part, look);
}

SIMT_INLINE_FN void look_at_all(const struct look_args *a, const int any, const enum gn_scan_handing handing)
{
	struct looker l;

	l.a = a;
	l.graph = gn_scan_reader_init(&a->scan, 0, any);
	l.graph.handing = handing;
	gn_scan_visit_all(&a->scan, &l.graph, &l, gn_scan_always, list_of, NULL, look_part, look);
	gn_scan_reader_end(&l.graph);
}
GN_SCAN_LISTS_KERNEL(look_by_chunk, look_at_all, struct look_args, GN_SCAN_BY_CHUNK)
GN_SCAN_LISTS_KERNEL(look_by_start, look_at_all, struct look_args, GN_SCAN_BY_START)

/* What was put aside lies in one chunk each. */
SIMT_INLINE_FN void look_chunk(void *job, uint32_t warp, struct gn_scan_part part)
{
	const struct looker *l = (const struct looker *)job;
	const uint64_t chunk = l->a->scan.chunk_edges;

	if (part.edges.begin / chunk != (part.edges.end - 1) / chunk)
		simt_reduce_add_relaxed_dev_u32(l->a->wrong, 1);
	gn_scan_rounds(job, warp, part, look);
}

SIMT_INLINE_FN void look_at_chunks(const struct look_args *a, const int any)
{
	struct looker l;

	l.a = a;
	l.graph = gn_scan_reader_init(&a->scan, 0, any);
	gn_scan_visit_chunks(&a->scan, &l, value_of, look_chunk);
	gn_scan_reader_end(&l.graph);
}
GN_SCAN_KERNEL(look_chunks, look_at_chunks, struct look_args)

static uint32_t edge[FAR_MOST_EDGES], vertex[MOST_VERTICES], wrong;

/* How many chunks a vertex is looked at in: those with a part of its list, and perhaps the one behind. */
static void expect_looks(const struct gn_graph *g, uint64_t v, uint64_t chunk, enum gn_scan_handing handing)
{
	const uint64_t begin = g->offsets[v], end = g->offsets[v + 1];
	const uint64_t parts = begin < end ? (end - 1) / chunk - begin / chunk + 1 : 0;

	if (handing == GN_SCAN_BY_CHUNK)
		assert_true(vertex[v] >= parts && vertex[v] <= (parts ? parts + 1 : 1));
	else
		assert_int_equal(vertex[v], 1);
}

static void look_over(struct far_graph *f, const struct gn_graph *g, uint64_t chunk,
                      enum gn_scan_handing handing)
{
	struct gn_scanner s;
	struct look_args a;

	memset(&a, 0, sizeof a);
	memset(edge, 0, sizeof edge);
	memset(vertex, 0, sizeof vertex);
	wrong = 0;
	far_must(gn_scanner_init(&s, &a.scan, f->machine, &f->arrays, "look", &far_error));
	a.edge = edge;
	a.vertex = vertex;
	a.wrong = &wrong;
	far_must(gn_scanner_lists(&s, &a.scan,
	                          handing == GN_SCAN_BY_CHUNK ? GN_SCAN_LISTS_FOR(&s, look_by_chunk)
	                                                      : GN_SCAN_LISTS_FOR(&s, look_by_start),
	                          GN_SCAN_KERNEL_FOR(&s, look_chunks), gn_scanner_items(&s, handing),
	                          &far_error));
	assert_int_equal(wrong, 0);
	assert_int_equal(s.shared.edges, g->edges);
	if (handing == GN_SCAN_BY_CHUNK)
		assert_int_equal(s.shared.chunk_count, 0);
	for (uint64_t k = 0; k < g->edges; k++)
		assert_int_equal(edge[k], 1);
	for (uint64_t v = 0; v < g->vertices; v++)
		expect_looks(g, v, chunk, handing);
	gn_scanner_fini(&s, &a.scan);
}

/* The graph of the list, by chunks of every kind of size: less than a warp, and more than the graph. */
static void check_launches(void)
{
	static const uint32_t chunks[] = {1, 16, 64, 1024, 1 << 20};
	struct gn_graph g;

	build_rows(&g);
	for (unsigned c = 0; c < sizeof chunks / sizeof *chunks; c += few_or_all(2, 1))
		for (unsigned k = few_or_all(1, 0); k < 3; k++) {
			struct far_graph f;

			open_far(&f, &g, k == 0 ? 1 : k == 1 ? 32 : 8, 512);
			if (k == 2)
				open_far_state(&f, 4);
			balance_far(&f, &g, chunks[c]);
			look_over(&f, &g, chunks[c], GN_SCAN_BY_CHUNK);
			look_over(&f, &g, chunks[c], GN_SCAN_BY_START);
			close_far(&f);
		}
	gn_graph_fini(&g);
}

/* One vertex has all edges. */
static void a_star(void **state)
{
	(void)state;
	begin_list(FAR_STAR + 1, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < FAR_STAR; v++)
		add_edge(700, v, 0);
	check_launches();
}

static void a_path(void **state)
{
	const uint32_t length = getenv("GN_TEST_VALGRIND") ? 40 : 2000;

	(void)state;
	begin_list(length, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v + 1 < length; v++)
		add_both(v, v + 1, 0);
	check_launches();
}

static void a_grid(void **state)
{
	(void)state;
	begin_list(40 * 40, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v < 40 * 40; v++) {
		if (v % 40 < 39)
			add_both(v, v + 1, 0);
		if (v < 39 * 40)
			add_both(v, v + 40, 0);
	}
	check_launches();
}

/* Long lists, and stretches of vertices without edges before, between and behind them. */
static void lists_far_apart(void **state)
{
	(void)state;
	begin_list(MOST_VERTICES, GN_WEIGHT_NONE);
	for (uint32_t v = 1000; v < 6000; v += 1250)
		for (uint32_t k = 0; k < v / 4; k++)
			add_edge(v, (v + k) % MOST_VERTICES, 0);
	for (uint32_t k = 0; k < 64; k++)
		add_edge(4, k, 0);
	check_launches();
}

static void random_lists(void **state)
{
	(void)state;
	begin_list(700, GN_WEIGHT_NONE);
	for (uint32_t k = 0; k < 9000; k++) {
		const uint64_t x = draw_number(), y = draw_number();

		add_edge((uint32_t)(x % 700 * (y % 700) / 700), (uint32_t)(x >> 40) % 700, 0);
	}
	check_launches();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(starts_are_as_defined),
	    cmocka_unit_test(starts_of_random_lists),
	    cmocka_unit_test(more_edges_than_32_bits_count),
	    cmocka_unit_test(damaged_offsets_are_refused),
	    cmocka_unit_test(what_suits_a_graph),
	    cmocka_unit_test(a_star),
	    cmocka_unit_test(a_path),
	    cmocka_unit_test(a_grid),
	    cmocka_unit_test(lists_far_apart),
	    cmocka_unit_test(random_lists),
	};

	few_cases("a_path");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
