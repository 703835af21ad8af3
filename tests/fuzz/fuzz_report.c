/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feed JSON to whatever reads a report. What one of them takes all of them take, and what they write ends as
 * it should; a report compared with itself has not changed.
 */
#include <string.h>

#include <jansson.h>

#include "fuzz.h"
#include "scope/output.h"

typedef int writer(const json_t *, FILE *, struct gn_error *);

static int written(writer *write, const json_t *report, const char *end)
{
	struct gn_error e = {0, ""};
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	int rc;

	FUZZ_REQUIRE(to);
	rc = write(report, to, &e);
	FUZZ_REQUIRE(!fclose(to));
	FUZZ_REQUIRE(rc == 0 || (rc == -GN_EINVAL && e.text[0]));
	FUZZ_REQUIRE(rc || (bytes >= strlen(end) && !strcmp(text + bytes - strlen(end), end)));
	free(text);
	return rc;
}

static void require_same(const json_t *report)
{
	json_t *result;
	const json_t *cells;

	FUZZ_REQUIRE(!scope_compare(report, report, 0.03, &result, NULL));
	FUZZ_REQUIRE(!json_array_size(json_object_get(result, "environment")));
	cells = json_object_get(result, "cells");
	for (size_t k = 0; k < json_array_size(cells); k++)
		FUZZ_REQUIRE(
		    !strcmp(json_string_value(json_object_get(json_array_get(cells, k), "verdict")), "same"));
	json_decref(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *report = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL), *settings = NULL,
	       *findings;
	int rc;

	if (!report)
		return 0;
	rc = written(scope_write_csv, report, "\n");
	FUZZ_REQUIRE(rc == written(scope_write_markdown, report, "\n"));
	FUZZ_REQUIRE(rc == written(scope_write_html, report, "</html>\n"));
	findings = scope_findings(report);
	FUZZ_REQUIRE(!findings == !!rc);
	FUZZ_REQUIRE(rc == scope_tune(report, &settings, NULL) && !settings == !!rc);
	if (!rc)
		require_same(report);
	json_decref(findings);
	json_decref(settings);
	json_decref(report);
	return 0;
}
