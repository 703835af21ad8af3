/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of rows: every way in, over every kind of array, against a copy of what the store should hold.
 */
#include <grapnel/gather.h>

#include "test_cache_support.h"

enum way { HOST, BLOCK, GRID, WAYS };

/* What a trial is made of. */
struct shape {
	const char *store;                 /* URI before its size */
	uint64_t bytes;                    /* of the store */
	uint32_t page_bytes, frames, ways; /* of the cache; ways 0: direct table; frames 0: a direct array */
	uint32_t element_bytes;
	uint32_t elements; /* of a row */
	uint64_t offset;   /* of the array, in elements */
	uint64_t count;    /* rows of the batch */
	uint64_t most;     /* numbers are drawn below this; 0: the rows that there are */
};

struct fixture {
	struct cache_test *t;
	const struct shape *shape;
	struct gn_array array;
	uint64_t array_rows;
	uint32_t row_bytes;
	char *shadow; /* what the array should hold */
	struct gn_batch batch;
	uint64_t seed;
};

static uint64_t draw(struct fixture *b, uint64_t bound)
{
	b->seed = b->seed * 6364136223846793005u + 1442695040888963407u;
	return (b->seed >> 20) % bound;
}

/* ---- the device forms ---- */

struct move_args {
	struct gn_gather_view view;
	struct gn_array array;
	struct gn_batch batch;
	int32_t *rc;
	uint32_t way, is_scatter;
};

SIMT_FN int move_rows(const struct move_args *a)
{
	if (a->way == GRID)
		return a->is_scatter ? gn_scatter_grid(&a->view, &a->array, &a->batch, simt_shared())
		                     : gn_gather_grid(&a->view, &a->array, &a->batch, simt_shared());
	return a->is_scatter ? gn_scatter_block(&a->array, &a->batch, simt_shared())
	                     : gn_gather_block(&a->array, &a->batch, simt_shared());
}

SIMT_FN void move_all(const struct move_args *a)
{
	const int rc = move_rows(a);

	if (rc)
		*a->rc = rc;
}
SIMT_KERNEL(move_all, struct move_args)

static int move_on_device(struct fixture *b, struct gn_gather *g, enum way way, int is_scatter)
{
	struct simt_grid grid = {way == GRID ? 3u : 1u, 64, GN_GATHER_SHARED};
	struct move_args args;
	int rc;

	memset(&args, 0, sizeof args);
	args.view = gn_gather_view_of(g);
	args.array = b->array;
	args.batch = b->batch;
	args.rc = (int32_t *)simt_alloc(b->t->machine, sizeof *args.rc, SIMT_PINNED);
	args.way = way;
	args.is_scatter = (uint32_t)is_scatter;
	assert_int_equal(simt_launch(b->t->machine, &move_all_kernel, grid, &args), 0);
	assert_int_equal(simt_wait(b->t->machine), 0);
	rc = *args.rc;
	simt_free(b->t->machine, args.rc);
	return rc;
}

static int move_batch(struct fixture *b, enum way way, int is_scatter)
{
	struct gn_gather *g;
	int rc;

	assert_int_equal(gn_gather_create(&g, b->t->machine, b->batch.count + 1, &b->t->error), 0);
	if (way == HOST) {
		rc = (is_scatter ? gn_scatter_rows : gn_gather_rows)(g, &b->array, &b->batch, &b->t->error);
		assert_int_equal(simt_wait(b->t->machine), 0);
	} else {
		rc = move_on_device(b, g, way, is_scatter);
	}
	gn_gather_destroy(g);
	return rc;
}

/* ---- set up ---- */

static void open_machine_of(struct cache_test *t, unsigned threads, unsigned width)
{
	simt_free(t->machine, t->held);
	simt_close(t->machine);
	t->machine = open_machine(threads, width);
	t->held = (struct gn_page *)simt_alloc(t->machine, MOST_HELD * sizeof *t->held, SIMT_PINNED);
}

/*
 * Write a third of the elements through the array, so that frames are dirty and some have been written back.
 */
static void make_dirty(struct fixture *b)
{
	const uint32_t size = b->shape->element_bytes;
	const uint64_t writes = b->array.count / 3 < 300 ? b->array.count / 3 : 300;
	struct act *act = (struct act *)calloc(writes + 1, sizeof *act);

	for (uint64_t k = 0; k < writes; k++) {
		act[k].op = ACT_WRITE;
		act[k].index = draw(b, b->array.count);
		act[k].value[0] = draw(b, UINT64_MAX);
		act[k].value[1] = draw(b, UINT64_MAX);
		memcpy(b->shadow + act[k].index * size, act[k].value, size);
	}
	run_acts(b->t, &b->array, act, 1, (uint32_t)writes);
	for (uint64_t k = 0; k < writes; k++)
		assert_int_equal(act[k].rc, 0);
	free(act);
}

