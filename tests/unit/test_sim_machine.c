/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated machine as a whole: what must hold whatever runs on it, what must not change anything, and
 * MGPUSim's counts. Each launch also checks the laws of conservation by itself (sim_stats_check).
 */
#include <stdio.h>

#include "test_sim_support.h"

static struct fixture fixture;

static void open_plain(const char *preset, uint64_t gpus)
{
	fixture_config(&fixture, preset, gpus);
	fixture_open(&fixture);
}

/* ---- workloads ---- */

static const char *const presets[] = {"none", "bypass", "fine", "coalesce", "cache", "dualopt"};

static struct sim_stats run_config(const char *name, const char *size, const struct sim_config *config)
{
	struct sim_stats s;

	memset(&fixture, 0, sizeof fixture);
	fixture.config = *config;
	fixture_run(&fixture, name, size);
	s = fixture.machine->stats;
	fixture_close(&fixture);
	return s;
}

static struct sim_stats run_preset(const char *name, const char *size, const char *preset, uint64_t gpus)
{
	struct sim_config c;

	sim_config_init(&c);
	sim_config_optimize(&c, preset, NULL);
	c.gpus = gpus;
	return run_config(name, size, &c);
}

struct small {
	const char *name, *size;
};

static const struct small small[] = {
    {"atax", "64"}, {"bicg", "64"},  {"spmv", "256 .01"}, {"mm", "64"}, {"mt", "64"},
    {"km", "256"},  {"fir", "1024"}, {"bs", "512"},       {"st", "64"}, {"aes", "4096"},
};

/* Every workload under every preset: right results, the same instructions and accesses, and no law broken. */
static void test_presets(void **state)
{
	(void)state;
	for (size_t w = 0; w < sizeof small / sizeof *small; w++) {
		struct sim_stats first = run_preset(small[w].name, small[w].size, "none", 4);

		for (size_t p = 1; p < sizeof presets / sizeof *presets; p++) {
			struct sim_stats s = run_preset(small[w].name, small[w].size, presets[p], 4);

			assert_int_equal(s.wavefront_instructions, first.wavefront_instructions);
			assert_int_equal(s.vector_reads, first.vector_reads);
			assert_int_equal(s.vector_writes, first.vector_writes);
			assert_int_equal(s.l1v_remote_reads, first.l1v_remote_reads);
		}
	}
}

/* 1, 2, 8 and 16 GPUs; three ways to split work-groups over GPUs and compute units. */
static void test_sizes_and_splits(void **state)
{
	static const uint64_t gpus[] = {1, 2, 8, 16};
	struct sim_config c;

	(void)state;
	for (size_t k = 0; k < sizeof gpus / sizeof *gpus; k++) {
		struct sim_stats s = run_preset("mm", "64", "dualopt", gpus[k]);

		assert_int_equal(gpus[k] == 1, s.remote_transactions == 0);
	}
	for (uint64_t split = 0; split < 9; split++) {
		sim_config_init(&c);
		c.dispatch_gpus = split / 3;
		c.dispatch_cus = split % 3;
		assert_int_equal(run_config("mt", "64", &c).work_groups,
		                 run_preset("mt", "64", "none", 4).work_groups);
	}
}

/* ---- MGPUSim v3.0.3 under the rules of version 2, four GPUs ---- */

struct reference {
	const char *name, *size;
	uint64_t cycles, instructions, remote, hits, misses, writes;
	uint64_t dram,
	    dram_there; /* transactions here and there: what is missing is the fetch of instructions */
};

static void check_cycles(const char *name, uint64_t got, uint64_t want)
{
	if (got * 100 < want * 80 || got * 100 > want * 120)
		fail_msg("%s: %llu cycles, not within 20 %% of %llu", name, (unsigned long long)got,
		         (unsigned long long)want);
}

