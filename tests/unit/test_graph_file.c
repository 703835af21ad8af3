/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph file: its bytes against the table of docs/graph-format.md, and what happens to a file
 * that is damaged in each way.
 */
#include "test_graph_support.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

/* 0 -> 1, 2; 1 -> 2; 2 -> 0 */
static uint64_t offsets[4] = {0, 2, 3, 4};
static uint32_t neighbours[4] = {1, 2, 2, 0};
static uint32_t weights[4] = {10, 20, 30, 40};

static struct gn_graph triangle(bool weighted)
{
	struct gn_graph g = {
	    3, 4, offsets, neighbours, weighted ? weights : NULL, GN_GRAPH_SORTED, GN_WEIGHT_NONE};

	if (weighted)
		g.weight = GN_WEIGHT_I32;
	return g;
}

/* A file under test: its bytes, to be damaged, and its directory. */
struct specimen {
	char *directory;
	char *path;
	unsigned char bytes[5 * 4096];
	size_t n;
};

static void specimen_make(struct specimen *s, bool weighted)
{
	struct gn_graph g = triangle(weighted);
	struct gn_error e = {0};
	FILE *f;

	s->directory = scratch_directory();
	s->path = path_in(s->directory, "g.gng");
	if (gn_graph_file_write(&g, s->path, NULL, &e))
		fail_msg("%s", e.text);
	f = fopen(s->path, "rb");
	s->n = fread(s->bytes, 1, sizeof s->bytes, f);
	fclose(f);
}

static void specimen_remove(struct specimen *s)
{
	unlink(s->path);
	assert_int_equal(rmdir(s->directory), 0);
	free(s->path);
	free(s->directory);
}

static void store32(unsigned char *to, uint32_t value)
{
	for (int k = 0; k < 4; k++)
		to[k] = (unsigned char)(value >> 8 * k);
}

static void store64(unsigned char *to, uint64_t value)
{
	store32(to, (uint32_t)value);
	store32(to + 4, (uint32_t)(value >> 32));
}

static uint64_t fetch(const unsigned char *from, int width)
{
	uint64_t value = 0;

	for (int k = 0; k < width; k++)
		value |= (uint64_t)from[k] << 8 * k;
	return value;
}

/* Make every checksum right again, so that what was changed is found by its meaning. */
static void reseal(struct specimen *s)
{
	for (int at = 48; at < 120; at += 24) {
		uint64_t start = fetch(s->bytes + at, 8);
		uint64_t length = fetch(s->bytes + at + 8, 8);

		if (start + length <= s->n)
			store32(s->bytes + at + 16, (uint32_t)crc32(0, s->bytes + start, (uInt)length));
	}
	store32(s->bytes + 128, 0);
	store32(s->bytes + 128, (uint32_t)crc32(0, s->bytes, 4096));
}

static int open_bytes(const struct specimen *s, struct gn_graph_file *f, struct gn_error *e)
{
	int fd = memory_file(s->bytes, s->n);
	int err = gn_graph_file_open_fd(f, fd, "the-file", e);

	close(fd);
	return err;
}

static void assert_refused(struct specimen *s, int code, const char *where, const char *remedy)
{
	struct gn_graph_file f;
	struct gn_error e = {0};

	assert_error(open_bytes(s, &f, &e), code, &e, "the-file", remedy);
	assert_non_null(strstr(e.text, where));
	assert_true(f.fd < 0);
}

/* The header is fine; both the streaming check and the load refuse what is behind it. */
static void assert_damaged(struct specimen *s, const char *where)
{
	struct gn_graph_file f;
	struct gn_error e = {0};
	struct gn_graph g;

	assert_int_equal(open_bytes(s, &f, &e), 0);
	assert_error(gn_graph_file_check(&f, NULL, &e), -GN_EBADMSG, &e, where, "again");
	assert_error(gn_graph_file_load(&f, &g, 0, NULL, &e), -GN_EBADMSG, &e, where, "again");
	assert_null(g.offsets);
	gn_graph_file_close(&f);
}

