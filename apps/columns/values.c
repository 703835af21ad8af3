/* SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "write.h"

int64_t gn_power_of_ten(uint32_t power)
{
	int64_t value = 1;

	for (uint32_t k = 0; k < power; k++)
		value *= 10;
	return value;
}

/* ---- reading ---- */

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void take_digit(struct gn_number *n, int digit)
{
	n->fits = n->fits && !__builtin_mul_overflow(n->value, (int64_t)10, &n->value) &&
	          !__builtin_add_overflow(n->value, (int64_t)(n->negative ? -digit : digit), &n->value);
}

static size_t take_digits(struct gn_number *n, const char *text, size_t at, size_t length)
{
	for (; at < length && is_digit(text[at]); at++) {
		take_digit(n, text[at] - '0');
		if (!n->has_point) {
			n->whole += n->whole || text[at] != '0';
			continue;
		}
		n->fraction++;
		n->zeros = text[at] == '0' ? n->zeros + 1 : 0;
	}
	return at;
}

/* Behind an e. Returns where it ends; the same place if it is none. */
static size_t take_exponent(const char *text, size_t at, size_t length)
{
	const size_t digits = at < length && (text[at] == '+' || text[at] == '-') ? at + 1 : at;
	size_t end = digits;

	while (end < length && is_digit(text[end]))
		end++;
	return end == digits ? at : end;
}

int gn_number_read(const char *text, size_t length, struct gn_number *n)
{
	size_t at = 0, begin, digits;

	memset(n, 0, sizeof *n);
	n->fits = 1;
	if (length && (text[0] == '-' || text[0] == '+'))
		n->negative = text[at++] == '-';
	begin = at;
	at = take_digits(n, text, at, length);
	digits = at - begin;
	if (at < length && text[at] == '.') {
		n->has_point = 1;
		at = take_digits(n, text, at + 1, length);
		digits += n->fraction;
	}
	if (digits && at < length && (text[at] == 'e' || text[at] == 'E')) {
		n->has_exponent = 1;
		begin = at + 1;
		at = take_exponent(text, begin, length);
		digits = at == begin ? 0 : digits;
	}
	return digits && at == length;
}

static const char *read_real(uint32_t type, const char *text, size_t length, union gn_value *value)
{
	char copy[512];

	if (length >= sizeof copy)
		return "is a number of more than 511 characters";
	memcpy(copy, text, length);
	copy[length] = '\0';
	/* by way of a double it would be rounded twice */
	value->real = type == GN_COLUMN_F32 ? (double)strtof(copy, NULL) : strtod(copy, NULL);
	return gn_cell_fits(type, *value) ? NULL : "is too large for the column's type";
}

/* Digits behind the point that the scale has no room for must be zeros. Without them the rest may fit,
 * however many they are. */
static int drop_zeros(struct gn_number *n, uint32_t scale, const char *text, size_t length)
{
	const uint32_t more = n->fraction > scale ? n->fraction - scale : 0;

	if (more > n->zeros)
		return 0;
	if (more) /* what is left may be a point alone: no number, but 0 in n */
		gn_number_read(text, length - more, n);
	return 1;
}

const char *gn_value_read(uint32_t type, uint32_t scale, const char *text, size_t length,
                          union gn_value *value)
{
	struct gn_number n;

	if (!gn_number_read(text, length, &n))
		return "is not a number";
	if (gn_column_is_real(type))
		return read_real(type, text, length, value);
	if (n.has_exponent)
		return "has an exponent, but the column is exact";
	if (!drop_zeros(&n, scale, text, length))
		return "has too many digits behind the point for the column's type";
	if (!n.fits || __builtin_mul_overflow(n.value, gn_power_of_ten(scale - n.fraction), &value->exact))
		return "has too many digits for the column's type";
	return gn_cell_fits(type, *value) ? NULL : "is out of the range of the column's type";
}

/* ---- writing ---- */

void gn_exact_text(char text[GN_EXACT_TEXT], int64_t high, uint64_t low, uint32_t scale)
{
	const unsigned __int128 bits = (unsigned __int128)(uint64_t)high << 64 | low;
	unsigned __int128 rest = high < 0 ? -bits : bits;
	char *to = text + GN_EXACT_TEXT - 1;
	uint32_t digits = 0;

	*to = '\0';
	while (rest || digits <= scale) {
		if (digits && digits == scale)
			*--to = '.';
		*--to = (char)('0' + (int)(rest % 10));
		rest /= 10;
		digits++;
	}
	if (high < 0)
		*--to = '-';
	memmove(text, to, (size_t)(text + GN_EXACT_TEXT - to));
}
