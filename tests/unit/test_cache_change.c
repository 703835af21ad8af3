/* SPDX-License-Identifier: Apache-2.0 */
/* Elements changed as one step: every change of both sizes, wherever the element is, and what is refused. */
#include "test_cache_support.h"

enum { PAGE = 512, WORDS = PAGE / 8, PAGES = 16, FRAMES = 4 };

enum change_op {
	ADD_U32,
	ADD_U64,
	ADD_F32,
	ADD_F64,
	MIN_U32,
	MIN_U64,
	MAX_U32,
	MAX_U64,
	CAS_U32,
	CAS_U64,
	CHANGES
};

/* A change, and the element's bits before it. */
struct change {
	uint32_t op;
	uint64_t index, first, second;
	uint64_t old;
};

struct change_args {
	struct gn_array array;
	struct change *change;
};

SIMT_FN float f32_of(uint64_t bits)
{
	const uint32_t low = (uint32_t)bits;
	float value;

	memcpy(&value, &low, 4);
	return value;
}

SIMT_FN double f64_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, 8);
	return value;
}

SIMT_FN uint64_t bits_of(double value, uint32_t size)
{
	const float narrow = (float)value;
	uint64_t bits = 0;

	memcpy(&bits, size == 4 ? (const void *)&narrow : (const void *)&value, size);
	return bits;
}

SIMT_FN void do_change(const struct change_args *a)
{
	struct change *c = &a->change[simt_global_thread()];

	switch (c->op) {
	case ADD_U32: c->old = gn_add_u32(&a->array, c->index, (uint32_t)c->first); break;
	case ADD_U64: c->old = gn_add_u64(&a->array, c->index, c->first); break;
	case ADD_F32: c->old = bits_of((double)gn_add_f32(&a->array, c->index, f32_of(c->first)), 4); break;
	case ADD_F64: c->old = bits_of(gn_add_f64(&a->array, c->index, f64_of(c->first)), 8); break;
	case MIN_U32: c->old = gn_min_u32(&a->array, c->index, (uint32_t)c->first); break;
	case MIN_U64: c->old = gn_min_u64(&a->array, c->index, c->first); break;
	case MAX_U32: c->old = gn_max_u32(&a->array, c->index, (uint32_t)c->first); break;
	case MAX_U64: c->old = gn_max_u64(&a->array, c->index, c->first); break;
	case CAS_U32:
		c->old = gn_cas_u32(&a->array, c->index, (uint32_t)c->first, (uint32_t)c->second);
		break;
	default: c->old = gn_cas_u64(&a->array, c->index, c->first, c->second);
	}
}
SIMT_KERNEL(do_change, struct change_args)

static uint32_t size_of(uint32_t op)
{
	return op % 2 ? 8 : 4;
}

/* What an element is to become: written down once more, by hand. */
static uint64_t expected(const struct change *c, uint64_t bits)
{
	switch (c->op) {
	case ADD_U32: return (uint32_t)(bits + c->first);
	case ADD_U64: return bits + c->first;
	case ADD_F32: return bits_of((double)(f32_of(bits) + f32_of(c->first)), 4);
	case ADD_F64: return bits_of(f64_of(bits) + f64_of(c->first), 8);
	case MIN_U32:
	case MIN_U64: return bits < c->first ? bits : c->first;
	case MAX_U32:
	case MAX_U64: return bits > c->first ? bits : c->first;
	default: return bits == c->first ? c->second : bits;
	}
}

static uint64_t change_one(struct cache_test *t, const struct gn_array *array, uint32_t op, uint64_t index,
                           uint64_t first, uint64_t second)
{
	struct change c = {op, index, first, second, 0xdead};
	struct change_args args = {*array, &c};

	run_block(t, &do_change_kernel, 1, &args);
	return c.old;
}

/* ---- every change, on an element that no other change touches ---- */

static void set_bits(struct cache_test *t, uint64_t index, uint32_t size, uint64_t bits)
{
	assert_int_equal(gn_store_write_host(t->store, index * size, &bits, size, &t->error), 0);
}

static uint64_t get_bits(struct cache_test *t, uint64_t index, uint32_t size)
{
	uint64_t bits = 0;

	assert_int_equal(gn_store_read_host(t->store, index * size, &bits, size, &t->error), 0);
	return bits;
}

/*
 * Operands and elements around the borders of the sizes; floats are those bits, or numbers that add exactly.
 */
