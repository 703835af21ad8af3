/* SPDX-License-Identifier: Apache-2.0 */
/* A run over rows of which each does something that rows do: work well, fail, lie, hang, take long. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <grapnel/simt.h>

#include "scope/sampling.h"
#include "scope/schedule.h"
#include "unit.h"

enum behaviour {
	GOOD,
	NO_OPEN,
	MISSING,
	NO_SAMPLE,
	WRONG,
	EMPTY,
	SLOW,
	FEW,
	HANG,
	SLOW_AT_FIRST,
	SCATTER,
	GONE,
	WRONG_LATER,
	DISTURBED
};

struct test_row {
	struct scope_row row; /* first */
	enum behaviour behaviour;
};

struct test_cell {
	const struct test_row *row; /* NULL: not open */
};

/* Shared with threads that were left alone. */
static struct {
	uint32_t open, samples, opened;
	uint32_t stay; /* those that hang */
	uint32_t switches;
} seen;

/*
 * The linker puts it in the place of getrusage: other programs run when a row says so, not when this machine
 * is busy.
 */
#ifdef __cplusplus
extern "C" {
#endif
int __wrap_getrusage(int who, struct rusage *use);
#ifdef __cplusplus
}
#endif

int __wrap_getrusage(int who, struct rusage *use)
{
	(void)who;
	memset(use, 0, sizeof *use);
	use->ru_nivcsw = (long)simt_load_acquire_sys_u32(&seen.switches);
	return 0;
}

static uint32_t opened(void)
{
	return simt_load_acquire_sys_u32(&seen.opened);
}

static int plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const struct scope_arg first[] = {{"step", 1}, {NULL, 0}}, second[] = {{"step", 2}, {NULL, 0}};
	const int rc = scope_plan_add(p, first);

	(void)row;
	(void)m;
	return rc ? rc : scope_plan_add(p, second);
}

static int row_open(const struct scope_cell *c, const struct scope_machine *m, void *state,
                    struct gn_error *e)
{
	const struct test_row *r = (const struct test_row *)c->row;

	(void)m;
	if (r->behaviour == NO_OPEN)
		return gn_error_set(e, -GN_ENOMEM, "out of memory on purpose");
	if (r->behaviour == MISSING)
		return gn_error_set(e, -GN_ENOTSUP, "there is none");
	if (r->behaviour == GONE && opened() > 1)
		return gn_error_set(e, -GN_ENOTSUP, "there is none left");
	simt_add_acq_rel_dev_u32(&seen.opened, 1);
	simt_add_acq_rel_dev_u32(&seen.open, 1);
	((struct test_cell *)state)->row = r;
	return 0;
}

static void hang(void)
{
	while (simt_load_acquire_sys_u32(&seen.stay))
		usleep(1000);
}

/* An operation takes a microsecond, on a clock that is the test's. */
static int row_sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	const struct test_row *r = ((const struct test_cell *)state)->row;
	const uint32_t samples = simt_add_acq_rel_dev_u32(&seen.samples, 1) + 1;

	if (r->behaviour == NO_SAMPLE && samples > 20)
		return gn_error_set(e, -GN_EIO, "the link went down");
	if (r->behaviour == HANG)
		hang();
	if (r->behaviour == SLOW)
		usleep(20000);
	if (r->behaviour == FEW && operations > 5)
		operations = 5;
	s->operations = operations;
	s->seconds = r->behaviour == EMPTY ? 0 : 1e-6 * (double)operations;
	if (r->behaviour == SLOW_AT_FIRST && samples < 5)
		s->seconds += 1;
	if (r->behaviour == DISTURBED && samples % 4 == 0) { /* another program ran, for a second */
		simt_add_acq_rel_dev_u32(&seen.switches, 1);
		s->seconds += 1;
	}
	if (r->behaviour == SCATTER) /* other pages each time */
		s->seconds *= 1 + 0.1 * (opened() % 3);
	s->bytes = 4096 * operations;
	s->second = 7;
	return 0;
}

static int row_verify(void *state, struct gn_error *e)
{
	const struct test_row *r = ((const struct test_cell *)state)->row;

	return r->behaviour == WRONG || (r->behaviour == WRONG_LATER && opened() > 2)
	           ? gn_error_set(e, -GN_EIO, "3 words are wrong")
	           : 0;
}

static void row_close(void *state)
{
	if (((const struct test_cell *)state)->row)
		simt_add_acq_rel_dev_u32(&seen.open, ~0u); /* one less */
}

static const struct scope_functions functions = {
    sizeof(struct test_cell), plan, row_open, row_sample, row_verify, row_close};
static const struct test_row good = {
    {"test/good", "", NULL, "none", NULL, "load", SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &functions}, GOOD};

