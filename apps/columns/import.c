/* SPDX-License-Identifier: Apache-2.0 */
#include "import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/io.h"
#include "infer.h"
#include "source.h"
#include "write.h"

struct importing {
	const char *from, *to;
	const struct gn_import_options *options;
	struct gn_import_report *report;
	struct gn_table_file shape; /* columns: those of the report */
	struct gn_seen *seen;
	unsigned char *given;   /* the column's type was given */
	struct gn_column *kept; /* those that are not left out, kept_count */
	struct gn_cell *cells;  /* of a row, one for each that is kept */
	uint32_t kept_count;
	struct gn_source source;
	struct gn_table_writer *writer;
	int fd;
	struct gn_error *e;
};

/* ---- the header ---- */

static int bad_header(struct importing *i, const char *what)
{
	return gn_error_set(i->e, -GN_EBADMSG, "%s: %s: %s", i->from, i->source.csv ? "line 1" : "its schema",
	                    what);
}

static int name_column(struct importing *i, uint32_t k, const struct gn_field *field)
{
	struct gn_column *c = &i->report->columns[k];
	char what[300];

	what[0] = '\0';
	if (!field->length || field->length > GN_COLUMN_MOST_NAME)
		snprintf(what, sizeof what,
		         "the name of column %u has %zu bytes; give every column a name of 1 to %d", k + 1,
		         field->length, (int)GN_COLUMN_MOST_NAME);
	else if (i->source.csv && memchr(field->text, '\r', field->length))
		snprintf(what, sizeof what,
		         "the name of column %u has a carriage return; end lines with LF or CR LF", k + 1);
	else if (gn_table_find(&i->shape, field->text, field->length) >= 0)
		snprintf(what, sizeof what, "two columns are named %.*s; give each a name of its own",
		         (int)field->length, field->text);
	if (what[0])
		return bad_header(i, what);
	memcpy(c->name, field->text, field->length);
	i->shape.column_count++;
	return 0;
}

static int allocate(struct importing *i)
{
	const uint32_t n = i->source.row->fields;

	i->report->columns = (struct gn_column *)calloc(n, sizeof *i->report->columns);
	i->report->fields = (struct gn_import_fields *)calloc(n, sizeof *i->report->fields);
	i->seen = (struct gn_seen *)calloc(n, sizeof *i->seen);
	i->given = (unsigned char *)calloc(n, sizeof *i->given);
	i->kept = (struct gn_column *)calloc(n, sizeof *i->kept);
	i->cells = (struct gn_cell *)calloc(n, sizeof *i->cells);
	i->shape.columns = i->report->columns;
	i->report->column_count = n;
	return i->report->columns && i->report->fields && i->seen && i->given && i->kept && i->cells
	           ? 0
	           : gn_error_set(i->e, -GN_ENOMEM, "%s: out of memory for %u columns", i->from, n);
}

/* The types that the file has of its own. */
static void take_types(struct importing *i)
{
	for (uint32_t k = 0; i->source.arrow && k < i->report->column_count; k++) {
		gn__arrow_column(i->source.arrow, k, &i->report->columns[k]);
		i->given[k] = i->report->columns[k].type != GN_COLUMN_NONE;
	}
}

/* A column is kept, or it was said that it is not. */
static int check_types(struct importing *i)
{
	for (uint32_t k = 0; i->source.arrow && k < i->report->column_count; k++) {
		const struct gn_column *c = &i->report->columns[k];
		struct gn_column best;
		const int readable = gn__arrow_column(i->source.arrow, k, &best);

		if (i->given[k] && (readable || c->type == GN_COLUMN_NONE))
			continue;
		return gn_error_set(
		    i->e, -GN_ENOTSUP,
		    "%s: column %s is of type %.120s, which a column file does not hold; leave it out by "
		    "--types \"%s=none\"%s",
		    i->from, c->name, gn__arrow_type(i->source.arrow, k), c->name,
		    readable ? ", or give it another type, such as string" : "");
	}
	return 0;
}

