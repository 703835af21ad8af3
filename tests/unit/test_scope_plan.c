/* SPDX-License-Identifier: Apache-2.0 */
/* Which cells a run has: sizes, further arguments, the filter, and what is skipped. */
#include <string.h>

#include "scope/scope.h"
#include "unit.h"

static const struct scope_arg two_threads[] = {{"threads", 2}, {NULL, 0}};

static int plan_sizes(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	(void)row;
	(void)m;
	return scope_plan_sizes(p, 4096, 1ull << 32, two_threads);
}

static int plan_large(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	(void)row;
	(void)m;
	return scope_plan_sizes(p, 16 << 20, 1ull << 32, NULL);
}

static int plan_one(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const struct scope_arg args[] = {{"gpu", 3}, {NULL, 0}};
	int rc = scope_plan_add(p, NULL);

	(void)row;
	(void)m;
	return rc ? rc : scope_plan_skip(p, args, "needs %d of them", 4);
}

static const struct scope_functions many = {0, plan_sizes, NULL, NULL, NULL, NULL},
                                    one = {0, plan_one, NULL, NULL, NULL, NULL},
                                    large = {0, plan_large, NULL, NULL, NULL, NULL};
static const struct scope_row rows[] = {
    {"test/sizes", "", NULL, "none", NULL, NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &many},
    {"test/one", "", NULL, "none", NULL, NULL, SCOPE_LATENCY, SCOPE_HOST_CLOCK, &one},
    {"test/memory", "", NULL, "none", "memory", NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &large}};
static const struct scope_row_table table = {rows, sizeof *rows, 3};
const struct scope_row_table *const scope_host_rows[] = {&table, NULL};

static struct scope_plan *plan(enum scope_effort effort, uint64_t most_bytes, const char *filter)
{
	static struct scope_machine m;
	struct scope_plan *p;

	memset(&m, 0, sizeof m);
	m.effort = effort;
	m.most_bytes = most_bytes;
	m.cache_bytes = 96 << 20;
	assert_int_equal(scope_plan_make(&m, filter, &p, NULL), 0);
	return p;
}

static uint64_t bytes_of(const struct scope_plan *p, uint32_t k)
{
	const char *why;

	return scope_cell_arg(scope_plan_cell(p, k, &why), "bytes", 0);
}

static void test_sizes(void **state)
{
	static const uint64_t quick[] = {4096, 65536, 1 << 20, 16 << 20, 128 << 20};
	static const uint64_t uneven[] = {4096, 65536, 1 << 20, 2 << 20};
	struct scope_plan *p = plan(SCOPE_NORMAL, 1ull << 40, "sizes");

	(void)state;
	assert_int_equal(scope_plan_count(p), 21); /* 2^12 to 2^32 */
	for (uint32_t k = 0; k < 21; k++)
		assert_int_equal(bytes_of(p, k), 4096ull << k);
	scope_plan_free(p);
	p = plan(SCOPE_QUICK, 256 << 20, "sizes");
	assert_int_equal(scope_plan_count(p), 5);
	for (uint32_t k = 0; k < 5; k++)
		assert_int_equal(bytes_of(p, k), quick[k]);
	scope_plan_free(p);
	p = plan(SCOPE_QUICK, 256 << 20, "memory"); /* a cache of 96 MiB would hold half of 128 */
	assert_int_equal(scope_plan_count(p), 2);
	assert_int_equal(bytes_of(p, 1), 256 << 20);
	scope_plan_free(p);
	p = plan(SCOPE_QUICK, (4 << 20) - 1, "sizes"); /* no more than may be used */
	assert_int_equal(scope_plan_count(p), 4);
	for (uint32_t k = 0; k < 4; k++)
		assert_int_equal(bytes_of(p, k), uneven[k]);
	scope_plan_free(p);
}

static void test_names(void **state)
{
	struct scope_plan *p = plan(SCOPE_NORMAL, 1ull << 40, NULL);
	char name[SCOPE_NAME], small[12];
	const char *why;

	(void)state;
	assert_int_equal(scope_plan_count(p), 32);
	scope_cell_name(scope_plan_cell(p, 0, &why), name, sizeof name);
	assert_string_equal(name, "test/sizes/bytes:4096/threads:2");
	assert_null(why);
	scope_cell_name(scope_plan_cell(p, 0, &why), small, sizeof small);
	assert_string_equal(small, "test/sizes/");
	scope_cell_name(scope_plan_cell(p, 21, &why), name, sizeof name);
	assert_string_equal(name, "test/one");
	scope_cell_name(scope_plan_cell(p, 22, &why), name, sizeof name);
	assert_string_equal(name, "test/one/gpu:3");
	assert_string_equal(why, "needs 4 of them");
	assert_int_equal(scope_cell_arg(scope_plan_cell(p, 22, &why), "gpu", 7), 3);
	assert_int_equal(scope_cell_arg(scope_plan_cell(p, 22, &why), "bytes", 7), 7);
	scope_plan_free(p);
}

static void test_filter(void **state)
{
	struct scope_plan *p = plan(SCOPE_NORMAL, 1ull << 40, "bytes:(4096|8192)/");
	struct scope_machine m;
	struct gn_error e;

	(void)state;
	assert_int_equal(scope_plan_count(p), 2);
	scope_plan_free(p);
	p = plan(SCOPE_NORMAL, 1ull << 40, "gpu");
	assert_int_equal(scope_plan_count(p), 1);
	scope_plan_free(p);
	p = plan(SCOPE_NORMAL, 1ull << 40, "nothing");
	assert_int_equal(scope_plan_count(p), 0);
	scope_plan_free(p);
	memset(&m, 0, sizeof m);
	assert_int_equal(scope_plan_make(&m, "bytes:(", &p, &e), -GN_EINVAL);
	assert_non_null(strstr(e.text, "bytes:(: this is not a POSIX extended regular expression"));
	assert_null(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_names),
	                                   cmocka_unit_test(test_filter)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
