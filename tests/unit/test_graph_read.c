/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of foreign formats: small files written out by hand, right ones and wrong ones. */
#include "test_graph_support.h"

static const struct gn_graph_read_options undirected = {true, false, 0, {NULL, NULL}};
static const struct gn_graph_read_options simple = {false, true, 0, {NULL, NULL}};

static struct gn_graph good(const char *text, enum gn_graph_format format,
                            const struct gn_graph_read_options *o)
{
	struct gn_error e = {0};
	struct gn_graph g;

	if (read_text(&g, text, format, o, &e))
		fail_msg("%s", e.text);
	return g;
}

struct bad_text {
	const char *text;
	const char *where;
	const char *remedy;
	int code;
};

static void assert_all_bad(const struct bad_text *cases, unsigned n, enum gn_graph_format format)
{
	for (unsigned k = 0; k < n; k++) {
		struct gn_error e = {0};
		struct gn_graph g;
		int err = read_text(&g, cases[k].text, format, NULL, &e);

		assert_error(err, cases[k].code ? cases[k].code : -GN_EBADMSG, &e, cases[k].where,
		             cases[k].remedy);
		assert_non_null(strstr(e.text, "the-file"));
		assert_null(g.offsets);
	}
}

static void el_plain(void **state)
{
	const uint32_t row0[3] = {0, 4, 4};
	const uint32_t row4[1] = {0};
	struct gn_graph g = good("# a comment\n% another\n\n 0\t4 \r\n0 0\n4 0\n0 4", GN_FORMAT_EL, NULL);

	(void)state;
	assert_int_equal(g.vertices, 5);
	assert_int_equal(g.edges, 4);
	assert_int_equal(g.flags, GN_GRAPH_SORTED);
	assert_row(&g, 0, row0, 3);
	assert_row(&g, 1, NULL, 0);
	assert_row(&g, 4, row4, 1);
	gn_graph_fini(&g);
}

static void el_undirected(void **state)
{
	const uint32_t row0[3] = {0, 1, 2};
	const uint32_t row1[1] = {0};
	struct gn_graph g = good("0 0\n0 1\n2 0\n", GN_FORMAT_EL, &undirected);

	(void)state;
	assert_int_equal(g.flags, GN_GRAPH_SORTED | GN_GRAPH_UNDIRECTED);
	assert_row(&g, 0, row0, 3);
	assert_row(&g, 1, row1, 1);
	assert_row(&g, 2, row1, 1);
	gn_graph_fini(&g);
}

static void el_simple(void **state)
{
	const uint32_t row1[2] = {0, 2};
	struct gn_graph g = good("1 2\n1 1\n1 0\n1 2\n1 2\n0 0\n", GN_FORMAT_EL, &simple);

	(void)state;
	assert_int_equal(g.edges, 2);
	assert_row(&g, 0, NULL, 0);
	assert_row(&g, 1, row1, 2);
	gn_graph_fini(&g);
}

static void el_stated(void **state)
{
	struct gn_graph g = good("# 10,2,d,graph,2,Int64\n0 1\n1 2\n", GN_FORMAT_EL, NULL);

	(void)state;
	assert_int_equal(g.vertices, 10);
	assert_int_equal(g.edges, 2);
	gn_graph_fini(&g);
	/* what only resembles the statement is a comment */
	g = good("# 10 vertices, 2 edges\n0 1\n", GN_FORMAT_EL, NULL);
	assert_int_equal(g.vertices, 2);
	gn_graph_fini(&g);
	g = good("0 1\n# 10,2,d\n", GN_FORMAT_EL, NULL);
	assert_int_equal(g.vertices, 2);
	gn_graph_fini(&g);
	g = good("# 10,2,dense\n0 1\n", GN_FORMAT_EL, NULL);
	assert_int_equal(g.vertices, 2);
	gn_graph_fini(&g);
}

static void el_empty(void **state)
{
	struct gn_graph g = good("", GN_FORMAT_EL, NULL);

	(void)state;
	assert_int_equal(g.vertices, 0);
	gn_graph_fini(&g);
	g = good("# 1,0,u\n", GN_FORMAT_EL, NULL);
	assert_int_equal(g.vertices, 1);
	assert_int_equal(g.edges, 0);
	gn_graph_fini(&g);
}

