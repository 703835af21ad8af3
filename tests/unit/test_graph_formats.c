/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the programs to compare with, EMOGI's and Subway's: read, damaged, written, and what is refused.
 */
#include "test_graph_support.h"

#include <fcntl.h>
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

#include "graph/write.h"

/* Three vertices: 0 -> 1 and 2, 2 -> 0, of weights 7, 9 and 5. */
static const uint64_t offsets[4] = {0, 2, 2, 3};
static const uint32_t neighbours[3] = {1, 2, 0}, weights[3] = {7, 9, 5};

static const uint32_t bcsr[8] = {3, 3, 0, 2, 2, 1, 2, 0};
static const uint32_t bwcsr[11] = {3, 3, 0, 2, 2, 1, 7, 2, 9, 0, 5};
static const uint64_t bel_col[6] = {4, 0, 0, 2, 2, 3}, bel_dst[5] = {3, 0, 1, 2, 0};
static const uint32_t bel_val[7] = {3, 0, 0, 0, 7, 9, 5};

/* The graph of above; what is written is not changed. */
static struct gn_graph small(uint32_t weight)
{
	struct gn_graph g = {3, 3, NULL, NULL, NULL, GN_GRAPH_SORTED, weight};

	g.offsets = (uint64_t *)offsets;
	g.neighbours = (uint32_t *)neighbours;
	g.weights = weight ? (uint32_t *)weights : NULL;
	return g;
}

/* ---- a folder of its own ---- */

static char *folder;

static int make_folder(void **state)
{
	(void)state;
	folder = scratch_directory();
	return 0;
}

/* Removes what is there, and returns how many files that were. */
static unsigned empty_folder(void)
{
	DIR *d = opendir(folder);
	unsigned files = 0;

	for (struct dirent *entry = readdir(d); entry; entry = readdir(d))
		files += !unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
	return files;
}

static int remove_folder(void **state)
{
	(void)state;
	empty_folder();
	rmdir(folder);
	free(folder);
	return 0;
}

static void put(const char *name, const void *bytes, size_t n)
{
	char *path = path_in(folder, name);
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
	free(path);
}

static void expect_file(const char *name, const void *bytes, size_t n)
{
	char *path = path_in(folder, name), got[256];
	FILE *f = fopen(path, "rb");

	assert_non_null(f);
	assert_int_equal(fread(got, 1, sizeof got, f), n);
	assert_memory_equal(got, bytes, n);
	fclose(f);
	free(path);
}

static int read_named(struct gn_graph *g, const char *name, const struct gn_graph_read_options *o,
                      struct gn_error *e)
{
	char *path = path_in(folder, name);
	int err = gn_graph_read(g, path, o, e);

	free(path);
	return err;
}

static int write_named(const struct gn_graph *g, const char *name, struct gn_error *e)
{
	char *path = path_in(folder, name);
	int err = gn_graph_write(g, path, NULL, e);

	free(path);
	return err;
}

/* ---- what is right ---- */

static void put_bel(int weighted)
{
	put("g.bel.col", bel_col, sizeof bel_col);
	put("g.bel.dst", bel_dst, sizeof bel_dst);
	if (weighted)
		put("g.bel.val", bel_val, sizeof bel_val);
}

static void read_each(void **state)
{
	static const char *const name[] = {"g.bcsr", "g.bwcsr", "g.bel", "w.bel"};

	(void)state;
	put("g.bcsr", bcsr, sizeof bcsr);
	put("g.bwcsr", bwcsr, sizeof bwcsr);
	put_bel(0);
	put("w.bel.col", bel_col, sizeof bel_col);
	put("w.bel.dst", bel_dst, sizeof bel_dst);
	put("w.bel.val", bel_val, sizeof bel_val);
	for (unsigned k = 0; k < 4; k++) {
		const struct gn_graph want = small(k & 1 ? GN_WEIGHT_I32 : GN_WEIGHT_NONE);
		struct gn_error e = {0};
		struct gn_graph g;

		if (read_named(&g, name[k], NULL, &e))
			fail_msg("%s", e.text);
		assert_same_graph(&g, &want);
		gn_graph_fini(&g);
	}
	empty_folder();
}

