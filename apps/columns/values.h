/* SPDX-License-Identifier: Apache-2.0 */
/* values.h - values as text: what a field says, and what exact numbers look like. */
#ifndef GN_COLUMNS_VALUES_H
#define GN_COLUMNS_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "types.h"

enum { GN_EXACT_TEXT = 48 }; /* room for any text of gn_exact_text */

/* A number as it is written: digits with or without a sign, a point, an exponent. */
struct gn_number {
	int negative;
	int has_point, has_exponent;
	uint32_t whole;    /* digits before the point, without leading zeros */
	uint32_t fraction; /* digits behind the point */
	uint32_t zeros;    /* of these: zeros at the end */
	int fits;          /* value is its digits without the point, with the sign */
	int64_t value;
};

/* gn_number_read - what a text says. Returns 1, or 0 if the whole of it is not a number. */
int gn_number_read(const char *text, size_t length, struct gn_number *number);

/* gn_power_of_ten - ten to a power from 0 to 18. */
int64_t gn_power_of_ten(uint32_t power);

/*
 * gn_value_read - a field as a value of a type that is no string.
 * Returns NULL, or what is wrong: "is not a number" and the like.
 */
const char *gn_value_read(uint32_t type, uint32_t scale, const char *text, size_t length,
                          union gn_value *value);

/*
 * gn_exact_text - an exact number with its point, all digits behind it written: "-0.50".
 * @high, @low  the two's complement of 128 bits
 */
void gn_exact_text(char text[GN_EXACT_TEXT], int64_t high, uint64_t low, uint32_t scale);

#endif