static void el_bad(void **state)
{
	static const struct bad_text cases[] = {
	    {"0 1\n1\n", "line 2", "FROM TO", 0},
	    {"0 1 2\n", "line 1: \"0 1 2\"", ".wel", 0},
	    {"a b\n", "line 1", "correct or remove", 0},
	    {"0 1x\n", "line 1", "correct or remove", 0},
	    {"-1 1\n", "line 1", "correct or remove", 0},
	    {"0,1\n", "line 1", "correct or remove", 0},
	    {"0 1.5\n", "line 1", "correct or remove", 0},
	    {"0 4294967295\n", "line 1", "up to 4294967294", 0},
	    {"0 99999999999999999999999\n", "line 1", "correct or remove", 0},
	    {"0 18446744073709551616\n", "line 1", "correct or remove", 0},
	    {"0 1\n\x01\xff\n", "line 2: \"??\"", "correct or remove", 0},
	    {"# 3,1,d\n0 3\n", "line 2", "below the number that the first line states", 0},
	    {"# 3,2,d\n0 1\n", "states 2 edges, but the file has 1", "copy or correct it", 0},
	    {"# 5000000000,0,d\n", "line 1", "up to 4294967295", 0},
	};

	(void)state;
	assert_all_bad(cases, sizeof cases / sizeof cases[0], GN_FORMAT_EL);
}

static void text_bad(void **state)
{
	struct gn_error e = {0};
	struct gn_graph g;
	char *line = (char *)malloc(200001);
	int fd = memory_file("0 1\n0 \0 1\n", 10);

	(void)state;
	assert_error(gn_graph_read_fd(&g, fd, "the-file", GN_FORMAT_EL, NULL, &e), -GN_EBADMSG, &e, "line 2",
	             "zero bytes");
	close(fd);
	memset(line, '1', 200000);
	line[200000] = '\0';
	assert_error(read_text(&g, line, GN_FORMAT_EL, NULL, &e), -GN_EBADMSG, &e, "line 1",
	             "fewer than 65536");
	free(line);
}

static void wel(void **state)
{
	static const struct bad_text cases[] = {
	    {"0 1\n", "line 1", "FROM TO WEIGHT", 0},
	    {"0 1 1.5\n", "line 1", "32-bit integer", 0},
	    {"0 1 2147483648\n", "line 1", "32-bit integer", 0},
	    {"0 1 - 5\n", "line 1", "32-bit integer", 0},
	    {"0 1 5 6\n", "line 1", "FROM TO WEIGHT", 0},
	};
	const uint32_t row0[3] = {1, 1, 2};
	const int32_t weights[3] = {INT32_MIN, 7, 2147483647};
	struct gn_graph g = good("0 1 7\n0 2 +2147483647\n0 1 -2147483648\n", GN_FORMAT_WEL, NULL);

	(void)state;
	assert_int_equal(g.weight, GN_WEIGHT_I32);
	assert_row(&g, 0, row0, 3);
	assert_memory_equal(g.weights, weights, sizeof weights);
	gn_graph_fini(&g);
	assert_all_bad(cases, sizeof cases / sizeof cases[0], GN_FORMAT_WEL);
}

static void mtx_kinds(void **state)
{
	const uint32_t both[2] = {0, 2};
	const uint32_t first[2] = {0, 1};
	const float reals[2] = {-1.5f, 2.0e3f};
	const int32_t negated = -9;
	struct gn_graph g;

	(void)state;
	g = good("%%MatrixMarket matrix coordinate pattern general\n% c\n\n3 3 2\n1 1\n1 3\n", GN_FORMAT_MTX,
	         NULL);
	assert_int_equal(g.vertices, 3);
	assert_row(&g, 0, both, 2);
	assert_int_equal(g.edges, 2);
	gn_graph_fini(&g);

	/* symmetric: one triangle is written, the diagonal is its own mirror; already undirected */
	for (int k = 0; k < 2; k++) {
		g = good("%%MatrixMarket MATRIX Coordinate Real Symmetric\n2 2 2\n1 1 -1.5\n2 1 2.0e3\n",
		         GN_FORMAT_MTX, k ? &undirected : NULL);
		assert_int_equal(g.flags, GN_GRAPH_SORTED | GN_GRAPH_UNDIRECTED);
		assert_int_equal(g.weight, GN_WEIGHT_F32);
		assert_int_equal(g.edges, 3);
		assert_row(&g, 0, first, 2);
		assert_memory_equal(g.weights, reals, sizeof reals);
		gn_graph_fini(&g);
	}

	g = good("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 9\n", GN_FORMAT_MTX,
	         NULL);
	assert_int_equal(g.edges, 2);
	assert_memory_equal(&g.weights[0], &negated, 4);
	assert_int_equal(g.weights[1], 9);
	gn_graph_fini(&g);

	g = good("%%MatrixMarket matrix coordinate pattern general\n0 0 0\n", GN_FORMAT_MTX, NULL);
	assert_int_equal(g.vertices, 0);
	gn_graph_fini(&g);
}

