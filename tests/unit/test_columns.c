/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Column files: what is imported is what is read, what is bad is named, and no damage goes unnoticed.
 */
#include "unit.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "columns/csv.h"
#include "columns/file.h"
#include "columns/import.h"
#include "columns/taxis.h"
#include "columns/values.h"
#include "columns/write.h"

static struct gn_error error;
static char folder[64], csv_path[80], table_path[80];

static void must(int rc)
{
	if (rc)
		fail_msg("%s: %s", gn_error_name(rc), error.text);
}

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/grapnel-columns-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(csv_path, sizeof csv_path, "%s/in.csv", folder);
	snprintf(table_path, sizeof table_path, "%s/out.gnt", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(csv_path);
	unlink(table_path);
	return rmdir(folder);
}

static void put(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static unsigned char *get(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	unsigned char *bytes;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	*n = (size_t)ftell(f);
	rewind(f);
	bytes = (unsigned char *)malloc(*n);
	assert_int_equal(fread(bytes, 1, *n, f), *n);
	fclose(f);
	return bytes;
}

static int import(const char *text, const char *types, int skip, struct gn_import_report *report)
{
	struct gn_import_options o = {types, skip, {NULL, NULL}};

	unlink(table_path);
	put(csv_path, text, strlen(text));
	return gn_table_import(csv_path, table_path, &o, report, &error);
}

/* The values of a column, raw. */
static void *values_of(const struct gn_table_file *f, const char *name, uint32_t *type)
{
	const int k = gn_table_find(f, name, strlen(name));
	void *values = malloc(f->rows * 8 + 1);

	assert_true(k >= 0);
	*type = f->columns[k].type;
	assert_int_equal(pread(f->fd, values, f->columns[k].data.bytes, (off_t)f->columns[k].data.at),
	                 f->columns[k].data.bytes);
	return values;
}

static void expect_exact(const struct gn_table_file *f, const char *name, uint32_t want_type,
                         uint32_t want_scale, const int64_t *want)
{
	uint32_t type;
	void *values = values_of(f, name, &type);

	assert_int_equal(type, want_type);
	assert_int_equal(f->columns[gn_table_find(f, name, strlen(name))].scale, want_scale);
	for (uint64_t row = 0; row < f->rows; row++) {
		union gn_value v = {0};

		if (!gn_column_value(type, values, row, &v))
			v.exact = INT64_MIN;
		assert_int_equal(v.exact, want[row]);
	}
	free(values);
}

static void expect_real(const struct gn_table_file *f, const char *name, uint32_t want_type,
                        const double *want)
{
	uint32_t type;
	void *values = values_of(f, name, &type);

	assert_int_equal(type, want_type);
	for (uint64_t row = 0; row < f->rows; row++) {
		union gn_value v = {0};
		const int there = gn_column_value(type, values, row, &v);

		assert_int_equal(there, want[row] == want[row]);
		if (there)
			assert_true(v.real == want[row]);
	}
	free(values);
}

/* ---- text ---- */

static void records_are_those_of_rfc_4180(void **state)
{
	static const char text[] = "\xef\xbb\xbf"
	                           "a,\"b \"\"c\"\"\",\r\n\"x\ny\",,\"\"\n\nlast";
	static struct gn_csv c;
	int fd;

	(void)state;
	put(csv_path, text, sizeof text - 1);
	fd = open(csv_path, O_RDONLY);
	must(gn_csv_open(&c, fd, "in.csv", NULL, &error));
	assert_int_equal(gn_csv_next(&c, &error), 1);
	assert_int_equal(c.row.fields, 3);
	assert_int_equal(c.row.line, 1);
	assert_memory_equal(c.row.field[0].text, "a", 1);
	assert_int_equal(c.row.field[1].length, 5);
	assert_memory_equal(c.row.field[1].text, "b \"c\"", 5);
	assert_int_equal(c.row.field[2].length, 0);
	assert_int_equal(gn_csv_next(&c, &error), 1);
	assert_int_equal(c.row.fields, 3);
	assert_int_equal(c.row.line, 2);
	assert_memory_equal(c.row.field[0].text, "x\ny", 3);
	assert_false(c.row.field[1].quoted);
	assert_true(c.row.field[2].quoted);
	assert_int_equal(gn_csv_next(&c, &error), 1);
	assert_int_equal(c.row.fields, 1);
	assert_int_equal(c.row.line, 4);
	assert_int_equal(gn_csv_next(&c, &error), 1);
	assert_int_equal(c.row.line, 5);
	assert_int_equal(c.row.field[0].length, 4);
	assert_int_equal(gn_csv_next(&c, &error), 0);
	gn_csv_close(&c);
	close(fd);
}

static void numbers_are_read_as_they_are_written(void **state)
{
	static const struct {
		const char *text;
		uint32_t type, scale;
		int64_t exact;
		const char *fault;
	} cases[] = {
	    {"12", GN_COLUMN_I32, 0, 12, NULL},
	    {"-12", GN_COLUMN_I32, 0, -12, NULL},
	    {"+7", GN_COLUMN_U32, 0, 7, NULL},
	    {"12.50", GN_COLUMN_DECIMAL, 2, 1250, NULL},
	    {"12.5", GN_COLUMN_DECIMAL, 2, 1250, NULL},
	    {".5", GN_COLUMN_DECIMAL, 2, 50, NULL},
	    {"5.", GN_COLUMN_DECIMAL, 2, 500, NULL},
	    {"12.500", GN_COLUMN_DECIMAL, 2, 1250, NULL},
	    {"12.505", GN_COLUMN_DECIMAL, 2, 0, "behind the point"},
	    {"-1.00000000000000000000", GN_COLUMN_DECIMAL, 2, -100, NULL},
	    {"92233720368547758.0700", GN_COLUMN_DECIMAL, 2, INT64_MAX, NULL},
	    {"92233720368547758.0800", GN_COLUMN_DECIMAL, 2, 0, "too many digits"},
	    {"1.00000000000000000001", GN_COLUMN_DECIMAL, 2, 0, "behind the point"},
	    {"7.00000000000000000000", GN_COLUMN_I32, 0, 7, NULL},
	    {".00000000000000000000", GN_COLUMN_I32, 0, 0, NULL},
	    {"10", GN_COLUMN_DECIMAL, 2, 1000, NULL},
	    {"9223372036854775807", GN_COLUMN_DECIMAL, 0, INT64_MAX, NULL},
	    {"9223372036854775808", GN_COLUMN_DECIMAL, 0, 0, "too many digits"},
	    {"-9223372036854775808", GN_COLUMN_DECIMAL, 0, 0, "out of the range"},
	    {"92233720368547758.08", GN_COLUMN_DECIMAL, 2, 0, "too many digits"},
	    {"2147483647", GN_COLUMN_I32, 0, 2147483647, NULL},
	    {"2147483648", GN_COLUMN_I32, 0, 0, "out of the range"},
	    {"-2147483648", GN_COLUMN_I32, 0, 0, "out of the range"},
	    {"4294967295", GN_COLUMN_U32, 0, 0, "out of the range"},
	    {"-1", GN_COLUMN_U32, 0, 0, "out of the range"},
	    {"1e2", GN_COLUMN_I32, 0, 0, "exponent"},
	    {"", GN_COLUMN_I32, 0, 0, "not a number"},
	    {"-", GN_COLUMN_I32, 0, 0, "not a number"},
	    {".", GN_COLUMN_F64, 0, 0, "not a number"},
	    {"1e", GN_COLUMN_F64, 0, 0, "not a number"},
	    {"nan", GN_COLUMN_F64, 0, 0, "not a number"},
	    {"1e400", GN_COLUMN_F64, 0, 0, "too large"},
	    {"1e39", GN_COLUMN_F32, 0, 0, "too large"},
	    {" 1", GN_COLUMN_I32, 0, 0, "not a number"},
	    {"1 ", GN_COLUMN_I32, 0, 0, "not a number"},
	};

	(void)state;
	for (unsigned k = 0; k < sizeof cases / sizeof cases[0]; k++) {
		union gn_value v = {0};
		const char *fault =
		    gn_value_read(cases[k].type, cases[k].scale, cases[k].text, strlen(cases[k].text), &v);

		if (!cases[k].fault != !fault || (fault && !strstr(fault, cases[k].fault)))
			fail_msg("\"%s\": %s", cases[k].text, fault ? fault : "taken");
		if (!fault)
			assert_int_equal(v.exact, cases[k].exact);
	}
}

static void exact_numbers_have_all_digits(void **state)
{
	char text[GN_EXACT_TEXT];

	(void)state;
	gn_exact_text(text, 0, 0, 2);
	assert_string_equal(text, "0.00");
	gn_exact_text(text, -1, (uint64_t)-5, 2);
	assert_string_equal(text, "-0.05");
	gn_exact_text(text, 0, 1234, 0);
	assert_string_equal(text, "1234");
	gn_exact_text(text, INT64_MIN, 0, 18);
	assert_string_equal(text, "-170141183460469231731.687303715884105728");
}

/* ---- import ---- */

static void types_are_the_first_that_hold_all(void **state)
{
	static const int64_t small[] = {1, INT64_MIN, -3, 4}, large[] = {1, 2, 3000000000, INT64_MIN},
	                     money[] = {150, 20, INT64_MIN, -5};
	static const double real[] = {1, 2000, 0.5, 4};
	struct gn_import_report report;
	struct gn_table_file f;
	struct gn_dictionary d;
	int words;

	(void)state;
	must(import("small,large,money,real,word,long,none\n"
	            "1,1,1.5,1,x,12345678901234567890,\n"
	            ",2,.20,2e3,,1,\n"
	            "-3,3000000000,,0.5,\"\",2,\n"
	            "4,,-0.05,4,x,3,\"\"\n",
	            NULL, 0, &report));
	assert_int_equal(report.rows, 4);
	assert_int_equal(report.bad, 0);
	gn_import_report_free(&report);
	must(gn_table_open(&f, table_path, &error));
	must(gn_table_check(&f, NULL, &error));
	expect_exact(&f, "small", GN_COLUMN_I32, 0, small);
	expect_exact(&f, "large", GN_COLUMN_DECIMAL, 0, large);
	expect_exact(&f, "money", GN_COLUMN_DECIMAL, 2, money);
	expect_real(&f, "real", GN_COLUMN_F64, real);
	expect_exact(&f, "word", GN_COLUMN_STRING, 0, (const int64_t[]){0, INT64_MIN, 1, 0});
	expect_exact(&f, "long", GN_COLUMN_STRING, 0, (const int64_t[]){0, 1, 2, 3});
	words = gn_table_find(&f, "word", 4);
	must(gn_table_dictionary(&f, &f.columns[words], &d, &error));
	assert_int_equal(d.words, 2);
	assert_int_equal(d.offsets[1], 1);
	assert_int_equal(d.offsets[2], 1);
	assert_memory_equal(d.bytes, "x", 1);
	free(d.memory);
	gn_table_close(&f);
}

/* Zeros behind the point that no exact column has room for do not make it one of doubles. */
static void zeros_at_the_end_leave_a_column_exact(void **state)
{
	struct gn_import_report report;
	struct gn_table_file f;

	(void)state;
	must(import("one,cents,many\n"
	            "1.00000000000000000000,0.10,1.5\n"
	            "-2,0.25000000000000000000,0.0000000000000000001\n",
	            NULL, 0, &report));
	gn_import_report_free(&report);
	must(gn_table_open(&f, table_path, &error));
	must(gn_table_check(&f, NULL, &error));
	expect_exact(&f, "one", GN_COLUMN_DECIMAL, 0, (const int64_t[]){1, -2});
	expect_exact(&f, "cents", GN_COLUMN_DECIMAL, 2, (const int64_t[]){10, 25});
	expect_real(&f, "many", GN_COLUMN_F64, (const double[]){1.5, 1e-19});
	gn_table_close(&f);
}

static void types_can_be_given(void **state)
{
	static const double reals[] = {0.1f, NAN};
	struct gn_import_report report;
	struct gn_table_file f;

	(void)state;
	must(import("a,b,c=d\n1,0.1,7\n2,,8\n", "a=u32,b=f32,c=d=string", 0, &report));
	gn_import_report_free(&report);
	must(gn_table_open(&f, table_path, &error));
	must(gn_table_check(&f, NULL, &error));
	expect_exact(&f, "a", GN_COLUMN_U32, 0, (const int64_t[]){1, 2});
	expect_real(&f, "b", GN_COLUMN_F32, reals);
	expect_exact(&f, "c=d", GN_COLUMN_STRING, 0, (const int64_t[]){0, 1});
	gn_table_close(&f);
	must(import("\"a,b\",c,\"d=1,e\"\n1,2,3\n", "a,b=u32,d=1,e=f64,c=i64", 0, &report));
	assert_int_equal(report.columns[0].type, GN_COLUMN_U32);
	assert_int_equal(report.columns[1].type, GN_COLUMN_DECIMAL);
	assert_int_equal(report.columns[2].type, GN_COLUMN_F64);
	gn_import_report_free(&report);
	must(unlink(table_path));
	assert_int_equal(import("\"a,b\",c\n1,2\n", "c=i31,a,b=i32", 0, &report), -GN_EINVAL);
	assert_non_null(strstr(error.text, "types: c=i31: give NAME=TYPE"));
	gn_import_report_free(&report);
	assert_int_equal(import("a,b\n1,2\n", "a,b=i32", 0, &report), -GN_EINVAL);
	assert_non_null(strstr(error.text, "types: a,b: no column has this name"));
	gn_import_report_free(&report);
	assert_int_equal(import("a,b\n1,2\n", "a=none,b=none", 0, &report), -GN_EINVAL);
	assert_non_null(strstr(error.text, "--types leaves out every column of"));
	gn_import_report_free(&report);
	assert_int_equal(import("a,b\n1,2\n", "z=i32", 0, &report), -GN_EINVAL);
	assert_non_null(strstr(error.text, "there are a, b"));
	gn_import_report_free(&report);
	assert_int_equal(import("a,b\n1,2\n", "a=decimal(19)", 0, &report), -GN_EINVAL);
	gn_import_report_free(&report);
	assert_int_equal(access(table_path, F_OK), -1);
}

static void columns_can_be_left_out(void **state)
{
	struct gn_import_report report;
	struct gn_table_file f;

	(void)state;
	must(import("a,b,c\n1,x,y\n2,,z\n", "b=none", 0, &report));
	assert_int_equal(report.column_count, 3);
	assert_int_equal(report.columns[1].type, GN_COLUMN_NONE);
	gn_import_report_free(&report);
	must(gn_table_open(&f, table_path, &error));
	must(gn_table_check(&f, NULL, &error));
	assert_int_equal(f.column_count, 2);
	expect_exact(&f, "a", GN_COLUMN_I32, 0, (const int64_t[]){1, 2});
	expect_exact(&f, "c", GN_COLUMN_STRING, 0, (const int64_t[]){0, 1});
	gn_table_close(&f);
	assert_int_equal(import("a,b\n1,2\n", "a=none,b=none", 0, &report), -GN_EINVAL);
	gn_import_report_free(&report);
}

static const char bad_rows[] = "a,b\n1,2\n3\n\"x\n\",5\n4,5,6\n7,\"8\"9\n5,6\n";

static void bad_rows_are_counted_and_named(void **state)
{
	static const uint64_t lines[] = {3, 4, 6, 7};
	struct gn_import_report report;
	struct gn_table_file f;

	(void)state;
	assert_int_equal(import(bad_rows, "a=i32", 0, &report), -GN_EBADMSG);
	assert_non_null(strstr(error.text, "line 3"));
	assert_non_null(strstr(error.text, "4 rows of 6"));
	assert_int_equal(report.bad, 4);
	for (unsigned k = 0; k < 4; k++)
		assert_int_equal(report.kept[k].line, lines[k]);
	gn_import_report_free(&report);
	assert_int_equal(access(table_path, F_OK), -1);
	must(import(bad_rows, "a=i32", 1, &report));
	assert_int_equal(report.bad, 4);
	assert_int_equal(report.rows, 2);
	gn_import_report_free(&report);
	must(gn_table_open(&f, table_path, &error));
	expect_exact(&f, "a", GN_COLUMN_I32, 0, (const int64_t[]){1, 5});
	gn_table_close(&f);
}

static void refuses(const char *text, const char *words)
{
	struct gn_import_report report;

	assert_int_equal(import(text, NULL, 1, &report), -GN_EBADMSG);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" does not say \"%s\"", error.text, words);
	gn_import_report_free(&report);
	assert_int_equal(access(table_path, F_OK), -1);
}

