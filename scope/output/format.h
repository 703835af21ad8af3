/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - numbers and names as people read them, the same in every output. */
#ifndef GN_SCOPE_FORMAT_H
#define GN_SCOPE_FORMAT_H

#include <stdio.h>

#include "scope/output/read.h"

enum { SCOPE_WORD = 48 };

/* A text and the room for it, so that several can stand in one call. */
struct scope_word {
	char text[SCOPE_WORD];
};

/* 4096 as "4 KiB"; what is not whole in the larger unit with a digit behind the point. */
struct scope_word scope_format_bytes(double bytes);

/*
 * A value of so many digits that its noise can be seen, without its unit: GB/s, ns or million operations a
 * second.
 */
struct scope_word scope_format_value(enum scope_unit unit, double value);

/*
 * A median with no more digits than its spread allows: three where half the 95 % interval is 1 % or more, two
 * from 10 % on. Of one round it is not known how far another would be from it: two, behind a "~".
 */
struct scope_word scope_format_median(enum scope_unit unit, const struct scope_statistics *s);
const char *scope_format_unit(enum scope_unit unit);
double scope_format_scale(enum scope_unit unit); /* value times this is in that unit */

/* An argument's value: those that are sizes as sizes, others as whole numbers. */
struct scope_word scope_format_arg(const struct scope_arg *a);
bool scope_arg_is_size(const char *name);

/*
 * The median of a second variable with its unit and name, "49.5 GB/s to device"; "" for none, and for a load.
 */
struct scope_word scope_format_second(const struct scope_read_cell *c);

/* Half the 95 % interval of the median as a share of it, in per cent. */
double scope_noise_percent(const struct scope_statistics *s);

/* What a value of the row is called as a good thing: is more of it better? */
bool scope_more_is_better(enum scope_unit unit);

/*
 * A text for HTML and SVG: what would begin or end something there is replaced, control characters are
 * dropped.
 */
void scope_put_escaped(FILE *to, const char *text);

/* scope_put - the same between two texts as they are. */
void scope_put(FILE *to, const char *before, const char *text, const char *after);

#endif