#define BANNER "%%MatrixMarket matrix coordinate pattern general\n"

static void mtx_bad(void **state)
{
	static const struct bad_text cases[] = {
	    {"", "before its first line", "copy it again", 0},
	    {"1 1 1\n", "line 1", "%%MatrixMarket matrix", 0},
	    {"%%MatrixMarket matrix coordinate pattern\n", "line 1", "FORMAT FIELD SYMMETRY", 0},
	    {"%%MatrixMarket matrix array real general\n", "not 'coordinate'", "use a", -GN_ENOTSUP},
	    {"%%MatrixMarket matrix coordinate complex general\n", "kind of number", "use a", -GN_ENOTSUP},
	    {"%%MatrixMarket matrix coordinate real hermitian\n", "symmetry", "use a", -GN_ENOTSUP},
	    {BANNER, "0 of 0 entries", "copy it again", 0},
	    {BANNER "2 3 1\n", "line 2", "square", 0},
	    {BANNER "2 2\n", "line 2", "ROWS COLUMNS ENTRIES", 0},
	    {BANNER "4294967296 4294967296 1\n", "line 2", "at most 4294967295", 0},
	    {BANNER "2 2 18446744073709551615\n", "line 2", "at most", 0},
	    {BANNER "2 2 2\n1 1\n", "1 of 2 entries", "copy it again", 0},
	    {BANNER "2 2 1\n1 1\n1 2\n", "line 4", "correct or remove", 0},
	    {BANNER "2 2 1\n0 1\n", "line 3", "counted from 1", 0},
	    {BANNER "2 2 1\n1 3\n", "line 3", "inside the matrix", 0},
	    {BANNER "2 2 1\n1 1 1\n", "line 3", "ROW COLUMN", 0},
	    {BANNER "2 2 1\nx\n", "line 3", "ROW COLUMN", 0},
	    {"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 nan\n", "line 3", "ROW COLUMN VALUE",
	     0},
	    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n", "line 3", "32 bits", 0},
	};

	(void)state;
	assert_all_bad(cases, sizeof cases / sizeof cases[0], GN_FORMAT_MTX);
}

/* vertices 2; 0 -> 1 */
static const unsigned char sg_directed[17 + 2 * 28] = {
    1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,                      /* directed, edges, vertices */
    0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, /* offsets */
    1, 0, 0, 0,                                                             /* neighbours */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, /* of the reverse */
    0, 0, 0, 0,
};

/* vertices 2; 0 - 1 of weight 5, rows of pairs */
static const unsigned char wsg_undirected[17 + 24 + 16] = {
    0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,                      /* directed, edges, vertices */
    0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, /* offsets */
    1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0,
};

static int read_bytes(struct gn_graph *g, const unsigned char *bytes, size_t n, enum gn_graph_format format,
                      const struct gn_graph_read_options *o, struct gn_error *e)
{
	int fd = memory_file(bytes, n);
	int err = gn_graph_read_fd(g, fd, "the-file", format, o, e);

	close(fd);
	return err;
}

static void sg(void **state)
{
	const uint32_t one[1] = {1};
	const uint32_t zero[1] = {0};
	struct gn_error e = {0};
	struct gn_graph g;

	(void)state;
	assert_int_equal(read_bytes(&g, sg_directed, sizeof sg_directed, GN_FORMAT_SG, NULL, &e), 0);
	assert_int_equal(g.edges, 1);
	assert_int_equal(g.flags, GN_GRAPH_SORTED);
	assert_row(&g, 0, one, 1);
	gn_graph_fini(&g);
	assert_int_equal(read_bytes(&g, sg_directed, sizeof sg_directed, GN_FORMAT_SG, &undirected, &e), 0);
	assert_int_equal(g.edges, 2);
	assert_row(&g, 1, zero, 1);
	gn_graph_fini(&g);
	for (int k = 0; k < 2; k++) {
		assert_int_equal(read_bytes(&g, wsg_undirected, sizeof wsg_undirected, GN_FORMAT_WSG,
		                            k ? &undirected : NULL, &e),
		                 0);
		assert_int_equal(g.edges, 2);
		assert_int_equal(g.flags, GN_GRAPH_SORTED | GN_GRAPH_UNDIRECTED);
		assert_int_equal(g.weights[1], 5);
		assert_row(&g, 1, zero, 1);
		gn_graph_fini(&g);
	}
}

