/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements of every type and size, in arrays that begin and end anywhere, by value and by status, through the
 * cache and directly; what fails, fails as the header says.
 */
#include "test_cache_support.h"

enum { PAGE = 512 };

static uint64_t bits_of(uint64_t k)
{
	return (k + 1) * 0xd1342543de82ef95u;
}

/* ---- every type ---- */

enum type { U8, U16, U32, U64, I8, I16, I32, I64, F32, F64, TYPES };

static const uint32_t type_bytes[TYPES] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};

struct type_args {
	struct gn_array array;
	uint32_t *wrong;
	uint32_t type, mixed; /* read by the status form what was written by the value form */
};

SIMT_FN uint64_t kernel_bits(uint64_t k)
{
	return (k + 1) * 0xd1342543de82ef95u;
}

/* A number that is exact in both float types. */
SIMT_FN double kernel_number(uint64_t k)
{
	return (double)(int32_t)(kernel_bits(k) >> 45) / 16 - 1000;
}

SIMT_FN int write_typed(const struct type_args *t, uint64_t k)
{
	const struct gn_array *a = &t->array;

	switch (t->type) {
	case U8: return gn_write_u8(a, k, (uint8_t)kernel_bits(k));
	case U16: return gn_write_u16(a, k, (uint16_t)kernel_bits(k));
	case U32: return gn_write_u32(a, k, (uint32_t)kernel_bits(k));
	case U64: return gn_write_u64(a, k, kernel_bits(k));
	case I8: return gn_write_i8(a, k, (int8_t)kernel_bits(k));
	case I16: return gn_write_i16(a, k, (int16_t)kernel_bits(k));
	case I32: return gn_write_i32(a, k, (int32_t)kernel_bits(k));
	case I64: return gn_write_i64(a, k, (int64_t)kernel_bits(k));
	case F32: return gn_write_f32(a, k, (float)kernel_number(k));
	default: return gn_write_f64(a, k, kernel_number(k));
	}
}

SIMT_FN int same_typed(const struct type_args *t, uint64_t k)
{
	const struct gn_array *a = &t->array;

	switch (t->type) {
	case U8: return gn_read_u8(a, k) == (uint8_t)kernel_bits(k);
	case U16: return gn_read_u16(a, k) == (uint16_t)kernel_bits(k);
	case U32: return gn_read_u32(a, k) == (uint32_t)kernel_bits(k);
	case U64: return gn_read_u64(a, k) == kernel_bits(k);
	case I8: return gn_read_i8(a, k) == (int8_t)kernel_bits(k);
	case I16: return gn_read_i16(a, k) == (int16_t)kernel_bits(k);
	case I32: return gn_read_i32(a, k) == (int32_t)kernel_bits(k);
	case I64: return gn_read_i64(a, k) == (int64_t)kernel_bits(k);
	case F32: return gn_read_f32(a, k) == (float)kernel_number(k);
	default: return gn_read_f64(a, k) == kernel_number(k);
	}
}

SIMT_FN int same_by_cursor(const struct type_args *t, struct gn_cursor *c, uint64_t k)
{
	switch (t->type) {
	case U8: return gn_cursor_read_u8(c, k) == (uint8_t)kernel_bits(k);
	case U16: return gn_cursor_read_u16(c, k) == (uint16_t)kernel_bits(k);
	case U32: return gn_cursor_read_u32(c, k) == (uint32_t)kernel_bits(k);
	case U64: return gn_cursor_read_u64(c, k) == kernel_bits(k);
	case I8: return gn_cursor_read_i8(c, k) == (int8_t)kernel_bits(k);
	case I16: return gn_cursor_read_i16(c, k) == (int16_t)kernel_bits(k);
	case I32: return gn_cursor_read_i32(c, k) == (int32_t)kernel_bits(k);
	case I64: return gn_cursor_read_i64(c, k) == (int64_t)kernel_bits(k);
	case F32: return gn_cursor_read_f32(c, k) == (float)kernel_number(k);
	default: return gn_cursor_read_f64(c, k) == kernel_number(k);
	}
}

