/* SPDX-License-Identifier: Apache-2.0 */
/* Every workload of the simulated machine computes what it should, and makes the traffic that MGPUSim
 * counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "unit.h"

#include <sim/workloads/support.h>

#include "sim_functional.h"

static struct sim_counts run(const char *name, const char *size, const char *input, uint32_t gpus)
{
	const struct sim_request request = {size, input, 1};
	struct sim_counts counts;
	struct gn_error e;

	memset(&e, 0, sizeof e);
	if (sim_functional(name, &request, gpus, &counts, &e))
		fail_msg("%s %s on %u: %s", name, size ? size : "", gpus, e.text);
	return counts;
}

/* ---- MGPUSim v3.0.3 under the placement of v2, four GPUs ---- */

struct reference {
	const char *name, *size;
	uint64_t instructions, remote, hits, misses, writes;
};

static void test_reference(void **state)
{
	static const struct reference all[] = {
	    {"fir", "65536", 401408, 52, 76544, 4352, 4096},
	    {"mm", "256", 569472, 49152, 0, 65600, 4096},
	    {"km", "4096 points 1 iteration", 243776, 36984, 122880, 49152, 8448},
	    {"mt", "512", 37376, 24576, 0, 16384, 16384},
	};

	(void)state;
	for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
		const struct sim_counts c = run(all[k].name, all[k].size, NULL, 4);

		assert_int_equal(c.instructions, all[k].instructions);
		assert_int_equal(c.remote, all[k].remote);
		assert_int_equal(c.read_hits, all[k].hits);
		assert_int_equal(c.read_misses, all[k].misses);
		assert_int_equal(c.writes, all[k].writes);
	}
}

/* The right rows of A are at home: three quarters of B are left, as many lines as there are of A. */
static void test_right_rows(void **state)
{
	const struct sim_counts c = run("mm-right", "256", NULL, 4);

	(void)state;
	assert_int_equal(c.instructions, 569472);
	assert_int_equal(c.remote, 24576);
}

/* Its input is drawn: counts are near, whatever the seed. */
static void test_spmv(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		const struct sim_request request = {"4096 .001", NULL, seed};
		struct sim_counts c;

		assert_int_equal(sim_functional("spmv", &request, 4, &c, NULL), 0);
		assert_in_range(c.instructions, 15596 * 97 / 100, 15596 * 103 / 100);
		assert_in_range(c.read_hits + c.read_misses, 28743 * 97 / 100, 28743 * 103 / 100);
		assert_in_range(c.remote, 8613 * 95 / 100, 8613 * 105 / 100);
		assert_int_equal(c.writes, 256);
	}
}

/* ---- all of them, in sizes that do not come out even ---- */

struct size {
	const char *name, *size;
};

static const struct size small[] = {
    {"atax", "70x33"}, {"atax", "300"},      {"bicg", "33x300"},
    {"bicg", "64"},    {"bfs", "1"},         {"bfs", "1500"},
    {"bfs", "1024,3"}, {"pr", "97,.05,3"},   {"pr", "64,0,1"},
    {"pr", "200,.45"}, {"spmv", "1000,.01"}, {"spmv", "129,.2"},
    {"spmv", "1,0"},   {"km", "100,3"},      {"km", "65,1,3,5"},
    {"mm", "32"},      {"mm", "36x68x100"},  {"mm-right", "36x68x100"},
    {"mm-right", "4"}, {"mt", "4"},          {"mt", "100"},
    {"mt", "192"},     {"st", "16x64,1"},    {"st", "20x70,3"},
    {"st", "1x1,2"},   {"bs", "2"},          {"bs", "1024"},
    {"sc", "50x30"},   {"sc", "64x64,1"},    {"sc", "17,5,7"},
    {"aes", "16"},     {"aes", "4112"},      {"fir", "1"},
    {"fir", "1000"},   {"fir", "5000,37"},   {"add", "1"},
    {"add", "70000"},  {"phases", "1"},      {"phases", "3000,2"},
};

static void test_sizes(void **state)
{
	static const uint32_t gpus[] = {1, 3, 16};

	(void)state;
	for (unsigned k = 0; k < sizeof small / sizeof *small; k++)
		for (unsigned g = 0; g < sizeof gpus / sizeof *gpus; g++) {
			const struct sim_counts c = run(small[k].name, small[k].size, NULL, gpus[g]);

			assert_true(c.instructions > 0);
			if (gpus[g] == 1)
				assert_int_equal(c.remote, 0);
		}
}

/* Recording takes its time, and much more under valgrind. */
static const char *quick_size(const struct sim_workload *w)
{
	return w->records ? "500" : NULL;
}

static void test_defaults(void **state)
{
	const struct sim_workload *w;

	(void)state;
	for (uint32_t k = 0; (w = sim_workload_at(k)) != NULL; k++) {
		assert_ptr_equal(sim_workload_find(w->name), w);
		if (w->needs_input)
			continue;
		assert_true(run(w->name, quick_size(w), NULL, 4).instructions > 0);
	}
	assert_null(sim_workload_find("nothing"));
}

static void test_again(void **state)
{
	(void)state;
	for (unsigned k = 0; k < sizeof small / sizeof *small; k++) {
		const struct sim_counts one = run(small[k].name, small[k].size, NULL, 2);
		const struct sim_counts again = run(small[k].name, small[k].size, NULL, 2);

		assert_memory_equal(&one, &again, sizeof one);
	}
}

