/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of the simulated machine: whatever the number of threads, every counter of a run and of each link
 * is the same.
 */
#include <stdlib.h>

#include "test_sim_support.h"

static struct fixture fixture;

enum { MOST_LINKS = 64 };

struct counted {
	struct sim_stats stats;
	struct sim_link_stats link[MOST_LINKS];
	uint64_t end;
};

static void run(struct counted *c, const char *name, const char *size, uint32_t threads)
{
	fixture.threads = threads;
	fixture_run(&fixture, name, size);
	memset(c, 0, sizeof *c);
	c->stats = *sim_machine_stats(fixture.machine);
	for (uint32_t k = 0; k < MOST_LINKS && !sim_machine_link(fixture.machine, k, &c->link[k]); k++)
		c->link[k].name = NULL;
	c->end = fixture.machine->core.clock.now;
	assert_int_equal(fixture.machine->windows.pool != NULL, fixture.machine->windows.threads > 1);
	fixture_close(&fixture);
}

/* As fixture.config says, on one thread and on others. */
static void compare(const char *name, const char *size)
{
	static struct counted one, other;

	run(&one, name, size, 1);
	assert_true(one.stats.kernel_cycles > 0);
	for (uint32_t threads = few_drawn(4, 2); threads <= 4; threads++) {
		run(&other, name, size, threads);
		if (memcmp(&one, &other, sizeof one))
			fail_msg("%s, %s: other counts with %u threads: %llu cycles, not %llu", name, size,
			         threads, (unsigned long long)other.stats.kernel_cycles,
			         (unsigned long long)one.stats.kernel_cycles);
	}
}

static const struct {
	const char *name, *size;
} small[] = {
    {"atax", "64"}, {"bfs", "500"},  {"bicg", "64"},  {"pr", "128,.05,2"}, {"spmv", "256 .01"},
    {"km", "256"},  {"mm", "64"},    {"mt", "64"},    {"st", "64,64,2"},   {"bs", "256"},
    {"sc", "40"},   {"aes", "4096"}, {"fir", "1024"},
};

static void compare_preset(const char *preset)
{
	for (size_t k = 0; k < sizeof small / sizeof *small; k += few_drawn(3, 1)) {
		memset(&fixture, 0, sizeof fixture);
		sim_config_init(&fixture.config);
		assert_int_equal(sim_config_optimize(&fixture.config, preset, &fixture.error), 0);
		fixture.config.decide_warmup = 100;
		fixture.config.decide_window = 200;
		compare(small[k].name, small[k].size);
	}
}

static void test_presets(void **state)
{
	(void)state;
	if (few_drawn(0, 1)) {
		compare_preset("none");
		compare_preset("cache");
	}
	compare_preset("dualopt"); /* all mechanisms */
}

/* Other links, decisions by each GPU, and what goes cycle by cycle: greedy dispatch, pages that move. */
static void test_configurations(void **state)
{
	static const char *const sets[] = {
	    "decide.scope = gpu",     "decide.interval = 500", "net.clock = 16",
	    "net.buffer_flits = 7",   "net.channels = 1",      "net.switch_cycles = 1",
	    "dispatch.gpus = greedy", "migrate.policy = page", "migrate.policy = first_touch"};

	(void)state;
	for (size_t k = 0; k < sizeof sets / sizeof *sets; k += few_drawn(2, 1)) {
		fixture_config(&fixture, "dualopt", 4);
		fixture.config.decide_warmup = 100;
		fixture.config.decide_window = 200;
		assert_int_equal(sim_config_set(&fixture.config, sets[k], &fixture.error), 0);
		compare("spmv", "256 .01");
		compare("mt", "64");
	}
}

/*
 * Not independent, as nothing was said of it: each work-group writes what the others read, and what is read
 * is the same.
 */
struct race {
	struct sim_buffer word, out;
};

static void race_kernel(struct sim_wave *w, const void *arguments)
{
	const struct race *a = (const struct race *)arguments;
	uint32_t index[SIM_LANES] = {0}, out[SIM_LANES] = {sim_wave_group(w, 0)}, value[SIM_LANES] = {0};

	for (uint32_t turn = 0; turn < 20; turn++) {
		sim_load_u32(w, 1, &a->word, index, value);
		sim_wait(w, 0);
		value[0] = value[0] * 31 + sim_wave_group(w, 0) + 1;
		sim_store_u32(w, 1, &a->word, index, value);
		sim_wait(w, 0);
	}
	sim_store_u32(w, 1, &a->out, out, value);
}

static void test_dependent(void **state)
{
	uint32_t first[16] = {0};

	(void)state;
	for (uint32_t threads = 1; threads <= 4; threads++) {
		struct race a;

		fixture_config(&fixture, "none", 4);
		fixture.threads = threads;
		fixture_open(&fixture);
		a.word = fixture_buffer(&fixture, 4, SIM_ON_ONE, 2);
		a.out = fixture_buffer(&fixture, sizeof first, SIM_DISTRIBUTED, 0);
		assert_int_equal(fixture_try(&fixture, race_kernel, &a, 16), 0);
		if (threads == 1)
			memcpy(first, a.out.host, sizeof first);
		assert_memory_equal(a.out.host, first, sizeof first);
		fixture_close(&fixture);
	}
}