SIMT_FN int same_by_status(const struct type_args *t, uint64_t k)
{
	uint64_t bits = kernel_bits(k), value = 0, want = 0;
	double f64 = kernel_number(k);
	float f32 = (float)f64;

	if (t->type == F32)
		memcpy(&want, &f32, sizeof f32);
	else if (t->type == F64)
		memcpy(&want, &f64, sizeof f64);
	else
		memcpy(&want, &bits, (size_t)1 << t->array.element_log2);
	return !gn_array_read(&t->array, k, &value) && value == want;
}

SIMT_FN void try_type(const struct type_args *t)
{
	struct gn_cursor c = gn_cursor_init(&t->array);

	for (uint64_t k = 0; k < t->array.count; k++)
		*t->wrong += write_typed(t, k) != 0;
	for (uint64_t k = 0; k < t->array.count; k++)
		*t->wrong += !same_typed(t, k) + !same_by_cursor(t, &c, k) + !same_by_status(t, k);
	gn_cursor_end(&c);
}
SIMT_KERNEL(try_type, struct type_args)

static void run_type(struct cache_test *t, const struct gn_array *array, uint32_t type)
{
	struct simt_grid one = {1, 1, 0};
	struct type_args args;
	uint32_t wrong = 0;

	memset(&args, 0, sizeof args);
	args.array = *array;
	args.wrong = &wrong;
	args.type = type;
	assert_int_equal(simt_launch(t->machine, &try_type_kernel, one, &args, &t->error), 0);
	assert_int_equal(simt_wait(t->machine, &t->error), 0);
	assert_int_equal(wrong, 0);
}

/* The part of a store from 5008 on, 1200 bytes: it begins and ends in the middle of pages. */
static void every_type(struct cache_test *t, enum gn_mode mode, enum gn_cache_table table)
{
	struct gn_cache_options o = {4 * PAGE, PAGE, GN_CLOCK, table, 1, 0, 1};

	open_store(t, "host:64K", NULL);
	if (mode == GN_PAGED)
		open_cache(t, &o);
	for (uint32_t type = 0; type < TYPES; type++) {
		struct gn_array array =
		    make_array(t, mode, t->store, 5008, 1200 / type_bytes[type], type_bytes[type]);

		fill_store(t, t->store);
		run_type(t, &array, type);
		if (t->cache) {
			flush(t);
			assert_int_equal(gn_cache_invalidate(t->cache, &t->error), 0);
		}
		assert_int_equal(stored(t, 5000 / 8), word_of(5000 / 8));
		assert_int_equal(stored(t, 6208 / 8), word_of(6208 / 8));
		assert_int_equal(gn_array_failure(&array, &t->error), 0);
		gn_array_destroy(&array, t->machine);
	}
}

static void every_type_through_the_direct_table(void **state)
{
	every_type((struct cache_test *)*state, GN_PAGED, GN_TABLE_DIRECT);
}

static void every_type_through_sets(void **state)
{
	every_type((struct cache_test *)*state, GN_PAGED, GN_TABLE_SETS);
}

static void every_type_directly(void **state)
{
	every_type((struct cache_test *)*state, GN_DIRECT, GN_TABLE_AUTO);
}

/* ---- 16 bytes ---- */

static void elements_of_16_bytes(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_array wide;

	open_words_of(t, 16, 4, PAGE, 2, GN_CLOCK);
	wide = make_array(t, GN_PAGED, t->store, 16, 511, 16);
	for (uint64_t k = 0; k < 511; k += 10) {
		struct act act = act_one(t, &wide, ACT_READ, 0, k, 0);

		assert_int_equal(act.value[0], word_of(2 * k + 2));
		assert_int_equal(act.value[1], word_of(2 * k + 3));
		act.op = ACT_WRITE;
		act.value[0] = bits_of(k);
		act.value[1] = ~bits_of(k);
		run_acts(t, &wide, &act, 1, 1);
		assert_int_equal(act.rc, 0);
	}
	flush(t);
	for (uint64_t k = 0; k < 511; k++) {
		assert_int_equal(stored(t, 2 * k + 2), k % 10 ? word_of(2 * k + 2) : bits_of(k));
		assert_int_equal(stored(t, 2 * k + 3), k % 10 ? word_of(2 * k + 3) : ~bits_of(k));
	}
	gn_array_destroy(&wide, t->machine);
}