static int check_any_kept(struct importing *i)
{
	for (uint32_t k = 0; k < i->report->column_count; k++)
		if (!i->given[k] || i->report->columns[k].type != GN_COLUMN_NONE)
			return 0;
	return gn_error_set(i->e, -GN_EINVAL, "--types leaves out every column of %s; keep one", i->from);
}

static int read_header(struct importing *i)
{
	int rc = gn__source_next(&i->source, i->e);

	if (rc < 0)
		return rc;
	if (!rc)
		return bad_header(i, "the file is empty; the first row names the columns");
	if (i->source.row->fault)
		return bad_header(i, i->source.row->fault);
	if (!i->source.row->fields || i->source.row->fields > GN_COLUMN_MOST)
		return bad_header(i, "a table has 1 to 1024 columns");
	rc = allocate(i);
	for (uint32_t k = 0; !rc && k < i->source.row->fields; k++)
		rc = name_column(i, k, &i->source.row->field[k]);
	if (rc)
		return rc;
	take_types(i);
	rc = gn__types_parse(i->options->types, &i->shape, i->given, i->e);
	if (!rc)
		rc = check_types(i);
	return rc ? rc : check_any_kept(i);
}

/* ---- rows ---- */

/* A field, made fit for a message: without what is not printable, and not too long. */
static void quote(char *to, size_t room, const struct gn_field *field)
{
	char number[GN_FIELD_ROOM];
	size_t length, n = 0;
	const char *text = gn__field_text(field, number, &length);

	for (; n + 1 < room && n < length; n++)
		to[n] = text[n] >= ' ' && text[n] < 127 ? text[n] : '?';
	to[n] = '\0';
}

/* Why the column, whose type was given, cannot hold the field; NULL if it can. */
static const char *field_fault(const struct gn_column *c, const struct gn_field *field)
{
	union gn_value value;

	if (c->type == GN_COLUMN_NONE || gn__field_missing(field, c->type))
		return NULL;
	if (c->type != GN_COLUMN_STRING)
		return gn__field_read(field, c, &value);
	return field->kind == GN_FIELD_TEXT && memchr(field->text, 0, field->length) ? "has a zero byte"
	                                                                             : NULL;
}