/* The files do not say that both directions are there, so that the opposite ones are added when asked for. */
static void read_undirected(void **state)
{
	const struct gn_graph_read_options o = {true, true, 0, {NULL, NULL}};
	const uint32_t row0[2] = {1, 2}, row1[1] = {0};
	struct gn_error e = {0};
	struct gn_graph g;

	(void)state;
	put_bel(1);
	assert_int_equal(read_named(&g, "g.bel", &o, &e), 0);
	assert_int_equal(g.flags, GN_GRAPH_SORTED | GN_GRAPH_UNDIRECTED);
	assert_row(&g, 0, row0, 2);
	assert_row(&g, 1, row1, 1);
	assert_int_equal(g.weights[g.offsets[2]], 5);
	gn_graph_fini(&g);
	empty_folder();
}

static void write_each(void **state)
{
	const struct gn_graph plain = small(GN_WEIGHT_NONE), weighted = small(GN_WEIGHT_I32);
	struct gn_error e = {0};

	(void)state;
	assert_int_equal(write_named(&plain, "g.bcsr", &e), 0);
	expect_file("g.bcsr", bcsr, sizeof bcsr);
	assert_int_equal(write_named(&weighted, "g.bcsr", &e), 0);
	expect_file("g.bcsr", bcsr, sizeof bcsr);
	assert_int_equal(write_named(&weighted, "g.bwcsr", &e), 0);
	expect_file("g.bwcsr", bwcsr, sizeof bwcsr);
	assert_int_equal(empty_folder(), 2);
	assert_int_equal(write_named(&weighted, "g.bel", &e), 0);
	expect_file("g.bel.col", bel_col, sizeof bel_col);
	expect_file("g.bel.dst", bel_dst, sizeof bel_dst);
	expect_file("g.bel.val", bel_val, sizeof bel_val);
	assert_int_equal(empty_folder(), 3);
	assert_int_equal(write_named(&plain, "g.bel", &e), 0);
	assert_int_equal(empty_folder(), 2);
}

/* Longer than the parts that are converted at once; and one without vertices. */
static void there_and_back(void **state)
{
	static const char *const name[] = {"g.bel", "g.bcsr", "g.bwcsr"};
	struct gn_generate_options o;
	struct gn_error e = {0};
	struct gn_graph g[2], back;

	(void)state;
	memset(&o, 0, sizeof o);
	o.scale = 16;
	o.degree = 24;
	assert_int_equal(gn_graph_generate(&g[0], &o, &e), 0);
	assert_int_equal(gn_graph_init(&g[1], 0, 0, GN_WEIGHT_NONE, 0, &e), 0);
	for (unsigned k = 0; k < 6; k++) {
		struct gn_graph *from = &g[k / 3];

		from->weight = k % 3 == 2 ? GN_WEIGHT_I32 : GN_WEIGHT_NONE;
		from->weights = from->weight ? from->neighbours : NULL;
		from->flags = GN_GRAPH_SORTED;
		if (write_named(from, name[k % 3], &e) || read_named(&back, name[k % 3], NULL, &e))
			fail_msg("%s", e.text);
		assert_same_graph(&back, from);
		gn_graph_fini(&back);
		from->weights = NULL;
		empty_folder();
	}
	gn_graph_fini(&g[0]);
	gn_graph_fini(&g[1]);
}

/* ---- what is damaged ---- */

struct damage {
	unsigned word; /* of the file */
	uint32_t value;
	const char *words;
};

static int read_words(const uint32_t *words, size_t n, enum gn_graph_format format, struct gn_error *e)
{
	struct gn_graph g;
	int fd = memory_file(words, n), err = gn_graph_read_fd(&g, fd, "the-file", format, NULL, e);

	close(fd);
	if (err)
		assert_null(g.offsets);
	else
		gn_graph_fini(&g);
	return err;
}

static void damaged_bcsr(void **state)
{
	static const struct damage cases[] = {
	    {0, 4, "4 vertices"},    {0, UINT32_MAX, "asks for"},
	    {1, 2, "2 edges"},       {1, UINT32_MAX, "asks"},
	    {2, 1, "offset 0 is 1"}, {3, 4, "byte 12: offset 1 is 4"},
	    {4, 1, "offset 2 is 1"}, {5, 3, "byte 20: neighbour 0 is 3"},
	};
	uint32_t words[8];
	struct gn_error e = {0};

	(void)state;
	for (unsigned k = 0; k < sizeof cases / sizeof cases[0]; k++) {
		memcpy(words, bcsr, sizeof words);
		words[cases[k].word] = cases[k].value;
		assert_error(read_words(words, sizeof words, GN_FORMAT_BCSR, &e), -GN_EBADMSG, &e,
		             cases[k].words, "copy");
	}
	for (size_t n = 0; n < sizeof bcsr; n++)
		assert_error(read_words(bcsr, n, GN_FORMAT_BCSR, &e), -GN_EBADMSG, &e, "the-file", "copy");
	assert_error(read_words(bcsr, sizeof bcsr, GN_FORMAT_BWCSR, &e), -GN_EBADMSG, &e, "a .bcsr file",
	             "rename");
	assert_error(read_words(bwcsr, sizeof bwcsr, GN_FORMAT_BCSR, &e), -GN_EBADMSG, &e, "a .bwcsr file",
	             "rename");
}