/* ---- several arrays of one store ---- */

/* Two arrays of one store show each other's writes: they are the same pages. */
static void arrays_of_one_store_agree(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_array bytes, words;

	open_words_of(t, 16, 2, PAGE, 0, GN_CLOCK);
	bytes = make_array(t, GN_PAGED, t->store, 1001, 3000, 1);
	words = make_array(t, GN_PAGED, t->store, 24, 700, 8);
	for (uint64_t k = 0; k < 3000; k++)
		assert_int_equal(act_one(t, &bytes, ACT_WRITE, 0, k, k * 7 % 251).rc, 0);
	for (uint64_t k = 200; k < 400; k++) {
		uint64_t word = act_one(t, &words, ACT_READ, 0, k, 0).value[0];

		for (int at = 0; at < 8; at++)
			assert_int_equal(word >> 8 * at & 0xff, (k * 8 + 24 + (uint64_t)at - 1001) * 7 % 251);
	}
	gn_array_destroy(&bytes, t->machine);
	gn_array_destroy(&words, t->machine);
}

static void direct_and_paged_agree_after_a_flush(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_array direct;

	open_words_of(t, 16, 4, PAGE, 0, GN_CLOCK);
	direct = make_array(t, GN_DIRECT, t->store, 0, t->array.count, 8);
	for (uint64_t k = 0; k < t->array.count; k += 5)
		set(t, k, bits_of(k));
	flush(t);
	for (uint64_t k = 0; k < t->array.count; k++)
		assert_int_equal(act_one(t, &direct, ACT_READ, 0, k, 0).value[0],
		                 k % 5 ? word_of(k) : bits_of(k));
	assert_int_equal(gn_cache_invalidate(t->cache, &t->error), 0);
	assert_int_equal(act_one(t, &direct, ACT_WRITE, 0, 77, 42).rc, 0);
	assert_int_equal(get(t, 77), 42);
	gn_array_destroy(&direct, t->machine);
}

/* ---- failures ---- */

/* BaM, defect 11: out of range is an error and 0, not whatever was in the register. */
static void out_of_range(struct cache_test *t, const struct gn_array *array)
{
	static const uint64_t beyond[] = {0, 1, 1000000, UINT64_MAX / 8, UINT64_MAX / 2, UINT64_MAX};
	struct gn_array copy = *array;

	for (size_t k = 0; k < sizeof beyond / sizeof *beyond; k++) {
		uint64_t index = beyond[k] < UINT64_MAX / 8 ? array->count + beyond[k] : beyond[k];
		struct act act = act_one(t, array, ACT_READ, 0, index, 4711);
		char words[64];

		assert_int_equal(act.rc, -GN_ERANGE);
		assert_int_equal(act.value[0], 4711);
		assert_int_equal(act_one(t, array, ACT_WRITE, 0, index, 1).rc, -GN_ERANGE);
		assert_int_equal(act_one(t, array, ACT_ACQUIRE, 0, index, 0).rc, -GN_ERANGE);
		assert_int_equal(gn_array_failure(&copy, &t->error), -GN_ERANGE);
		snprintf(words, sizeof words, "element %llu of %llu", (unsigned long long)index,
		         (unsigned long long)array->count);
		assert_says(&t->error, words);
		assert_says(&t->error, "GN_ERANGE");
		assert_int_equal(gn_array_failure(&copy, &t->error), 0);
	}
}

static void past_the_end_is_out_of_range(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_array part;

	open_words_of(t, 16, 4, PAGE, 0, GN_CLOCK);
	out_of_range(t, &t->array);
	part = make_array(t, GN_PAGED, t->store, 1000, 100, 8); /* the store goes on behind it */
	out_of_range(t, &part);
	gn_array_destroy(&part, t->machine);
	part = make_array(t, GN_DIRECT, t->store, 1000, 100, 8);
	out_of_range(t, &part);
	gn_array_destroy(&part, t->machine);
	part = make_array(t, GN_PAGED, t->store, 1000, 0, 8);
	out_of_range(t, &part);
	gn_array_destroy(&part, t->machine);
	for (uint64_t k = 0; k < t->array.count; k++)
		assert_int_equal(stored(t, k), word_of(k));
}