static void what_is_no_table_is_refused(void **state)
{
	(void)state;
	refuses("", "empty");
	refuses("a,a\n1,2\n", "two columns are named a");
	refuses("a,\n1,2\n", "column 2");
	refuses("a,b\n1,\"2\n3,4\n", "line 2: a quote");
}

/* ---- the file ---- */

static void make_table(uint64_t rows)
{
	struct gn_column columns[3] = {
	    {"i", GN_COLUMN_I32}, {"m", GN_COLUMN_DECIMAL, 2}, {"w", GN_COLUMN_STRING}};
	struct gn_table_writer *w;

	must(gn_table_writer_begin(&w, table_path, columns, 3, rows, &error));
	for (uint64_t k = 0; k < rows; k++) {
		struct gn_cell cells[3] = {{k % 10 == 3, {(int64_t)k}}, {0, {-(int64_t)k * 7}}, {0, {0}}};

		must(gn_table_word(w, 2, k % 2 ? "odd" : "even", k % 2 ? 3 : 4, &cells[2].value, &error));
		must(gn_table_writer_row(w, cells, &error));
	}
	must(gn_table_writer_end(w, &error));
}

static void zone_maps_say_what_is_there(void **state)
{
	struct gn_table_file f;
	struct gn_zone *z;

	(void)state;
	make_table(1030);
	must(gn_table_open(&f, table_path, &error));
	must(gn_table_check(&f, NULL, &error));
	assert_int_equal(gn_table_zone_count(&f), 3);
	must(gn_table_zones(&f, &f.columns[0], &z, &error));
	assert_int_equal(z[0].least.exact, 0);
	assert_int_equal(z[0].most.exact, 511);
	assert_int_equal(z[0].present, 512 - 51);
	assert_int_equal(z[2].least.exact, 1024);
	assert_int_equal(z[2].most.exact, 1029);
	free(z);
	must(gn_table_zones(&f, &f.columns[1], &z, &error));
	assert_int_equal(z[1].least.exact, -1023 * 7);
	assert_int_equal(z[1].most.exact, -512 * 7);
	free(z);
	gn_table_close(&f);
}

