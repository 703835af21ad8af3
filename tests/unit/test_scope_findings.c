/* SPDX-License-Identifier: Apache-2.0 */
/* Each thing that looks wrong is said where it is, and not where it is not. */
#include <string.h>

#include <scope/output/findings.h>
#include <scope/output/limits.h>

#include "scope_sample.h"
#include "unit.h"

#define ROW(name, direction, limit, unit, timer)                          \
	{                                                                 \
		name, "", NULL, direction, limit, NULL, unit, timer, NULL \
	}

static const struct scope_row pinned =
    ROW("copy/pinned-to-device", "h2d", "pcie", SCOPE_BANDWIDTH, SCOPE_EVENTS);
static const struct scope_row pageable =
    ROW("copy/pageable-to-device", "h2d", "pcie", SCOPE_BANDWIDTH, SCOPE_EVENTS);
static const struct scope_row gather = ROW("gather/rows", "h2d", "pcie", SCOPE_BANDWIDTH, SCOPE_EVENTS);
static const struct scope_row warm = ROW("memory/copy", "h2h", "memory", SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK);
static const struct scope_row flushed =
    ROW("memory/copy-flushed", "h2h", "memory", SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK);
static const struct scope_row chase = ROW("latency/host", "none", "pcie", SCOPE_LATENCY, SCOPE_DEVICE_CLOCK);
static const struct scope_arg small[] = {{"bytes", 1 << 20}, {NULL, 0}},
                              large[] = {{"bytes", 1 << 28}, {NULL, 0}};

static struct sample s;

static int open_sample(void **state)
{
	(void)state;
	sample_open(&s);
	return 0;
}

static int close_sample(void **state)
{
	(void)state;
	sample_close(&s);
	return 0;
}

static void context(const char *text)
{
	json_decref(s.report.context);
	s.report.context = json_loads(text, 0, NULL);
	assert_non_null(s.report.context);
}

/* One finding with all of these words, and no other; NULL: none at all. */
static void expect(const char *word, const char *another)
{
	json_t *report = scope_report_json(&s.report), *findings = scope_findings(report);
	const char *text = json_string_value(json_array_get(findings, 0));

	assert_int_equal(json_array_size(findings), word ? 1 : 0);
	if (word && (!strstr(text, word) || !strstr(text, another)))
		fail_msg("\"%s\" does not say \"%s\" and \"%s\"", text, word, another);
	json_decref(findings);
	json_decref(report);
}

static const char pcie5[] = "{\"gpus\": [{\"pcie_generation\": 5, \"pcie_width\": 16}]}";

static void test_nothing(void **state)
{
	(void)state;
	context(pcie5);
	sample_add(&s, &pinned, large, 55e9, 0.01, 30);
	expect(NULL, NULL);
}

static void test_failed(void **state)
{
	(void)state;
	sample_fail(&s, &pinned, large, SCOPE_FAILED, "byte 7 is wrong");
	sample_fail(&s, &gather, large, SCOPE_SKIPPED, "no device");
	expect("1 failed: copy/pinned-to-device/bytes:268435456", "byte 7 is wrong");
}

static void test_slow_link(void **state)
{
	(void)state;
	context(pcie5);
	sample_add(&s, &pinned, large, 25e9, 0.01, 30);
	expect("No row got more than 25", "trained down");
}

static void test_beyond(void **state)
{
	(void)state;
	context(pcie5);
	sample_add(&s, &pinned, large, 90e9, 0.01, 30);
	expect("Faster than the link can be (PCIe 5 x16: 63.0", "cache");
}

/* What no link can carry says nothing about the rows beside it, nor about the link. */
static void test_beyond_is_no_measure(void **state)
{
	(void)state;
	context(pcie5);
	sample_add(&s, &pinned, large, 55e9, 0.01, 30);
	sample_add(&s, &pageable, large, 35e9, 0.01, 30);
	sample_add(&s, &pinned, small, 120e9, 0.01, 30);
	expect("Faster than the link", "copy/pinned-to-device/bytes:1048576");
}

