/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of rows: every way in, over every kind of array, against a copy of what the store should hold. */
#include "test_gather_support.h"

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
    {"peer:0?size=", 64 << 10, 0, 0, 0, 1, 3, 5, 300, 0},
    {"peer:0?size=", 64 << 10, 0, 0, 0, 2, 8, 1, 700, 100000},
    {"peer:0?size=", 64 << 10, 0, 0, 0, 8, 1, 0, 4200, 140},
    {"peer:0?size=", 64 << 10, 0, 0, 0, 16, 4, 1, 100, 0},
    {"memq", 64 << 10, 512, 16, 0, 8, 8, 0, 400, 0},
    {"memq", 64 << 10, 1024, 8, 2, 4, 31, 7, 200, 600},
    {"memq", 64 << 10, 4096, 4, 0, 4, 1, 0, 900, 0},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void all_shapes(struct cache_test *t, enum way way, unsigned threads, unsigned width)
{
	open_machine_of(t, threads, width);
	/* where few are run, narrow and wide warps have different ones, and together all kinds of stores */
	for (unsigned k = few_or_all(width > 1 ? 2 : 0, 0); k < SHAPES; k += few_or_all(4, 1))
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

static void of_few_rows(void **state)
{
	all_shapes((struct cache_test *)*state, FEW, 1, 1);
	all_shapes((struct cache_test *)*state, FEW, 3, 32);
}

static void random_shapes(void **state)
{
	static const uint32_t sizes[] = {1, 2, 4, 8, 16};
	struct cache_test *t = (struct cache_test *)*state;
	struct fixture b;

	memset(&b, 0, sizeof b);
	b.seed = 4711;
	for (int k = 0; k < few_drawn(10, 40); k++) {
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
	/* so many that a GPU sorts them by kernels of their own */
	static const struct shape larger = {"host", 64 << 10, 4096, 8, 0, 4, 1, 0, 70000, 0};
	static const struct shape skewed = {"host", 64 << 10, 4096, 8, 0, 8, 2, 0, 9000, 3};
	struct cache_test *t = (struct cache_test *)*state;

	open_machine_of(t, 2, 1);
	if (few_or_all(0, 1))
		gather_and_scatter(t, &larger, HOST, 4);
	for (int way = 0; way < WAYS; way++) {
		gather_and_scatter(t, &large, (enum way)way, 5);
		gather_and_scatter(t, &skewed, (enum way)way, 6);
	}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(by_the_host), CASE(by_a_block),    CASE(by_a_grid),
	    CASE(of_few_rows), CASE(random_shapes), CASE(many_rows),
	};

	return cmocka_run_group_tests_name("array: gather", tests, NULL, NULL);
}