/* Counts grow as the loops do: not by one number for one size. */
static void test_growth(void **state)
{
	(void)state;
	assert_int_equal(run("fir", "8192", NULL, 4).instructions, 401408 / 8);
	assert_int_equal(run("fir", "8192,32", NULL, 4).instructions, 401408 / 8 + 128 * 16 * 23);
	assert_int_equal(run("mm", "256x512x256", NULL, 4).instructions, 569472 + 64 * 8 * (50 + 8 * 132));
	assert_int_equal(run("km", "4096,2", NULL, 4).instructions - 243776, 64 * (30 + 5 * (9 + 32 * 20)));
	assert_int_equal(run("mt", "256", NULL, 4).instructions, 37376 / 4);
	assert_int_equal(run("mt", "256", NULL, 4).remote, 24576 / 4);
	assert_int_equal(run("bs", "1024", NULL, 4).launches, 55);
	assert_int_equal(run("add", "65536", NULL, 4).instructions, 1024 * 17);
}

/*
 * aes as MGPUSim's compiled kernel has it: a store of 16 lines a wavefront; 8 lines of tables for each vector
 * cache and 1 for each scalar cache of three GPUs, 16 and 4 of which are used.
 */
static void test_aes(void **state)
{
	const struct sim_counts c = run("aes", "65536", NULL, 4);

	(void)state;
	assert_int_equal(c.instructions, 195264);
	assert_int_equal(c.writes, 1024);
	assert_int_equal(c.remote, 3 * (16 * 8 + 4));
}

/* pr's compiled kernel stores a zero and the sum of each row. */
static void test_pr(void **state)
{
	(void)state;
	assert_int_equal(run("pr", "2048,.005,2", NULL, 4).writes, 2 * 2 * 2048);
}

/* A result that was not computed is seen. */
static void test_check(void **state)
{
	const struct sim_workload *w;

	(void)state;
	for (uint32_t k = 0; (w = sim_workload_at(k)) != NULL; k++) {
		const struct sim_request request = {quick_size(w), NULL, 1};
		struct sim_memory *memory;
		struct gn_error e;
		void *program = NULL;

		if (w->needs_input)
			continue;
		assert_int_equal(sim_memory_create(&memory, 4), 0);
		assert_int_equal(w->create(&program, &request, memory, &e), 0);
		assert_int_equal(w->check(program, &e), -GN_EBADMSG);
		assert_memory_equal(e.text, w->records ? "stream" : w->name, 2);
		w->destroy(program);
		sim_memory_destroy(memory);
	}
}

/* ---- graphs ---- */

static void test_graph_file(void **state)
{
	static const char edges[] = "0 1\n1 2\n2 3\n5 0\n5 1\n5 2\n5 4\n4 6\n6 7\n7 8\n";
	char path[] = "/tmp/grapnel-sim-XXXXXX.el.gz";
	const int fd = mkstemps(path, 6);
	struct sim_counts c;
	gzFile f;

	(void)state;
	assert_true(fd >= 0);
	f = gzdopen(fd, "w");
	assert_int_equal(gzwrite(f, edges, sizeof edges - 1), sizeof edges - 1);
	assert_int_equal(gzclose(f), Z_OK);
	c = run("bfs", NULL, path, 3);
	assert_int_equal(unlink(path), 0);
	/* From 5, which has most neighbours: 0 1 2 4; 3 6; 7; 8; and one launch that finds nothing. */
	assert_int_equal(c.launches, 5);
	assert_int_equal(c.groups, 5);
}

/* ---- what cannot be asked for ---- */

static void refuse(const char *name, const char *size, const char *input, int code, const char *words)
{
	const struct sim_request request = {size, input, 1};
	struct sim_counts counts;
	struct gn_error e;

	memset(&e, 0, sizeof e);
	assert_int_equal(sim_functional(name, &request, 2, &counts, &e), code);
	if (!strstr(e.text, words))
		fail_msg("%s %s says \"%s\", not \"%s\"", name, size ? size : "", e.text, words);
}

static void test_refused(void **state)
{
	(void)state;
	refuse("fir", "64K", NULL, -GN_EINVAL, "--size 64K: fir needs values from 1");
	refuse("fir", "", NULL, 0, "");
	refuse("fir", "0", NULL, -GN_EINVAL, "whole number");
	refuse("fir", "1.5", NULL, -GN_EINVAL, "whole number");
	refuse("fir", "-1", NULL, -GN_EINVAL, "fir needs");
	refuse("fir", "many", NULL, -GN_EINVAL, "fir needs");
	refuse("fir", "100,2,3", NULL, -GN_EINVAL, "takes fewer values; leave out '3'");
	refuse("mt", "6", NULL, -GN_EINVAL, "a multiple of 4");
	refuse("mm", "8x6", NULL, -GN_EINVAL, "mm needs columns of A");
	refuse("bs", "24", NULL, -GN_EINVAL, "power of two");
	refuse("spmv", "100,.9", NULL, -GN_EINVAL, "density");
	refuse("aes", "100", NULL, -GN_EINVAL, "a multiple of 16");
	refuse("bfs", NULL, "/nowhere/g.el", -GN_ENOENT, "/nowhere/g.el");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_reference),  cmocka_unit_test(test_right_rows),
	    cmocka_unit_test(test_spmv),       cmocka_unit_test(test_sizes),
	    cmocka_unit_test(test_defaults),   cmocka_unit_test(test_again),
	    cmocka_unit_test(test_growth),     cmocka_unit_test(test_aes),
	    cmocka_unit_test(test_pr),         cmocka_unit_test(test_check),
	    cmocka_unit_test(test_graph_file), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
