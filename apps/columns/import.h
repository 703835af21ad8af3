/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h - from comma-separated values, Parquet and Arrow to a column file. The input is read twice: once
 * to find types, the number of rows and the rows that are bad, once to write.
 */
#ifndef GN_COLUMNS_IMPORT_H
#define GN_COLUMNS_IMPORT_H

#include "file.h"

enum { GN_IMPORT_KEPT = 20, GN_IMPORT_TEXT = 200, GN_IMPORT_WORD = 41 };

/* What kind of table a file is, by the end of its name. */
enum gn_table_source {
	GN_SOURCE_NONE,
	GN_SOURCE_CSV,    /* .csv, .csv.gz */
	GN_SOURCE_ARROW,  /* .arrow, .feather */
	GN_SOURCE_PARQUET /* .parquet */
};

enum gn_table_source gn_table_source_of(const char *path);

struct gn_import_options {
	const char *types; /* "NAME=TYPE,..." for some columns or all, none to leave one out; NULL: all are
	                      found out */
	int skip_bad;      /* 1: leave bad rows out, and count them; 0: they are a failure */
	struct gn_progress progress;
};

/* A row that is none. */
struct gn_bad_row {
	uint64_t line; /* where it begins, or which row it is; from 1 */
	char why[GN_IMPORT_TEXT];
};

/* The fields of a column whose type is found out; those without text do not count. */
struct gn_import_fields {
	uint64_t numbers, others; /* that f64 reads, and that it does not */
	uint64_t line;            /* of the first of the others, with others > 0 */
	char first[GN_IMPORT_WORD];
};

struct gn_import_report {
	uint64_t rows; /* written */
	uint64_t bad;  /* rows that were not */
	struct gn_bad_row kept[GN_IMPORT_KEPT];
	uint32_t kept_count; /* the first of them */
	const char *unit;    /* of their places: "line" or "row" */
	uint32_t column_count;
	struct gn_column *columns; /* name, type and scale of each, GN_COLUMN_NONE: it was left out; owned */
	struct gn_import_fields *fields; /* of each column; owned */
};

/*
 * gn_table_import - read a table and write it as a .gnt file.
 * @from  of the kind that gn_table_source_of says; under another name it is comma-separated values
 * @report  filled as far as it is known, also after a failure; free it by gn_import_report_free
 * Of comma-separated values the first row names the columns. A field without any text is a missing value; in
 * quotes it is the empty string, where the column holds strings. Types that are not given are the first that
 * holds all good rows: i32, decimal (with as many digits behind the point as there are, 18 digits in all),
 * f64, string. Of Parquet and Arrow they are those that hold the file's own types (docs/column-format.md).
 * Returns 0; -GN_EBADMSG (a file that is damaged; bad rows, unless they are to be left out: report has them);
 * -GN_EINVAL (types: which part); -GN_ENOTSUP (a column that cannot be kept; a build
 * without Arrow); a code of gn_table_writer_begin or gn_table_writer_end. After a failure no file is written
 * and what had its name is as it was.
 */
int gn_table_import(const char *from, const char *to, const struct gn_import_options *options,
                    struct gn_import_report *report, struct gn_error *e);

void gn_import_report_free(struct gn_import_report *report);

#endif