static void open_array(struct fixture *b)
{
	const struct shape *s = b->shape;
	struct gn_cache_options o;
	char uri[96];

	memset(&o, 0, sizeof o);
	o.bytes = (uint64_t)s->frames * s->page_bytes;
	o.page_bytes = s->page_bytes;
	o.ways = s->ways ? s->ways : 1;
	o.table = s->ways ? GN_TABLE_SETS : GN_TABLE_DIRECT;
	o.statistics = 1;
	snprintf(uri, sizeof uri, "%s:%llu", s->store, (unsigned long long)s->bytes);
	open_store(b->t, uri, NULL);
	fill_store(b->t, b->t->store);
	if (s->frames)
		open_cache(b->t, &o);
	b->array =
	    make_array(b->t, s->frames ? GN_PAGED : GN_DIRECT, b->t->store, s->offset * s->element_bytes,
	               s->bytes / s->element_bytes - s->offset, s->element_bytes);
	b->row_bytes = s->elements * s->element_bytes;
	b->array_rows = b->array.count / s->elements;
	b->shadow = (char *)calloc(1, s->bytes + 8);
	assert_int_equal(gn_store_read_host(b->t->store, s->offset * s->element_bytes, b->shadow,
	                                    b->array.count * s->element_bytes, &b->t->error),
	                 0);
}

static void open_batch(struct fixture *b)
{
	const uint64_t bytes = b->shape->count * b->row_bytes;
	uint64_t *index =
	    (uint64_t *)simt_alloc(b->t->machine, (b->shape->count + 1) * sizeof *index, SIMT_PINNED);

	for (uint64_t k = 0; k < b->shape->count; k++)
		index[k] = draw(b, b->shape->most ? b->shape->most : b->array_rows);
	b->batch.index = index;
	b->batch.rows = simt_alloc(b->t->machine, bytes + 16, SIMT_PINNED);
	b->batch.count = b->shape->count;
	b->batch.elements = b->shape->elements;
	memset(b->batch.rows, 0xee, bytes);
}

static struct fixture open_fixture(struct cache_test *t, const struct shape *shape, uint64_t seed)
{
	struct fixture b;

	memset(&b, 0, sizeof b);
	b.t = t;
	b.shape = shape;
	b.seed = seed;
	open_array(&b);
	make_dirty(&b);
	open_batch(&b);
	return b;
}

static void close_fixture(struct fixture *b)
{
	simt_free(b->t->machine, (void *)(uintptr_t)b->batch.index);
	simt_free(b->t->machine, b->batch.rows);
	gn_array_destroy(&b->array, b->t->machine);
	free(b->shadow);
	close_store(b->t);
}

/* ---- what should have come of it ---- */

static void check_failure(struct fixture *b)
{
	int beyond = 0;

	for (uint64_t k = 0; k < b->batch.count; k++)
		beyond |= b->batch.index[k] >= b->array_rows;
	assert_int_equal(gn_array_failure(&b->array, &b->t->error), beyond ? -GN_ERANGE : 0);
}

static void check_gathered(struct fixture *b)
{
	char *zero = (char *)calloc(1, b->row_bytes);

	for (uint64_t k = 0; k < b->batch.count; k++) {
		const uint64_t row = b->batch.index[k];
		const char *want = row < b->array_rows ? b->shadow + row * b->row_bytes : zero;

		if (memcmp((char *)b->batch.rows + k * b->row_bytes, want, b->row_bytes))
			fail_msg("place %llu of %llu, row %llu: not its bytes", (unsigned long long)k,
			         (unsigned long long)b->batch.count, (unsigned long long)row);
	}
	free(zero);
}

/* Every element as a scalar read sees it. */
static void check_array(struct fixture *b)
{
	const uint32_t size = b->shape->element_bytes;
	struct act *act = (struct act *)calloc(b->array.count, sizeof *act);

	for (uint64_t k = 0; k < b->array.count; k++) {
		act[k].op = ACT_READ;
		act[k].index = k;
	}
	run_acts(b->t, &b->array, act, 1, (uint32_t)b->array.count);
	for (uint64_t k = 0; k < b->array.count; k++)
		if (act[k].rc || memcmp(act[k].value, b->shadow + k * size, size))
			fail_msg("element %llu: not what was written (%d)", (unsigned long long)k, act[k].rc);
	free(act);
}

