/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.h - a row as its file has it: fields of text, or of values where the file has types. Private to this
 * folder.
 */
#ifndef GN_COLUMNS_FIELDS_H
#define GN_COLUMNS_FIELDS_H

#include <stddef.h>

#include "file.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GN_FIELD_ROOM = 64 }; /* for the text of any number */

enum gn_field_kind {
	GN_FIELD_TEXT,  /* text, length, quoted */
	GN_FIELD_EXACT, /* value.exact, the number times ten to the scale */
	GN_FIELD_F32,   /* value.real */
	GN_FIELD_F64,   /* value.real */
	GN_FIELD_MISSING
};

struct gn_field {
	enum gn_field_kind kind;
	int quoted;       /* empty text is the empty string, where the column holds strings */
	const char *text; /* not terminated */
	size_t length;
	union gn_value value;
	uint32_t scale;
};

struct gn_record {
	uint64_t line; /* where it begins, from 1; or which row it is */
	struct gn_field *field;
	uint32_t fields;
	const char *fault; /* NULL, or why the record is none; its fields mean nothing then */
};

/* gn__field_missing - is there no value for a column of this type? */
int gn__field_missing(const struct gn_field *field, uint32_t type);

/*
 * gn__field_text - a field that is not missing as text. Of f32 and f64 it has the fewest digits that are read
 * as the same number, and all digits of a whole one. Below 10^-18 and from 10^18 it has an exponent.
 * @room    where a number is written
 * @length  receives the length of the text, which is not terminated
 */
const char *gn__field_text(const struct gn_field *field, char room[GN_FIELD_ROOM], size_t *length);

/*
 * gn__field_read - a field that is not missing as a value of a column that is not of strings. An exact number
 * is never rounded.
 * Returns NULL, or what is wrong: "is not a number" and the like.
 */
const char *gn__field_read(const struct gn_field *field, const struct gn_column *c, union gn_value *value);

#ifdef __cplusplus
}
#endif

#endif