static void other_bcsr(void **state)
{
	const uint32_t ascetic[9] = {1, 0, 1, 0, 0, 0, 0}, edges_alone[3] = {0, 1, 0};
	uint32_t words[11];
	struct gn_error e = {0};

	(void)state;
	assert_error(read_words(ascetic, 28, GN_FORMAT_BCSR, &e), -GN_EBADMSG, &e, "Ascetic", "not read");
	assert_error(read_words(edges_alone, 12, GN_FORMAT_BCSR, &e), -GN_EBADMSG, &e, "1 edges without",
	             "damaged");
	memcpy(words, bwcsr, sizeof words);
	words[6] = 0x80000000;
	assert_error(read_words(words, sizeof words, GN_FORMAT_BWCSR, &e), -GN_EBADMSG, &e,
	             "byte 24: weight 0 is 2147483648", "at most 2147483647");
}

/* One of the three files is damaged. */
static void expect_bad_bel(const char *name, const char *words, const char *remedy)
{
	struct gn_error e = {0};
	struct gn_graph g;

	assert_error(read_named(&g, "g.bel", NULL, &e), -GN_EBADMSG, &e, words, remedy);
	assert_non_null(strstr(e.text, name));
	assert_null(g.offsets);
}

static void damaged_bel(void **state)
{
	static const struct {
		const char *name;
		const void *bytes;
		unsigned n;
	} file[] = {{"g.bel.col", bel_col, sizeof bel_col},
	            {"g.bel.dst", bel_dst, sizeof bel_dst},
	            {"g.bel.val", bel_val, sizeof bel_val}};
	static const struct {
		unsigned file;
		struct damage d;
	} cases[] = {
	    {0, {0, 5, "5 elements of 8 bytes"}},
	    {0, {1, 1, "elements of 8 bytes"}},
	    {0, {4, 1, "offset 0 is 1"}},
	    {0, {6, 4, "byte 24: offset 1 is 4"}},
	    {0, {8, 1, "offset 2 is 1"}},
	    {0, {10, 2, "offset 3 is 2"}},
	    {0, {7, 1, "offset 1 is 4294967298"}},
	    {1, {0, 4, "4 elements"}},
	    {1, {4, 3, "byte 16: neighbour 0 is 3"}},
	    {1, {7, 1, "neighbour 1 is 4294967298"}},
	    {2, {0, 2, "2 elements of 4 bytes"}},
	    {2, {6, 0xffffffff, "byte 24: weight 2"}},
	};

	(void)state;
	for (unsigned k = 0; k < sizeof cases / sizeof cases[0]; k++) {
		const unsigned which = cases[k].file;
		uint32_t words[12];

		put_bel(1);
		memcpy(words, file[which].bytes, file[which].n);
		words[cases[k].d.word] = cases[k].d.value;
		put(file[which].name, words, file[which].n);
		expect_bad_bel(file[which].name, cases[k].d.words, "copy");
	}
	for (unsigned k = 0; k < 3; k++) {
		put_bel(1);
		for (unsigned n = 0; n < file[k].n; n++) {
			put(file[k].name, file[k].bytes, n);
			expect_bad_bel(file[k].name, "byte", "copy");
		}
	}
	empty_folder();
}

static void bel_of_two_graphs(void **state)
{
	const uint32_t val[6] = {2, 0, 0, 0, 7, 9};
	const uint64_t dst[4] = {2, 0, 1, 2}, none[2] = {0, 0};
	struct gn_error e = {0};
	struct gn_graph g;

	(void)state;
	put_bel(0);
	put("g.bel.val", val, sizeof val);
	expect_bad_bel("g.bel.val", "2 weights for the 3 neighbours", "remove this one");
	put("g.bel.dst", dst, sizeof dst);
	expect_bad_bel("g.bel.col", "offset 3 is 3", "copy");
	put("g.bel.col", none, sizeof none);
	expect_bad_bel("g.bel.col", "0 offsets", "copy");
	empty_folder();
	assert_error(read_named(&g, "g.bel", NULL, &e), -GN_ENOENT, &e, "g.bel.col", "check the name");
	put("g.bel.col", bel_col, sizeof bel_col);
	assert_error(read_named(&g, "g.bel", NULL, &e), -GN_ENOENT, &e, "g.bel.dst", "check the name");
	empty_folder();
}

