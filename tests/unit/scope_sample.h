/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope_sample.h - a report of a machine that never was, whose figures a test knows: two GPUs on PCIe 5 x16,
 * every kind of row and chart, and one of everything that can look wrong.
 */
#ifndef GN_TESTS_SCOPE_SAMPLE_H
#define GN_TESTS_SCOPE_SAMPLE_H

#include <scope/output.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SAMPLE_CELLS = 400 };

struct sample {
	struct scope_report report;
	struct scope_result result[SAMPLE_CELLS];
	uint64_t random;
};

/* A report without a cell; free with sample_close. */
void sample_open(struct sample *s);
void sample_close(struct sample *s);

/* A number from 0 to 1, the same in every run. */
double sample_random(struct sample *s);

/*
 * sample_add - a cell of `samples` samples around `value` (in the row's unit) with that relative noise; args
 * ended by {NULL, 0}. Returns its result, for a test to change.
 */
struct scope_result *sample_add(struct sample *s, const struct scope_row *row, const struct scope_arg *args,
                                double value, double noise, uint32_t samples);

/* sample_fail - a cell that was not measured. */
void sample_fail(struct sample *s, const struct scope_row *row, const struct scope_arg *args,
                 enum scope_status status, const char *why);

/* sample_fill - the whole machine. */
void sample_fill(struct sample *s);

/* expect_near - fail the test where a figure is further from what it should be. */
void expect_near(double value, double want, double within);

#ifdef __cplusplus
}
#endif

#endif