static const uint64_t bits[][3] = {
    {5, 7, 9},
    {7, 7, 0},
    {0xffffffff, 1, 2},
    {0x80000000, 0x7fffffff, 3},
    {0xffffffffffffffff, 1, 4},
    {0x100000001, 1, 5},
    {1, 0x100000001, 6},
};

static void change_all(struct cache_test *t, enum gn_mode mode, uint64_t page)
{
	enum { KINDS = sizeof bits / sizeof *bits };
	struct change done[CHANGES][KINDS];

	for (uint32_t op = 0; op < CHANGES; op++) {
		const uint32_t size = size_of(op);
		const int is_float = op == ADD_F32 || op == ADD_F64;

		for (uint32_t k = 0; k < KINDS; k++) {
			const uint64_t mask = size == 4 ? 0xffffffff : ~(uint64_t)0;
			const uint64_t at = page * (PAGE / size) + k + (op / 2) * 12;

			done[op][k].op = op;
			/* 8-byte elements two pages further on */
			done[op][k].index = op % 2 ? at + 2 * WORDS : at;
			done[op][k].first =
			    is_float ? bits_of((double)(bits[k][1] & 0xffff) / 4, size) : bits[k][1] & mask;
			done[op][k].second = bits[k][2];
			done[op][k].old =
			    is_float ? bits_of((double)(bits[k][0] & 0xffff), size) : bits[k][0] & mask;
			set_bits(t, done[op][k].index, size, done[op][k].old);
		}
	}
	for (uint32_t op = 0; op < CHANGES; op++) {
		struct gn_array array =
		    make_array(t, mode, t->store, 0, PAGES * PAGE / size_of(op), size_of(op));

		for (uint32_t k = 0; k < KINDS; k++)
			assert_int_equal(change_one(t, &array, op, done[op][k].index, done[op][k].first,
			                            done[op][k].second),
			                 done[op][k].old);
		assert_int_equal(gn_array_failure(&array, &t->error), 0);
		gn_array_destroy(&array, t->machine);
	}
	if (mode == GN_PAGED)
		flush(t);
	for (uint32_t op = 0; op < CHANGES; op++)
		for (uint32_t k = 0; k < KINDS; k++)
			assert_int_equal(get_bits(t, done[op][k].index, size_of(op)),
			                 expected(&done[op][k], done[op][k].old));
}

static const struct fixture {
	uint32_t ways;
	const char *uri;
} fixtures[] = {{0, "host:8K"}, {4, "host:8K"}, {0, "memq:8K"}, {4, "memq:8K"}};

enum { BEDS = sizeof fixtures / sizeof *fixtures };

static void open_fixture(struct cache_test *t, const struct fixture *b, unsigned warp_width)
{
	struct gn_cache_options o = {FRAMES * PAGE, PAGE, GN_CLOCK, b->ways ? GN_TABLE_SETS : GN_TABLE_DIRECT,
	                             b->ways,       0,    1};

	widen(t, warp_width);
	open_store(t, b->uri, NULL);
	fill_store(t, t->store);
	open_cache(t, &o);
	open_words(t);
}

static void every_change_in_a_frame(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int b = 0; b < BEDS; b++) {
		open_fixture(t, &fixtures[b], 1);
		change_all(t, GN_PAGED, 1);
		assert_int_equal(info_of(t).statistics.bypassed, 0);
	}
}

static void every_change_directly(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	open_fixture(t, &fixtures[0], 1);
	change_all(t, GN_DIRECT, 1);
}

/* All frames are held by pages that are not changed. */
static void every_change_around_the_cache(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int b = 0; b < BEDS; b++) {
		open_fixture(t, &fixtures[b], 1);
		for (uint32_t k = 0; k < FRAMES; k++)
			assert_int_equal(hold(t, k, (PAGES - 1 - k) * WORDS, 0), 0);
		change_all(t, GN_PAGED, 1);
		assert_true(info_of(t).statistics.bypassed >= CHANGES);
		for (uint32_t k = 0; k < FRAMES; k++)
			let_go(t, k);
	}
}

/* ---- crowds ---- */

