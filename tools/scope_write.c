/* SPDX-License-Identifier: Apache-2.0 */
/* scope_write.c - a report in the files that were asked for. */
#include "scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/file.h"
#include "scope/output.h"

/* A form of the report, and the file it goes to. */
struct form {
	const char *path;
	int (*write)(const json_t *report, FILE *to, struct gn_error *e);
};

enum { FORMS = 4 };

static void forms_of(const struct scope_request *r, struct form form[FORMS])
{
	const struct form all[FORMS] = {{r->json, scope_write_json},
	                                {r->csv, scope_write_csv},
	                                {r->markdown, scope_write_markdown},
	                                {r->html, scope_write_html}};

	memcpy(form, all, sizeof all);
}

/* In memory first, so that a file is there whole or not at all. */
static int write_form(const struct form *f, const json_t *report, struct gn_error *e)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = tool_to_stdout(f->path) ? stdout : open_memstream(&text, &bytes);
	int rc;

	if (!to)
		return gn_error_set(e, -GN_ENOMEM, "no memory for %s", f->path);
	rc = f->write(report, to, e);
	if (to == stdout)
		return rc;
	if (fclose(to) && !rc)
		rc = gn_error_set(e, -GN_ENOMEM, "no memory for %s", f->path);
	if (!rc)
		rc = tool_write_file(f->path, text, bytes, e);
	free(text);
	return rc;
}

int scope_write_check(const struct scope_request *r, struct gn_error *e)
{
	struct form form[FORMS];
	int rc = 0;

	forms_of(r, form);
	for (unsigned k = 0; k < FORMS && !rc; k++)
		if (form[k].path && !tool_to_stdout(form[k].path))
			rc = gn_graph_file_writable(form[k].path, e);
	return rc;
}

int scope_write_all(const struct scope_request *r, const struct scope_report *report)
{
	struct form form[FORMS];
	json_t *json = scope_report_json(report);
	int status = TOOL_OK;

	forms_of(r, form);
	for (unsigned k = 0; k < FORMS; k++) {
		struct gn_error e = {0, ""};

		if (!form[k].path)
			continue;
		if (!json)
			gn_error_set(&e, -GN_ENOMEM, "no memory for the report");
		if (!json || write_form(&form[k], json, &e))
			status = tool_fail("scope", &e);
	}
	json_decref(json);
	return status;
}

void scope_print_findings(const struct scope_report *report)
{
	json_t *json = scope_report_json(report), *findings = json ? scope_findings(json) : NULL;
	const json_t *text;
	size_t k;

	if (json_array_size(findings))
		puts("What looks wrong");
	json_array_foreach(findings, k, text)
		printf("  %s\n", json_string_value(text));
	json_decref(findings);
	json_decref(json);
}