/* ---- what cannot be written ---- */

static void expect_unwritten(const struct gn_graph *g, const char *name, int code, const char *words,
                             const char *remedy)
{
	struct gn_error e = {0};

	assert_error(write_named(g, name, &e), code, &e, words, remedy);
	assert_non_null(strstr(e.text, name));
	assert_int_equal(empty_folder(), 0);
}

static void refused(void **state)
{
	struct gn_graph g = small(GN_WEIGHT_F32);
	uint32_t negative[3] = {1, UINT32_MAX, 1};

	(void)state;
	expect_unwritten(&g, "g.bel", -GN_ENOTSUP, "real weights", ".gng");
	expect_unwritten(&g, "g.bwcsr", -GN_ENOTSUP, "real weights", ".gng");
	g.weight = GN_WEIGHT_I32;
	g.weights = negative;
	expect_unwritten(&g, "g.bel", -GN_EINVAL, "weight 1 is -1", ".gng");
	expect_unwritten(&g, "g.bwcsr", -GN_EINVAL, "weight 1 is -1", ".gng");
	g = small(GN_WEIGHT_NONE);
	expect_unwritten(&g, "g.bwcsr", -GN_ENOTSUP, "no weights", ".bcsr");
	expect_unwritten(&g, "g.mtx", -GN_ENOTSUP, "not written", ".gng");
	expect_unwritten(&g, "g.txt", -GN_ENOTSUP, "not that of a graph format", "rename");
	/* the arrays are not there: what is too large is refused before they are read */
	g.edges = UINT64_C(1) << 32;
	g.neighbours = NULL;
	expect_unwritten(&g, "g.bcsr", -GN_EFBIG, "4294967296 edges", ".bel");
	expect_unwritten(&g, "g.bwcsr", -GN_EFBIG, "4294967296 edges", ".bel");
}

/* Also the weights of another graph, which would be taken for those of the new one. */
static void bel_is_not_replaced(void **state)
{
	static const char *const name[] = {"g.bel.col", "g.bel.dst", "g.bel.val"};
	const struct gn_graph g = small(GN_WEIGHT_NONE);
	const int was_open =
	    fcntl(0, F_GETFD); /* a file that was not begun has this number if nobody sets another */

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct gn_error e = {0};
		char *path = path_in(folder, "g.bel");

		put(name[k], "keep", 4);
		assert_error(gn_graph_writable(path, &e), -GN_EINVAL, &e, name[k], "give another name");
		assert_error(gn_graph_write(&g, path, NULL, &e), -GN_EINVAL, &e, name[k], "remove them");
		expect_file(name[k], "keep", 4);
		assert_int_equal(empty_folder(), 1);
		assert_int_equal(gn_graph_writable(path, &e), 0);
		free(path);
	}
	assert_int_equal(fcntl(0, F_GETFD), was_open);
}

/* The file of the neighbours is too large, that of the offsets is not. */
static void a_full_disk_leaves_nothing(void **state)
{
	enum { EDGES = 4096 };
	struct rlimit limit, former;
	struct gn_error e = {0};
	struct gn_graph g;
	char *path = path_in(folder, "g.bel");

	(void)state;
	assert_int_equal(gn_graph_init(&g, 2, EDGES, GN_WEIGHT_NONE, 0, &e), 0);
	g.offsets[1] = g.offsets[2] = EDGES;
	memset(g.neighbours, 0, EDGES * sizeof *g.neighbours);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &former), 0);
	limit = former;
	limit.rlim_cur = EDGES;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_error(gn_graph_write(&g, path, NULL, &e), -GN_EFBIG, &e, "g.bel.dst", "failed");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &former), 0);
	assert_int_equal(empty_folder(), 0);
	gn_graph_fini(&g);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(read_each),
	    cmocka_unit_test(read_undirected),
	    cmocka_unit_test(write_each),
	    cmocka_unit_test(there_and_back),
	    cmocka_unit_test(damaged_bcsr),
	    cmocka_unit_test(other_bcsr),
	    cmocka_unit_test(damaged_bel),
	    cmocka_unit_test(bel_of_two_graphs),
	    cmocka_unit_test(refused),
	    cmocka_unit_test(bel_is_not_replaced),
	    cmocka_unit_test(a_full_disk_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
