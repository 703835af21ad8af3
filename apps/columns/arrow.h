/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrow.h - rows of Parquet files and of Arrow's IPC files, by the libraries of Apache Arrow. Of a build
 * without them there is arrow_none.c, where opening fails and says so. Private to this folder, but for the
 * version.
 */
#ifndef GN_COLUMNS_ARROW_H
#define GN_COLUMNS_ARROW_H

#include "fields.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gn_arrow;

/* gn_arrow_version - of the library that this program uses: "26.0.1"; NULL where it was built without. */
const char *gn_arrow_version(void);

/*
 * gn__arrow_open - from the start of fd, which stays the caller's.
 * @is_parquet  1: a Parquet file; 0: an Arrow file
 * @name, @progress  borrowed until close
 * One row group, or one record batch, is in memory at a time. Returns 0; -GN_EBADMSG (a damaged file, or one
 * of another kind, or one that the disk does not give), -GN_ENOMEM; -GN_ENOTSUP (a compression that the
 * library was built without; no library).
 */
int gn__arrow_open(struct gn_arrow **a, int fd, const char *name, int is_parquet,
                   const struct gn_progress *progress, struct gn_error *e);

/*
 * gn__arrow_next - read the next record: first the names of the columns as text, then each row.
 * @row  receives it; good until the next call
 * Returns 1; 0 after the last one; a code as gn__arrow_open.
 */
int gn__arrow_next(struct gn_arrow *a, const struct gn_record **row, struct gn_error *e);

/*
 * gn__arrow_column - set type and scale of the column that holds field k best; GN_COLUMN_NONE: none does.
 * Returns 1, or 0 if the values cannot be read: lists, structures and the like.
 */
int gn__arrow_column(const struct gn_arrow *a, uint32_t k, struct gn_column *c);

/* gn__arrow_type - what Arrow calls the type of column k: "timestamp[us]". Good until close. */
const char *gn__arrow_type(const struct gn_arrow *a, uint32_t k);

/* gn__arrow_close - NULL does nothing. */
void gn__arrow_close(struct gn_arrow *a);

#ifdef __cplusplus
}
#endif

#endif
