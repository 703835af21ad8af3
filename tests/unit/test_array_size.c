/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses of another size than an array's elements: whatever reads, writes or changes refuses them, on a hit
 * as on a miss, and says so; no byte of the store changes, least of all behind the array.
 */
#include "test_cache_support.h"

enum { PAGE = 512, BYTES = 4 * PAGE };

/* OP_CURSOR_MOVED: the cursor has its page at hand, by a read of the right size. */
enum op { OP_READ, OP_CURSOR, OP_CURSOR_MOVED, OP_EVERY, OP_WRITE, OP_ADD, OP_CAS, OP_ADD_FLOAT, OPS };

struct size_args {
	struct gn_array array;
	uint64_t index;
	uint32_t op, size;
	int32_t *code;   /* of those that return one; else as it was */
	uint64_t *value; /* [2] */
};

SIMT_FN uint64_t read_sized(const struct gn_array *a, uint64_t index, uint32_t size)
{
	uint64_t wide[2] = {0, 0};

	switch (size) {
	case 1: return gn_read_u8(a, index);
	case 2: return gn_read_u16(a, index);
	case 4: return gn_read_u32(a, index);
	case 8: return gn_read_u64(a, index);
	default: gn__read(a, index, wide, 16); return wide[0] | wide[1];
	}
}

SIMT_FN uint64_t read_by_cursor(struct gn_cursor *c, uint64_t index, uint32_t size)
{
	uint64_t wide[2] = {0, 0};

	switch (size) {
	case 1: return gn_cursor_read_u8(c, index);
	case 2: return gn_cursor_read_u16(c, index);
	case 4: return gn_cursor_read_u32(c, index);
	case 8: return gn_cursor_read_u64(c, index);
	default: gn__cursor_read(c, index, wide, 16); return wide[0] | wide[1];
	}
}

SIMT_FN int write_sized(const struct gn_array *a, uint64_t index, uint32_t size)
{
	switch (size) {
	case 1: return gn_write_u8(a, index, 0xff);
	case 2: return gn_write_u16(a, index, 0xffff);
	case 4: return gn_write_f32(a, index, 1);
	case 8: return gn_write_i64(a, index, -1);
	default: return gn__write(a, index, ~0ull, ~0ull, 16);
	}
}

SIMT_FN void access_sized(const struct size_args *s)
{
	const struct gn_array *a = &s->array;
	const uint64_t index = s->index, own = 1u << a->element_log2;
	struct gn_cursor c = gn_cursor_init(a);
	uint64_t values[2] = {0, 0}, value = 0;

	if (s->op == OP_CURSOR_MOVED)
		value = read_by_cursor(&c, index, (uint32_t)own) & 0;
	switch (s->op) {
	case OP_READ: value = read_sized(a, index, s->size); break;
	case OP_CURSOR:
	case OP_CURSOR_MOVED: value |= read_by_cursor(&c, index, s->size); break;
	case OP_EVERY:
		*s->code = s->size == 4 ? gn_cursor_read_every_u32(&c, index, 1, 2, (uint32_t *)values)
		                        : gn_cursor_read_every_f64(&c, index, 1, 2, (double *)values);
		value = values[0] | values[1];
		break;
	case OP_WRITE: *s->code = write_sized(a, index, s->size); break;
	case OP_ADD: value = s->size == 4 ? gn_add_u32(a, index, 1) : gn_add_u64(a, index, 1); break;
	case OP_CAS: value = s->size == 4 ? gn_cas_u32(a, index, 0, 1) : gn_cas_u64(a, index, 0, 1); break;
	default: value = s->size == 4 ? gn_add_f32(a, index, 1) != 0 : gn_add_f64(a, index, 1) != 0;
	}
	*s->value = value;
}
SIMT_KERNEL(access_sized, struct size_args)

