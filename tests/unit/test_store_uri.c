/* SPDX-License-Identifier: Apache-2.0 */
/* URIs of stores: the parts, the escapes, the options and what their messages say. */
#include <store/settings.h>

#include <string.h>

#include "unit.h"

static struct gn_uri uri;
static struct gn_error error;

static void takes_scheme_and_path(void **state)
{
	(void)state;
	assert_int_equal(gn_uri_parse(&uri, "file:/data/edges.bin", &error), 0);
	assert_string_equal(uri.scheme, "file");
	assert_string_equal(uri.path, "/data/edges.bin");
	assert_int_equal(uri.options, 0);
}

static void keeps_further_colons_and_spaces(void **state)
{
	(void)state;
	assert_int_equal(gn_uri_parse(&uri, "host:a b:c&d", &error), 0);
	assert_string_equal(uri.path, "a b:c&d");
}

static void takes_options(void **state)
{
	(void)state;
	assert_int_equal(gn_uri_parse(&uri, "file:x?ro&queues=4&create=", &error), 0);
	assert_string_equal(uri.path, "x");
	assert_int_equal(uri.options, 3);
	assert_string_equal(uri.option[0].name, "ro");
	assert_null(uri.option[0].value);
	assert_string_equal(uri.option[1].name, "queues");
	assert_string_equal(uri.option[1].value, "4");
	assert_string_equal(uri.option[2].value, "");
}

static void decodes_escapes(void **state)
{
	(void)state;
	assert_int_equal(gn_uri_parse(&uri, "file:100%25%3Freally%3f?ro", &error), 0);
	assert_string_equal(uri.path, "100%?really?");
	assert_int_equal(uri.options, 1);
}

static void refuses_what_is_no_uri(void **state)
{
	static const char *const bad[] = {"",        "/data/x",  ":x",         "4file:x",
	                                  "file",    "file:",    "file:?ro",   "file:%",
	                                  "file:%2", "file:%zz", "file:a%00b", "fi le:x"};

	(void)state;
	for (unsigned k = 0; k < sizeof bad / sizeof bad[0]; k++) {
		error.code = 0;
		assert_int_equal(gn_uri_parse(&uri, bad[k], &error), -GN_EINVAL);
		assert_int_equal(error.code, -GN_EINVAL);
		assert_non_null(strstr(error.text, bad[k]));
	}
}

static void refuses_what_is_too_long(void **state)
{
	static char text[GN_URI_MAX + 8];

	(void)state;
	memset(text, 'a', sizeof text - 1);
	memcpy(text, "file:", 5);
	assert_int_equal(gn_uri_parse(&uri, text, &error), -GN_EINVAL);
	text[GN_URI_MAX - 1] = '\0';
	assert_int_equal(gn_uri_parse(&uri, text, &error), 0);
	assert_int_equal(strlen(uri.path), GN_URI_MAX - 1 - 5);
	assert_int_equal(gn_uri_parse(&uri, "file:x?a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q", &error), -GN_EINVAL);
}

static int settings_of(struct gn_store_settings *s, const char *text, const struct gn_store_options *options)
{
	unsigned known =
	    GN_OPTION_RO | GN_OPTION_CREATE | GN_OPTION_DIRECT | GN_OPTION_IO | GN_OPTIONS_QUEUES;

	assert_int_equal(gn_uri_parse(&uri, text, &error), 0);
	error.text[0] = '\0';
	return gn_store_settings_make(s, options, &uri, known, &error);
}

static void has_defaults(void **state)
{
	struct gn_store_settings s;

	(void)state;
	assert_int_equal(settings_of(&s, "file:x", NULL), 0);
	assert_int_equal(s.options.timeout_ns, 10000000000u);
	assert_int_equal(s.options.transfer_bytes, 65536);
	assert_int_equal(s.direct, -1);
	assert_int_equal(s.options.read_only, 0);
	assert_int_equal(s.create, 0);
}

static void uri_wins_over_options(void **state)
{
	struct gn_store_options options;
	struct gn_store_settings s;

	(void)state;
	memset(&options, 0, sizeof options);
	options.queue_count = 7;
	options.queue_depth = 64;
	assert_int_equal(
	    settings_of(&s, "file:x?queues=3&timeout=25&create=1.5G&ro&direct=0&io=threads&threads=2",
	                &options),
	    0);
	assert_int_equal(s.options.queue_count, 3);
	assert_int_equal(s.options.queue_depth, 64);
	assert_int_equal(s.options.timeout_ns, 25000000);
	assert_int_equal(s.create_bytes, 3ull << 29);
	assert_int_equal(s.options.read_only, 1);
	assert_int_equal(s.direct, 0);
	assert_int_equal(s.io, GN_IO_THREADS);
	assert_int_equal(s.threads, 2);
}

static void names_the_options_there_are(void **state)
{
	struct gn_store_settings s;

	(void)state;
	assert_int_equal(settings_of(&s, "file:/d/x?quick=1", NULL), -GN_EINVAL);
	assert_string_equal(
	    error.text,
	    "file:/d/x: option \"quick\" does not exist; the options of file: are ro, create=SIZE, queues=N, "
	    "depth=N, direct=0|1, timeout=MS, threads=N, transfer=SIZE, io=uring|threads");
}

static void refuses_values(void **state)
{
	static const char *const bad[] = {
	    "queues=0",  "queues",      "queues=-1",   "queues=4x",
	    "depth=3",   "depth=65536", "direct=2",    "timeout=",
	    "timeout=0", "create",      "create=many", "io=fast",
	    "ro=1",      "io",          "threads=0",   "queues=99999999999999999999"};
	struct gn_store_settings s;
	char text[80];

	(void)state;
	for (unsigned k = 0; k < sizeof bad / sizeof bad[0]; k++) {
		strcpy(text, "file:/d/x?");
		strcat(text, bad[k]);
		assert_int_equal(settings_of(&s, text, NULL), -GN_EINVAL);
		assert_non_null(strstr(error.text, bad[k]));
		assert_non_null(strstr(error.text, "/d/x"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(takes_scheme_and_path),
	    cmocka_unit_test(keeps_further_colons_and_spaces),
	    cmocka_unit_test(takes_options),
	    cmocka_unit_test(decodes_escapes),
	    cmocka_unit_test(refuses_what_is_no_uri),
	    cmocka_unit_test(refuses_what_is_too_long),
	    cmocka_unit_test(has_defaults),
	    cmocka_unit_test(uri_wins_over_options),
	    cmocka_unit_test(names_the_options_there_are),
	    cmocka_unit_test(refuses_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
