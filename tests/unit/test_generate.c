/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs drawn by kernels: the same as those that the host draws, in memory and as files, in any number of
 * parts. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generate/machine.h"
#include "generate/plan.h"
#include "graph/file.h"

static struct gn_error error;

/* Of the cases, one of so many is run. */
#define EACH few_drawn(7, 1)

static void must(int rc)
{
	if (rc)
		fail_msg("%s: %s", gn_error_name(rc), error.text);
}

static struct simt_machine *machine_of(const char *name, unsigned warp_width)
{
	struct simt_machine *machine;
	struct simt_options o;

	memset(&o, 0, sizeof o);
	o.name = name;
	o.threads = 2;
	o.warp_width = warp_width;
	must(simt_open(&machine, &o, &error));
	return machine;
}

static struct gn_generate_options options_of(enum gn_generator kind, unsigned scale, uint64_t degree,
                                             uint64_t seed, unsigned flags)
{
	struct gn_generate_options o;

	memset(&o, 0, sizeof o);
	o.kind = kind;
	o.scale = scale;
	o.degree = degree;
	o.seed = seed;
	o.undirected = flags & 1;
	o.keep = flags & 2;
	return o;
}

static void same_graph(const struct gn_graph *a, const struct gn_graph *b)
{
	assert_int_equal(a->vertices, b->vertices);
	assert_int_equal(a->edges, b->edges);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->weight, b->weight);
	assert_memory_equal(a->offsets, b->offsets, (a->vertices + 1) * sizeof *a->offsets);
	if (a->edges)
		assert_memory_equal(a->neighbours, b->neighbours, a->edges * sizeof *a->neighbours);
}

static void same_bytes(const char *a, const char *b)
{
	FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
	int p, q;

	assert_true(x && y);
	do {
		p = getc(x);
		q = getc(y);
		assert_int_equal(p, q);
	} while (p != EOF);
	fclose(x);
	fclose(y);
}

/* What the host draws is drawn by a machine too, with so much memory. */
static void agree(struct simt_machine *machine, const struct gn_generate_options *o, uint64_t memory)
{
	struct gn_graph want, got;

	must(gn_graph_generate(&want, o, &error));
	must(gn_generate_graph(&got, machine, o, memory, &error));
	same_graph(&want, &got);
	gn_graph_fini(&want);
	gn_graph_fini(&got);
}

/* Every kind of graph; the memory of the last ones makes many parts. Wide warps take long: some kinds of all.
 */
static void as_on_the_host(void **state)
{
	static const unsigned widths[] = {1, 8, 32};
	static const struct {
		unsigned scale;
		uint64_t degree, seed, memory;
	} cases[] = {{0, 16, 1, 0},     {0, 1, 1, 0},     {1, 5, 2, 0},     {5, 0, 3, 0},
	             {6, 40, 4, 0},     {9, 16, 5, 0},    {9, 3, 0, 16384}, {10, 12, UINT64_MAX, 40000},
	             {11, 5, 7, 30000}, {12, 1, 8, 16000}};
	const unsigned kinds = 8 * (unsigned)(sizeof cases / sizeof *cases);

	(void)state;
	for (unsigned w = 0; w < 3; w++) {
		struct simt_machine *machine = machine_of("cpu", widths[w]);

		for (unsigned k = w; k < kinds; k += (w ? 5 : 1) * EACH) {
			const unsigned c = k / 8;
			const struct gn_generate_options o =
			    options_of(k & 4 ? GN_GENERATOR_URAND : GN_GENERATOR_KRON, cases[c].scale,
			               cases[c].degree, cases[c].seed, k & 3);

			agree(machine, &o, cases[c].memory);
		}
		simt_close(machine);
	}
}

/* Half a million edges in one part, and in dozens. */
static void as_on_the_host_by_a_gpu(void **state)
{
	struct simt_machine *machine;

	(void)state;
	if (!simt_devices("cuda"))
		skip();
	machine = machine_of("cuda", 0);
	for (unsigned k = 0; k < 8; k++) {
		const struct gn_generate_options o =
		    options_of(k & 4 ? GN_GENERATOR_URAND : GN_GENERATOR_KRON, 15, 16, k, k & 3);

		agree(machine, &o, 0);
		agree(machine, &o, 800000);
	}
	simt_close(machine);
}

/* A file of several parts has all bytes of the one that the host's graph is written to: padding and
 * checksums. */
