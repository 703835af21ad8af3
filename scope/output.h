/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - a report as files, and what can be said from one or two of them.
 *
 * A report is kept as JSON in Google Benchmark's schema, whose compare.py reads it: a sample is an entry of
 * run_type "iteration", in the order they were taken, and behind the samples of a cell stand the aggregates
 * mean, median, stddev and cv. Everything else is made from that file too, so that none of the writers needs
 * the run itself. The writers print numbers as numbers, and null for what is missing; GB is 1e9 bytes.
 */
#ifndef GN_SCOPE_OUTPUT_H
#define GN_SCOPE_OUTPUT_H

#include <stdio.h>

#include "scope/scope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* scope_report_json - a report as JSON, owned by the caller; NULL: no memory. */
json_t *scope_report_json(const struct scope_report *r);

/*
 * scope_report_load - JSON of a file, - for standard input; owned by the caller. Returns 0, GN_EINVAL (which
 * line), GN_ENOENT.
 */
int scope_report_load(const char *path, json_t **report, struct gn_error *e);

/* All of the following take what scope_report_json made, or what was read from a file of it, and return 0 or
 * a negative code with a message: GN_EINVAL for JSON that is no report (which entry, what is wrong), GN_EIO
 * for writing. */

/* scope_write_json - as scope_report_load reads it, a line an entry; samples with six digits. */
int scope_write_json(const json_t *report, FILE *to, struct gn_error *e);

/* scope_write_csv - tidy: one line a cell, a column a variable; always the same columns, and a header. */
int scope_write_csv(const json_t *report, FILE *to, struct gn_error *e);

/* scope_write_markdown - tables, value and noise, units in the header; pairs of devices as a matrix. */
int scope_write_markdown(const json_t *report, FILE *to, struct gn_error *e);

/*
 * scope_write_html - one file with its drawings in it and no request to anywhere; says what looks wrong, and
 * why.
 */
int scope_write_html(const json_t *report, FILE *to, struct gn_error *e);

/* scope_write_svg - the drawings alone, one below the other in one file. */
int scope_write_svg(const json_t *report, FILE *to, struct gn_error *e);

/*
 * scope_findings - what looks wrong: a text each, most important first. An array owned by the caller; NULL:
 * no report, no memory.
 */
json_t *scope_findings(const json_t *report);

/*
 * scope_compare - what changed from one report to another beyond the noise: JSON with an array "cells" of
 * {name, unit, before, after, ratio, p_value, verdict: "faster" | "slower" | "same" | "only-before" |
 * "only-after"} and an array "environment" of {key, before, after, machine}: what differs beside dates and
 * loads, and whether it makes another machine, of which figures say nothing about a change. A change counts
 * when both intervals of the median exclude the other median, the Mann-Whitney U test gives p < 0.05, and the
 * ratio is beyond `threshold` (0.03 is 3 %).
 */
int scope_compare(const json_t *before, const json_t *after, double threshold, json_t **out,
                  struct gn_error *e);

enum { SCOPE_TUNE_VERSION = 2 }; /* "tune_version" of its JSON */

/*
 * scope_tune - how Grapnel should be set on the machine of a report: JSON with page_bytes, queues, depth and
 * reach_bytes as {value, why}. why has the figures and the computation, or names the row that is missing; the
 * value is null then. docs/scope-output.md.
 */
int scope_tune(const json_t *report, json_t **out, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