static int there_is(uint32_t op, uint32_t size)
{
	return op == OP_READ || op == OP_CURSOR || op == OP_CURSOR_MOVED || op == OP_WRITE || size == 4 ||
	       size == 8;
}

static void refused(struct cache_test *t, struct gn_array *array, uint32_t op, uint32_t size, uint64_t index)
{
	int32_t code = -GN_EINVAL;
	uint64_t value[2] = {77, 77};
	struct size_args args;
	char words[80];

	memset(&args, 0, sizeof args);
	args.array = *array;
	args.index = index;
	args.op = op;
	args.size = size;
	args.code = &code;
	args.value = value;
	run_block(t, &access_sized_kernel, 1, &args);
	assert_int_equal(code, -GN_EINVAL);
	assert_int_equal(value[0], 0);
	assert_int_equal(gn_array_failure(array, &t->error), -GN_EINVAL);
	snprintf(words, sizeof words, "element %llu was accessed as %u bytes, but the elements have %u bytes",
	         (unsigned long long)index, size, 1u << array->element_log2);
	assert_says(&t->error, words);
	assert_int_equal(gn_array_failure(array, &t->error), 0);
}

/*
 * The array is in the middle of the store: what a wider access would reach behind its end is there to be
 * changed.
 */
static void refused_by(struct cache_test *t, enum gn_mode mode, uint32_t bytes)
{
	struct gn_array array = make_array(t, mode, t->store, PAGE, BYTES / bytes, bytes);

	for (uint32_t op = 0; op < OPS; op++)
		for (uint32_t size = 1; size <= 16; size *= 2) {
			if (size == bytes || !there_is(op, size))
				continue;
			if (t->cache)
				assert_int_equal(gn_cache_invalidate(t->cache, &t->error), 0);
			for (uint32_t hot = 0; hot < 2; hot++) {
				refused(t, &array, op, size, 0);
				refused(t, &array, op, size, array.count - 1);
				refused(t, &array, op, size, 40 % array.count);
				/* now the pages are there */
				act_one(t, &array, ACT_READ, 0, 0, 0);
				act_one(t, &array, ACT_READ, 0, array.count - 1, 0);
			}
		}
	gn_array_destroy(&array, t->machine);
}

static void other_sizes_are_refused(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t k = 0; k < 5; k++) { /* direct mode, and pages in both tables, counted and not */
		struct gn_cache_options o = {
		    16 * PAGE, PAGE, GN_CLOCK, k & 1 ? GN_TABLE_DIRECT : GN_TABLE_SETS, 0, 0, k > 2};

		open_store(t, "host:4K", NULL);
		fill_store(t, t->store);
		if (k)
			open_cache(t, &o);
		for (uint32_t bytes = 1; bytes <= 16; bytes *= 2)
			refused_by(t, k ? GN_PAGED : GN_DIRECT, bytes);
		if (t->cache) {
			assert_int_equal(info_of(t).dirty_pages, 0);
			flush(t);
		}
		for (uint64_t n = 0; n < 4096 / 8; n++)
			assert_int_equal(stored(t, n), word_of(n));
		close_store(t);
	}
}

/* A wider element behind the last one of a store that ends there. */
static void nothing_is_written_past_the_end(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = {16 * PAGE, PAGE, GN_CLOCK, GN_TABLE_DIRECT, 0, 0, 0};
	struct gn_array bytes;

	open_store(t, "host:4K", NULL);
	open_cache(t, &o);
	for (uint32_t mode = 0; mode < 2; mode++) {
		bytes = make_array(t, mode ? GN_DIRECT : GN_PAGED, t->store, 0, 4096, 1);
		for (uint32_t size = 2; size <= 16; size *= 2)
			refused(t, &bytes, OP_WRITE, size, 4095);
		gn_array_destroy(&bytes, t->machine);
	}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(other_sizes_are_refused),
	    CASE(nothing_is_written_past_the_end),
	};

	return cmocka_run_group_tests_name("array: sizes", tests, NULL, NULL);
}
