/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the library itself: each of the cpu machine measures a quick cell, and a row that is wrong says
 * so. */
#include <stdio.h>
#include <string.h>

#include "unit.h"

#include "scope/grapnel/cache_rows.c" /* to spoil what it looks at */

static struct scope_machine m;

static const struct scope_row *row_named(const char *name)
{
	for (uint32_t k = 0; k < scope_grapnel_rows[0]->count; k++)
		if (!strcmp(scope_row_at(scope_grapnel_rows[0], k)->name, name))
			return scope_row_at(scope_grapnel_rows[0], k);
	return NULL;
}

/* ---- every row ---- */

static void test_rows(void **state)
{
	struct scope_plan *p;

	(void)state;
	assert_int_equal(scope_plan_make(&m, "^grapnel-cpu/", &p, NULL), 0);
	assert_true(scope_plan_count(p) >= 14);
	for (uint32_t k = 0; k < scope_plan_count(p); k++) {
		const char *why;
		const struct scope_cell *c = scope_plan_cell(p, k, &why);
		struct scope_result r;
		char name[SCOPE_NAME];

		assert_null(why);
		scope_cell_name(c, name, sizeof name);
		scope_measure(c, &m, 0, &r);
		if (r.status != SCOPE_MEASURED)
			fail_msg("%s: %s", name, r.why);
		scope_result_free(&r);
	}
	scope_plan_free(p);
}

static void test_no_gpu(void **state)
{
	struct scope_plan *p;

	(void)state;
	assert_int_equal(scope_plan_make(&m, "^grapnel-gpu/", &p, NULL), 0);
	assert_true(scope_plan_count(p) >= 14);
	for (uint32_t k = 0; k < scope_plan_count(p); k++) {
		const char *why;

		scope_plan_cell(p, k, &why);
		assert_string_equal(why, "there is none in this test");
	}
	scope_plan_free(p);
}

/* ---- what is wrong ---- */

static struct cache_state *opened(const char *name, uint64_t bytes)
{
	struct scope_sample s;
	struct scope_cell c;
	static struct cache_state state; /* one at a time */

	memset(&state, 0, sizeof state);
	memset(&c, 0, sizeof c);
	c.row = row_named(name);
	c.args = 1;
	c.arg[0].name = "bytes";
	c.arg[0].value = bytes;
	assert_int_equal(open_row(&c, &m, &state, NULL), 0);
	assert_int_equal(sample(&state, 1, &s, NULL), 0);
	return &state;
}

/* A kernel that looks at nothing finds nothing wrong, and that is seen. */
static void test_blind_kernel(void **state)
{
	static const char *const names[] = {"grapnel-cpu/hit-scalar", "grapnel-cpu/hit-page"};

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct cache_state *t = opened(names[k], 1 << 20);
		struct gn_error e;

		assert_int_equal(verify(t, &e), 0);
		t->kernel = &gn_cb_warm_kernel;
		assert_int_equal(verify(t, &e), -GN_EIO);
		close_row(t);
	}
}

/* Data that are not what was written are seen, in words that are read and in pages that are fetched. */
static void test_wrong_data(void **state)
{
	struct cache_state *t = opened("grapnel-cpu/miss", 4096);
	struct scope_sample s;
	struct gn_error e;

	(void)state;
	assert_int_equal(verify(t, &e), 0);
	for (uint64_t k = 0; k < t->args.words; k++)
		t->args.store[k] ^= 1;
	assert_int_equal(sample(t, 100, &s, &e), 0);
	assert_int_equal(verify(t, &e), -GN_EIO);
	close_row(t);
}

/* What is counted is what was fetched: pages that are there already are not. */
static void test_counts_what_came(void **state)
{
	struct cache_state *t = opened("grapnel-cpu/miss", 4096);
	struct scope_sample s;
	struct gn_error e;

	(void)state;
	t->args.pages = 16;
	assert_int_equal(sample(t, 1000, &s, &e), 0);
	assert_in_range(s.operations, 1, 16);
	assert_int_equal(s.bytes, 4096 * s.operations);
	assert_int_equal(sample(t, 1000, &s, &e), -GN_EIO); /* nothing was moved */
	close_row(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_no_gpu),
	    cmocka_unit_test(test_blind_kernel),
	    cmocka_unit_test(test_wrong_data),
	    cmocka_unit_test(test_counts_what_came),
	};

	scope_machine_find(&m, SCOPE_QUICK, ".");
	m.most_seconds = 0.05;
	m.most_samples = 50;
	m.gpus = 0;
	m.no_gpu = "there is none in this test";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
