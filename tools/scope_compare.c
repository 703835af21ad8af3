/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel scope compare: what changed from one report to another, beyond the noise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scope/output.h"
#include "tool.h"

/* Exit statuses as diff has them: 0 nothing is slower, 1 something is, 2 there is no answer. */
enum { SLOWER = 1, NO_ANSWER = 2 };

enum { OPT_THRESHOLD = 256, OPT_JSON, OPT_ALL, OPT_ANYWAY };

struct request {
	const char *path[2];
	unsigned paths;
	double threshold;
	const char *json;
	bool all, anyway;
};

static const struct argp_option options[] = {
    {"threshold", OPT_THRESHOLD, "PERCENT", 0, "smallest change in percent that counts (default 3)"},
    {"all", OPT_ALL, NULL, 0, "print the cells without a change too"},
    {"anyway", OPT_ANYWAY, NULL, 0, "compare the reports though they are of different machines"},
    {"json", OPT_JSON, "FILE", 0,
     "write the comparison to FILE as JSON; - is standard output, and then no table is printed"},
    {0},
};

static double percent_option(const struct argp_state *state, const char *text)
{
	char *end;
	const double percent = strtod(text, &end);

	if (end == text || *end || !(percent >= 0 && percent <= 1000))
		argp_error(state, "--threshold %s: give a number of percent from 0 to 1000", text);
	return percent / 100;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case OPT_THRESHOLD: q->threshold = percent_option(state, arg); return 0;
	case OPT_ALL: q->all = true; return 0;
	case OPT_ANYWAY: q->anyway = true; return 0;
	case OPT_JSON: q->json = arg; return 0;
	case ARGP_KEY_ARG:
		if (q->paths == 2)
			argp_error(state, "%s: too many arguments; give two reports", arg);
		q->path[q->paths++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (q->paths < 2)
			argp_error(state, "two reports are needed; give them as in grapnel scope compare "
			                  "BEFORE.json AFTER.json");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    "BEFORE.json AFTER.json",
    "Compare two reports of grapnel scope. A figure has changed if three conditions hold: the 95 % interval "
    "of each median excludes the other median, the ranks of the samples differ (Mann-Whitney U, p < 0.05), "
    "and the change is larger than the threshold.\vExit status: 0 nothing is slower, 1 something is slower, "
    "2 no comparison: the command line is wrong, a file is not a report, or the reports are of different "
    "machines.",
};

/* ---- what is printed ---- */

static const char *text_of(const json_t *entry, const char *member)
{
	const json_t *v = json_object_get(entry, member);

	return json_is_string(v) ? json_string_value(v) : "-";
}

static double number_of(const json_t *entry, const char *member)
{
	return json_number_value(json_object_get(entry, member));
}

static void print_environment(const json_t *list)
{
	for (size_t k = 0; k < json_array_size(list); k++) {
		const json_t *d = json_array_get(list, k);

		printf("%s %s: %s, then %s\n",
		       json_is_true(json_object_get(d, "machine")) ? "other machine:" : "environment:",
		       text_of(d, "key"), text_of(d, "before"), text_of(d, "after"));
	}
}

/* A figure in the unit of its row. */
static void print_figure(const json_t *cell, const char *member)
{
	const char *unit = text_of(cell, "unit");
	const double v = number_of(cell, member);

	if (!json_is_number(json_object_get(cell, member)))
		printf(" %14s", "-");
	else if (unit[0] == 's')
		printf(" %11.4g ns", 1e9 * v);
	else if (unit[0] == 'b')
		printf(" %9.4g GB/s", 1e-9 * v);
	else
		printf(" %10.4g M/s", 1e-6 * v);
}

static void print_cell(const json_t *cell)
{
	printf("%-11s", text_of(cell, "verdict"));
	print_figure(cell, "before");
	print_figure(cell, "after");
	if (json_is_number(json_object_get(cell, "ratio")))
		printf(" %+7.1f %%  p %-8.2g", 100 * (number_of(cell, "ratio") - 1),
		       number_of(cell, "p_value"));
	else
		printf(" %21s", "");
	printf(" %s\n", text_of(cell, "name"));
}

static unsigned count_of(const json_t *cells, const char *verdict)
{
	unsigned count = 0;

	for (size_t k = 0; k < json_array_size(cells); k++)
		count += !strcmp(text_of(json_array_get(cells, k), "verdict"), verdict);
	return count;
}

static void print_cells(const json_t *cells, bool all)
{
	for (size_t k = 0; k < json_array_size(cells); k++)
		if (all || strcmp(text_of(json_array_get(cells, k), "verdict"), "same"))
			print_cell(json_array_get(cells, k));
	printf("%u slower, %u faster, %u the same, %u only before, %u only after\n",
	       count_of(cells, "slower"), count_of(cells, "faster"), count_of(cells, "same"),
	       count_of(cells, "only-before"), count_of(cells, "only-after"));
}

/* ---- comparing ---- */

static const char *other_machine(const json_t *list)
{
	for (size_t k = 0; k < json_array_size(list); k++)
		if (json_is_true(json_object_get(json_array_get(list, k), "machine")))
			return text_of(json_array_get(list, k), "key");
	return NULL;
}

static int compare(const struct request *q, json_t **result, struct gn_error *e)
{
	json_t *before = NULL, *after = NULL;
	const char *key;
	int rc = scope_report_load(q->path[0], &before, e);

	rc = rc ? rc : scope_report_load(q->path[1], &after, e);
	rc = rc ? rc : scope_compare(before, after, q->threshold, result, e);
	json_decref(before);
	json_decref(after);
	key = rc ? NULL : other_machine(json_object_get(*result, "environment"));
	if (key && !q->anyway)
		rc = gn_error_set(e, -GN_EINVAL,
		                  "%s and %s are reports of different machines (%s); compare reports of one "
		                  "machine, or give --anyway",
		                  q->path[0], q->path[1], key);
	return rc;
}

int tool_scope_compare(int argc, char **argv)
{
	struct request q = {{NULL, NULL}, 0, 0.03, NULL, false, false};
	struct gn_error e = {0, ""};
	json_t *result = NULL;
	bool slower;
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &q);
	rc = compare(&q, &result, &e);
	if (result && !tool_to_stdout(q.json))
		print_environment(json_object_get(result, "environment"));
	if (!rc && !tool_to_stdout(q.json))
		print_cells(json_object_get(result, "cells"), q.all);
	slower = !rc && count_of(json_object_get(result, "cells"), "slower");
	if (!rc && q.json)
		rc = tool_write_json(json_incref(result), q.json, &e);
	json_decref(result);
	if (rc) {
		tool_fail("scope compare", &e);
		return NO_ANSWER;
	}
	return slower ? (int)SLOWER : (int)TOOL_OK;
}
