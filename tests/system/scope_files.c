/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a known report in every form, and one of the same machine on a slower day. Usage: scope_files FOLDER
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/scope_sample.h"

typedef int writer(const json_t *, FILE *, struct gn_error *);

static void put(const char *folder, const char *name, writer *write, const json_t *report)
{
	struct gn_error e = {0, ""};
	char path[4096];
	FILE *to;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	to = fopen(path, "w");
	if (!to || write(report, to, &e) || fclose(to)) {
		fprintf(stderr, "%s: %s\n", path, e.text);
		exit(1);
	}
}

/* One row a tenth slower: what a comparison is to find, and nothing else. */
static void slow_down(struct sample *s)
{
	for (uint32_t k = 0; k < s->report.results; k++)
		for (uint32_t n = 0;
		     n < s->result[k].samples && !strcmp(s->result[k].cell.row->name, "zero-copy/host-read");
		     n++) {
			s->result[k].value[n] *= 0.9;
			s->result[k].seconds[n] /= 0.9;
		}
}

int main(int argc, char **argv)
{
	struct sample s;
	json_t *report;

	if (argc != 2)
		return 2;
	sample_open(&s);
	sample_fill(&s);
	report = scope_report_json(&s.report);
	put(argv[1], "a.json", scope_write_json, report);
	put(argv[1], "a.csv", scope_write_csv, report);
	put(argv[1], "a.md", scope_write_markdown, report);
	put(argv[1], "a.html", scope_write_html, report);
	json_decref(report);
	sample_close(&s);
	sample_open(&s);
	s.random = 77;
	sample_fill(&s);
	slow_down(&s);
	report = scope_report_json(&s.report);
	put(argv[1], "b.json", scope_write_json, report);
	json_decref(report);
	sample_close(&s);
	return 0;
}