static void bytes_are_as_documented(void **state)
{
	static const unsigned char first[32] = {'G', 'N', 'G', 'R', 'A', 'P', 'H', '\n', 1, 0, 0,
	                                        0,   4,   3,   2,   1,   0,   16,  0,    0, 2, 0,
	                                        0,   0,   1,   0,   0,   0,   0,   0,    0, 0};
	struct specimen s;

	(void)state;
	specimen_make(&s, true);
	assert_int_equal(s.n, 4 * 4096);
	assert_memory_equal(s.bytes, first, sizeof first);
	assert_int_equal(fetch(s.bytes + 32, 8), 3);
	assert_int_equal(fetch(s.bytes + 40, 8), 4);
	assert_int_equal(fetch(s.bytes + 48, 8), 4096);
	assert_int_equal(fetch(s.bytes + 56, 8), 32);
	assert_int_equal(fetch(s.bytes + 72, 8), 8192);
	assert_int_equal(fetch(s.bytes + 80, 8), 16);
	assert_int_equal(fetch(s.bytes + 96, 8), 12288);
	assert_int_equal(fetch(s.bytes + 104, 8), 16);
	assert_int_equal(fetch(s.bytes + 112, 4), crc32(0, s.bytes + 12288, 16));
	assert_int_equal(fetch(s.bytes + 120, 8), 16384);
	assert_int_equal(fetch(s.bytes + 4096 + 8, 8), 2);
	assert_int_equal(fetch(s.bytes + 8192 + 4, 4), 2);
	assert_int_equal(fetch(s.bytes + 12288 + 12, 4), 40);
	specimen_remove(&s);
}

static void comes_back(void **state)
{
	for (int weighted = 0; weighted < 2; weighted++) {
		struct gn_graph want = triangle(weighted);
		struct gn_graph_file f;
		struct gn_graph g;
		struct gn_error e = {0};
		struct specimen s;

		(void)state;
		specimen_make(&s, weighted);
		assert_int_equal(gn_graph_file_open(&f, s.path, &e), 0);
		assert_int_equal(f.neighbours.at % GN_GRAPH_FILE_PAGE, 0);
		assert_int_equal(gn_graph_file_check(&f, NULL, &e), 0);
		assert_int_equal(gn_graph_file_load(&f, &g, 0, NULL, &e), 0);
		assert_same_graph(&g, &want);
		gn_graph_fini(&g);
		assert_error(gn_graph_file_load(&f, &g, 16, NULL, &e), -GN_ENOMEM, &e, "the graph",
		             "smaller graph");
		gn_graph_file_close(&f);
		specimen_remove(&s);
	}
}

static void no_vertices(void **state)
{
	uint64_t zero = 0;
	struct gn_graph want = {0, 0, &zero, NULL, NULL, 0, 0};
	char *directory = scratch_directory();
	char *path = path_in(directory, "empty.gng");
	struct gn_graph_file f;
	struct gn_graph g;
	struct gn_error e = {0};

	(void)state;
	assert_int_equal(gn_graph_file_write(&want, path, NULL, &e), 0);
	assert_int_equal(gn_graph_file_open(&f, path, &e), 0);
	assert_int_equal(gn_graph_file_check(&f, NULL, &e), 0);
	assert_int_equal(gn_graph_file_load(&f, &g, 0, NULL, &e), 0);
	assert_same_graph(&g, &want);
	gn_graph_fini(&g);
	gn_graph_file_close(&f);
	scratch_remove(path, directory);
}

/* Several parts of every section: the streaming check keeps its place among rows across them. */
static void large_file(void **state)
{
	struct gn_generate_options o;
	struct gn_graph_file f;
	struct gn_graph g;
	struct gn_graph back;
	struct gn_error e = {0};
	char *directory = scratch_directory();
	char *path = path_in(directory, "large.gng");
	uint32_t swap;
	uint64_t v = 0;

	(void)state;
	memset(&o, 0, sizeof o);
	o.kind = GN_GENERATOR_URAND;
	o.scale = 20;
	o.degree = 3;
	assert_int_equal(gn_graph_generate(&g, &o, &e), 0);
	assert_int_equal(gn_graph_file_write(&g, path, NULL, &e), 0);
	assert_int_equal(gn_graph_file_open(&f, path, &e), 0);
	if (gn_graph_file_check(&f, NULL, &e))
		fail_msg("%s", e.text);
	assert_int_equal(gn_graph_file_load(&f, &back, 0, NULL, &e), 0);
	assert_same_graph(&g, &back);
	gn_graph_fini(&back);
	gn_graph_file_close(&f);

	/* the last row of two neighbours, the wrong way round, with all checksums right */
	for (v = g.vertices - 1; g.offsets[v + 1] - g.offsets[v] != 2;)
		v--;
	swap = g.neighbours[g.offsets[v]];
	g.neighbours[g.offsets[v]] = g.neighbours[g.offsets[v] + 1];
	g.neighbours[g.offsets[v] + 1] = swap;
	assert_int_equal(gn_graph_file_write(&g, path, NULL, &e), 0);
	assert_int_equal(gn_graph_file_open(&f, path, &e), 0);
	assert_error(gn_graph_file_check(&f, NULL, &e), -GN_EBADMSG, &e, "sorted", "convert the graph again");
	assert_error(gn_graph_file_load(&f, &back, 0, NULL, &e), -GN_EBADMSG, &e, "sorted",
	             "convert the graph again");
	gn_graph_file_close(&f);
	gn_graph_fini(&g);
	scratch_remove(path, directory);
}

