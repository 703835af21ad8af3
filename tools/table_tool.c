/* SPDX-License-Identifier: Apache-2.0 */
#include "table_tool.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "columns/taxis.h"

bool tool_is_table(const char *path)
{
	const size_t n = strlen(path);

	return n > 4 && !strcasecmp(path + n - 4, ".gnt");
}

/* ---- grapnel convert ---- */

static void name_bad_rows(const char *path, const struct gn_import_report *r)
{
	for (uint32_t k = 0; k < r->kept_count; k++)
		fprintf(stderr, "grapnel convert: %s: %s %llu: %s\n", path, r->unit,
		        (unsigned long long)r->kept[k].line, r->kept[k].why);
	if (r->bad > r->kept_count)
		fprintf(stderr, "grapnel convert: %s: and %llu more bad rows\n", path,
		        (unsigned long long)(r->bad - r->kept_count));
}

/* A column that one field made text. */
static bool is_of_numbers_but_for_few(const struct gn_column *c, const struct gn_import_fields *f)
{
	return c->type == GN_COLUMN_STRING && f->others && f->numbers >= f->others;
}

static void print_column(const struct gn_column *c, const struct gn_import_fields *f, const char *unit)
{
	const char *type = c->type == GN_COLUMN_NONE                   ? "left out"
	                   : c->type == GN_COLUMN_DECIMAL && !c->scale ? "i64"
	                                                               : gn_column_type_name(c->type);

	printf("  %-24s %s", c->name, type);
	if (c->scale)
		printf("(%u)", c->scale);
	if (is_of_numbers_but_for_few(c, f))
		printf(" (\"%s\" in %s %llu is no number that f64 reads; %llu of %llu fields are: "
		       "--types %s=f64 --skip-bad-rows reads them so, without the rows of the others)",
		       f->first, unit, (unsigned long long)f->line, (unsigned long long)f->numbers,
		       (unsigned long long)(f->numbers + f->others), c->name);
	putchar('\n');
}

static void print_columns(const char *path, const struct gn_import_report *r, double seconds)
{
	printf("%s: %llu rows, %llu bad rows left out, %.2f s\n", path, (unsigned long long)r->rows,
	       (unsigned long long)r->bad, seconds);
	for (uint32_t k = 0; k < r->column_count; k++)
		print_column(&r->columns[k], &r->fields[k], r->unit);
}

int tool_convert_table(const char *from, const char *to, const struct gn_import_options *options)
{
	struct gn_import_options o = *options;
	struct gn_import_report report;
	struct gn_error e = {0};
	struct tool_bar bar;
	const double start = tool_seconds();
	int err;

	o.progress = tool_bar_begin(&bar);
	err = gn_table_import(from, to, &o, &report, &e);
	tool_bar_end(&bar);
	name_bad_rows(from, &report);
	if (!err)
		print_columns(to, &report, tool_seconds() - start);
	gn_import_report_free(&report);
	return err ? tool_fail("convert", &e) : TOOL_OK;
}

/* ---- grapnel gen taxis ---- */

int tool_gen_taxis(const char *to, uint64_t rows, uint64_t seed)
{
	struct gn_progress progress;
	struct gn_error e = {0};
	struct tool_bar bar;
	const double start = tool_seconds();
	int err;

	progress = tool_bar_begin(&bar);
	err = gn_taxis_write(to, rows, seed, &progress, &e);
	tool_bar_end(&bar);
	if (err)
		return tool_fail("gen", &e);
	printf("%s: %llu rows, %.2f s\n", to, (unsigned long long)rows, tool_seconds() - start);
	return TOOL_OK;
}