/* The first failure is kept until somebody asks, later ones are dropped. */
static void the_first_failure_is_kept(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	uint64_t value;

	open_words_of(t, 16, 4, PAGE, 0, GN_CLOCK);
	get_code(t, 5000, &value);
	get_code(t, 6000, &value);
	assert_int_equal(gn_array_failure(&t->array, &t->error), -GN_ERANGE);
	assert_says(&t->error, "is past the end");
	get_code(t, 7000, &value);
	assert_int_equal(gn_array_failure(&t->array, &t->error), -GN_ERANGE);
	assert_says(&t->error, "element 7000 ");
}

static void direct_mode_is_read_only_too(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_array direct;

	open_store(t, "host:16K?ro", NULL);
	direct = make_array(t, GN_DIRECT, t->store, 0, 2048, 8);
	assert_int_equal(act_one(t, &direct, ACT_WRITE, 0, 3, 1).rc, -GN_EROFS);
	assert_int_equal(gn_array_failure(&direct, &t->error), -GN_EROFS);
	assert_says(&t->error, "open it without ?ro");
	assert_null(strstr(t->error.text, "0x0"));
	assert_int_equal(act_one(t, &direct, ACT_ACQUIRE_WRITE, 0, 3, 1).rc, -GN_EROFS);
	assert_int_equal(gn_array_failure(&direct, &t->error), -GN_EROFS);
	assert_int_equal(act_one(t, &direct, ACT_ACQUIRE, 0, 3, 1).rc, 0);
	assert_int_equal(t->held[0].first, 0);
	assert_int_equal(t->held[0].count, 2048);
	assert_int_equal(act_one(t, &direct, ACT_RELEASE, 0, 0, 0).rc, 0);
	assert_int_equal(act_one(t, &direct, ACT_READ, 0, 3, 1).value[0], 0);
	gn_array_destroy(&direct, t->machine);
}

/* ---- what an array can be made of ---- */

static int try_array(struct cache_test *t, enum gn_mode mode, uint64_t offset, uint64_t count,
                     uint32_t element_bytes)
{
	struct gn_array_options options = {
	    mode, mode == GN_PAGED ? t->cache : NULL, t->store, offset, count, element_bytes};
	struct gn_array array;
	int rc = gn_array_create(&array, t->machine, &options, &t->error);

	if (!rc)
		gn_array_destroy(&array, t->machine);
	return rc;
}

static void refuses_what_is_no_array(void **state)
{
	static const uint32_t sizes[] = {0, 3, 5, 12, 17, 32, 256};
	struct cache_test *t = (struct cache_test *)*state;
	const uint64_t bytes = 16 * PAGE;

	open_words_of(t, 16, 4, PAGE, 0, GN_CLOCK);
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		assert_int_equal(try_array(t, GN_PAGED, 0, 1, sizes[k]), -GN_EINVAL);
		assert_says(&t->error, "give 1, 2, 4, 8 or 16");
	}
	assert_int_equal(try_array(t, GN_PAGED, 4, 1, 8), -GN_EINVAL);
	assert_says(&t->error, "offset 4 is not a multiple");
	assert_int_equal(try_array(t, GN_PAGED, 0, bytes / 8, 8), 0);
	assert_int_equal(try_array(t, GN_PAGED, 0, bytes / 8 + 1, 8), -GN_ERANGE);
	assert_int_equal(try_array(t, GN_PAGED, 8, bytes / 8, 8), -GN_ERANGE);
	assert_int_equal(try_array(t, GN_PAGED, bytes, 0, 8), 0);
	assert_int_equal(try_array(t, GN_PAGED, bytes + 8, 0, 8), -GN_ERANGE);
	assert_int_equal(try_array(t, GN_PAGED, 0, UINT64_MAX, 16), -GN_ERANGE);
	assert_int_equal(try_array(t, GN_DIRECT, 0, bytes / 8 + 1, 8), -GN_ERANGE);
}

