/* SPDX-License-Identifier: Apache-2.0 */
#include "import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "csv.h"
#include "graph/io.h"
#include "infer.h"
#include "values.h"
#include "write.h"

struct importing {
	const char *from, *to;
	const struct gn_import_options *options;
	struct gn_import_report *report;
	struct gn_table_file shape; /* columns: those of the report */
	struct gn_seen *seen;
	unsigned char *given; /* the column's type was given */
	struct gn_cell *cells;
	struct gn_csv *csv;
	struct gn_table_writer *writer;
	int fd;
	struct gn_error *e;
};

/* ---- the header ---- */

static int name_column(struct importing *i, uint32_t k, const struct gn_csv_field *field)
{
	struct gn_column *c = &i->report->columns[k];

	if (!field->length || field->length > GN_COLUMN_MOST_NAME)
		return gn_error_set(
		    i->e, -GN_EBADMSG,
		    "%s: line 1: the name of column %u has %zu bytes; the first row gives every "
		    "column a name of 1 to %d",
		    i->from, k + 1, field->length, (int)GN_COLUMN_MOST_NAME);
	if (memchr(field->text, '\r', field->length))
		return gn_error_set(i->e, -GN_EBADMSG,
		                    "%s: line 1: the name of column %u has a carriage return; end lines with "
		                    "LF or CR LF",
		                    i->from, k + 1);
	if (gn_table_find(&i->shape, field->text, field->length) >= 0)
		return gn_error_set(i->e, -GN_EBADMSG,
		                    "%s: line 1: two columns are named %.*s; give each a name of its own",
		                    i->from, (int)field->length, field->text);
	memcpy(c->name, field->text, field->length);
	i->shape.column_count++;
	return 0;
}

static int allocate(struct importing *i)
{
	const uint32_t n = i->csv->fields;

	i->report->columns = (struct gn_column *)calloc(n, sizeof *i->report->columns);
	i->seen = (struct gn_seen *)calloc(n, sizeof *i->seen);
	i->given = (unsigned char *)calloc(n, sizeof *i->given);
	i->cells = (struct gn_cell *)calloc(n, sizeof *i->cells);
	i->shape.columns = i->report->columns;
	i->report->column_count = n;
	return i->report->columns && i->seen && i->given && i->cells
	           ? 0
	           : gn_error_set(i->e, -GN_ENOMEM, "%s: out of memory for %u columns", i->from, n);
}

static int read_header(struct importing *i)
{
	int rc = gn_csv_next(i->csv, i->e);

	if (rc < 0)
		return rc;
	if (!rc || i->csv->fault || i->csv->fields > GN_COLUMN_MOST)
		return gn_error_set(i->e, -GN_EBADMSG, "%s: line 1: %s; the first row names the columns",
		                    i->from,
		                    !rc             ? "the file is empty"
		                    : i->csv->fault ? i->csv->fault
		                                    : "there are more than 1024 columns");
	rc = allocate(i);
	for (uint32_t k = 0; !rc && k < i->csv->fields; k++)
		rc = name_column(i, k, &i->csv->field[k]);
	return rc ? rc : gn__types_parse(i->options->types, &i->shape, i->given, i->e);
}

/* ---- rows ---- */

/* A field, made fit for a message: without what is not printable, and not too long. */
static void quote(char *to, size_t room, const struct gn_csv_field *field)
{
	size_t n = 0;

	for (; n + 1 < room && n < field->length; n++)
		to[n] = field->text[n] >= ' ' && field->text[n] < 127 ? field->text[n] : '?';
	to[n] = '\0';
}

static int is_missing(const struct gn_csv_field *field, uint32_t type)
{
	return !field->length && (!field->quoted || type != GN_COLUMN_STRING);
}

/* Why the record is no row of this table, in `why`; returns 1 if it is one. */
static int is_row(const struct importing *i, char why[GN_IMPORT_TEXT])
{
	const struct gn_csv *csv = i->csv;
	char text[41];

	if (csv->fault || csv->fields != i->report->column_count) {
		snprintf(why, GN_IMPORT_TEXT, "the row has %u fields, the header has %u", csv->fields,
		         i->report->column_count);
		if (csv->fault)
			snprintf(why, GN_IMPORT_TEXT, "the row %s", csv->fault);
		return 0;
	}
	for (uint32_t k = 0; k < csv->fields; k++) {
		const struct gn_column *c = &i->report->columns[k];
		const char *fault = NULL;
		union gn_value value;

		if (i->given[k] && c->type != GN_COLUMN_STRING && !is_missing(&csv->field[k], c->type))
			fault = gn_value_read(c->type, c->scale, csv->field[k].text, csv->field[k].length,
			                      &value);
		if (!fault)
			continue;
		quote(text, sizeof text, &csv->field[k]);
		snprintf(why, GN_IMPORT_TEXT, "\"%s\" in column %.60s %s", text, c->name, fault);
		return 0;
	}
	return 1;
}