enum { CROWD = 256 };

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Threads add to a few elements: no two get the same number of one. */
static void crowd_counts(struct cache_test *t, uint32_t elements, uint32_t stride)
{
	struct change c[CROWD];
	struct change_args args = {t->array, c};

	for (uint32_t k = 0; k < CROWD; k++) {
		c[k].op = ADD_U64;
		c[k].index = k % elements * stride;
		c[k].first = 1;
	}
	run_block(t, &do_change_kernel, CROWD, &args);
	for (uint32_t e = 0; e < elements; e++) {
		uint64_t old[CROWD];
		uint32_t many = 0;

		for (uint32_t k = e; k < CROWD; k += elements)
			old[many++] = c[k].old - word_of(e * stride);
		qsort(old, many, sizeof *old, by_value);
		for (uint32_t k = 0; k < many; k++)
			assert_int_equal(old[k], k);
	}
	flush(t);
	for (uint32_t e = 0; e < elements; e++)
		assert_int_equal(stored(t, e * stride), word_of(e * stride) + CROWD / elements);
}

static void crowds_lose_no_count(void **state)
{
	static const unsigned widths[] = {1, 8, 32};
	struct cache_test *t = (struct cache_test *)*state;

	for (int b = 0; b < BEDS; b++)
		for (int w = 0; w < 3; w++) {
			open_fixture(t, &fixtures[b], widths[w]);
			crowd_counts(t, 1, 0);
			open_fixture(t, &fixtures[b], widths[w]);
			crowd_counts(t, 8, WORDS + 1); /* twice as many pages as frames */
		}
}

/* ---- refused ---- */

static void refused(struct cache_test *t, const struct gn_array *array, uint32_t op, uint64_t index, int code)
{
	struct gn_array kept = *array;

	assert_int_equal(change_one(t, array, op, index, 1, 2), 0);
	assert_int_equal(gn_array_failure(&kept, &t->error), code);
}

static void what_cannot_be_changed_is_told(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int b = 0; b < BEDS; b++) {
		struct gn_array bytes;

		open_fixture(t, &fixtures[b], 1);
		for (uint32_t op = 0; op < CHANGES; op++) {
			refused(t, &t->array, op, t->array.count, op % 2 ? -GN_ERANGE : -GN_ERANGE);
			if (size_of(op) == 4)
				refused(t, &t->array, op, 3, -GN_EINVAL);
		}
		bytes = make_array(t, GN_PAGED, t->store, 0, 100, 1);
		refused(t, &bytes, ADD_U32, 3, -GN_EINVAL);
		refused(t, &bytes, ADD_U64, 3, -GN_EINVAL);
		gn_array_destroy(&bytes, t->machine);
		flush(t);
		assert_int_equal(info_of(t).statistics.written, 0);
	}
}

static void a_read_only_array_is_not_changed(void **state)
{
	static const char *const uris[] = {"host:8K?ro", "memq:8K?ro"};
	struct cache_test *t = (struct cache_test *)*state;

	for (int k = 0; k < 2; k++) {
		struct gn_cache_options o = {FRAMES * PAGE, PAGE, GN_CLOCK, GN_TABLE_DIRECT, 0, 0, 1};

		close_store(t);
		open_store(t, uris[k], NULL);
		open_cache(t, &o);
		open_words(t);
		for (uint32_t op = 1; op < CHANGES; op += 2)
			refused(t, &t->array, op, 3, -GN_EROFS);
		assert_int_equal(get(t, 3), 0);
	}
	{
		struct gn_array direct;

		close_store(t);
		open_store(t, "host:8K?ro", NULL);
		direct = make_array(t, GN_DIRECT, t->store, 0, 100, 8);
		refused(t, &direct, ADD_U64, 3, -GN_EROFS);
		gn_array_destroy(&direct, t->machine);
	}
}

/* A page that cannot be fetched is not changed. */
static void a_failed_fetch_is_told(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_fault_plan plan;
	struct gn_store_options options;
	struct gn_cache_options o = {FRAMES * PAGE, PAGE, GN_CLOCK, GN_TABLE_DIRECT, 0, 0, 1};

	memset(&plan, 0, sizeof plan);
	plan.seed = 1;
	plan.fail_ppm = 1000000;
	memset(&options, 0, sizeof options);
	options.faults = &plan;
	open_store(t, "memq:8K", &options);
	open_cache(t, &o);
	open_words(t);
	refused(t, &t->array, ADD_U64, 3, -GN_EIO);
	refused(t, &t->array, CAS_U64, 3, -GN_EIO);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(every_change_in_a_frame),        CASE(every_change_directly),
	    CASE(every_change_around_the_cache),  CASE(crowds_lose_no_count),
	    CASE(what_cannot_be_changed_is_told), CASE(a_read_only_array_is_not_changed),
	    CASE(a_failed_fetch_is_told),
	};

	return cmocka_run_group_tests_name("cache: elements changed as one step", tests, NULL, NULL);
}
