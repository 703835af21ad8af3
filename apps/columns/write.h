/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - write a .gnt file, a row at a time. The number of rows is known before, that of a dictionary's
 * strings is not.
 */
#ifndef GN_COLUMNS_WRITE_H
#define GN_COLUMNS_WRITE_H

#include <stddef.h>

#include "file.h"

struct gn_table_writer;

/* A value of a row. */
struct gn_cell {
	int missing;
	union gn_value value; /* of a string: what gn_table_word gave */
};

/*
 * gn_table_writer_begin - start a file.
 * @w        receives the writer; end with gn_table_writer_end or gn_table_writer_drop
 * @columns  name, type and scale of each are set; borrowed until return
 * @rows     how many will be written
 * The file appears under its name only when it is complete and on the disk (graph/io.h). Returns 0,
 * -GN_EINVAL (names that are empty, too long or equal; no columns, too many; a path that is no file),
 * -GN_EFBIG (too many rows), -GN_ENOMEM, -GN_ENOSPC or another code of open(2).
 */
int gn_table_writer_begin(struct gn_table_writer **w, const char *path, const struct gn_column *columns,
                          uint32_t count, uint64_t rows, struct gn_error *e);

/*
 * gn_table_word - the place of a string in a column's dictionary, where it is put if it is new.
 * Returns 0, -GN_EFBIG (more than GN_TABLE_MOST_WORDS strings, or 4 GiB of them), -GN_ENOMEM.
 */
int gn_table_word(struct gn_table_writer *w, uint32_t column, const char *text, size_t length,
                  union gn_value *value, struct gn_error *e);

/*
 * gn_table_writer_row - append a row.
 * @cells  one a column. A value that stands for a missing one is the caller's fault: see gn_cell_fits
 * Returns 0, -GN_EINVAL (more rows than were announced), -GN_ENOSPC or another code of pwrite(2).
 */
int gn_table_writer_row(struct gn_table_writer *w, const struct gn_cell *cells, struct gn_error *e);

/*
 * gn_table_writer_end - write what is left and give the file its name. Frees w whatever happens.
 * Returns 0, -GN_EINVAL (fewer rows than were announced), or a code as before; then there is no file.
 */
int gn_table_writer_end(struct gn_table_writer *w, struct gn_error *e);

/* gn_table_writer_drop - give up: nothing of the file remains. NULL does nothing. */
void gn_table_writer_drop(struct gn_table_writer *w);

/* gn_cell_fits - can a column of this type hold the value, and does it not stand for a missing one? */
int gn_cell_fits(uint32_t type, union gn_value value);

#endif