/* Why the record is no row of this table, in `why`; returns 1 if it is one. */
static int is_row(const struct importing *i, char why[GN_IMPORT_TEXT])
{
	const struct gn_record *row = i->source.row;
	char text[GN_IMPORT_WORD];

	if (row->fault || row->fields != i->report->column_count) {
		snprintf(why, GN_IMPORT_TEXT, "the row has %u fields, the header has %u", row->fields,
		         i->report->column_count);
		if (row->fault)
			snprintf(why, GN_IMPORT_TEXT, "the row %s", row->fault);
		return 0;
	}
	for (uint32_t k = 0; k < row->fields; k++) {
		const struct gn_column *c = &i->report->columns[k];
		const char *fault = i->given[k] ? field_fault(c, &row->field[k]) : NULL;

		if (!fault)
			continue;
		quote(text, sizeof text, &row->field[k]);
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
	r->kept[r->kept_count].line = i->source.row->line;
	snprintf(r->kept[r->kept_count++].why, GN_IMPORT_TEXT, "%s", why);
}

/* A field of a column whose type is found out. */
static void look_at_field(struct importing *i, uint32_t k)
{
	struct gn_import_fields *f = &i->report->fields[k];
	const struct gn_field *field = &i->source.row->field[k];

	if (gn__seen_add(&i->seen[k], field->text, field->length)) {
		f->numbers++;
	} else if (!f->others++) {
		f->line = i->source.row->line;
		quote(f->first, sizeof f->first, field);
	}
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
	for (uint32_t k = 0; k < i->source.row->fields; k++)
		if (!i->given[k] && i->source.row->field[k].length)
			look_at_field(i, k);
	return 0;
}

static int changed(const struct importing *i)
{
	return gn_error_set(i->e, -GN_EBADMSG,
	                    "%s: %s %llu: the file was changed while it was read; try again when no program "
	                    "writes it",
	                    i->from, i->report->unit, (unsigned long long)i->source.row->line);
}

/* @at  the column's place among those that are kept */
static int read_cell(struct importing *i, uint32_t at, const struct gn_field *field)
{
	const struct gn_column *c = &i->kept[at];
	struct gn_cell *cell = &i->cells[at];
	char number[GN_FIELD_ROOM];
	const char *text;
	size_t length;

	cell->missing = gn__field_missing(field, c->type);
	if (cell->missing)
		return 0;
	if (c->type != GN_COLUMN_STRING)
		return gn__field_read(field, c, &cell->value) ? changed(i) : 0;
	text = gn__field_text(field, number, &length);
	return gn_table_word(i->writer, at, text, length, &cell->value, i->e);
}

/* The second time. */
static int write_row(struct importing *i)
{
	char why[GN_IMPORT_TEXT];
	uint32_t at = 0;
	int rc = 0;

	if (!is_row(i, why))
		return 0;
	for (uint32_t k = 0; !rc && k < i->source.row->fields; k++)
		if (i->report->columns[k].type != GN_COLUMN_NONE)
			rc = read_cell(i, at++, &i->source.row->field[k]);
	return rc ? rc : gn_table_writer_row(i->writer, i->cells, i->e);
}

/* Read all records behind the header, and do something with each. */
static int go_over(struct importing *i, int (*each)(struct importing *))
{
	int rc;

	while ((rc = gn__source_next(&i->source, i->e)) > 0) {
		rc = each(i);
		if (rc)
			break;
	}
	return rc;
}

/* ---- both passes ---- */

static int open_source(struct importing *i)
{
	return gn__source_open(&i->source, i->fd, i->from, &i->options->progress, i->e);
}

static int first_pass(struct importing *i)
{
	int rc = open_source(i);

	if (!rc)
		rc = read_header(i);
	if (!rc)
		rc = go_over(i, look_at);
	gn__source_close(&i->source);
	if (rc)
		return rc;
	for (uint32_t k = 0; k < i->report->column_count; k++)
		if (!i->given[k])
			gn__seen_type(&i->seen[k], &i->report->columns[k]);
	if (!i->report->bad || i->options->skip_bad)
		return 0;
	return gn_error_set(i->e, -GN_EBADMSG,
	                    "%s: %s %llu: %s; %llu rows of %llu are bad. Correct them, or leave them out by "
	                    "--skip-bad-rows",
	                    i->from, i->report->unit, (unsigned long long)i->report->kept[0].line,
	                    i->report->kept[0].why, (unsigned long long)i->report->bad,
	                    (unsigned long long)(i->report->bad + i->report->rows));
}

static int begin_writer(struct importing *i)
{
	for (uint32_t k = 0; k < i->report->column_count; k++)
		if (i->report->columns[k].type != GN_COLUMN_NONE)
			i->kept[i->kept_count++] = i->report->columns[k];
	return gn_table_writer_begin(&i->writer, i->to, i->kept, i->kept_count, i->report->rows, i->e);
}

/* All records once more, from the header. */
static int again(struct importing *i)
{
	const int rc = gn__source_next(&i->source, i->e);

	if (rc < 0)
		return rc;
	return rc ? go_over(i, write_row) : changed(i);
}

static int second_pass(struct importing *i)
{
	int rc = begin_writer(i);

	if (rc)
		return rc;
	rc = open_source(i);
	if (!rc)
		rc = again(i);
	gn__source_close(&i->source);
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
	i.source.kind = gn_table_source_of(from);
	if (i.source.kind == GN_SOURCE_NONE)
		i.source.kind = GN_SOURCE_CSV;
	report->unit = i.source.kind == GN_SOURCE_CSV ? "line" : "row";
	rc = gn__input_open(from, &i.fd, &bytes, i.e);
	if (rc)
		return rc;
	rc = first_pass(&i);
	if (!rc)
		rc = second_pass(&i);
	close(i.fd);
	free(i.seen);
	free(i.given);
	free(i.kept);
	free(i.cells);
	return rc;
}

void gn_import_report_free(struct gn_import_report *report)
{
	free(report->columns);
	free(report->fields);
	memset(report, 0, sizeof *report);
}