/* Opened and checked. */
static int is_sound(void)
{
	struct gn_table_file f;
	int rc = gn_table_open(&f, table_path, &error);

	if (!rc)
		rc = gn_table_check(&f, NULL, &error);
	gn_table_close(&f);
	return rc;
}

static void no_damage_goes_unnoticed(void **state)
{
	size_t n;
	unsigned char *bytes;
	int fd;

	(void)state;
	make_table(600);
	must(is_sound());
	bytes = get(table_path, &n);
	fd = open(table_path, O_WRONLY);
	for (size_t at = 0; at < n; at += at < 64 || (at >= 4096 && at < 4096 + 3 * 256) ? 1 : 13) {
		const unsigned char other = bytes[at] ^ (unsigned char)(1u << at % 8);
		int rc;

		assert_int_equal(pwrite(fd, &other, 1, (off_t)at), 1);
		rc = is_sound();
		if (rc != -GN_EBADMSG && rc != -GN_ENOTSUP)
			fail_msg("byte %zu was changed, and nobody notices (%d)", at, rc);
		assert_int_equal(pwrite(fd, &bytes[at], 1, (off_t)at), 1);
	}
	must(is_sound());
	for (size_t cut = 1; cut < n; cut += 997) {
		assert_int_equal(ftruncate(fd, (off_t)(n - cut)), 0);
		assert_int_equal(is_sound(), -GN_EBADMSG);
	}
	close(fd);
	free(bytes);
}

