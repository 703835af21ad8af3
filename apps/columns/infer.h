/* SPDX-License-Identifier: Apache-2.0 */
/* infer.h - the type of a column: from what its fields look like, or by its name. Private to this folder. */
#ifndef GN_COLUMNS_INFER_H
#define GN_COLUMNS_INFER_H

#include <stddef.h>

#include "file.h"

/* What the fields of a column had. All 0: none was seen. */
struct gn_seen {
	int text;          /* one is no number that f64 reads */
	int exponent;      /* one has an exponent */
	int point;         /* one has a point */
	int beyond_i32;    /* one does not fit, or stands for a missing value */
	int any;           /* one was there */
	uint32_t whole;    /* the most digits before the point */
	uint32_t fraction; /* the most digits behind it */
	uint32_t needed;   /* the same, without zeros at the end */
};

/* Returns 1 if the field is a number that f64 reads: not too large, and not too long. */
int gn__seen_add(struct gn_seen *seen, const char *text, size_t length);

/* The first type that holds all: i32, decimal, f64, string. */
void gn__seen_type(const struct gn_seen *seen, struct gn_column *c);

/*
 * gn__types_parse - set the types that a text gives to columns by their names.
 * @given  receives 1 for each column that it names
 * Returns 0 or -GN_EINVAL: which part of the text is wrong.
 */
int gn__types_parse(const char *text, struct gn_table_file *columns, unsigned char *given,
                    struct gn_error *e);

#endif