static struct test_row row_of(enum behaviour behaviour)
{
	struct test_row r = good;

	r.behaviour = behaviour;
	return r;
}

/* A clock of 50 ns: a region has 50 us at least, and a 200th of the round's 0.1 s. */
static struct scope_machine machine(void)
{
	struct scope_machine m;

	memset(&m, 0, sizeof m);
	m.host_tick = 50e-9;
	m.most_seconds = 0.1;
	m.most_samples = 500;
	m.spread = 0.01;
	m.least_rounds = 2;
	m.most_rounds = 4;
	m.deadline = 20;
	memset(&seen, 0, sizeof seen);
	return m;
}

static struct scope_result measured(enum behaviour behaviour, const struct scope_machine *m)
{
	const struct test_row row = row_of(behaviour);
	const struct scope_cell c = {&row.row, 0, {{NULL, 0}}};
	struct scope_result r;

	scope_measure(&c, m, 0, &r);
	assert_int_equal(seen.open, 0); /* what was opened was closed */
	r.cell.row = NULL;
	return r;
}

static void test_good(void **state)
{
	const struct scope_machine m = machine();
	struct scope_result r = measured(GOOD, &m);

	(void)state;
	assert_int_equal(r.status, SCOPE_MEASURED);
	/* SCOPE_LEAST_SAMPLES, if this thread is not kept waiting for 0.1 s */
	assert_in_range(r.samples, 3, m.most_samples);
	assert_true(r.seconds[0] * (double)r.operations >= SCOPE_TICKS * m.host_tick);
	assert_int_equal(r.rounds, 1);
	assert_int_equal(r.end[0], r.samples);
	assert_in_range(r.operations, 500, 2000);
	assert_int_equal(r.bytes, 4096 * r.operations);
	assert_true(r.value[0] > 4.095e9 && r.value[0] < 4.097e9);
	assert_true(r.second[0] == 7);
	assert_string_equal(r.why, "");
	scope_result_free(&r);
}

/* Long regions at the beginning, as when another program ran, do not make those that count too short. */
static void test_slow_at_first(void **state)
{
	const struct scope_machine m = machine();
	struct scope_result r = measured(SLOW_AT_FIRST, &m);

	(void)state;
	assert_int_equal(r.status, SCOPE_MEASURED);
	assert_in_range(r.operations, 500, 2000);
	scope_result_free(&r);
}

static void test_disturbed(void **state)
{
	struct scope_machine m = machine();
	struct scope_result r;

	(void)state;
	m.spread = 0; /* all 500 */
	m.most_seconds = 20;
	r = measured(DISTURBED, &m);
	assert_int_equal(r.status, SCOPE_MEASURED);
	assert_int_equal(r.samples, 375);
	assert_string_equal(r.why, "other programs ran in 125 of 500 samples, which are left out");
	for (uint32_t k = 0; k < r.samples; k++)
		assert_true(r.value[k] > 4.095e9 && r.value[k] < 4.097e9);
	scope_result_free(&r);
}

static void test_limits(void **state)
{
	struct scope_machine m = machine();
	struct scope_result r;
	const double began = scope_clock();

	(void)state;
	r = measured(SLOW, &m); /* 20 ms each */
	assert_int_equal(r.status, SCOPE_MEASURED);
	assert_in_range(r.samples, 3, 8);
	assert_true(scope_clock() - began < 8); /* 500 samples would be 10 s */
	scope_result_free(&r);
	m = machine();
	m.most_seconds = 20; /* of which a starved thread needs a part */
	m.most_samples = 4;
	r = measured(GOOD, &m);
	assert_int_equal(r.samples, 4);
	scope_result_free(&r);
	m = machine();
	r = measured(FEW, &m);
	assert_int_equal(r.operations, 5);
	assert_non_null(strstr(r.why, "shorter than 1000 steps of the clock"));
	scope_result_free(&r);
}

static void test_failures(void **state)
{
	static const struct {
		enum behaviour behaviour;
		enum scope_status status;
		const char *why;
	} cases[] = {{NO_OPEN, SCOPE_FAILED, "out of memory on purpose"},
	             {MISSING, SCOPE_SKIPPED, "there is none"},
	             {NO_SAMPLE, SCOPE_FAILED, "the link went down"},
	             {WRONG, SCOPE_FAILED, "3 words are wrong"},
	             {EMPTY, SCOPE_FAILED, "a sample is not plausible"}};

	(void)state;
	for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
		const struct scope_machine m = machine();
		struct scope_result r = measured(cases[k].behaviour, &m);

		assert_int_equal(r.status, cases[k].status);
		assert_non_null(strstr(r.why, cases[k].why));
		assert_int_equal(r.samples, 0); /* figures that are not to be used are not there */
		assert_null(r.value);
	}
}