static void a_table_may_be_empty(void **state)
{
	struct gn_import_report report;

	(void)state;
	make_table(0);
	must(is_sound());
	must(import("a,b\n", NULL, 0, &report));
	gn_import_report_free(&report);
	must(is_sound());
}

static void the_writer_keeps_its_word(void **state)
{
	struct gn_column columns[1] = {{"i", GN_COLUMN_I32}};
	struct gn_cell cell = {0, {1}};
	struct gn_table_writer *w;

	(void)state;
	unlink(table_path);
	must(gn_table_writer_begin(&w, table_path, columns, 1, 2, &error));
	must(gn_table_writer_row(w, &cell, &error));
	assert_int_equal(gn_table_writer_end(w, &error), -GN_EINVAL);
	must(gn_table_writer_begin(&w, table_path, columns, 1, 1, &error));
	must(gn_table_writer_row(w, &cell, &error));
	assert_int_equal(gn_table_writer_row(w, &cell, &error), -GN_EINVAL);
	gn_table_writer_drop(w);
	assert_int_equal(access(table_path, F_OK), -1);
	columns[0].name[0] = '\0';
	assert_int_equal(gn_table_writer_begin(&w, table_path, columns, 1, 1, &error), -GN_EINVAL);
}

/* The shares of long trips are those that the papers state. */
static void trips_have_the_published_shares(void **state)
{
	const uint64_t rows = 3333 * 1250 / 50;
	struct gn_table_file f;
	uint64_t far = 0, slow = 0;
	uint32_t type;
	int64_t *distance;
	int32_t *seconds;

	(void)state;
	must(gn_taxis_write(table_path, rows, 5, NULL, &error));
	must(is_sound());
	must(gn_table_open(&f, table_path, &error));
	distance = (int64_t *)values_of(&f, "distance", &type);
	seconds = (int32_t *)values_of(&f, "seconds", &type);
	for (uint64_t k = 0; k < rows; k++) {
		far += distance[k] >= 3000;
		slow += seconds[k] > 9000;
	}
	assert_int_equal(far, rows / GN_TAXIS_FAR);
	assert_in_range(slow, rows / GN_TAXIS_LONG, rows / GN_TAXIS_LONG + 1);
	free(distance);
	free(seconds);
	gn_table_close(&f);
}

