/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - records of a table, whatever kind of file has them. Private to this folder. */
#ifndef GN_COLUMNS_SOURCE_H
#define GN_COLUMNS_SOURCE_H

#include "arrow.h"
#include "csv.h"
#include "import.h"

struct gn_source {
	enum gn_table_source kind;   /* set by the caller; not GN_SOURCE_NONE */
	struct gn_csv *csv;          /* of one kind, while it is open */
	struct gn_arrow *arrow;      /* of the others */
	const struct gn_record *row; /* the record read last */
};

/* gn__source_open - from the start of fd; as gn_csv_open and gn__arrow_open. Close it also after a failure.
 */
int gn__source_open(struct gn_source *s, int fd, const char *name, const struct gn_progress *progress,
                    struct gn_error *e);

/*
 * gn__source_next - read the next record; the first has the names of the columns.
 * Returns 1; 0 after the last one; a code as gn_csv_next and gn__arrow_next.
 */
int gn__source_next(struct gn_source *s, struct gn_error *e);

void gn__source_close(struct gn_source *s);

#endif
