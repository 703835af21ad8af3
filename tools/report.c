/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/file.h"
#include "graph/io.h"
#include "scope/output.h"
#include "tool.h"

bool tool_to_stdout(const char *json)
{
	return json && !strcmp(json, "-");
}

int tool_can_write(const char *path, struct gn_error *e)
{
	return !path || tool_to_stdout(path) ? 0 : gn_graph_file_writable(path, e);
}

json_t *tool_json_machine(const struct simt_info *info)
{
	return json_pack("{s:s, s:i, s:i}", "name", info->name, "processors", (int)info->processors,
	                 "warp_width", (int)info->warp_width);
}

json_t *tool_json_context(const char *subcommand)
{
	struct scope_machine m;
	json_t *all;

	scope_machine_find_host(&m, SCOPE_NORMAL, ".");
	all = scope_environment(&m);
	json_object_set_new(all, "executable", json_sprintf("grapnel %s", subcommand));
	return all;
}

json_t *tool_json_join(json_t *root, json_t *rest)
{
	const int joined = root && rest && !json_object_update(root, rest);

	json_decref(rest);
	if (joined)
		return root;
	json_decref(root);
	return NULL;
}

int tool_write_file(const char *path, const void *data, uint64_t bytes, struct gn_error *e)
{
	struct gn_output out;
	int rc = gn__output_begin(&out, path, bytes, e);

	if (rc)
		return rc;
	rc = gn__output_write(&out, data, bytes, e);
	if (!rc)
		return gn__output_end(&out, e);
	gn__output_drop(&out);
	return rc;
}

int tool_write_json(json_t *root, const char *path, struct gn_error *e)
{
	return tool_write_json_digits(root, path, 9, e);
}

int tool_write_json_digits(json_t *root, const char *path, unsigned digits, struct gn_error *e)
{
	char *text = root ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(digits)) : NULL;
	int rc = 0;

	json_decref(root);
	if (!text)
		return gn_error_set(e, -GN_ENOMEM, "the report cannot be written as JSON: out of memory");
	if (tool_to_stdout(path))
		puts(text);
	else
		rc = tool_write_file(path, text, strlen(text), e);
	free(text);
	return rc;
}

/* ---- a report of rows, in the files that were asked for ---- */

enum { OPT_FILE = 0x1000 }; /* and the form's number */

static const struct argp_option file_options[] = {
    {"json", OPT_FILE, "FILE", 0,
     "write the report to FILE as JSON in Google Benchmark's schema; - is standard output, and then no table "
     "is printed"},
    {"csv", OPT_FILE + 1, "FILE", 0, "write the report to FILE as CSV, one line a cell"},
    {"markdown", OPT_FILE + 2, "FILE", 0, "write the report to FILE as Markdown tables"},
    {"html", OPT_FILE + 3, "FILE", 0,
     "write the report to FILE as a web page with drawings and a list of suspicious results"},
    {"svg", OPT_FILE + 4, "FILE", 0, "write only the drawings of the report to FILE"},
    {0},
};

static int (*const writers[TOOL_FORMS])(const json_t *report, FILE *to, struct gn_error *e) = {
    scope_write_json, scope_write_csv, scope_write_markdown, scope_write_html, scope_write_svg};

static error_t parse_file(int key, char *arg, struct argp_state *state)
{
	struct tool_files *f = (struct tool_files *)state->input;

	if (key < OPT_FILE || key >= OPT_FILE + TOOL_FORMS)
		return ARGP_ERR_UNKNOWN;
	f->path[key - OPT_FILE] = arg;
	return 0;
}

const struct argp tool_files_argp = {file_options, parse_file};

bool tool_files_to_stdout(const struct tool_files *f)
{
	bool any = false;

	for (unsigned k = 0; k < TOOL_FORMS; k++)
		any = any || tool_to_stdout(f->path[k]);
	return any;
}

int tool_files_check(const struct tool_files *f, struct gn_error *e)
{
	int rc = 0;

	for (unsigned k = 0; k < TOOL_FORMS && !rc; k++)
		rc = tool_can_write(f->path[k], e);
	return rc;
}

/* In memory first, so that a file is there whole or not at all. */
static int write_form(unsigned form, const char *path, const json_t *report, struct gn_error *e)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = tool_to_stdout(path) ? stdout : open_memstream(&text, &bytes);
	int rc;

	if (!to)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for %s", path);
	rc = writers[form](report, to, e);
	if (to == stdout)
		return rc;
	if (fclose(to) && !rc)
		rc = gn_error_set(e, -GN_ENOMEM, "out of memory for %s", path);
	if (!rc)
		rc = tool_write_file(path, text, bytes, e);
	free(text);
	return rc;
}

int tool_files_write(const struct tool_files *f, const char *subcommand, const struct scope_report *report)
{
	json_t *json = scope_report_json(report);
	int status = TOOL_OK;

	for (unsigned k = 0; k < TOOL_FORMS; k++) {
		struct gn_error e = {0, ""};

		if (!f->path[k])
			continue;
		if (!json)
			gn_error_set(&e, -GN_ENOMEM, "out of memory for the report");
		if (!json || write_form(k, f->path[k], json, &e))
			status = tool_fail(subcommand, &e);
	}
	json_decref(json);
	return status;
}