static void sg_bad(void **state)
{
	static const struct {
		int at;
		unsigned char value;
		const char *where;
	} cases[] = {
	    {0, 2, "byte 0"},          {8, 0x80, "byte 1"},         {16, 0x40, "byte 9"},
	    {1, 2, "header asks for"}, {17, 1, "offset 0 is 1"},    {25, 2, "offset 1 is 2"},
	    {33, 0, "offset 2 is 0"},  {41, 2, "neighbour 0 is 2"},
	};
	unsigned char bytes[sizeof sg_directed];
	struct gn_error e = {0};
	struct gn_graph g;

	(void)state;
	for (unsigned k = 0; k < sizeof cases / sizeof cases[0]; k++) {
		memcpy(bytes, sg_directed, sizeof bytes);
		bytes[cases[k].at] = cases[k].value;
		assert_error(read_bytes(&g, bytes, sizeof bytes, GN_FORMAT_SG, NULL, &e), -GN_EBADMSG, &e,
		             cases[k].where, "damaged");
		assert_null(g.offsets);
	}
	for (size_t n = 0; n < sizeof bytes; n++)
		assert_error(read_bytes(&g, sg_directed, n, GN_FORMAT_SG, NULL, &e), -GN_EBADMSG, &e,
		             "the-file", "copy");
	assert_error(read_bytes(&g, sg_directed, sizeof bytes, GN_FORMAT_WSG, NULL, &e), -GN_EBADMSG, &e,
	             "a .sg file", "rename");
}

static void memory_limit(void **state)
{
	const struct gn_graph_read_options o = {false, false, 1 << 20, {NULL, NULL}};
	struct gn_error e = {0};
	struct gn_graph g;

	(void)state;
	assert_error(read_text(&g, "0 4000000000\n", GN_FORMAT_EL, &o, &e), -GN_ENOMEM, &e, "29.8 GiB",
	             "more memory");
	assert_null(g.offsets);
}

static void names(void **state)
{
	static const struct {
		const char *path;
		enum gn_graph_format format;
	} right[] = {
	    {"a.gng", GN_FORMAT_GNG},    {"d.x/a.mtx", GN_FORMAT_MTX}, {"a.EL", GN_FORMAT_EL},
	    {"a.el.gz", GN_FORMAT_EL},   {"a.wel", GN_FORMAT_WEL},     {"a.sg", GN_FORMAT_SG},
	    {"a.mtx.gz", GN_FORMAT_MTX}, {"a.wsg", GN_FORMAT_WSG},
	};
	static const char *const wrong[] = {"a", "el", ".el", "a.gz", "a.sg.gz", "a.txt", "a.el/"};
	enum gn_graph_format format;
	struct gn_error e = {0};

	(void)state;
	for (unsigned k = 0; k < sizeof right / sizeof right[0]; k++) {
		assert_int_equal(gn_graph_format_of(right[k].path, &format, &e), 0);
		assert_int_equal(format, right[k].format);
	}
	for (unsigned k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
		assert_error(gn_graph_format_of(wrong[k], &format, &e), -GN_ENOTSUP, &e, wrong[k],
		             "rename the file to end in");
}

/* A gzipped list of many lines, and the same cut or damaged. */
static void gzipped(void **state)
{
	enum { EDGES = 40000 };
	char *directory = scratch_directory();
	char *path = path_in(directory, "g.el.gz");
	struct gn_error e = {0};
	struct gn_graph g;
	gzFile gz = gzopen(path, "wb");
	struct stat st;

	(void)state;
	for (unsigned k = 0; k < EDGES; k++)
		gzprintf(gz, "%u %u\n", k, k + 1);
	gzclose(gz);
	assert_int_equal(gn_graph_read(&g, path, NULL, &e), 0);
	assert_int_equal(g.edges, EDGES);
	assert_int_equal(g.neighbours[EDGES - 1], EDGES);
	gn_graph_fini(&g);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size / 2), 0);
	assert_error(gn_graph_read(&g, path, NULL, &e), -GN_EBADMSG, &e, path, "gzip stream ends or breaks");
	assert_null(g.offsets);
	scratch_remove(path, directory);
}

static void append_member(const char *path, const char *text)
{
	gzFile gz = gzopen(path, "ab");

	gzputs(gz, text);
	gzclose(gz);
}

static void append_bytes(const char *path, const char *bytes)
{
	FILE *f = fopen(path, "ab");

	fputs(bytes, f);
	fclose(f);
}