/* ---- a run ---- */

static struct test_row rows[4];
static const struct scope_row_table table = {rows, sizeof *rows, 4};
const struct scope_row_table *const scope_host_rows[] = {&table, NULL};

static void run(const struct scope_machine *m, double budget,
                bool (*step)(void *, const struct scope_progress *), void *user, struct scope_report *report)
{
	struct scope_plan *p;

	assert_int_equal(scope_plan_make(m, NULL, &p, NULL), 0);
	assert_int_equal(scope_run(p, m, budget, step, user, report), 0);
	assert_int_equal(report->results, 8);
	assert_non_null(json_object_get(report->context, "date"));
	scope_plan_free(p);
}

struct steps {
	uint32_t next, finished, rounds;
};

static bool count_steps(void *user, const struct scope_progress *now)
{
	struct steps *s = (struct steps *)user;

	assert_true((now->next == NULL) != (now->result == NULL));
	assert_true(now->cell <= now->cells && now->cells <= 8);
	s->rounds = now->round;
	s->next += now->next != NULL;
	s->finished += now->result != NULL;
	return true;
}

static void test_run_goes_on(void **state)
{
	static const enum scope_status expected[] = {SCOPE_MEASURED, SCOPE_MEASURED, SCOPE_FAILED,
	                                             SCOPE_FAILED,   SCOPE_FAILED,   SCOPE_FAILED,
	                                             SCOPE_MEASURED, SCOPE_MEASURED};
	const struct scope_machine m = machine();
	struct scope_report report;
	struct steps steps = {0, 0, 0};

	(void)state;
	rows[0] = row_of(GOOD);
	rows[1] = row_of(WRONG);
	rows[2] = row_of(NO_SAMPLE);
	rows[3] = row_of(GOOD);
	run(&m, 0, count_steps, &steps, &report);
	assert_int_equal(steps.next, 8 + 4); /* the good ones twice */
	assert_int_equal(steps.finished, 8);
	assert_int_equal(steps.rounds, 2);
	for (uint32_t k = 0; k < 8; k++)
		assert_int_equal(report.result[k].status, expected[k]);
	assert_int_equal(report.result[0].rounds, 2);
	assert_int_equal(report.result[0].end[1], report.result[0].samples);
	assert_string_equal(report.result[0].why, "");
	scope_report_free(&report);
}

/* What differs each time it is opened has all the rounds there may be, and an interval that says so. */
static void test_rounds(void **state)
{
	const struct scope_machine m = machine();
	struct scope_statistics s;
	struct scope_report report;

	(void)state;
	rows[0] = row_of(SCATTER);
	rows[1] = row_of(GOOD);
	rows[2] = row_of(MISSING);
	rows[3] = row_of(MISSING);
	run(&m, 0, NULL, NULL, &report);
	assert_int_equal(report.result[0].rounds, 4);
	assert_non_null(strstr(report.result[0].why, "stopped at a limit"));
	assert_int_equal(scope_result_statistics(&report.result[0], &s), 0);
	assert_true(s.most_round / s.least_round > 1.09 && s.high / s.low > 1.09);
	assert_int_equal(report.result[2].rounds, 2);
	assert_int_equal(report.result[4].status, SCOPE_SKIPPED);
	scope_report_free(&report);
}

/* A later round that is wrong makes all wrong; one that is not to be had any more does not. */
static void test_later_rounds(void **state)
{
	struct scope_machine m = machine();
	struct scope_report report;

	(void)state;
	for (uint32_t k = 0; k < 4; k++)
		rows[k] = row_of(MISSING);
	rows[0] = row_of(WRONG_LATER);
	run(&m, 0, NULL, NULL, &report);
	assert_int_equal(report.result[0].status, SCOPE_FAILED);
	assert_string_equal(report.result[0].why, "3 words are wrong (in round 2)");
	assert_null(report.result[0].value);
	scope_report_free(&report);
	m = machine();
	rows[0] = row_of(GONE);
	run(&m, 0, NULL, NULL, &report);
	assert_int_equal(report.result[0].status, SCOPE_MEASURED);
	assert_int_equal(report.result[0].rounds, 1);
	assert_string_equal(report.result[0].why, "no round 2: there is none left");
	scope_report_free(&report);
}

