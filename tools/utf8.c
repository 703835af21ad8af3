/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files and columns may be any bytes; a string of JSON is UTF-8. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* How many bytes a character has by its first one; 0: no character begins so. */
static size_t length_of(unsigned char first)
{
	return first < 0x80   ? first != 0
	       : first < 0xc2 ? 0
	       : first < 0xe0 ? 2
	       : first < 0xf0 ? 3
	       : first < 0xf5 ? 4
	                      : 0;
}

/* Is the number too small for so many bytes, too large, or half of a pair of UTF-16? */
static int is_forbidden(uint32_t number, size_t length)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

	return number < least[length] || number > 0x10ffff || (number >= 0xd800 && number < 0xe000);
}

/* The length of the character at hand, or 0 where there is none (RFC 3629). */
static size_t character(const unsigned char *at, size_t left)
{
	const size_t length = length_of(at[0]);
	uint32_t number;

	if (length < 2 || length > left)
		return length == 1;
	number = at[0] & (0x7fu >> length);
	for (size_t k = 1; k < length; k++) {
		if ((at[k] & 0xc0) != 0x80)
			return 0;
		number = number << 6 | (at[k] & 0x3f);
	}
	return is_forbidden(number, length) ? 0 : length;
}

char *tool_utf8(const char *text, size_t bytes)
{
	char *made = (char *)malloc(4 * bytes + 1), *to = made;

	for (size_t k = 0; made && k < bytes;) {
		const size_t length = character((const unsigned char *)text + k, bytes - k);

		if (length)
			memcpy(to, text + k, length);
		else
			snprintf(to, 5, "\\x%02x", (unsigned char)text[k]);
		to += length ? length : 4;
		k += length ? length : 1;
	}
	if (made)
		*to = '\0';
	return made;
}

json_t *tool_json_text(const char *text)
{
	char *made = text ? tool_utf8(text, strlen(text)) : NULL;
	json_t *json = text ? json_string(made) : json_null();

	free(made);
	return json;
}