static void files_are_the_same(void **state)
{
	struct simt_machine *machine = machine_of("cpu", 8);
	char folder[] = "/tmp/grapnel-generate-XXXXXX", want[64], got[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(want, sizeof want, "%s/want.gng", folder);
	snprintf(got, sizeof got, "%s/got.gng", folder);
	for (unsigned flags = 0; flags < 8; flags += few_drawn(7, 1)) {
		struct gn_generate_options o = options_of(GN_GENERATOR_KRON, 10, 9, 11, flags & 3);
		struct gn_graph g, said;

		o.wide = flags & 4;
		must(gn_graph_generate(&g, &o, &error));
		assert_int_equal(g.wide, o.wide);
		must(gn_graph_file_write(&g, want, NULL, &error));
		must(gn_generate_file(got, &said, machine, &o, 40000, &error));
		assert_int_equal(said.edges, g.edges);
		assert_int_equal(said.vertices, g.vertices);
		assert_int_equal(said.flags, g.flags);
		assert_int_equal(said.wide, g.wide);
		same_bytes(want, got);
		gn_graph_fini(&g);
	}
	unlink(want);
	unlink(got);
	assert_int_equal(rmdir(folder), 0);
	simt_close(machine);
}

static void expect(int rc, int code, const char *words)
{
	assert_int_equal(rc, code);
	assert_int_equal(error.code, code);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

static void what_cannot_be(void **state)
{
	struct simt_machine *machine = machine_of("cpu", 1);
	struct gn_generate_options o = options_of(GN_GENERATOR_KRON, 32, 1, 1, 0);
	char folder[] = "/tmp/grapnel-generate-XXXXXX", path[64];
	struct gn_graph g;

	(void)state;
	expect(gn_generate_graph(&g, machine, &o, 0, &error), -GN_EINVAL, "scale 32");
	o.scale = 31;
	o.degree = UINT64_C(1) << 40;
	expect(gn_generate_graph(&g, machine, &o, 0, &error), -GN_EFBIG, "degree 1099511627776");
	o = options_of(GN_GENERATOR_KRON, 8, 16, 1, 0);
	expect(gn_generate_graph(&g, machine, &o, 1000, &error), -GN_ENOMEM,
	       "of the machine's memory at once");
	assert_null(g.offsets);
	o.memory_limit = 1000;
	expect(gn_generate_graph(&g, machine, &o, 0, &error), -GN_ENOMEM, "the graph needs");
	/* nothing of a file that failed stays */
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/g.gng", folder);
	expect(gn_generate_file(path, &g, machine, &o, 1000, &error), -GN_ENOMEM, "allow more");
	assert_int_equal(rmdir(folder), 0);
	expect(gn_generate_file(path, &g, machine, &o, 0, &error), -GN_ENOENT, "g.gng");
	simt_close(machine);
}

/* ---- the plan ---- */

/* The parts lie side by side, none has more than the capacity, and their edges are all edges. */
static void sound_plan(const struct gn_generate_plan *plan, const uint64_t *count)
{
	uint64_t total = 0, largest = 0, parts = 0, edges;

	for (uint64_t range = 0; range < plan->ranges; parts++) {
		const uint64_t end = gn_generate_plan_part(plan, count, range, &edges);
		uint64_t sum = 0;

		assert_true(end > range && end <= plan->ranges);
		for (uint64_t k = range; k < end; k++)
			sum += count[k];
		assert_int_equal(edges, sum);
		assert_true(edges <= plan->capacity);
		largest = edges > largest ? edges : largest;
		total += edges;
		range = end;
	}
	assert_int_equal(total, plan->edges);
	assert_int_equal(largest, plan->largest);
	assert_int_equal(parts, plan->parts);
}

/* Graphs of the papers' sizes, and of the largest that there are: sums far above 2^32. */
static void plans_of_large_graphs(void **state)
{
	static const struct {
		unsigned scale;
		uint64_t memory, each, least_parts, most_parts;
	} cases[] = {
	    {27, UINT64_C(40) << 30, 256, 2, 3}, /* 2^32 edges */
	    {27, UINT64_C(70) << 30, 256, 1, 1},
	    {27, UINT64_C(2) << 30, 256, 34, 36},
	    {31, UINT64_C(64) << 30, UINT64_C(128) << 16, 34000, 36000}, /* 2^47 edges */
	    {24, 0, 0, 1, 1},                                            /* no edges */
	};

	(void)state;
	for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct gn_generate_plan plan;
		uint64_t *count;

		gn_generate_plan_init(&plan, cases[k].scale, cases[k].memory);
		assert_int_equal(plan.ranges << plan.shift, UINT64_C(1) << cases[k].scale);
		assert_true(plan.ranges <= 1 << 24);
		count = (uint64_t *)malloc(plan.ranges * sizeof *count);
		assert_non_null(count);
		for (uint64_t r = 0; r < plan.ranges; r++)
			count[r] = cases[k].each;
		assert_int_equal(gn_generate_plan_count(&plan, count), plan.ranges);
		sound_plan(&plan, count);
		if (plan.parts < cases[k].least_parts || plan.parts > cases[k].most_parts)
			fail_msg("case %u has %llu parts", k, (unsigned long long)plan.parts);
		free(count);
	}
}

/* Ranges of very different size; one that is larger than a part may be is found. */
static void plans_of_uneven_ranges(void **state)
{
	struct gn_generate_plan plan;
	uint64_t count[1 << 12], x = 1;

	(void)state;
	gn_generate_plan_init(&plan, 12, UINT64_C(17) << 33);
	for (uint64_t k = 0; k < plan.ranges; k++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
		count[k] = x >> (31 + (x >> 58) % 33);
	}
	count[77] = plan.capacity;
	assert_int_equal(gn_generate_plan_count(&plan, count), plan.ranges);
	sound_plan(&plan, count);
	gn_generate_plan_init(&plan, 12, UINT64_C(17) << 33);
	count[78] = plan.capacity + 1;
	assert_int_equal(gn_generate_plan_count(&plan, count), 78);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(as_on_the_host),        cmocka_unit_test(as_on_the_host_by_a_gpu),
	    cmocka_unit_test(files_are_the_same),    cmocka_unit_test(what_cannot_be),
	    cmocka_unit_test(plans_of_large_graphs), cmocka_unit_test(plans_of_uneven_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
