/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of the host: a small cell is measured, and what it moved is what it should be. */
#include <stdio.h>
#include <string.h>

#include "scope/host/rows.h"
#include "unit.h"

static struct scope_machine m;

/* The smallest cell of a row, with fewer seconds than any user would take. */
static void small_cell(const struct scope_row *row, struct scope_cell *c)
{
	memset(c, 0, sizeof *c);
	c->row = row;
	c->args = 1;
	c->arg[0].name = "bytes";
	c->arg[0].value = strstr(row->name, "huge") ? 2 << 20 : strstr(row->name, "loaded") ? 1 << 20 : 65536;
	if (!strcmp(row->name, "memory/copy") && m.cpus > 1) {
		c->arg[1].name = "threads";
		c->arg[c->args++].value = m.cpus;
	}
}

/* Whether it came to something here. */
static bool measure_row(const struct scope_row *row)
{
	struct scope_cell c;
	struct scope_result r;
	bool measured;

	small_cell(row, &c);
	if (m.cpus < 2 && (strstr(row->name, "loaded") || strstr(row->name, "ping")))
		return false;
	scope_measure(&c, &m, 0, &r);
	if (r.status == SCOPE_FAILED)
		fail_msg("%s: %s", row->name, r.why);
	measured = r.status == SCOPE_MEASURED;
	scope_result_free(&r);
	return measured;
}

static void test_rows(void **state)
{
	uint32_t measured = 0;

	(void)state;
	for (const struct scope_row_table *const *t = scope_host_rows; *t; t++)
		for (uint32_t k = 0; k < (*t)->count; k++)
			measured += measure_row(scope_row_at(*t, k));
	assert_true(measured >= 10); /* the rest lacks something here */
}

/*
 * Does the check come to this, if it is given time? It tells by the time of loads, and others use the caches
 * too.
 */
static bool comes_to(uint32_t line_bytes, int rc)
{
	for (unsigned k = 0; k < 50; k++)
		if (scope_lines_check(line_bytes, NULL) == rc)
			return true;
	return false;
}

/* The check of the flush itself: without one there is no difference that it could see. */
static void test_flush(void **state)
{
	static char memory[4096];

	(void)state;
	if (scope_lines_flush(memory, sizeof memory, m.line_bytes, NULL) == -GN_ENOTSUP)
		skip();
	if (!comes_to(m.line_bytes, 0) || !comes_to(4096, -GN_EIO)) /* flushes a line of each page */
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_flush)};

	scope_machine_find(&m, SCOPE_QUICK, ".");
	m.most_seconds = 0.05;
	m.most_samples = 50;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
