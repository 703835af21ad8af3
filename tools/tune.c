/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel tune: from a report of grapnel scope to settings of this machine, each with its reckoning.
 */
#include <stdio.h>
#include <string.h>

#include "scope/output.h"
#include "tool.h"

enum { OPT_OUTPUT = 'o' };

struct request {
	const char *report, *output;
};

static const struct argp_option options[] = {
    {"output", OPT_OUTPUT, "FILE", 0,
     "write the settings to FILE; - is standard output, and then no explanations are printed (default: a "
     "file of the machine's name in $XDG_CONFIG_HOME/grapnel or ~/.config/grapnel)"},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case OPT_OUTPUT: q->output = arg; return 0;
	case ARGP_KEY_ARG: tool_argument(state, &q->report, "report", arg); return 0;
	case ARGP_KEY_END:
		if (!q->report)
			argp_error(state, "no report given; give one that 'grapnel scope --json REPORT.json' "
			                  "wrote: grapnel tune REPORT.json");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    "REPORT.json",
    "Find the page size, the queues and the reach of address translation for the machine of a report, print "
    "how they follow from the figures of the report, and write them to a file.\vA setting for which the "
    "report has no figures is not set; it is named. Exit status: 0 success, 1 "
    "the report cannot be read or the settings cannot be written, 2 the command line is wrong.",
};

/* ---- what is printed ---- */

static void print_setting(const char *name, const json_t *setting)
{
	const json_t *value = json_object_get(setting, "value");

	if (json_is_integer(value))
		printf("%-16s %lld\n", name, (long long)json_integer_value(value));
	else
		printf("%-16s open\n", name);
	printf("                 %s\n", json_string_value(json_object_get(setting, "why")));
}

static void print_settings(const json_t *settings)
{
	const char *name;
	json_t *v;

	json_object_foreach((json_t *)settings, name, v) if (json_object_get(v, "why"))
	    print_setting(name, v);
}

/* ---- keeping ---- */

static int keep(const struct request *q, json_t *settings, struct gn_error *e)
{
	const char *host = json_string_value(json_object_get(settings, "host_name"));
	char path[4096];
	int rc;

	if (q->output)
		return tool_write_json(json_incref(settings), q->output, e);
	rc = tool_tuned_path(path, sizeof path, host, e);
	rc = rc ? rc : tool_make_folders(path, e);
	rc = rc ? rc : tool_write_json(json_incref(settings), path, e);
	if (!rc)
		printf("kept in %s\n", path);
	return rc;
}

int tool_tune(int argc, char **argv)
{
	struct request q = {NULL, NULL};
	json_t *report = NULL, *settings = NULL;
	struct gn_error e = {0, ""};
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &q);
	rc = scope_report_load(q.report, &report, &e);
	rc = rc ? rc : scope_tune(report, &settings, &e);
	if (!rc && !tool_to_stdout(q.output))
		print_settings(settings);
	rc = rc ? rc : keep(&q, settings, &e);
	json_decref(settings);
	json_decref(report);
	return rc ? tool_fail("tune", &e) : TOOL_OK;
}
