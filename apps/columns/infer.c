/* SPDX-License-Identifier: Apache-2.0 */
#include "infer.h"

#include <stdlib.h>
#include <string.h>

#include "values.h"

int gn__seen_add(struct gn_seen *seen, const char *text, size_t length)
{
	struct gn_number n;
	union gn_value value;

	seen->any = 1;
	/* what no double holds is kept as text */
	if (!gn_number_read(text, length, &n) || gn_value_read(GN_COLUMN_F64, 0, text, length, &value)) {
		seen->text = 1;
		return 0;
	}
	seen->exponent |= n.has_exponent;
	seen->point |= n.has_point;
	seen->beyond_i32 |= !n.fits || n.value <= GN_MISSING_I32 || n.value > INT32_MAX;
	seen->whole = n.whole > seen->whole ? n.whole : seen->whole;
	seen->fraction = n.fraction > seen->fraction ? n.fraction : seen->fraction;
	seen->needed = n.fraction - n.zeros > seen->needed ? n.fraction - n.zeros : seen->needed;
	return 1;
}

void gn__seen_type(const struct gn_seen *seen, struct gn_column *c)
{
	/* zeros at the end are kept where there is room for all of them */
	const uint32_t fraction =
	    seen->whole + seen->fraction <= GN_COLUMN_MOST_SCALE ? seen->fraction : seen->needed;
	const int few = seen->whole + fraction <= GN_COLUMN_MOST_SCALE;

	c->scale = 0;
	if (!seen->any || seen->text) {
		c->type = GN_COLUMN_STRING;
	} else if (seen->exponent || (seen->point && !few)) {
		c->type = GN_COLUMN_F64;
	} else if (!few) { /* as a number it would lose digits */
		c->type = GN_COLUMN_STRING;
	} else if (seen->point || seen->beyond_i32) {
		c->type = GN_COLUMN_DECIMAL;
		c->scale = fraction;
	} else {
		c->type = GN_COLUMN_I32;
	}
}

/* ---- types by name ---- */

static int bad_type(const char *part, size_t length, struct gn_error *e)
{
	return gn_error_set(
	    e, -GN_EINVAL,
	    "types: %.*s: give NAME=TYPE with i32, i64, u32, f32, f64, string, decimal(N), N from "
	    "0 to %d, or none",
	    (int)(length < 200 ? length : 200), part, (int)GN_COLUMN_MOST_SCALE);
}

static int is(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && !memcmp(text, word, length);
}

/* Returns 1 or 0. */
static int parse_type(const char *text, size_t length, struct gn_column *c)
{
	c->scale = 0;
	c->type = GN_COLUMN_NONE;
	if (is(text, length, "none"))
		return 1;
	for (c->type = GN_COLUMN_I32; c->type < GN_COLUMN_TYPES; c->type++)
		if (c->type != GN_COLUMN_DECIMAL && is(text, length, gn_column_type_name(c->type)))
			return 1;
	c->type = GN_COLUMN_DECIMAL;
	if (is(text, length, "i64"))
		return 1;
	if (length < 10 || length > 11 || memcmp(text, "decimal(", 8) || text[length - 1] != ')')
		return 0;
	for (size_t k = 8; k < length - 1; k++) {
		if (text[k] < '0' || text[k] > '9')
			return 0;
		c->scale = c->scale * 10 + (uint32_t)(text[k] - '0');
	}
	return c->scale <= GN_COLUMN_MOST_SCALE;
}

static void list_names(const struct gn_table_file *f, char *to, size_t room)
{
	size_t used = 0;

	to[0] = '\0';
	for (uint32_t k = 0; k < f->column_count; k++) {
		const size_t length = strlen(f->columns[k].name);

		if (used + length + 3 > room)
			return;
		memcpy(to + used, k ? ", " : "", k ? 2 : 0);
		used += k ? 2 : 0;
		memcpy(to + used, f->columns[k].name, length + 1);
		used += length;
	}
}

/* One NAME=TYPE. The last = counts, as a name may hold one. */
static int parse_part(const char *part, size_t length, struct gn_table_file *f, unsigned char *given,
                      struct gn_error *e)
{
	const char *equals = length ? (const char *)memrchr(part, '=', length) : NULL;
	char names[300];
	int k;

	if (!equals)
		return bad_type(part, length, e);
	k = gn_table_find(f, part, (size_t)(equals - part));
	if (k < 0) {
		list_names(f, names, sizeof names);
		return gn_error_set(e, -GN_EINVAL, "types: %.*s: no column has this name; there are %s",
		                    (int)(equals - part < 100 ? equals - part : 100), part, names);
	}
	if (!parse_type(equals + 1, (size_t)(part + length - equals - 1), &f->columns[k]))
		return bad_type(part, length, e);
	given[k] = 1;
	return 0;
}

/* Is it NAME=TYPE with the name of a column? */
static int is_part(const char *part, size_t length, const struct gn_table_file *f)
{
	const char *equals = length ? (const char *)memrchr(part, '=', length) : NULL;
	struct gn_column ignored;

	return equals && gn_table_find(f, part, (size_t)(equals - part)) >= 0 &&
	       parse_type(equals + 1, (size_t)(part + length - equals - 1), &ignored);
}

/* A name may hold commas, too. So the first part is up to the first comma behind which it is right; if there
 * is none, up to the first behind an =. */
static size_t part_length(const char *text, const struct gn_table_file *f)
{
	size_t wrong = 0, length = 0;

	for (;; length++) {
		length += strcspn(text + length, ",");
		if (is_part(text, length, f))
			return length;
		if (!wrong && memchr(text, '=', length))
			wrong = length;
		if (!text[length])
			return wrong ? wrong : length;
	}
}

int gn__types_parse(const char *text, struct gn_table_file *columns, unsigned char *given, struct gn_error *e)
{
	int err = 0;

	while (text && *text && !err) {
		const size_t length = part_length(text, columns);

		err = parse_part(text, length, columns, given, e);
		text += length + (text[length] == ',');
	}
	return err;
}