static void wrong_size(void **state)
{
	struct specimen s;
	size_t whole;

	(void)state;
	specimen_make(&s, false);
	whole = s.n;
	s.n = 0;
	assert_refused(&s, -GN_EBADMSG, "ends at byte 0,", "copy or convert it again");
	s.n = 4095;
	assert_refused(&s, -GN_EBADMSG, "ends at byte 4095", "copy or convert it again");
	s.n = whole - 1;
	assert_refused(&s, -GN_EBADMSG, "truncated", "copy or convert it again");
	s.n = 4096;
	assert_refused(&s, -GN_EBADMSG, "truncated", "copy or convert it again");
	s.bytes[whole] = 0;
	s.n = whole + 1;
	assert_refused(&s, -GN_EBADMSG, "oversized", "copy or convert it again");
	specimen_remove(&s);
}

static void bad_header(void **state)
{
	static const struct {
		int at;
		int width;
		uint64_t value;
		int code;
		const char *where;
		const char *remedy;
	} cases[] = {
	    {0, 4, 0x12345678, -GN_EBADMSG, "byte 0", "grapnel convert"},
	    {8, 4, 3, -GN_ENOTSUP, "version 3", "update this program or convert"},
	    {8, 4, 2, -GN_EBADMSG, "byte 80", "again"},
	    {12, 4, 0x04030201, -GN_ENOTSUP, "byte order", "convert the graph on this machine"},
	    {16, 4, 512, -GN_EBADMSG, "byte 16", "again"},
	    {20, 4, 0x80, -GN_EBADMSG, "byte 20", "again"},
	    {24, 4, 3, -GN_EBADMSG, "byte 24", "again"},
	    {28, 4, 1, -GN_EBADMSG, "byte 28", "again"},
	    {68, 4, 1, -GN_EBADMSG, "byte 68", "again"},
	    {116, 4, 1, -GN_EBADMSG, "byte 116", "again"},
	    {4092, 4, 0x1000000, -GN_EBADMSG, "byte 4095", "again"},
	    {32, 8, UINT64_C(0xffffffffffffffff), -GN_EBADMSG, "byte 32", "again"},
	    {32, 8, UINT64_C(0x100000000), -GN_EBADMSG, "byte 32", "again"},
	    {32, 8, UINT64_C(0x2000000000000003), -GN_EBADMSG, "byte 32", "again"},
	    {32, 8, 0, -GN_EBADMSG, "byte 40", "again"},
	    {40, 8, UINT64_C(0x4000000000000004), -GN_EBADMSG, "byte 40", "again"},
	    {40, 8, UINT64_C(0xffffffffffffffff), -GN_EBADMSG, "byte 40", "again"},
	    {40, 8, UINT64_C(1) << 50, -GN_EBADMSG, "byte 80", "again"},
	    {48, 8, 4097, -GN_EBADMSG, "byte 48", "again"},
	    {56, 8, 24, -GN_EBADMSG, "byte 56", "again"},
	    {72, 8, 4096, -GN_EBADMSG, "byte 72", "again"},
	    {104, 8, 4, -GN_EBADMSG, "byte 104", "again"},
	    {120, 8, 0, -GN_EBADMSG, "byte 120", "again"},
	};
	struct specimen s;

	(void)state;
	for (unsigned k = 0; k < sizeof cases / sizeof cases[0]; k++) {
		specimen_make(&s, false);
		if (cases[k].width == 4)
			store32(s.bytes + cases[k].at, (uint32_t)cases[k].value);
		else
			store64(s.bytes + cases[k].at, cases[k].value);
		reseal(&s);
		assert_refused(&s, cases[k].code, cases[k].where, cases[k].remedy);
		specimen_remove(&s);
	}
}

