/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which cells the rows of GPUs have on machines that are made up: sizes, what is skipped and why. Planning
 * touches no device.
 */
#include <string.h>

#include "scope/scope.h"
#include "unit.h"

/* Two GPUs of 80 GiB that reach each other, in a machine of 256 GiB with some reserved huge pages. */
static void two_gpus(struct scope_machine *m)
{
	memset(m, 0, sizeof *m);
	m->effort = SCOPE_FULL;
	m->most_bytes = 4ull << 30;
	m->free_bytes = 256ull << 30;
	m->huge_page_bytes = 64 << 20;
	m->cpus = 4;
	m->nodes = 1;
	m->gpus = 2;
	for (uint32_t g = 0; g < 2; g++) {
		m->gpu[g].free_bytes = m->gpu[g].memory_bytes = 80ull << 30;
		m->gpu[g].l2_bytes = 50 << 20;
		m->gpu[g].processors = 132;
		m->gpu[g].compute = 90;
		m->gpu[g].managed = true;
		m->gpu[g].peer[1 - g] = true;
	}
}

/* What there is of a row: cells to be measured, the largest of them, and why it is skipped. */
struct seen {
	uint32_t cells;
	uint64_t most;
	char why[SCOPE_WHY];
};

static struct seen look(const struct scope_machine *m, const char *row)
{
	struct seen s = {0, 0, ""};
	struct scope_plan *p;
	char filter[100];

	snprintf(filter, sizeof filter, "^%s(/[a-z]+:|$)", row);
	assert_int_equal(scope_plan_make(m, filter, &p, NULL), 0);
	for (uint32_t k = 0; k < scope_plan_count(p); k++) {
		const char *why;
		const struct scope_cell *c = scope_plan_cell(p, k, &why);
		const uint64_t bytes = scope_cell_arg(c, "bytes", 0);

		if (why)
			snprintf(s.why, sizeof s.why, "%s", why);
		s.cells += !why;
		s.most = !why && bytes > s.most ? bytes : s.most;
	}
	scope_plan_free(p);
	return s;
}

static const char *const alone[] = {"copy/pinned-to-device",     "copy/device-to-pinned",
                                    "copy/pinned-both",          "copy/device-local",
                                    "kernel/device-local",       "kernel/device-read",
                                    "kernel/device-write",       "tma/pinned-to-device",
                                    "tma/device-to-pinned",      "tma/device-local",
                                    "copy/huge-pages-to-device", "copy/device-to-huge-pages",
                                    "zero-copy/host-read",       NULL};
static const char *const chases[] = {"latency/bulk-device", "latency/bulk-host", "latency/bulk-peer", NULL};
static const char *const together[] = {"many/one-to-all",
                                       "many/one-to-all-pulled",
                                       "many/all-to-one",
                                       "many/all-to-one-pulled",
                                       "many/kernel-one-to-all-read",
                                       "many/kernel-one-to-all-write",
                                       "many/kernel-all-to-one-read",
                                       "many/kernel-all-to-one-write",
                                       "many/all-to-all",
                                       "many/host-to-all",
                                       "many/all-to-host",
                                       "many/host-both",
                                       "many/host-both-in",
                                       "many/host-both-out",
                                       "many/kernel-host-to-all",
                                       "many/kernel-all-to-host",
                                       "tma/peer-read",
                                       "tma/peer-write",
                                       "kernel/peer-read",
                                       NULL};

static void check_sizes(const struct scope_machine *m, const char *const *row, uint64_t most)
{
	for (; *row; row++) {
		const struct seen s = look(m, *row);

		if (s.most != most || s.why[0])
			fail_msg("%s: the largest of %u cells has %llu bytes; skipped: %s", *row, s.cells,
			         (unsigned long long)s.most, s.why);
	}
}

/* Every row of one GPU and of two goes up to 4 GiB in a full run. */
static void test_sizes(void **state)
{
	static struct scope_machine m;

	(void)state;
	two_gpus(&m);
	for (const char *const *row = chases; *row; row++)
		assert_true(look(&m, *row).cells > 10);
	check_sizes(&m, alone, 4ull << 30);
	check_sizes(&m, together, 4ull << 30);
	m.effort = SCOPE_QUICK;
	m.most_bytes = 256 << 20;
	check_sizes(&m, alone, 128 << 20);
	check_sizes(&m, together, 128 << 20);
}

static void check_skipped(const struct scope_machine *m, const char *const *row, const char *prefix,
                          const char *why)
{
	for (; *row; row++) {
		const struct seen s = look(m, *row);

		if (prefix && strncmp(*row, prefix, strlen(prefix)) != 0)
			continue;
		if (s.cells || !strstr(s.why, why))
			fail_msg("%s: %u cells; skipped: '%s' instead of '%s'", *row, s.cells, s.why, why);
	}
}

static void test_skipped(void **state)
{
	static struct scope_machine m;

	(void)state;
	two_gpus(&m);
	m.gpu[1].compute = 80;
	check_skipped(&m, alone, "tma/", "needs compute capability 9.0");
	check_skipped(&m, together, "tma/", "needs compute capability 9.0");
	assert_true(look(&m, "pieces/bulk-host").cells > 0); /* its own GPUs decide, when it is opened */
	check_skipped(&m, chases, NULL, "needs compute capability 9.0");
	m.huge_page_bytes = 0;
	check_skipped(&m, alone, "copy/huge-pages", "no huge pages are free");
	m.gpu[0].peer[1] = false;
	check_skipped(&m, together, "many/kernel-one", "reach");
	m.gpus = 1;
	check_skipped(&m, together, NULL, "needs 2 GPUs");
	assert_true(look(&m, "many/host-both").cells == 0);
	m.gpus = 0;
	m.no_gpu = "there is no GPU";
	check_skipped(&m, alone, NULL, "there is no GPU");
	check_skipped(&m, together, NULL, "there is no GPU");
}

/* A machine with two nodes has cells for each of them. */
static void test_nodes(void **state)
{
	static struct scope_machine m;
	struct seen one, two;

	(void)state;
	two_gpus(&m);
	m.gpus = 1;
	one = look(&m, "copy/node-pinned-to-device");
	m.nodes = 2;
	m.node[1].number = 5;
	two = look(&m, "copy/node-pinned-to-device");
	assert_true(one.cells > 0);
	assert_int_equal(two.cells, 2 * one.cells);
	assert_int_equal(look(&m, "copy/node-pinned-to-device/bytes:[0-9]+/gpu:0/node:5").cells, one.cells);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_skipped),
	                                   cmocka_unit_test(test_nodes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