/* A cell that does not end costs its row. */
static void test_hang(void **state)
{
	struct scope_machine m = machine();
	struct scope_report report;

	(void)state;
	m.deadline = 3; /* the good ones are over long before, on a busy machine too */
	seen.stay = 1;
	rows[0] = row_of(GOOD);
	rows[1] = row_of(HANG);
	rows[2] = row_of(GOOD);
	rows[3] = row_of(MISSING);
	run(&m, 0, NULL, NULL, &report);
	assert_int_equal(report.result[2].status, SCOPE_FAILED);
	assert_non_null(
	    strstr(report.result[2].why, "the cell was stopped because it had not ended after 3 s"));
	assert_int_equal(report.result[3].status, SCOPE_SKIPPED);
	assert_non_null(strstr(report.result[3].why, "did not end"));
	assert_int_equal(report.result[4].status, SCOPE_MEASURED);
	assert_int_equal(report.result[5].status, SCOPE_MEASURED);
	assert_int_equal(report.result[6].status, SCOPE_SKIPPED);
	scope_report_free(&report);
	simt_store_release_sys_u32(&seen.stay, 0);
	while (simt_load_acquire_sys_u32(&seen.open)) /* the thread that was left alone frees what it has */
		usleep(1000);
}

/* Too little time for two rounds costs rounds, not cells; too little for one costs cells. */
static void test_budget(void **state)
{
	struct scope_machine m = machine();
	struct scope_report report;
	const double began = scope_clock();

	(void)state;
	m.most_seconds = 10;
	for (uint32_t k = 0; k < 4; k++)
		rows[k] = row_of(SLOW);
	run(&m, 1.5, NULL, NULL, &report);
	assert_true(scope_clock() - began < 40); /* 8 cells of 10 s would be 80 s */
	assert_int_equal(report.result[0].status, SCOPE_MEASURED);
	for (uint32_t k = 1; k < 8; k++) {
		if (report.result[k].status == SCOPE_MEASURED)
			continue;
		/* on a busy machine the time may be over before the last cells, but then it is over */
		assert_string_equal(report.result[k].why, "the time for all was over");
		assert_true(scope_clock() - began >= 1.5);
	}
	scope_report_free(&report);
	run(&m, 1e-6, NULL, NULL, &report);
	assert_int_equal(report.result[7].status, SCOPE_SKIPPED);
	assert_string_equal(report.result[7].why, "the time for all was over");
	scope_report_free(&report);
}

/*
 * Of three cells the one whose rounds differ most, and then as many as fit; one that is over is not among
 * them.
 */
static void test_choice(void **state)
{
	static double far[] = {100, 120}, near[] = {100, 101}, one[] = {100, 100, 100};
	struct scope_result result[4];
	struct scope_turn turn[4];
	struct scope_machine m = machine();

	(void)state;
	memset(result, 0, sizeof result);
	memset(turn, 0, sizeof turn);
	for (uint32_t k = 0; k < 4; k++) {
		result[k].value = k == 0 ? near : k == 1 ? one : far;
		result[k].samples = k == 1 ? 3 : 2;
		result[k].rounds = k == 1 ? 1 : 2;
		result[k].end[0] = k == 1 ? 3 : 1;
		result[k].end[1] = 2;
		turn[k].cost = 1;
		turn[k].over = k == 3;
		scope_turn_judge(&turn[k], &result[k], &m);
	}
	/* two rounds 1 % apart are not sure within 1 % */
	assert_false(turn[0].over || turn[1].over || turn[2].over);
	assert_int_equal(scope_turns_choose(turn, result, 4, 1.5), 1);
	assert_true(turn[2].chosen && !turn[0].chosen && !turn[1].chosen);
	assert_int_equal(scope_turns_choose(turn, result, 4, 2.5), 2);
	assert_true(turn[2].chosen && turn[0].chosen && !turn[1].chosen);
	assert_int_equal(scope_turns_choose(turn, result, 4, 9), 3);
	assert_false(turn[3].chosen);
	assert_int_equal(scope_turns_choose(turn, result, 4, 0.5), 0);
}

static bool stop_at_three(void *user, const struct scope_progress *now)
{
	(void)user;
	return now->cell < 3 && now->round == 1;
}

static void test_interrupt(void **state)
{
	const struct scope_machine m = machine();
	struct scope_report report;

	(void)state;
	for (uint32_t k = 0; k < 4; k++)
		rows[k] = row_of(GOOD);
	run(&m, 0, stop_at_three, NULL, &report);
	assert_int_equal(report.result[2].status, SCOPE_MEASURED);
	assert_int_equal(report.result[3].status, SCOPE_SKIPPED);
	assert_int_equal(report.result[7].status, SCOPE_SKIPPED);
	scope_report_free(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_good),        cmocka_unit_test(test_slow_at_first),
	    cmocka_unit_test(test_limits),      cmocka_unit_test(test_failures),
	    cmocka_unit_test(test_run_goes_on), cmocka_unit_test(test_hang),
	    cmocka_unit_test(test_budget),      cmocka_unit_test(test_interrupt),
	    cmocka_unit_test(test_rounds),      cmocka_unit_test(test_later_rounds),
	    cmocka_unit_test(test_choice),      cmocka_unit_test(test_disturbed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