static void test_pageable(void **state)
{
	(void)state;
	sample_add(&s, &pinned, large, 55e9, 0.01, 30);
	sample_add(&s, &pageable, large, 11e9, 0.01, 30);
	expect("copy/pageable-to-device gets", "copied twice");
}

/* What is wrong stands before what explains it, and that before who else was there. */
static void test_order(void **state)
{
	static const char *const words[] = {"failed", "trained down", "No row got more", "not sure",
	                                    "virtual machine"};
	json_t *report, *findings;

	(void)state;
	context("{\"gpus\": [{\"pcie_generation\": 5, \"pcie_width\": 16}], \"virtual_machine\": {\"guest\": "
	        "true}, \"gpu_links_busy\": [{"
	        "\"current_link_speed\": \"8 GT/s\", \"max_link_speed\": \"32 GT/s\", "
	        "\"current_link_width\": 16, \"max_link_width\": 16}]}");
	sample_add(&s, &pinned, large, 12e9, 0.7, 12);
	sample_fail(&s, &gather, large, SCOPE_FAILED, "wrong");
	report = scope_report_json(&s.report);
	findings = scope_findings(report);
	assert_int_equal(json_array_size(findings), 5);
	for (unsigned k = 0; k < 5; k++)
		assert_non_null(strstr(json_string_value(json_array_get(findings, k)), words[k]));
	json_decref(findings);
	json_decref(report);
}

static void test_slow_row(void **state)
{
	(void)state;
	sample_add(&s, &pinned, large, 55e9, 0.01, 30);
	sample_add(&s, &gather, large, 5e9, 0.01, 30);
	expect("Less than half", "gather/rows");
	s.result[0].cell.row = &warm; /* memory is no link */
	s.result[1].cell.row = &flushed;
	expect(NULL, NULL);
}

static void test_flush(void **state)
{
	(void)state;
	context("{\"caches\": [{\"size\": 33554432}]}");
	sample_add(&s, &warm, small, 40e9, 0.001, 30);
	sample_add(&s, &flushed, small, 40e9, 0.001, 30);
	expect("flush of the host's caches changed nothing", "memory/copy-flushed/bytes:1048576");
	/* the large sizes say nothing: no cache holds them */
	s.result[0].cell.arg[0].value = s.result[1].cell.arg[0].value = 1 << 28;
	expect(NULL, NULL);
}

static void test_nodes(void **state)
{
	const struct scope_arg near[] = {{"bytes", 1 << 28}, {"node", 0}, {NULL, 0}},
	                       far[] = {{"bytes", 1 << 28}, {"node", 1}, {NULL, 0}};

	(void)state;
	sample_add(&s, &pinned, near, 55e9, 0.01, 30);
	sample_add(&s, &pinned, far, 33e9, 0.01, 30);
	expect("node of host memory matters: copy/pinned-to-device/bytes:268435456/node:0", "numactl");
}

static void test_trained_down(void **state)
{
	(void)state;
	context("{\"gpu_links_busy\": [{\"address\": \"0000:17:00.0\", \"current_link_speed\": \"32.0 GT/s "
	        "PCIe\", \"max_link_speed\": "
	        "\"32.0 GT/s PCIe\", \"current_link_width\": \"8\", \"max_link_width\": \"16\"}]}");
	expect("0000:17:00.0 is trained down: 32 GT/s x8 of 32 GT/s x16", "50 %");
}

static void test_peer(void **state)
{
	(void)state;
	context("{\"gpus\": [{\"peer\": [false, true]}, {\"peer\": [false, false]}]}");
	expect("No peer access between GPUs: 1 to 0", "topo -p2p");
}

static void test_machine(void **state)
{
	(void)state;
	context("{\"cpu\": {\"governor\": \"powersave\"}}");
	expect("governor is powersave", "performance");
	context("{\"load_avg\": [9, 1, 1], \"num_cpus\": 16}");
	expect("a load of 9.0 on 16", "quiet");
	context("{\"load_avg\": [0, 0, 0], \"num_cpus\": 16, \"others_share\": 0.25}");
	expect("25 % of all processors", "quiet");
	context("{\"virtual_machine\": {\"guest\": true, \"product\": null}}");
	expect("virtual machine", "guest");
}

