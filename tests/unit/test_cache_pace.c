/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that read a file together through few frames read each page once, even if the system stops one of
 * the OS threads again and again; and an OS thread that computes does not stop the others for long.
 */
#include <stdint.h>

static uint64_t pace_ns; /* how long a miss waits at most for its round */
#define GN__PACE_NS pace_ns

#include "test_cache_support.h"

#include <grapnel/open.h>

#include <time.h>

enum { PAGE = 4096, PAGES = 1024, WORDS = PAGE / 8, FRAMES = 64, THREADS = 64 };

/* What all threads of a kernel share. */
struct readers {
	uint64_t sum;
	uint32_t done;    /* threads that have read their share */
	uint32_t gave_up; /* 1: one waited in vain until the others were done */
};

struct read_args {
	struct gn_array array;
	struct readers *shared;
};

static uint64_t read_share(const struct gn_array *a, uint64_t first, uint64_t step)
{
	uint64_t sum = 0;

	for (uint64_t k = first; k < gn_count(a); k += step) {
		sum += gn_read_u64(a, k);
		if (!simt_global_thread() && k % (8 * WORDS) == 0) {
			const struct timespec nap = {0, 3000000};

			nanosleep(&nap, NULL); /* all threads of this OS thread stand still */
		}
	}
	return sum;
}

SIMT_FN void read_together(const struct read_args *a)
{
	const uint64_t sum = read_share(&a->array, simt_global_thread(), simt_global_threads());

	simt_add_relaxed_dev_u64(&a->shared->sum, sum);
}
SIMT_KERNEL(read_together, struct read_args)

/*
 * One thread of block 0 does not wait in the engine, and no other thread of its OS thread has a turn, until
 * those of the other block have read all; for 20 s at most. It sleeps, so that one core is enough.
 */
SIMT_FN void read_beside_work(const struct read_args *a)
{
	const uint64_t begin = simt_clock_ns();
	const struct timespec nap = {0, 100000};

	if (simt_block()) {
		simt_add_relaxed_dev_u64(&a->shared->sum,
		                         read_share(&a->array, simt_thread(), simt_block_threads()));
		simt_add_acq_rel_dev_u32(&a->shared->done, 1);
	} else if (!simt_thread()) {
		while (simt_load_acquire_dev_u32(&a->shared->done) < THREADS && !a->shared->gave_up) {
			nanosleep(&nap, NULL);
			a->shared->gave_up = simt_clock_ns() - begin > 20000000000u;
		}
	}
}
SIMT_KERNEL(read_beside_work, struct read_args)

/* Run it through FRAMES frames. Returns the pages that it fetched. */
static uint64_t read_file(struct cache_test *t, const struct simt_kernel *kernel, uint32_t blocks,
                          struct readers *result)
{
	const struct simt_grid grid = {blocks, THREADS, 0};
	struct gn_options o;
	struct gn_cache_info cache;
	struct read_args a;
	struct gn_data d;
	char uri[200];

	memset(&o, 0, sizeof o);
	o.element_bytes = 8;
	o.cache.bytes = FRAMES * PAGE;
	o.cache.page_bytes = PAGE;
	o.cache.statistics = 1;
	o.machine_options.threads = 2;
	snprintf(uri, sizeof uri, "file:%s?create=%d", t->file, PAGES * PAGE);
	assert_int_equal(gn_open(&d, uri, &o, &t->error), 0);
	fill_store(t, d.store);
	a.array = d.array;
	a.shared = (struct readers *)simt_alloc(d.machine, sizeof *a.shared, SIMT_PINNED, NULL);
	assert_int_equal(gn_launch(&d, kernel, grid, &a, &t->error), 0);
	*result = *a.shared;
	simt_free(d.machine, a.shared);
	assert_int_equal(gn_cache_describe(d.cache, &cache, &t->error), 0);
	assert_int_equal(gn_close(&d, &t->error), 0);
	return cache.statistics.fetched;
}

static uint64_t sum_of_words(void)
{
	uint64_t sum = 0;

	for (uint64_t k = 0; k < (uint64_t)PAGES * WORDS; k++)
		sum += word_of(k);
	return sum;
}

static void pages_wait_for_threads_that_stand_still(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct readers r;
	uint64_t fetched;

	pace_ns = 10000000000u;
	fetched = read_file(t, &read_together_kernel, 4, &r);
	assert_true(r.sum == sum_of_words());
	if (fetched > PAGES + PAGES / 4)
		fail_msg("%llu pages were fetched of a file of %d", (unsigned long long)fetched, PAGES);
}

static void a_thread_that_computes_holds_nobody_up(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct readers r;

	pace_ns = 1000000;
	assert_true(read_file(t, &read_beside_work_kernel, 2, &r) >= PAGES);
	assert_false(r.gave_up);
	assert_true(r.sum == sum_of_words());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(pages_wait_for_threads_that_stand_still, cache_setup,
	                                    cache_teardown),
	    cmocka_unit_test_setup_teardown(a_thread_that_computes_holds_nobody_up, cache_setup,
	                                    cache_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