static void damaged_checksums(void **state)
{
	struct specimen s;

	(void)state;
	specimen_make(&s, true);
	s.bytes[2000] ^= 1;
	assert_refused(&s, -GN_EBADMSG, "the checksum of the header", "copy or convert it again");
	s.bytes[2000] ^= 1;
	s.bytes[12288 + 5] ^= 1;
	assert_damaged(&s, "the checksum of the weights");
	s.bytes[12288 + 5] ^= 1;
	s.bytes[8192] ^= 3; /* neighbour 1 becomes 2: possible, unless one looks at the checksum */
	assert_damaged(&s, "the checksum of the neighbours");
	specimen_remove(&s);
}

static void bad_content(void **state)
{
	struct specimen s;

	(void)state;
	specimen_make(&s, false);
	store64(s.bytes + 4096 + 16, 1); /* 0 2 1 4 */
	reseal(&s);
	assert_damaged(&s, "byte 4112: offset 2 is 1, which is less than the offset before it");
	store64(s.bytes + 4096 + 16, 5);
	reseal(&s);
	assert_damaged(&s, "past the last edge");
	store64(s.bytes + 4096 + 16, 3);
	store64(s.bytes + 4096 + 24, 3);
	reseal(&s);
	assert_damaged(&s, "is not the number of edges");
	store64(s.bytes + 4096 + 24, 4);
	store64(s.bytes + 4096, 1);
	reseal(&s);
	assert_damaged(&s, "offset 0 is 1, which is not 0");
	store64(s.bytes + 4096, 0);
	store32(s.bytes + 8192 + 8, 3);
	reseal(&s);
	assert_damaged(&s, "byte 8200: neighbour 2 is 3, but the graph has 3 vertices");
	store32(s.bytes + 8192 + 8, 2);
	store32(s.bytes + 8192, 2);
	store32(s.bytes + 8192 + 4, 1);
	reseal(&s);
	assert_damaged(&s, "sorted");
	specimen_remove(&s);
}

static void dirty_padding(void **state)
{
	struct gn_graph_file f;
	struct gn_error e = {0};
	struct specimen s;

	(void)state;
	specimen_make(&s, false);
	s.bytes[8192 + 16] = 1;
	assert_int_equal(open_bytes(&s, &f, &e), 0);
	assert_error(gn_graph_file_check(&f, NULL, &e), -GN_EBADMSG, &e, "byte 8208: the padding", "again");
	gn_graph_file_close(&f);
	specimen_remove(&s);
}

static void shrinks_while_read(void **state)
{
	struct gn_graph_file f;
	struct gn_graph g;
	struct gn_error e = {0};
	struct specimen s;

	(void)state;
	specimen_make(&s, false);
	assert_int_equal(gn_graph_file_open(&f, s.path, &e), 0);
	assert_int_equal(truncate(s.path, 8192 + 4), 0);
	assert_error(gn_graph_file_check(&f, NULL, &e), -GN_EBADMSG, &e, s.path,
	             "it was shortened while it was read; try again");
	assert_error(gn_graph_file_load(&f, &g, 0, NULL, &e), -GN_EBADMSG, &e, s.path, "it was shortened");
	gn_graph_file_close(&f);
	specimen_remove(&s);
}