static void fill_rows(struct fixture *b)
{
	char *rows = (char *)b->batch.rows;

	for (uint64_t k = 0; k < b->batch.count * b->row_bytes; k++)
		rows[k] = (char)draw(b, 256);
	for (uint64_t k = 0; k < b->batch.count; k++)
		if (b->batch.index[k] < b->array_rows)
			memcpy(b->shadow + b->batch.index[k] * b->row_bytes, rows + k * b->row_bytes,
			       b->row_bytes);
}

static void gather_and_scatter(struct cache_test *t, const struct shape *shape, enum way way, uint64_t seed)
{
	struct fixture b = open_fixture(t, shape, seed);

	assert_int_equal(move_batch(&b, way, 0), 0);
	check_gathered(&b);
	check_failure(&b);
	fill_rows(&b);
	assert_int_equal(move_batch(&b, way, 1), 0);
	check_failure(&b);
	check_array(&b);
	close_fixture(&b);
}

/* ---- trials ---- */

/* Element sizes, row sizes that are no power of two, rows over several pages, bytes that no unit divides. */
static const struct shape shapes[] = {
    {"host", 64 << 10, 512, 16, 0, 4, 1, 0, 3000, 0},
    {"host", 64 << 10, 512, 16, 4, 4, 16, 3, 700, 0},
    {"host", 64 << 10, 512, 8, 2, 8, 3, 1, 500, 40},
    {"host", 64 << 10, 512, 8, 0, 1, 700, 5, 60, 0},
    {"host", 64 << 10, 4096, 4, 0, 16, 64, 1, 100, 70},
    {"host", 128 << 10, 1024, 32, 0, 4, 1024, 0, 50, 33},
    {"host", 64 << 10, 4096, 4, 1, 2, 5, 1, 2500, 100000},
    {"host", 64 << 10, 0, 0, 0, 4, 25, 2, 300, 0},
    {"host", 64 << 10, 0, 0, 0, 8, 64, 0, 4200, 140},
    {"memq", 64 << 10, 512, 16, 0, 8, 8, 0, 400, 0},
    {"memq", 64 << 10, 1024, 8, 2, 4, 31, 7, 200, 600},
    {"memq", 64 << 10, 4096, 4, 0, 4, 1, 0, 900, 0},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void all_shapes(struct cache_test *t, enum way way, unsigned threads, unsigned width)
{
	open_machine_of(t, threads, width);
	for (unsigned k = 0; k < SHAPES; k++)
		gather_and_scatter(t, &shapes[k], way, 1 + k);
}

static void by_the_host(void **state)
{
	all_shapes((struct cache_test *)*state, HOST, 2, 1);
	all_shapes((struct cache_test *)*state, HOST, 2, 32);
}

static void by_a_block(void **state)
{
	all_shapes((struct cache_test *)*state, BLOCK, 1, 1);
	all_shapes((struct cache_test *)*state, BLOCK, 1, 32);
}

static void by_a_grid(void **state)
{
	all_shapes((struct cache_test *)*state, GRID, 1, 1);
	all_shapes((struct cache_test *)*state, GRID, 3, 8);
}

static void random_shapes(void **state)
{
	static const uint32_t sizes[] = {1, 2, 4, 8, 16};
	struct cache_test *t = (struct cache_test *)*state;
	struct fixture b;

	memset(&b, 0, sizeof b);
	b.seed = 4711;
	for (int k = 0; k < 40; k++) {
		struct shape s = {
		    draw(&b, 4) ? "host" : "memq", 32 << 10, 512u << draw(&b, 4), 0, 0, 0, 0, 0, 0, 0};

		s.frames = 4 + (uint32_t)draw(&b, 8);
		s.ways = draw(&b, 2) ? 4 : 0;
		s.element_bytes = sizes[draw(&b, 5)];
		s.offset = draw(&b, 3);
		s.count = 1 + draw(&b, 500);
		s.elements = 1 + (uint32_t)draw(&b, 1u << draw(&b, 9));
		s.most = 1 + draw(&b, 32768 / (s.elements * s.element_bytes) + 2);
		gather_and_scatter(t, &s, (enum way)draw(&b, WAYS), (uint64_t)k);
	}
}

/* More than two tiles, so that parts have several and digits run over their ends. */
static void many_rows(void **state)
{
	static const struct shape large = {"host", 64 << 10, 4096, 8, 0, 4, 1, 0, 10000, 0};
	static const struct shape skewed = {"host", 64 << 10, 4096, 8, 0, 8, 2, 0, 9000, 3};
	struct cache_test *t = (struct cache_test *)*state;

	open_machine_of(t, 2, 1);
	for (int way = 0; way < WAYS; way++) {
		gather_and_scatter(t, &large, (enum way)way, 5);
		gather_and_scatter(t, &skewed, (enum way)way, 6);
	}
}

/* ---- single points ---- */

static const struct shape words = {"host", 64 << 10, 4096, 4, 0, 8, 4, 0, 64, 0};

/*
 * Of the store a row takes its own bytes, not its page. It is loaded once for all its places; by the host on
 * cpu as often as it is wanted, since a sort costs more there.
 */
static void rows_are_read_alone(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct fixture b = open_fixture(t, &words, 9);
	uint64_t *index = (uint64_t *)(uintptr_t)b.batch.index, before, around;
	struct simt_info info;

	simt_describe(t->machine, &info);
	flush(t);
	assert_int_equal(gn_cache_invalidate(t->cache, &t->error), 0);
	before = info_of(t).statistics.fetched;
	for (int k = 0; k < 64; k++)
		index[k] = (uint64_t)(k % 2) * 77;
	b.batch.count = 64;
	for (int way = 0; way < WAYS; way++) {
		around = info_of(t).statistics.bypassed;
		memset(b.batch.rows, 0xee, b.batch.count * b.row_bytes);
		assert_int_equal(move_batch(&b, (enum way)way, 0), 0);
		check_gathered(&b);
		assert_int_equal(info_of(t).statistics.fetched, before);
		assert_int_equal(info_of(t).statistics.bypassed - around,
		                 way == HOST && !info.is_cuda ? 64 : 2);
	}
	close_fixture(&b);
}

/* The last of the batch counts, wherever the others stand. */
static void the_last_of_equals_is_written(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct fixture b = open_fixture(t, &words, 10);
	uint64_t *index = (uint64_t *)(uintptr_t)b.batch.index;

	for (int way = 0; way < WAYS; way++) {
		for (int k = 0; k < 64; k++)
			index[k] =
			    k % 5 == 4 ? UINT64_MAX - (uint64_t)k : b.array_rows - 1 - (uint64_t)(k % 3 == 0);
		fill_rows(&b);
		assert_int_equal(move_batch(&b, (enum way)way, 1), 0);
		check_failure(&b);
		check_array(&b);
	}
	close_fixture(&b);
}

/*
 * Rows that cover sectors are written without their page; a gather finds them there, and what was not
 * written.
 */
static void rows_of_pages_that_are_there_in_parts(void **state)
{
	static const struct shape sectors[] = {{"host", 64 << 10, 4096, 8, 0, 8, 64, 0, 8, 0},
	                                       {"memq", 64 << 10, 4096, 8, 4, 8, 64, 0, 8, 0}};
	struct cache_test *t = (struct cache_test *)*state;

	for (int k = 0; k < 2; k++)
		for (int way = 0; way < WAYS; way++) {
			struct fixture b = open_fixture(t, &sectors[k], 15);
			uint64_t *index = (uint64_t *)(uintptr_t)b.batch.index, before;

			flush(t);
			assert_int_equal(gn_cache_invalidate(t->cache, &t->error), 0);
			for (uint64_t n = 0; n < 8; n++)
				index[n] = n * 15 + n % 3;
			before = info_of(t).statistics.fetched;
			fill_rows(&b);
			assert_int_equal(move_batch(&b, (enum way)way, 1), 0);
			assert_int_equal(info_of(t).statistics.fetched, before);
			for (uint64_t n = 0; n < 8; n++)
				index[n] += n % 2;
			assert_int_equal(move_batch(&b, (enum way)way, 0), 0);
			check_gathered(&b);
			check_array(&b);
			close_fixture(&b);
		}
}

static void nothing_is_a_batch(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct fixture b = open_fixture(t, &words, 11);

	b.batch.count = 0;
	for (int way = 0; way < WAYS; way++) {
		assert_int_equal(move_batch(&b, (enum way)way, 0), 0);
		assert_int_equal(move_batch(&b, (enum way)way, 1), 0);
	}
	check_array(&b);
	close_fixture(&b);
}

/* An array with less than a row has none. */
static void no_row_is_in_range(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct shape s = words;
	struct fixture b = open_fixture(t, &s, 12);

	b.array.count = 3;
	b.array_rows = 0;
	for (int way = 0; way < WAYS; way++) {
		memset(b.batch.rows, 0xee, b.batch.count * b.row_bytes);
		assert_int_equal(move_batch(&b, (enum way)way, 0), 0);
		check_gathered(&b);
		check_failure(&b);
	}
	close_fixture(&b);
}

static void refuses_what_is_no_batch(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct fixture b = open_fixture(t, &words, 13);
	struct gn_gather *g = NULL;

	assert_int_equal(gn_gather_create(&g, t->machine, 0, &t->error), -GN_EINVAL);
	assert_int_equal(gn_gather_create(&g, t->machine, 1ull << 32, &t->error), -GN_EINVAL);
	assert_null(g);
	assert_int_equal(gn_gather_create(&g, t->machine, 63, &t->error), 0);
	assert_int_equal(gn_gather_rows(g, &b.array, &b.batch, &t->error), -GN_EFBIG);
	assert_says(&t->error, "a batch of 64 rows");
	gn_gather_destroy(g);
	for (int way = 0; way < WAYS; way++) {
		b.batch.elements = 0;
		assert_int_equal(move_batch(&b, (enum way)way, 0), -GN_EINVAL);
		b.batch.elements = (1u << 27) + 1;
		assert_int_equal(move_batch(&b, (enum way)way, 0), -GN_EINVAL);
		b.batch.elements = 4;
		b.batch.rows = (char *)b.batch.rows + 4;
		assert_int_equal(move_batch(&b, (enum way)way, 1), -GN_EINVAL);
		b.batch.rows = (char *)b.batch.rows - 4;
		b.array.read_only = 1;
		assert_int_equal(move_batch(&b, (enum way)way, 1), -GN_EROFS);
		b.array.read_only = 0;
	}
	gn_array_failure(&b.array, &t->error);
	check_array(&b);
	close_fixture(&b);
}

/* ---- on a stream ---- */

struct gate {
	uint32_t entered, open;
};

struct gate_args {
	struct gate *gate;
};

/* Until the gate is open, or for half a minute: a test that fails before it opens the gate ends, too. */
SIMT_FN void stand_at_gate(const struct gate_args *a)
{
	const uint64_t until = simt_clock_ns() + 30000000000ull;

	simt_store_release_sys_u32(&a->gate->entered, 1);
	while (!simt_load_acquire_sys_u32(&a->gate->open) && simt_clock_ns() < until)
		simt_relax();
}
SIMT_KERNEL(stand_at_gate, struct gate_args)

struct next_args {
	uint64_t *index;
	uint64_t count, rows;
};

/* Every number becomes that of the row behind. */
SIMT_FN void take_next_rows(const struct next_args *a)
{
	for (uint64_t k = simt_global_thread(); k < a->count; k += simt_global_threads())
		a->index[k] = (a->index[k] + 1) % a->rows;
}
SIMT_KERNEL(take_next_rows, struct next_args)

/* Gather, take other indices, and gather again, without a wait and with one workspace. */
static void gather_twice_on(struct fixture *b, struct simt_stream *stream, struct gn_gather *g, void *first,
                            void *second)
{
	const struct next_args next = {(uint64_t *)(uintptr_t)b->batch.index, b->batch.count, b->array_rows};
	const struct simt_grid grid = {2, 8, 0};

	b->batch.rows = first;
	assert_int_equal(gn_gather_rows_on(g, stream, &b->array, &b->batch, &b->t->error), 0);
	assert_int_equal(simt_launch_on(stream, &take_next_rows_kernel, grid, &next), 0);
	b->batch.rows = second;
	assert_int_equal(gn_gather_rows_on(g, stream, &b->array, &b->batch, &b->t->error), 0);
	assert_int_equal(simt_stream_wait(stream), 0);
}

/* What is on a stream runs in order, and does not wait for what the machine's own stream has to do. */
static void batches_on_a_stream(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct simt_grid one = {1, 1, 0};
	struct simt_stream *stream;
	struct gate_args standing;
	struct gn_gather *g;
	struct fixture b;
	void *rows;

	open_machine_of(t, 2, 4);
	b = open_fixture(t, &words, 14);
	rows = simt_alloc(t->machine, b.batch.count * b.row_bytes, SIMT_PINNED);
	standing.gate = (struct gate *)simt_alloc(t->machine, sizeof *standing.gate, SIMT_PINNED);
	assert_int_equal(gn_gather_create(&g, t->machine, b.batch.count, &t->error), 0);
	assert_int_equal(simt_stream_create(&stream, t->machine, &t->error), 0);
	/* Its first launch is beside a kernel that runs. */
	assert_int_equal(simt_prepare(t->machine, &take_next_rows_kernel), 0);
	assert_int_equal(simt_launch(t->machine, &stand_at_gate_kernel, one, &standing), 0);
	while (!simt_load_acquire_sys_u32(&standing.gate->entered))
		simt_relax();
	gather_twice_on(&b, stream, g, rows, b.batch.rows);
	check_gathered(&b); /* the second: by the indices as they are now */
	for (uint64_t k = 0; k < b.batch.count; k++) {
		const uint64_t before = (b.batch.index[k] + b.array_rows - 1) % b.array_rows;

		assert_memory_equal((char *)rows + k * b.row_bytes, b.shadow + before * b.row_bytes,
		                    b.row_bytes);
	}
	fill_rows(&b);
	assert_int_equal(gn_scatter_rows_on(g, stream, &b.array, &b.batch, &t->error), 0);
	assert_int_equal(simt_stream_wait(stream), 0);
	simt_store_release_sys_u32(&standing.gate->open, 1);
	assert_int_equal(simt_wait(t->machine), 0);
	check_array(&b);
	simt_stream_destroy(stream);
	gn_gather_destroy(g);
	simt_free(t->machine, standing.gate);
	simt_free(t->machine, rows);
	close_fixture(&b);
}

static void refuses_the_stream_of_another_machine(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct simt_options options = {"cpu", 1, 1, SIMT_FAIR, 0};
	struct fixture b = open_fixture(t, &words, 15);
	struct simt_machine *other;
	struct simt_stream *stream;
	struct gn_gather *g;

	assert_int_equal(simt_open(&other, &options, &t->error), 0);
	assert_int_equal(simt_stream_create(&stream, other, &t->error), 0);
	assert_int_equal(gn_gather_create(&g, t->machine, b.batch.count, &t->error), 0);
	assert_int_equal(gn_gather_rows_on(g, stream, &b.array, &b.batch, &t->error), -GN_EINVAL);
	assert_says(&t->error, "another machine");
	assert_int_equal(gn_scatter_rows_on(g, stream, &b.array, &b.batch, &t->error), -GN_EINVAL);
	gn_gather_destroy(g);
	simt_stream_destroy(stream);
	simt_close(other);
	check_array(&b);
	close_fixture(&b);
}

/* Where every frame is pinned rows go around the cache, in both directions. */
static void around_a_cache_that_is_pinned(void **state)
{
	static const struct shape few[] = {{"host", 64 << 10, 4096, 2, 0, 8, 4, 0, 100, 0},
	                                   {"memq", 64 << 10, 4096, 2, 2, 8, 4, 0, 100, 0}};
	struct cache_test *t = (struct cache_test *)*state;

	for (int k = 0; k < 2; k++) {
		struct fixture b = open_fixture(t, &few[k], 14);

		assert_int_equal(act_one(t, &b.array, ACT_ACQUIRE, 0, 0, 0).rc, 0);
		assert_int_equal(act_one(t, &b.array, ACT_ACQUIRE, 1, 4000, 0).rc, 0);
		assert_int_equal(move_batch(&b, HOST, 0), 0);
		check_gathered(&b);
		fill_rows(&b);
		assert_int_equal(move_batch(&b, HOST, 1), 0);
		check_failure(&b);
		check_array(&b);
		act_one(t, &b.array, ACT_RELEASE, 0, 0, 0);
		act_one(t, &b.array, ACT_RELEASE, 1, 0, 0);
		close_fixture(&b);
	}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(by_the_host),
	    CASE(by_a_block),
	    CASE(by_a_grid),
	    CASE(random_shapes),
	    CASE(many_rows),
	    CASE(rows_are_read_alone),
	    CASE(the_last_of_equals_is_written),
	    CASE(rows_of_pages_that_are_there_in_parts),
	    CASE(nothing_is_a_batch),
	    CASE(no_row_is_in_range),
	    CASE(refuses_what_is_no_batch),
	    CASE(around_a_cache_that_is_pinned),
	    CASE(batches_on_a_stream),
	    CASE(refuses_the_stream_of_another_machine),
	};

	return cmocka_run_group_tests_name("array: gather", tests, NULL, NULL);
}