static void note_bad(struct importing *i, const char *why)
{
	struct gn_import_report *r = i->report;

	r->bad++;
	if (r->kept_count == GN_IMPORT_KEPT)
		return;
	r->kept[r->kept_count].line = i->csv->line;
	snprintf(r->kept[r->kept_count++].why, GN_IMPORT_TEXT, "%s", why);
}

/* The first time: count, and look at what has no type yet. */
static int look_at(struct importing *i)
{
	char why[GN_IMPORT_TEXT];

	if (!is_row(i, why)) {
		note_bad(i, why);
		return 0;
	}
	i->report->rows++;
	for (uint32_t k = 0; k < i->csv->fields; k++)
		if (!i->given[k] && i->csv->field[k].length)
			gn__seen_add(&i->seen[k], i->csv->field[k].text, i->csv->field[k].length);
	return 0;
}

static int changed(const struct importing *i)
{
	return gn_error_set(
	    i->e, -GN_EBADMSG,
	    "%s: line %llu: the file was changed while it was read; try again when no program "
	    "writes it",
	    i->from, (unsigned long long)i->csv->line);
}

static int read_cell(struct importing *i, uint32_t k)
{
	const struct gn_column *c = &i->report->columns[k];
	const struct gn_csv_field *field = &i->csv->field[k];
	struct gn_cell *cell = &i->cells[k];

	cell->missing = is_missing(field, c->type);
	if (cell->missing)
		return 0;
	if (c->type == GN_COLUMN_STRING)
		return gn_table_word(i->writer, k, field->text, field->length, &cell->value, i->e);
	return gn_value_read(c->type, c->scale, field->text, field->length, &cell->value) ? changed(i) : 0;
}

/* The second time. */
static int write_row(struct importing *i)
{
	char why[GN_IMPORT_TEXT];
	int rc = 0;

	if (!is_row(i, why))
		return 0;
	for (uint32_t k = 0; !rc && k < i->csv->fields; k++)
		rc = read_cell(i, k);
	return rc ? rc : gn_table_writer_row(i->writer, i->cells, i->e);
}

/* Read all records behind the header, and do something with each. */
static int go_over(struct importing *i, int (*each)(struct importing *))
{
	int rc;

	while ((rc = gn_csv_next(i->csv, i->e)) > 0) {
		rc = each(i);
		if (rc)
			break;
	}
	return rc;
}

/* ---- both passes ---- */

static int first_pass(struct importing *i)
{
	int rc = gn_csv_open(i->csv, i->fd, i->from, &i->options->progress, i->e);

	if (!rc)
		rc = read_header(i);
	if (!rc)
		rc = go_over(i, look_at);
	gn_csv_close(i->csv);
	if (rc)
		return rc;
	for (uint32_t k = 0; k < i->report->column_count; k++)
		if (!i->given[k])
			gn__seen_type(&i->seen[k], &i->report->columns[k]);
	if (!i->report->bad || i->options->skip_bad)
		return 0;
	return gn_error_set(
	    i->e, -GN_EBADMSG,
	    "%s: line %llu: %s; %llu rows of %llu are bad. Correct them, or leave them out by "
	    "--skip-bad-rows",
	    i->from, (unsigned long long)i->report->kept[0].line, i->report->kept[0].why,
	    (unsigned long long)i->report->bad, (unsigned long long)(i->report->bad + i->report->rows));
}

static int second_pass(struct importing *i)
{
	int rc = gn_table_writer_begin(&i->writer, i->to, i->report->columns, i->report->column_count,
	                               i->report->rows, i->e);

	if (rc)
		return rc;
	rc = gn_csv_open(i->csv, i->fd, i->from, &i->options->progress, i->e);
	if (!rc)
		rc = gn_csv_next(i->csv, i->e) == 1 ? go_over(i, write_row) : changed(i);
	gn_csv_close(i->csv);
	if (!rc)
		return gn_table_writer_end(i->writer, i->e);
	gn_table_writer_drop(i->writer);
	return rc;
}

int gn_table_import(const char *from, const char *to, const struct gn_import_options *options,
                    struct gn_import_report *report, struct gn_error *e)
{
	struct gn_error own = {0};
	struct importing i = {from, to, options, report};
	uint64_t bytes;
	int rc;

	memset(report, 0, sizeof *report);
	i.e = e ? e : &own;
	rc = gn__input_open(from, &i.fd, &bytes, i.e);
	if (rc)
		return rc;
	i.csv = (struct gn_csv *)malloc(sizeof *i.csv);
	rc = i.csv ? first_pass(&i) : gn_error_set(i.e, -GN_ENOMEM, "%s: out of memory", from);
	if (!rc)
		rc = second_pass(&i);
	close(i.fd);
	free(i.csv);
	free(i.seen);
	free(i.given);
	free(i.cells);
	return rc;
}

void gn_import_report_free(struct gn_import_report *report)
{
	free(report->columns);
	memset(report, 0, sizeof *report);
}
