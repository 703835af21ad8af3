/* SPDX-License-Identifier: Apache-2.0 */
/* Names of any bytes in reports; which bytes are UTF-8 is jansson's to say. */
#include "unit.h"

#include "../../tools/utf8.c"

static void expect(const char *bytes, size_t length, const char *want)
{
	char *got = tool_utf8(bytes, length);

	assert_non_null(got);
	assert_string_equal(got, want);
	free(got);
}

static void other_bytes_are_escaped(void **state)
{
	(void)state;
	expect("plain, with \\ and \"", 19, "plain, with \\ and \"");
	expect("caf\xc3\xa9", 5, "caf\xc3\xa9");
	expect("caf\xe9", 4, "caf\\xe9");
	expect("\xe9t\xe9", 3, "\\xe9t\\xe9");
	expect("a\0b", 3, "a\\x00b");
	expect("\xc3", 1, "\\xc3");                            /* cut */
	expect("\xc0\xaf", 2, "\\xc0\\xaf");                   /* longer than need be */
	expect("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");          /* half of a pair */
	expect("\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"); /* beyond the last */
	expect("\xf4\x8f\xbf\xbf", 4, "\xf4\x8f\xbf\xbf");
	expect("", 0, "");
}

static void nothing_is_null_in_json(void **state)
{
	json_t *none = tool_json_text(NULL), *name = tool_json_text("\xff");

	(void)state;
	assert_true(json_is_null(none));
	assert_string_equal(json_string_value(name), "\\xff");
	json_decref(none);
	json_decref(name);
}

/* Bytes at which forms of UTF-8 begin and end, so that many draws come near to it. */
static void draw(char *bytes, size_t length)
{
	static const unsigned char edges[] = {'a',  0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2,
	                                      0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff};
	static uint64_t state = 88172645463325252u;

	for (size_t k = 0; k < length; k++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		bytes[k] = (char)edges[state % sizeof edges];
	}
}

static void what_jansson_takes_stays_and_the_rest_becomes_so(void **state)
{
	unsigned taken = 0;

	(void)state;
	for (unsigned round = 0; round < 100000; round++) {
		const size_t length = 1 + round % 5;
		char bytes[6] = {0}, *got;
		json_t *before, *after;

		draw(bytes, length);
		got = tool_utf8(bytes, length);
		before = json_string(bytes);
		after = json_string(got);
		assert_non_null(after);
		assert_int_equal(before != NULL, !strcmp(got, bytes));
		taken += before != NULL;
		json_decref(before);
		json_decref(after);
		free(got);
	}
	assert_in_range(taken, 1000, 99000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(other_bytes_are_escaped), cmocka_unit_test(nothing_is_null_in_json),
	    cmocka_unit_test(what_jansson_takes_stays_and_the_rest_becomes_so)};

	return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