static void test_reference(void **state)
{
	static const struct reference all[] = {
	    {"fir", "65536", 9284, 401408, 52, 76544, 4352, 4096, 4098, 4122},
	    {"mm", "256", 277312, 569472, 49152, 0, 65600, 4096, 4612, 4724},
	    {"km", "4096 points 1 iteration", 203717, 243776, 36984, 122880, 49152, 8448, 8202, 8258},
	    {"mt", "512", 92192, 37376, 24576, 0, 16384, 16384, 16384, 16440},
	};
	struct sim_config c;
	struct sim_stats s;

	(void)state;
	sim_config_init(&c);
	c.end_cycles = 0; /* as version 3 */
	for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
		s = run_config(all[k].name, all[k].size, &c);
		assert_int_equal(s.wavefront_instructions, all[k].instructions);
		assert_int_equal(s.remote_transactions, all[k].remote);
		assert_int_equal(s.l1v_read_hits, all[k].hits);
		assert_int_equal(s.l1v_read_misses, all[k].misses);
		assert_int_equal(s.l1v_writes, all[k].writes);
		assert_int_equal(s.dram_transactions, all[k].dram);
		assert_in_range(all[k].dram_there - s.dram_transactions, 0, all[k].dram_there * 25 / 1000);
		check_cycles(all[k].name, s.kernel_cycles, all[k].cycles);
	}
	s = run_config("spmv", "4096 .001", &c); /* its input is drawn: rates within 3 points */
	check_cycles("spmv", s.kernel_cycles, 39464);
	assert_in_range(s.l1v_read_hits * 1000 / s.l1v_read_lookups, 616 - 30, 616 + 30);
	c.net_flit_bytes = 128;
	check_cycles("mt, 128-byte flits", run_config("mt", "512", &c).kernel_cycles, 36633);
	check_cycles("spmv, 128-byte flits", run_config("spmv", "4096 .001", &c).kernel_cycles, 30048);
}

/* mt 512: the trunk between pairs of GPUs carries 57344 flits, which no right machine can beat. */
static void test_trunk_bound(void **state)
{
	struct sim_config c;
	struct sim_stats s;

	(void)state;
	sim_config_init(&c);
	s = run_config("mt", "512", &c);
	assert_int_equal(s.net_flits_in - 2 * s.page_walks, 12288 * (1 + 6) + 12288 * (6 + 1));
	assert_true(s.kernel_cycles > 57344);
}

/* ---- what changes nothing, or only to one side ---- */

static void test_same_again(void **state)
{
	struct sim_stats first = run_preset("spmv", "512 .01", "dualopt", 4),
	                 again = run_preset("spmv", "512 .01", "dualopt", 4);

	(void)state;
	assert_memory_equal(&first, &again, sizeof first);
}

/* A faster link is never slower, with and without the latency of switches following it. */
static void test_faster_links(void **state)
{
	(void)state;
	for (uint64_t scale = 0; scale < 2; scale++) {
		uint64_t before = UINT64_MAX;

		for (uint64_t clock = 1; clock <= 16; clock *= 2) {
			struct sim_config c;
			uint64_t cycles;

			sim_config_init(&c);
			c.net_clock = clock;
			c.net_scale_latency = scale;
			cycles = run_config("mm", "128", &c).kernel_cycles;
			assert_true(cycles <= before);
			before = cycles;
		}
	}
}

static uint64_t pair_cycles(const char *preset, uint32_t reader, uint32_t home)
{
	struct sim_stats s;
	struct walk a;

	open_plain(preset, 4);
	a = walk_of(fixture_buffer(&fixture, 64 << 10, SIM_ON_ONE, home), 1u << reader, 16, 64);
	a.words = 4;
	s = fixture_walk(&fixture, &a);
	fixture_close(&fixture);
	return s.kernel_cycles;
}

