/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of rows, single points: what is read and written, what is refused, and batches on a stream. */
#include "test_gather_support.h"

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
	for (int way = info.is_cuda ? BLOCK : HOST; way < FEW; way++) { /* few rows on a GPU fill the cache */
		around = info_of(t).statistics.bypassed;
		memset(b.batch.rows, 0xee, b.batch.count * b.row_bytes);
		assert_int_equal(move_batch(&b, (enum way)way, 0), 0);
		check_gathered(&b);
		assert_int_equal(info_of(t).statistics.fetched, before);
		assert_int_equal(info_of(t).statistics.bypassed - around, way == HOST ? 64 : 2);
	}
	close_fixture(&b);
}

/* Fetches of a batch of few rows. */
static uint64_t fetched_by(struct fixture *b)
{
	const uint64_t before = info_of(b->t).statistics.fetched;

	memset(b->batch.rows, 0xee, b->batch.count * b->row_bytes);
	assert_int_equal(move_batch(b, FEW, 0), 0);
	check_gathered(b);
	return info_of(b->t).statistics.fetched - before;
}

/* While frames are free every batch of few rows fills them. Then one of several brings pages in. */
static void few_rows_come_in_by_turns(void **state)
{
	static const struct shape few = {"host", 64 << 10, 512, 16, 0, 8, 16, 0, 8, 0};
	struct cache_test *t = (struct cache_test *)*state;
	struct fixture b = {.t = t, .shape = &few, .seed = 16};
	uint32_t round, brought = 0;
	uint64_t *index;

	open_array(&b);
	open_batch(&b);
	index = (uint64_t *)(uintptr_t)b.batch.index;
	for (round = 0; round < 200 || !brought; round++) {
		for (uint64_t k = 0; k < 8; k++)
			index[k] =
			    ((round * 8 + k) * 4 + k % 4) % b.array_rows; /* each on a page of its own */
		if (round < 2)
			assert_int_equal(fetched_by(&b), 8);
		else
			brought += fetched_by(&b) != 0;
	}
	assert_in_range(brought, 1, round / 4); /* a 16th is expected */
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
 * A scatter writes whole sectors of pages that are not in the cache. A gather then finds the new rows there,
 * and the store's old rows in the sectors beside them.
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
	for (int way = 0; way < FEW; way++) { /* FEW is the host's, who has checked */
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
	assert_int_equal(simt_launch_on(stream, &take_next_rows_kernel, grid, &next, &b->t->error), 0);
	b->batch.rows = second;
	assert_int_equal(gn_gather_rows_on(g, stream, &b->array, &b->batch, &b->t->error), 0);
	assert_int_equal(simt_stream_wait(stream, &b->t->error), 0);
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
	rows = simt_alloc(t->machine, b.batch.count * b.row_bytes, SIMT_PINNED, &t->error);
	standing.gate = (struct gate *)simt_alloc(t->machine, sizeof *standing.gate, SIMT_PINNED, &t->error);
	assert_int_equal(gn_gather_create(&g, t->machine, b.batch.count, &t->error), 0);
	assert_int_equal(simt_stream_create(&stream, t->machine, &t->error), 0);
	/* Its first launch is beside a kernel that runs. */
	assert_int_equal(simt_prepare(t->machine, &take_next_rows_kernel, &t->error), 0);
	assert_int_equal(simt_launch(t->machine, &stand_at_gate_kernel, one, &standing, &t->error), 0);
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
	assert_int_equal(simt_stream_wait(stream, &t->error), 0);
	simt_store_release_sys_u32(&standing.gate->open, 1);
	assert_int_equal(simt_wait(t->machine, &t->error), 0);
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
	    CASE(rows_are_read_alone),
	    CASE(few_rows_come_in_by_turns),
	    CASE(the_last_of_equals_is_written),
	    CASE(rows_of_pages_that_are_there_in_parts),
	    CASE(nothing_is_a_batch),
	    CASE(no_row_is_in_range),
	    CASE(refuses_what_is_no_batch),
	    CASE(around_a_cache_that_is_pinned),
	    CASE(batches_on_a_stream),
	    CASE(refuses_the_stream_of_another_machine),
	};

	return cmocka_run_group_tests_name("array: gather, points", tests, NULL, NULL);
}