static unsigned files_in(const char *directory)
{
	DIR *d = opendir(directory);
	unsigned n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void not_a_file(void **state)
{
	struct gn_graph g = triangle(false);
	struct gn_graph_file f;
	struct gn_error e = {0};
	struct specimen s;
	char *fifo;

	(void)state;
	specimen_make(&s, false);
	fifo = path_in(s.directory, "fifo.gng");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	alarm(20); /* a test that hangs is a failure */
	assert_error(gn_graph_file_open(&f, fifo, &e), -GN_EINVAL, &e, "a FIFO", "copy its data into one");
	assert_error(gn_graph_file_write(&g, fifo, NULL, &e), -GN_EINVAL, &e, fifo, "name a file");
	alarm(0);
	assert_error(gn_graph_file_open(&f, s.directory, &e), -GN_EINVAL, &e, "a directory", "regular file");
	assert_error(gn_graph_file_write(&g, s.directory, NULL, &e), -GN_EINVAL, &e, "a directory",
	             "name a file");
	assert_error(gn_graph_file_open(&f, "/nonexistent/g.gng", &e), -GN_ENOENT, &e, "/nonexistent/g.gng",
	             "check the name");
	assert_error(gn_graph_file_writable("/nonexistent/g.gng", &e), -GN_ENOENT, &e, "/nonexistent/g.gng",
	             "check the directory");
	assert_error(gn_graph_file_write(&g, "/dev/full", NULL, &e), -GN_ENOSPC, &e, "/dev/full",
	             "free some space");
	unlink(fifo);
	free(fifo);
	assert_int_equal(files_in(s.directory), 1);
	specimen_remove(&s);
}

static void unreadable(void **state)
{
	struct gn_graph_file f;
	struct gn_error e = {0};
	struct specimen s;
	int err;

	(void)state;
	specimen_make(&s, false);
	assert_int_equal(chmod(s.path, 0), 0);
	assert_int_equal(chmod(s.directory, 0755), 0);
	if (geteuid() == 0)
		assert_int_equal(seteuid(65534), 0);
	err = gn_graph_file_open(&f, s.path, &e);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	assert_error(err, -GN_EACCES, &e, s.path, "read permission");
	specimen_remove(&s);
}

static void replaces_and_follows_links(void **state)
{
	struct gn_graph g = triangle(false);
	struct gn_graph_file f;
	struct gn_error e = {0};
	struct stat st;
	struct specimen s;
	char *link;

	(void)state;
	specimen_make(&s, true);
	link = path_in(s.directory, "link.gng");
	assert_int_equal(symlink("g.gng", link), 0);
	assert_int_equal(gn_graph_file_write(&g, link, NULL, &e), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(gn_graph_file_open(&f, s.path, &e), 0);
	assert_int_equal(f.weight, GN_WEIGHT_NONE);
	gn_graph_file_close(&f);
	assert_int_equal(files_in(s.directory), 2);
	unlink(link);
	free(link);
	specimen_remove(&s);
}

/* For a child: a mount table of its own, and 64 KiB of disk. Some systems do not allow that. */
static bool mount_tiny_disk(const char *directory)
{
	return !unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) &&
	       !mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", directory, "tmpfs", 0, "size=64k");
}

static int on_a_tiny_disk(const char *directory)
{
	struct gn_generate_options o;
	struct gn_graph small = triangle(false);
	struct gn_graph_file f;
	struct gn_graph large;
	struct gn_error e = {0};
	char *path = path_in(directory, "g.gng");

	memset(&o, 0, sizeof o);
	o.scale = 12;
	o.degree = 16;
	if (gn_graph_file_write(&small, path, NULL, &e) || gn_graph_generate(&large, &o, &e))
		return 2;
	if (gn_graph_file_write(&large, path, NULL, &e) != -GN_ENOSPC ||
	    !strstr(e.text, "nothing was overwritten"))
		return 3;
	if (files_in(directory) != 1 || gn_graph_file_open(&f, path, &e) || f.vertices != 3)
		return 4;
	if (gn_graph_file_check(&f, NULL, &e))
		return 5;
	gn_graph_file_close(&f);
	gn_graph_fini(&large);
	free(path);
	return 0;
}

static void full_disk(void **state)
{
	char *directory = scratch_directory();
	int status;
	pid_t child;

	(void)state;
	fflush(NULL);
	child = fork();
	if (child == 0)
		_exit(mount_tiny_disk(directory) ? on_a_tiny_disk(directory) : 77);
	assert_int_equal(waitpid(child, &status, 0), child);
	rmdir(directory);
	free(directory);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    /* first, before OpenMP has threads that a child would miss */
	    cmocka_unit_test(full_disk),          cmocka_unit_test(bytes_are_as_documented),
	    cmocka_unit_test(comes_back),         cmocka_unit_test(no_vertices),
	    cmocka_unit_test(large_file),         cmocka_unit_test(wrong_size),
	    cmocka_unit_test(bad_header),         cmocka_unit_test(damaged_checksums),
	    cmocka_unit_test(bad_content),        cmocka_unit_test(dirty_padding),
	    cmocka_unit_test(shrinks_while_read), cmocka_unit_test(not_a_file),
	    cmocka_unit_test(unreadable),         cmocka_unit_test(replaces_and_follows_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
