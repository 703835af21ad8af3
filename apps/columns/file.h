/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - Grapnel's own file of columns, ".gnt" (docs/column-format.md).
 *
 * A header page, a directory, then each column's values as a page-aligned array, so that an array on a file
 * store can be laid over a column directly. Opening reads header and directory only, and holds every number
 * in them against the real size of the file. The data is believed only after gn_table_check.
 */
#ifndef GN_COLUMNS_FILE_H
#define GN_COLUMNS_FILE_H

#include <stdint.h>

#include <grapnel/error.h>

#include "graph/progress.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GN_TABLE_FILE_PAGE = 4096, GN_TABLE_FILE_VERSION = 1 };

/* So that no size of a file overflows, and that places are less than what stands for a missing one. */
#define GN_TABLE_MOST_ROWS (UINT64_C(1) << 40)
#define GN_TABLE_MOST_WORDS (UINT32_C(1) << 24)

/* Where a part of a column lies: page-aligned, inside the file. */
struct gn_table_section {
	uint64_t at;    /* byte offset in the file, a multiple of GN_TABLE_FILE_PAGE */
	uint64_t bytes; /* length without the padding to the next page */
	uint32_t crc;   /* zlib's crc32 of those bytes */
};

/* What is known of GN_COLUMN_ZONE_ROWS values side by side. */
struct gn_zone {
	union gn_value least, most; /* of those that are there; 0 if none is */
	uint32_t present;           /* how many are not missing */
	uint32_t reserved;          /* 0 */
};

struct gn_column {
	char name[GN_COLUMN_MOST_NAME + 1];
	uint32_t type;                      /* enum gn_column_type */
	uint32_t scale;                     /* decimal: digits behind the point */
	uint32_t words;                     /* string: of the dictionary */
	struct gn_table_section data;       /* a value a row */
	struct gn_table_section zones;      /* struct gn_zone, one for GN_COLUMN_ZONE_ROWS rows */
	struct gn_table_section dictionary; /* string: words + 1 offsets, u32, then the bytes */
};

struct gn_table_file {
	int fd;         /* open for reading; owned */
	char *name;     /* as it was opened, for messages; owned */
	uint64_t bytes; /* size of the file */
	uint64_t rows;
	uint32_t column_count;
	struct gn_column *columns; /* owned */
};

/* The strings of a column: word k is bytes offsets[k] to offsets[k + 1] - 1, not terminated. */
struct gn_dictionary {
	uint32_t words;
	const uint32_t *offsets;
	const char *bytes;
	void *memory; /* owned */
};

/*
 * gn_table_open - open a .gnt file and validate header and directory; no data is read.
 * Returns 0; -GN_ENOENT, -GN_EACCES or another code of open(2); -GN_EINVAL for what is not a regular file;
 * -GN_EBADMSG for a header or a directory that is damaged or does not agree with the size of the file;
 * -GN_ENOTSUP for another version or byte order. On failure f holds nothing.
 */
int gn_table_open(struct gn_table_file *f, const char *path, struct gn_error *e);

/* gn_table_open_fd - the same on an open descriptor, which stays the caller's. @name  for messages */
int gn_table_open_fd(struct gn_table_file *f, int fd, const char *name, struct gn_error *e);

/* gn_table_close - close and free; a file that failed to open is fine. */
void gn_table_close(struct gn_table_file *f);

/*
 * gn_table_check - read the whole file once and prove it sound: checksums of all sections, zone maps that say
 * what the values are, places inside the dictionaries, padding of zeros. Uses a few MiB beside a dictionary.
 * Returns 0, -GN_EBADMSG with the column and the byte offset of the damage, -GN_EIO or another code of
 * pread(2).
 */
int gn_table_check(const struct gn_table_file *f, const struct gn_progress *progress, struct gn_error *e);

/* gn_table_find - the place of a column by its name; -1 if there is none. */
int gn_table_find(const struct gn_table_file *f, const char *name, size_t length);

/* gn_table_zone_count - zones of each column. */
uint64_t gn_table_zone_count(const struct gn_table_file *f);

/*
 * gn_table_zones - the zone maps of a column in memory, with their checksum proved.
 * @zones  receives gn_table_zone_count(f) of them; free(3) it
 */
int gn_table_zones(const struct gn_table_file *f, const struct gn_column *c, struct gn_zone **zones,
                   struct gn_error *e);

/* gn_table_dictionary - the strings of a column in memory, proved sound. free(3) d->memory. */
int gn_table_dictionary(const struct gn_table_file *f, const struct gn_column *c, struct gn_dictionary *d,
                        struct gn_error *e);

/* gn_column_type_name - "i32", "decimal" and so on, without the scale; "?" for what is no type. */
const char *gn_column_type_name(uint32_t type);

/* gn_column_value - value `row` of values as a file has them. Returns 0 if it is missing. */
int gn_column_value(uint32_t type, const void *values, uint64_t row, union gn_value *value);

/* gn_zone_add - take a value that is there into a zone. */
void gn_zone_add(struct gn_zone *zone, uint32_t type, union gn_value value);

#ifdef __cplusplus
}
#endif

#endif
