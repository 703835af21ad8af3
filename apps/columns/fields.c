/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"
#include "write.h"

int gn__field_missing(const struct gn_field *field, uint32_t type)
{
	if (field->kind != GN_FIELD_TEXT)
		return field->kind == GN_FIELD_MISSING;
	return !field->length && (!field->quoted || type != GN_COLUMN_STRING);
}

/* Write it with an exponent and the fewest digits that are read as the same number. Returns how many. */
static int fewest_digits(const struct gn_field *field, char room[GN_FIELD_ROOM])
{
	const double value = field->value.real;
	int digits = 0;
	double back;

	do {
		snprintf(room, GN_FIELD_ROOM, "%.*e", digits++, value);
		back = strtod(room, NULL);
	} while (digits < 17 && back != value &&
	         (field->kind == GN_FIELD_F64 || (float)back != (float)value));
	return digits;
}

/* Exact columns take no exponent. So there is none where digits alone say the number in a column's scale. */
static void real_text(const struct gn_field *field, char room[GN_FIELD_ROOM])
{
	const int digits = fewest_digits(field, room);
	const char *e = strchr(room, 'e');
	const int exponent = e ? atoi(e + 1) : 0;
	const int places = digits - 1 - exponent;

	if (e && exponent >= -GN_COLUMN_MOST_SCALE && exponent < GN_COLUMN_MOST_SCALE)
		snprintf(room, GN_FIELD_ROOM, "%.*f", places > 0 ? places : 0, field->value.real);
}

const char *gn__field_text(const struct gn_field *field, char room[GN_FIELD_ROOM], size_t *length)
{
	const int64_t exact = field->value.exact;

	*length = field->length;
	if (field->kind == GN_FIELD_TEXT)
		return field->text;
	if (field->kind == GN_FIELD_EXACT)
		gn_exact_text(room, exact < 0 ? -1 : 0, (uint64_t)exact, field->scale);
	else
		real_text(field, room);
	*length = strlen(room);
	return room;
}

/* Is it kept as the column keeps its values? */
static int is_like(const struct gn_field *field, const struct gn_column *c)
{
	if (gn_column_is_real(c->type))
		return field->kind == GN_FIELD_F32 || field->kind == GN_FIELD_F64;
	return field->kind == GN_FIELD_EXACT && field->scale == c->scale;
}

const char *gn__field_read(const struct gn_field *field, const struct gn_column *c, union gn_value *value)
{
	char room[GN_FIELD_ROOM];
	size_t length;
	const char *text;

	if (is_like(field, c)) {
		*value = field->value;
		return gn_cell_fits(c->type, *value) ? NULL : "is out of the range of the column's type";
	}
	text = gn__field_text(field, room, &length);
	return gn_value_read(c->type, c->scale, text, length, value);
}
