/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - checksums of the parts of a column. Private to this folder. */
#ifndef GN_COLUMNS_PARTS_H
#define GN_COLUMNS_PARTS_H

#include "file.h"

/* The message for a part whose checksum is not what the directory says. */
int gn__part_damaged(const struct gn_table_file *f, const struct gn_column *c,
                     const struct gn_table_section *s, const char *what, struct gn_error *e);

/* zlib's crc32 of memory of any length, behind bytes whose checksum is crc. */
uint32_t gn__part_crc(uint32_t crc, const void *data, uint64_t bytes);

#endif