/* Whatever numbers the reader and the home have: only how many switches are between them matters. */
static void test_numbers(void **state)
{
	(void)state;
	for (size_t p = 0; p < sizeof presets / sizeof *presets; p++) {
		uint64_t near = pair_cycles(presets[p], 0, 1), far = pair_cycles(presets[p], 0, 2);

		assert_true(far > near);
		for (uint32_t reader = 0; reader < 4; reader++)
			for (uint32_t home = 0; home < 4; home++)
				if (reader != home)
					assert_int_equal(pair_cycles(presets[p], reader, home),
					                 reader / 2 == home / 2 ? near : far);
	}
}

/* Each GPU has its own counts: two of four read, one of them its own memory. */
static void test_by_gpu(void **state)
{
	struct walk a;

	(void)state;
	open_plain("none", 4);
	a = walk_of(fixture_buffer(&fixture, 4096, SIM_ON_ONE, 2), 0x6, 1, 8);
	fixture_walk(&fixture, &a);
	for (uint32_t k = 0; k < 4; k++) {
		const struct sim_stats *s = sim_machine_gpu_stats(fixture.machine, k);

		assert_int_equal(s->vector_reads, k == 1 || k == 2 ? 8 : 0);
		assert_int_equal(s->remote_transactions, k == 1 ? 8 : 0);
		assert_int_equal(s->dram_reads, k == 2 ? 8 : 0);
		assert_int_equal(s->page_walks, 0); /* the IOMMU is not a GPU's */
	}
	assert_null(sim_machine_gpu_stats(fixture.machine, 4));
	fixture_close(&fixture);
}

/* n GPUs that each read their own memory do n times the work in the time of one. */
static void test_local_scales(void **state)
{
	uint64_t one = 0;

	(void)state;
	for (uint64_t gpus = 1; gpus <= 8; gpus *= 2) {
		struct sim_stats s;
		struct walk a;

		open_plain("none", gpus);
		a = walk_of(fixture_buffer(&fixture, gpus * 64 << 10, SIM_DISTRIBUTED, 0), ~0u, 16, 64);
		a.part = 1024;
		fixture_walk(&fixture, &a);
		s = fixture_walk(&fixture, &a); /* pages are known */
		assert_int_equal(s.remote_transactions, 0);
		assert_int_equal(s.vector_reads, gpus * 1024);
		one = gpus == 1 ? s.kernel_cycles : one;
		assert_int_equal(s.kernel_cycles, one);
		fixture_close(&fixture);
	}
}

/*
 * Reads of one GPU's memory by the three others end with its link: a flit a cycle, from counters of the link
 * itself.
 */
static void test_link_bound(void **state)
{
	struct sim_link_stats link;
	struct walk a;
	uint64_t busiest = 0;

	(void)state;
	fixture_config(&fixture, "none", 4);
	fixture.config.net_gap_cycles = 0;
	fixture.config.l1v.transactions = fixture.config.l1v.mshr = fixture.config.rob = 512;
	fixture.config.l1v.bytes = 64 << 10; /* ways for as many */
	fixture_open(&fixture);
	a = walk_of(fixture_buffer(&fixture, 1 << 20, SIM_ON_ONE, 0), 14, 64, 64);
	a.part = 4096;
	assert_int_equal(fixture_try(&fixture, walk_kernel, &a, 4), 0);
	for (uint32_t k = 0; !sim_machine_link(fixture.machine, k, &link); k++)
		if (!strcmp(link.name, "gpu0-sw0"))
			busiest = link.busy_cycles;
	assert_true(busiest >= 3 * 4096 * 6);
	assert_true(busiest <= fixture.machine->stats.kernel_cycles);
	assert_true(fixture.machine->stats.kernel_cycles * 97 < busiest * 100);
	fixture_close(&fixture);
}

/* ---- what goes wrong ---- */