static void refuses_a_store_or_cache_that_is_not_given(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_array_options options = {GN_PAGED, NULL, NULL, 0, 1, 8};
	struct gn_array array;

	open_words_of(t, 16, 4, PAGE, 0, GN_CLOCK);
	assert_int_equal(gn_array_create(&array, t->machine, &options, &t->error), -GN_EINVAL);
	assert_says(&t->error, "the store is NULL");
	options.cache = t->cache;
	assert_int_equal(gn_array_create(&array, t->machine, &options, &t->error), -GN_EINVAL);
	assert_says(&t->error, "the store is NULL");
	options.mode = GN_DIRECT;
	assert_int_equal(gn_array_create(&array, t->machine, &options, &t->error), -GN_EINVAL);
	assert_says(&t->error, "the store is NULL");
	options.mode = GN_PAGED;
	options.store = t->store;
	options.cache = NULL;
	assert_int_equal(gn_array_create(&array, t->machine, &options, &t->error), -GN_EINVAL);
	assert_says(&t->error, "the cache is NULL");
}

static void refuses_stores_that_do_not_fit_the_mode(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache *cache;
	struct gn_store *store;

	open_words_of(t, 16, 4, PAGE, 0, GN_CLOCK);
	cache = t->cache;
	store = t->store;
	t->cache = NULL;
	assert_int_equal(try_array(t, GN_PAGED, 0, 1, 8), -GN_EINVAL);
	t->cache = cache;
	open_store(t, "memq:16K", NULL);
	assert_int_equal(try_array(t, GN_PAGED, 0, 1, 8), -GN_EINVAL);
	assert_says(&t->error, "a cache that was made for the array's store");
	assert_int_equal(try_array(t, GN_DIRECT, 0, 1, 8), -GN_ENOTSUP);
	assert_says(&t->error, "use paged mode");
	gn_store_close(t->store);
	t->store = store;
}

/* ---- more than 2^32 elements ---- */

static void more_elements_than_32_bits_count(void **state)
{
	static const uint64_t where[] = {0,           1,           0xfffffffe,  0xffffffff, 0x100000000,
	                                 0x100000001, 0x17fffffff, 0x1ffffffff, 0x27fffffff};
	enum { COUNT = sizeof where / sizeof *where };
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = {4 * PAGE, PAGE, GN_FIFO, GN_TABLE_SETS, 2, 0, 1};
	struct gn_array bytes, words;
	char uri[256];

	snprintf(uri, sizeof uri, "file:%s?create=%llu&queues=1", t->file, 0x280000000ull);
	open_store(t, uri, NULL);
	open_cache(t, &o);
	bytes = make_array(t, GN_PAGED, t->store, 0, 0x280000000, 1);
	for (int k = 0; k < COUNT; k++)
		assert_int_equal(act_one(t, &bytes, ACT_WRITE, 0, where[k], 10 + (uint64_t)k).rc, 0);
	for (int k = 0; k < COUNT; k++)
		assert_int_equal(act_one(t, &bytes, ACT_READ, 0, where[k], 0).value[0] & 0xff, 10 + k);
	flush(t);
	words = make_array(t, GN_PAGED, t->store, 8, 0x4fffffff, 8);
	assert_int_equal(act_one(t, &words, ACT_READ, 0, 0x1fffffff, 0).value[0], 15 << 8 | 14);
	assert_int_equal(act_one(t, &words, ACT_READ, 0, 0x4ffffffe, 0).value[0], (uint64_t)18 << 56);
	gn_array_destroy(&bytes, t->machine);
	gn_array_destroy(&words, t->machine);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(every_type_through_the_direct_table),
	    CASE(every_type_through_sets),
	    CASE(every_type_directly),
	    CASE(elements_of_16_bytes),
	    CASE(arrays_of_one_store_agree),
	    CASE(direct_and_paged_agree_after_a_flush),
	    CASE(past_the_end_is_out_of_range),
	    CASE(the_first_failure_is_kept),
	    CASE(direct_mode_is_read_only_too),
	    CASE(refuses_what_is_no_array),
	    CASE(refuses_a_store_or_cache_that_is_not_given),
	    CASE(refuses_stores_that_do_not_fit_the_mode),
	    CASE(more_elements_than_32_bits_count),
	};

	return cmocka_run_group_tests_name("array: access", tests, NULL, NULL);
}
