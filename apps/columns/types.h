/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.h - the types of columns, and the values that stand for missing ones. For host and device.
 */
#ifndef GN_COLUMNS_TYPES_H
#define GN_COLUMNS_TYPES_H

#include <stdint.h>

/* As in a file's directory: the numbers stay. */
enum gn_column_type {
	GN_COLUMN_NONE = 0, /* in no file: an importer leaves the column out */
	GN_COLUMN_I32 = 1,
	GN_COLUMN_U32 = 2,
	GN_COLUMN_DECIMAL = 3, /* i64: the value times ten to the scale; with scale 0 an i64 */
	GN_COLUMN_F32 = 4,
	GN_COLUMN_F64 = 5,
	GN_COLUMN_STRING = 6, /* u32: a place in the column's dictionary */
	GN_COLUMN_TYPES = 7
};

enum {
	GN_COLUMN_ZONE_ROWS = 512, /* a page of the widest type */
	GN_COLUMN_MOST_SCALE = 18,
	GN_COLUMN_MOST_NAME = 127, /* bytes */
	GN_COLUMN_MOST = 1024      /* columns of a file */
};

/* What stands for a missing value; in f32 and f64 it is any NaN. */
#define GN_MISSING_I32 INT32_MIN
#define GN_MISSING_U32 UINT32_MAX /* and of a string */
#define GN_MISSING_I64 INT64_MIN

/* A value of any type but string: exact, or a double. */
union gn_value {
	int64_t exact; /* i32, u32, decimal; of a string its place in the dictionary */
	double real;   /* f32, f64 */
};

static inline int gn_column_is_real(uint32_t type)
{
	return type == GN_COLUMN_F32 || type == GN_COLUMN_F64;
}

static inline uint32_t gn_column_width(uint32_t type)
{
	return type == GN_COLUMN_DECIMAL || type == GN_COLUMN_F64 ? 8 : 4;
}

#endif