/* Kernels of two GPUs fail in one window: which one is said does not depend on threads. */
static void test_failure(void **state)
{
	char text[sizeof fixture.error.text];

	(void)state;
	for (uint32_t threads = 1; threads <= 4; threads++) {
		struct walk a;

		fixture_config(&fixture, "none", 4);
		fixture.threads = threads;
		fixture.independent = 1;
		fixture_open(&fixture);
		a = walk_of(fixture_buffer(&fixture, 4096, SIM_ON_ONE, 0), 0xe, 10, 64);
		assert_int_equal(fixture_try(&fixture, walk_kernel, &a, 4), -GN_EINVAL);
		assert_non_null(strstr(fixture.error.text, "work-group (1, 0)"));
		if (threads == 1)
			strcpy(text, fixture.error.text);
		assert_string_equal(fixture.error.text, text);
		fixture_close(&fixture);
	}
}

static void test_no_threads(void **state)
{
	struct sim_machine *machine;

	(void)state;
	fixture_config(&fixture, "none", 2);
	fixture_open(&fixture);
	assert_int_equal(sim_machine_create(&machine, &fixture.config, fixture.memory, 0, &fixture.error),
	                 -GN_EINVAL);
	assert_non_null(strstr(fixture.error.text, "0 threads"));
	fixture_close(&fixture);
}

/* Four intervals fold again and again, and nothing that was counted is lost. */
static void test_trace(void **state)
{
	const struct sim_trace_track *track;
	const struct sim_trace *t;
	uint64_t flits = 0, lines = 0;
	struct walk a;

	(void)state;
	fixture_config(&fixture, "none", 4);
	fixture_open(&fixture);
	assert_null(sim_trace_of(fixture.machine));
	assert_int_equal(sim_trace_begin(fixture.machine, 3), -GN_EINVAL);
	assert_int_equal(sim_trace_begin(fixture.machine, 4), 0);
	a = walk_of(fixture_buffer(&fixture, 64 << 10, SIM_INTERLEAVED, 0), 15, 100, 8);
	a.wait = 1;
	fixture_walk(&fixture, &a);
	sim_trace_finish(fixture.machine);
	t = sim_trace_of(fixture.machine);
	assert_true(sim_trace_interval(t) > 1024);
	assert_in_range(sim_trace_intervals(t), 2, 4);
	for (uint32_t k = 0; (track = sim_trace_track_at(t, k)); k++)
		for (uint32_t n = 0; n < sim_trace_intervals(t); n++) {
			flits += track->link && !track->level ? sim_trace_value(t, k, n) : 0;
			lines += track->level || strcmp(track->name, "vector reads")
			             ? 0
			             : sim_trace_value(t, k, n);
		}
	assert_int_equal(flits, fixture.machine->stats.net_hop_flits);
	assert_int_equal(lines, 4 * 100 * 8);
	assert_string_equal(sim_trace_launch_at(t, 0)->name, "walk");
	assert_null(sim_trace_launch_at(t, 1));
	assert_int_equal(sim_trace_busy_at(t, 3)->groups, 1);
	assert_null(sim_trace_busy_at(t, 4));
	fixture_close(&fixture);
}

static const struct sim_trace *trace_of_two_reads(uint32_t intervals)
{
	struct sim_buffer b;
	struct walk a;

	fixture_config(&fixture, "none", 4);
	fixture.config.walk_cycles = 20000;
	fixture.config.end_cycles = 5000;
	fixture_open(&fixture);
	assert_int_equal(sim_trace_begin(fixture.machine, intervals), 0);
	b = fixture_buffer(&fixture, 2 * 4096, SIM_ON_ONE, 0);
	for (uint32_t k = 0; k < 2; k++) {
		a = walk_of(b, 1, 1, 3 + k);
		a.first = k * 64;
		fixture_walk(&fixture, &a);
	}
	sim_trace_finish(fixture.machine);
	return sim_trace_of(fixture.machine);
}

static uint32_t track_of(const struct sim_trace *t, const char *name)
{
	uint32_t k = 0;

	while (strcmp(sim_trace_track_at(t, k)->name, name) || sim_trace_track_at(t, k)->gpu > 0)
		k++;
	return k;
}

/* Lines wait long for their page: they are under way in every interval, however many are folded. */
static void test_levels(void **state)
{
	(void)state;
	for (uint32_t intervals = 512; intervals > 16; intervals /= 4) {
		const struct sim_trace *t = trace_of_two_reads(intervals);
		const uint32_t lines = track_of(t, "vector lines under way");

		for (uint32_t k = 0; k < 2; k++) {
			const uint64_t begin = sim_trace_launch_at(t, k)->begin,
			               cycles = sim_trace_interval(t);

			for (uint64_t n = begin / cycles + 1; n < (begin + 20000) / cycles; n++)
				assert_int_equal(sim_trace_value(t, lines, (uint32_t)n), 3 + k);
		}
		assert_int_equal(sim_trace_value(t, lines, sim_trace_intervals(t) - 1), 0);
		fixture_close(&fixture);
	}
}

/* What a window counts is of the interval in which it begins, not of the one before. */
static void test_intervals(void **state)
{
	const struct sim_trace *t = trace_of_two_reads(512);
	const uint32_t reads = track_of(t, "vector reads");
	const uint64_t begin = sim_trace_launch_at(t, 1)->begin / sim_trace_interval(t);
	uint64_t before = 0, after = 0;

	(void)state;
	for (uint32_t n = 0; n < sim_trace_intervals(t); n++)
		*(n < begin ? &before : &after) += sim_trace_value(t, reads, n);
	assert_int_equal(before, 3);
	assert_int_equal(after, 4);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_presets),    cmocka_unit_test(test_configurations),
	    cmocka_unit_test(test_dependent),  cmocka_unit_test(test_failure),
	    cmocka_unit_test(test_no_threads), cmocka_unit_test(test_trace),
	    cmocka_unit_test(test_levels),     cmocka_unit_test(test_intervals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