/* Every byte of a gzipped file belongs to a member, and all members are read. */
static void gzipped_in_members(void **state)
{
	char *directory = scratch_directory();
	char *path = path_in(directory, "m.el.gz");
	struct gn_error e = {0};
	struct gn_graph g;
	struct stat st;

	(void)state;
	append_member(path, "0 1\n");
	assert_int_equal(stat(path, &st), 0);
	append_member(path, "1 2\n");
	assert_int_equal(gn_graph_read(&g, path, NULL, &e), 0);
	assert_int_equal(g.edges, 2);
	gn_graph_fini(&g);
	for (off_t kept = 1; kept < 24; kept++) { /* the second member is cut, from its first byte on */
		assert_int_equal(truncate(path, st.st_size + kept), 0);
		assert_error(gn_graph_read(&g, path, NULL, &e), -GN_EBADMSG, &e, path, "breaks after line 1");
	}
	assert_int_equal(truncate(path, st.st_size), 0);
	append_bytes(path, "XX");
	append_member(path, "1 2\n");
	assert_error(gn_graph_read(&g, path, NULL, &e), -GN_EBADMSG, &e, path, "breaks after line 1");
	scratch_remove(path, directory);
}

static void cut_at_first_step(void *user, const char *stage, uint64_t done, uint64_t total)
{
	(void)stage;
	(void)done;
	(void)total;
	assert_int_equal(truncate((const char *)user, 4000), 0);
}

static void text_shrinks_while_read(void **state)
{
	char *directory = scratch_directory();
	char *path = path_in(directory, "g.el");
	struct gn_graph_read_options o = {false, false, 0, {cut_at_first_step, path}};
	struct gn_error e = {0};
	struct gn_graph g;
	FILE *f = fopen(path, "w");

	(void)state;
	for (unsigned k = 0; k < 50000; k++) /* more than is read before the first step */
		fprintf(f, "%u %u\n", 1, 2);
	fclose(f);
	assert_error(gn_graph_read(&g, path, &o, &e), -GN_EBADMSG, &e, path,
	             "it was shortened while it was read; try again");
	scratch_remove(path, directory);
}

static void not_a_file(void **state)
{
	char *directory = scratch_directory();
	char *fifo = path_in(directory, "f.el");
	struct gn_error e = {0};
	struct gn_graph g;

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	alarm(20); /* a test that hangs is a failure */
	assert_error(gn_graph_read(&g, fifo, NULL, &e), -GN_EINVAL, &e, fifo, "regular file");
	alarm(0);
	assert_error(gn_graph_read(&g, directory, NULL, &e), -GN_EINVAL, &e, "a directory", "regular file");
	assert_error(gn_graph_read(&g, "/nonexistent/g.el", NULL, &e), -GN_ENOENT, &e, "/nonexistent",
	             "check the name");
	scratch_remove(fifo, directory);
}

/* A directed .gng becomes undirected on request, whatever was done with it before. */
static void gng_rebuilt(void **state)
{
	char *directory = scratch_directory();
	char *path = path_in(directory, "g.gng");
	struct gn_graph g = good("0 1\n0 1\n1 1\n", GN_FORMAT_EL, NULL);
	struct gn_graph_read_options o = {true, true, 0, {NULL, NULL}};
	struct gn_error e = {0};

	(void)state;
	assert_int_equal(gn_graph_file_write(&g, path, NULL, &e), 0);
	gn_graph_fini(&g);
	assert_int_equal(gn_graph_read(&g, path, &undirected, &e), 0);
	assert_int_equal(g.edges, 5);
	gn_graph_fini(&g);
	assert_int_equal(gn_graph_read(&g, path, &o, &e), 0);
	assert_int_equal(g.edges, 2);
	assert_int_equal(g.flags, GN_GRAPH_SORTED | GN_GRAPH_UNDIRECTED);
	gn_graph_fini(&g);
	scratch_remove(path, directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(el_plain),
	    cmocka_unit_test(el_undirected),
	    cmocka_unit_test(el_simple),
	    cmocka_unit_test(el_stated),
	    cmocka_unit_test(el_empty),
	    cmocka_unit_test(el_bad),
	    cmocka_unit_test(text_bad),
	    cmocka_unit_test(wel),
	    cmocka_unit_test(mtx_kinds),
	    cmocka_unit_test(mtx_bad),
	    cmocka_unit_test(sg),
	    cmocka_unit_test(sg_bad),
	    cmocka_unit_test(memory_limit),
	    cmocka_unit_test(names),
	    cmocka_unit_test(gzipped),
	    cmocka_unit_test(gzipped_in_members),
	    cmocka_unit_test(text_shrinks_while_read),
	    cmocka_unit_test(not_a_file),
	    cmocka_unit_test(gng_rebuilt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