static void test_too_large(void **state)
{
	struct sim_launch launch;

	(void)state;
	open_plain("none", 1);
	memset(&launch, 0, sizeof launch);
	launch.name = "large";
	launch.kernel = walk_kernel;
	launch.items[0] = launch.group[0] = 1024;
	launch.items[1] = launch.group[1] = 1;
	launch.lds_bytes = 65537;
	assert_int_equal(sim_machine_launch(fixture.machine, &launch, &fixture.error), -GN_EINVAL);
	assert_non_null(strstr(fixture.error.text, "large"));
	assert_non_null(strstr(fixture.error.text, "cu.lds"));
	launch.lds_bytes = 0;
	launch.vgprs = 128; /* 16 wavefronts, of which two fit on each of four vector units */
	assert_int_equal(sim_machine_launch(fixture.machine, &launch, &fixture.error), -GN_EINVAL);
	assert_non_null(strstr(fixture.error.text, "cu.vgprs"));
	fixture_close(&fixture);
}

static void test_gpus_differ(void **state)
{
	struct sim_machine *machine;

	(void)state;
	open_plain("none", 2);
	fixture.config.gpus = 4;
	assert_int_equal(sim_machine_create(&machine, &fixture.config, fixture.memory, 1, &fixture.error),
	                 -GN_EINVAL);
	assert_non_null(strstr(fixture.error.text, "made for 2"));
	fixture_close(&fixture);
}

/* A kernel that reads behind its buffer ends the run, with the name of the kernel. */
static void test_kernel_fails(void **state)
{
	struct walk a;

	(void)state;
	open_plain("none", 2);
	a = walk_of(fixture_buffer(&fixture, 4096, SIM_ON_ONE, 0), 3, 10, 64);
	assert_int_equal(fixture_try(&fixture, walk_kernel, &a, 2), -GN_EINVAL);
	assert_non_null(strstr(fixture.error.text, "walk"));
	fixture_close(&fixture);
}

/* L2 with no MSHR to give: nothing moves, and the message says where what waits. */
static void test_stuck(void **state)
{
	struct walk a;

	(void)state;
	open_plain("none", 2);
	a = walk_of(fixture_buffer(&fixture, 4096, SIM_ON_ONE, 1), 1, 1, 8);
	for (uint32_t k = 0; k < fixture.machine->gpu[1].l2.banks; k++)
		fixture.machine->gpu[1].l2.bank[k].mshr.used = fixture.machine->gpu[1].l2.bank[k].mshr.size;
	assert_int_equal(fixture_try(&fixture, walk_kernel, &a, 2), -GN_EDEADLK);
	assert_non_null(strstr(fixture.error.text, "nothing moves in cycle"));
	assert_non_null(strstr(fixture.error.text, "1 of 2 work-groups"));
	assert_non_null(
	    strstr(fixture.error.text, "GPU 0: wavefronts 1, pipes 0, reorder buffers 8, TLBs 0, L1 8"));
	assert_non_null(strstr(fixture.error.text, "GPU 1: wavefronts 0"));
	fixture_close(&fixture);
}

/* A counter that was tampered with ends the run. */
static void test_law_broken(void **state)
{
	struct walk a;

	(void)state;
	open_plain("none", 2);
	a = walk_of(fixture_buffer(&fixture, 4096, SIM_ON_ONE, 1), 1, 1, 8);
	fixture.machine->core.stats.remote_served = 1;
	assert_int_equal(fixture_try(&fixture, walk_kernel, &a, 2), -GN_EBADMSG);
	assert_non_null(strstr(fixture.error.text, "remote: requests = served"));
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_presets),     cmocka_unit_test(test_sizes_and_splits),
	    cmocka_unit_test(test_reference),   cmocka_unit_test(test_trunk_bound),
	    cmocka_unit_test(test_same_again),  cmocka_unit_test(test_faster_links),
	    cmocka_unit_test(test_numbers),     cmocka_unit_test(test_local_scales),
	    cmocka_unit_test(test_link_bound),  cmocka_unit_test(test_too_large),
	    cmocka_unit_test(test_gpus_differ), cmocka_unit_test(test_kernel_fails),
	    cmocka_unit_test(test_stuck),       cmocka_unit_test(test_by_gpu),
	    cmocka_unit_test(test_law_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
