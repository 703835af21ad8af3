/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - the bytes of a .gnt file's header and directory (docs/column-format.md). Private to this folder.
 */
#ifndef GN_COLUMNS_LAYOUT_H
#define GN_COLUMNS_LAYOUT_H

#include <stdint.h>

#include "file.h"
#include "graph/io.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "column files are little-endian and read without conversion; this machine is not"
#endif

/* Where each field lies in the header page. */
enum {
	GN_TABLE_MAGIC = 0,
	GN_TABLE_VERSION = 8,
	GN_TABLE_BYTE_ORDER = 12,
	GN_TABLE_PAGE = 16,
	GN_TABLE_COLUMNS = 20,
	GN_TABLE_ROWS = 24,
	GN_TABLE_ZONE_ROWS = 32,
	GN_TABLE_DIRECTORY_CRC = 36,
	GN_TABLE_FILE_BYTES = 40,
	GN_TABLE_CRC = 48,
	GN_TABLE_END = 52
};

/* Inside a column's entry of the directory. */
enum {
	GN_ENTRY_NAME = 0, /* zero-terminated and padded */
	GN_ENTRY_TYPE = 128,
	GN_ENTRY_SCALE = 132,
	GN_ENTRY_WORDS = 136, /* strings of the dictionary */
	GN_ENTRY_RESERVED = 140,
	GN_ENTRY_DATA = 144,
	GN_ENTRY_ZONES = 168,
	GN_ENTRY_DICTIONARY = 192,
	GN_ENTRY_END = 216,
	GN_ENTRY_WIDTH = 256
};

/* Inside a section's 24 bytes. */
enum { GN_PART_AT = 0, GN_PART_BYTES = 8, GN_PART_CRC = 16, GN_PART_RESERVED = 20 };

#define GN_TABLE_MAGIC_TEXT "GNTABLE\n"
#define GN_TABLE_BYTE_ORDER_MARK UINT32_C(0x01020304)

static inline uint64_t gn__table_page_up(uint64_t bytes)
{
	return (bytes + GN_TABLE_FILE_PAGE - 1) / GN_TABLE_FILE_PAGE * GN_TABLE_FILE_PAGE;
}

/*
 * gn__table_layout - place all sections but the dictionaries: rows, column_count and the columns' types are
 * set. Data and zone maps of each column, each from a page on. Returns where the last one ends.
 */
uint64_t gn__table_layout(struct gn_table_file *f);

/*
 * gn__table_layout_dictionary - place the dictionary of a column, whose bytes are set, behind everything
 * before it, which ends at `at`. Returns where it ends.
 */
uint64_t gn__table_layout_dictionary(struct gn_column *c, uint64_t at);

/* zlib's crc32 of a header page, its own checksum counted as zero. */
uint32_t gn__table_crc(const unsigned char *page);

#endif
