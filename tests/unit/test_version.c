/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <grapnel/version.h>
#include <stdio.h>

static void library_and_headers_agree(void **state)
{
	char text[32];

	(void)state;
	snprintf(text, sizeof text, "%d.%d.%d", GN_VERSION_MAJOR, GN_VERSION_MINOR, GN_VERSION_PATCH);
	assert_string_equal(gn_version_text(), text);
	assert_int_equal(gn_version(), GN_VERSION);
}

/* A number for each version, in their order, as long as minor and patch are below 100. */
static void the_number_grows(void **state)
{
	(void)state;
	assert_int_equal(GN_VERSION / 10000, GN_VERSION_MAJOR);
	assert_int_equal(GN_VERSION / 100 % 100, GN_VERSION_MINOR);
	assert_int_equal(GN_VERSION % 100, GN_VERSION_PATCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(library_and_headers_agree),
	                                   cmocka_unit_test(the_number_grows)};

	return cmocka_run_group_tests_name("version", tests, NULL, NULL);
}