static void test_slowing(void **state)
{
	struct scope_result *r = sample_add(&s, &pinned, large, 55e9, 0.002, 60);

	(void)state;
	for (uint32_t k = 40; k < 60; k++)
		r->value[k] *= 0.9;
	expect("Slower while they were measured, up to 10 %", "throttled");
}

/* One round of four on worse pages: said once, as rounds that differ, not as two groups or slowing. */
static void test_scattered(void **state)
{
	struct scope_result *r = sample_add(&s, &pinned, large, 55e9, 0.002, 80);

	(void)state;
	for (uint32_t k = 0; k < 80; k++)
		r->value[k] *= k >= 60 ? 0.96 : 1;
	for (r->rounds = 0; r->rounds < 4; r->rounds++)
		r->end[r->rounds] = 20 * (r->rounds + 1);
	expect("1 of 1 figures differ by more than 3 % from one round to the next",
	       "the best tenth of the samples from 55");
}

/* Two clocks in turn, so that it does not look like slowing down. */
static void test_bimodal(void **state)
{
	struct scope_result *r = sample_add(&s, &chase, NULL, 1e-6, 0.01, 60);

	(void)state;
	for (uint32_t k = 0; k < 60; k += 3)
		r->value[k] *= 1.15;
	expect("two groups", " and 11");
}

/* One hump of any common shape is not two. */
static void test_not_bimodal(void **state)
{
	double v[200], low, high, share;
	unsigned wrong = 0;

	(void)state;
	for (unsigned run = 0; run < 500; run++) {
		const unsigned n = 15 + run % 185;

		for (unsigned k = 0; k < n; k++) { /* even, near normal, and with a long tail */
			const double r = sample_random(&s);

			v[k] = run % 3 == 0 ? 1 + r
			       : run % 3 == 1
			           ? 8 + r + sample_random(&s) + sample_random(&s) + sample_random(&s)
			           : 1 + 0.1 / (0.1 + r);
		}
		wrong += scope_is_bimodal(v, n, &low, &high, &share);
	}
	assert_true(wrong <= 5);
}

static void test_noisy(void **state)
{
	(void)state;
	sample_add(&s, &pinned, large, 55e9, 0.7, 12);
	expect("1 of 1 medians are not sure within 5 %", "copy/pinned-to-device");
}

/* PCI-SIG's table: 0.250, 0.500, 0.985, 1.969, 3.938, 7.563 GB/s a lane, given there to three digits. */
static void test_links(void **state)
{
	static const double lanes[] = {0.250, 0.500, 0.985, 1.969, 3.938, 7.563};

	(void)state;
	for (unsigned g = 1; g <= 6; g++)
		expect_near(1e-9 * scope_pcie_rate(g, 1), lanes[g - 1], 0.001);
	assert_true(scope_pcie_rate(0, 16) <= 0 && scope_pcie_rate(9, 16) <= 0);
	/* what a damaged report can say */
	assert_true(scope_pcie_rate(5, -16) <= 0 && scope_pcie_rate(-1, 16) <= 0 &&
	            scope_pcie_rate(1e300, 16) <= 0);
	assert_true(scope_pcie_rate(5, 1e300) <= 0);
}

int main(void)
{
	static void (*const each[])(void **) = {
	    test_nothing,  test_failed,      test_slow_link, test_beyond, test_beyond_is_no_measure,
	    test_pageable, test_slow_row,    test_flush,     test_nodes,  test_trained_down,
	    test_peer,     test_machine,     test_slowing,   test_order,  test_scattered,
	    test_bimodal,  test_not_bimodal, test_noisy,     test_links};
	enum { COUNT = sizeof each / sizeof *each };
	struct CMUnitTest tests[COUNT];

	for (unsigned k = 0; k < COUNT; k++) {
		const struct CMUnitTest one =
		    cmocka_unit_test_setup_teardown(each[k], open_sample, close_sample);

		tests[k] = one;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