static void trips_depend_on_the_seed_alone(void **state)
{
	size_t n, m;
	unsigned char *a, *b;

	(void)state;
	must(gn_taxis_write(table_path, 5000, 5, NULL, &error));
	a = get(table_path, &n);
	must(gn_taxis_write(table_path, 5000, 5, NULL, &error));
	b = get(table_path, &m);
	assert_int_equal(n, m);
	assert_memory_equal(a, b, n);
	free(b);
	must(gn_taxis_write(table_path, 5000, 6, NULL, &error));
	b = get(table_path, &m);
	assert_memory_not_equal(a, b, n < m ? n : m);
	free(a);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(records_are_those_of_rfc_4180),
	    cmocka_unit_test(numbers_are_read_as_they_are_written),
	    cmocka_unit_test(exact_numbers_have_all_digits),
	    cmocka_unit_test(types_are_the_first_that_hold_all),
	    cmocka_unit_test(zeros_at_the_end_leave_a_column_exact),
	    cmocka_unit_test(types_can_be_given),
	    cmocka_unit_test(columns_can_be_left_out),
	    cmocka_unit_test(bad_rows_are_counted_and_named),
	    cmocka_unit_test(what_is_no_table_is_refused),
	    cmocka_unit_test(zone_maps_say_what_is_there),
	    cmocka_unit_test(no_damage_goes_unnoticed),
	    cmocka_unit_test(a_table_may_be_empty),
	    cmocka_unit_test(the_writer_keeps_its_word),
	    cmocka_unit_test(trips_have_the_published_shares),
	    cmocka_unit_test(trips_depend_on_the_seed_alone),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
