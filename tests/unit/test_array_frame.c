/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel with large local arrays of its own: the library's functions have room on the stack above them, and
 * leave them as they are.
 */
#include "test_cache_support.h"

enum { FRAME = 1000, THREADS = 128, PAGES = 256 };

struct frame_args {
	struct gn_array array;
	uint32_t *wrong;
};

SIMT_FN uint32_t mark_of(uint64_t k)
{
	return (uint32_t)(k * 2654435761u) ^ (uint32_t)simt_global_thread();
}

/* The elements say which mark is changed and restored, so the compiler keeps the marks in memory. */
SIMT_FN void read_below_a_frame(const struct frame_args *f)
{
	uint32_t mark[FRAME];
	uint32_t wrong = 0;

	for (uint64_t k = 0; k < FRAME; k++)
		mark[k] = mark_of(k);
	for (uint64_t k = simt_global_thread(); k < f->array.count; k += THREADS) {
		const uint64_t value = gn_read_u64(&f->array, k * 7919 % f->array.count);

		wrong += value != word_of(k * 7919 % f->array.count);
		mark[value % FRAME] ^= (uint32_t)value | 1;
		wrong += mark[value % FRAME] == mark_of(value % FRAME);
		mark[value % FRAME] ^= (uint32_t)value | 1;
	}
	for (uint64_t k = 0; k < FRAME; k++)
		wrong += mark[k] != mark_of(k);
	simt_reduce_add_relaxed_sys_u32(f->wrong, wrong);
}
SIMT_KERNEL(read_below_a_frame, struct frame_args)

/* On a GPU the frame is larger than the stack that every kernel has. */
static void a_frame_of_4000_bytes(void **state)
{
	static const char *const schemes[] = {"host", "memq"};
	struct cache_test *t = (struct cache_test *)*state;
	struct frame_args f;

	for (int k = 0; k < 2; k++) {
		open_words_at(t, schemes[k], PAGES, 16, 512, 0, GN_CLOCK);
		f.array = t->array;
		f.wrong = (uint32_t *)simt_alloc(t->machine, sizeof *f.wrong, SIMT_PINNED, NULL);
		assert_non_null(f.wrong);
		run_block(t, &read_below_a_frame_kernel, THREADS, &f);
		assert_int_equal(*f.wrong, 0);
		simt_free(t->machine, f.wrong);
		close_cache(t);
		close_store(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_frame_of_4000_bytes, cache_setup, cache_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
