/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configurations of the simulated machine: files, overrides, presets, and what is told to who writes
 * nonsense.
 */
#include <sim/config.h>
#include <sim/overhead.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static struct sim_config c;
static struct gn_error error;

static int fresh(void **state)
{
	(void)state;
	memset(&error, 0, sizeof error);
	sim_config_init(&c);
	return 0;
}

static void expect_set(const char *assignment, int code, const char *text)
{
	assert_int_equal(sim_config_set(&c, assignment, &error), code);
	if (!strstr(error.text, text))
		fail_msg("\"%s\" does not say \"%s\"", error.text, text);
}

static void test_values(void **state)
{
	(void)state;
	assert_int_equal(sim_config_set(&c, "gpus=8", &error), 0);
	assert_int_equal(sim_config_set(&c, "  l1v.size =  32K ", &error), 0);
	assert_int_equal(sim_config_set(&c, "dispatch.gpus = greedy", &error), 0);
	assert_int_equal(sim_config_set(&c, "dualopt.cache = yes", &error), 0);
	assert_int_equal(c.gpus, 8);
	assert_int_equal(c.l1v.bytes, 32768);
	assert_int_equal(c.dispatch_gpus, SIM_SPLIT_GREEDY);
	assert_int_equal(c.remote_cache, 1);
}

static void test_refused(void **state)
{
	(void)state;
	expect_set("gpus = 17", -GN_EINVAL, "gpus = 17: must be from 1 to 16");
	expect_set("gpus = 0", -GN_EINVAL, "from 1 to 16");
	expect_set("gpus = 4x", -GN_EINVAL, "from 1 to 16");
	expect_set("gpus = -1", -GN_EINVAL, "from 1 to 16");
	expect_set("gpus = 99999999999999999999999", -GN_EINVAL, "from 1 to 16");
	expect_set("gpus", -GN_EINVAL, "key = value");
	expect_set("l1v.banc_cycles = 3", -GN_ENOENT, "l1v.ban");
	expect_set("l1v.bank_cycles = 0", -GN_EINVAL, "l1v.bank_cycles = 0: must be from 1 to 1000");
	expect_set("dispatch.cus = random", -GN_EINVAL, "partition round_robin greedy");
	expect_set("dualopt.fine = maybe", -GN_EINVAL, "no yes");
	expect_set("codec.id_of = line", -GN_EINVAL, "word reply");
	expect_set("codec.buffer_of = lines", -GN_EINVAL, "replies words");
	expect_set("decide.block_of = page", -GN_EINVAL, "read line");
	expect_set("decide.warmup_cycles = 1000000001", -GN_EINVAL, "from 0 to 1000000000");
	expect_set("memory.placement = random", -GN_EINVAL, "workload interleaved distributed");
	expect_set("l2.size = large", -GN_EINVAL, "l2.size");
	assert_int_equal(c.gpus, 4); /* nothing was changed */
}

static void expect_misfit(const char *assignment, const char *text)
{
	sim_config_init(&c);
	assert_int_equal(sim_config_set(&c, assignment, &error), 0);
	assert_int_equal(sim_config_check(&c, &error), -GN_EINVAL);
	if (!strstr(error.text, text))
		fail_msg("\"%s\" does not say \"%s\"", error.text, text);
}

/* Values that are right by themselves and do not fit together: the message names the key and what fits. */
static void test_impossible(void **state)
{
	(void)state;
	assert_int_equal(sim_config_check(&c, &error), 0);
	expect_misfit("l1v.size = 128", "l1v.size = 128: must be a multiple of l1v.ways x banks x 64 = 256");
	expect_misfit("l2.ways = 1000", "l2.size");
	expect_misfit("l2.banks = 8", "dram.channels = 16: must be l2.banks = 8");
	expect_misfit("net.switch_ports = 2", "net.gpus_per_switch = 2");
	expect_misfit("net.gpus_per_switch = 16", "must be from 1 to 15");
	expect_misfit("net.buffer_flits = 5", "must hold the longest message, 6 flits");
	expect_misfit("net.clock = 3", "1, 2, 4, 8");
	expect_misfit("dualopt.granularity = 5", "4, 8 or 16");
	expect_misfit("codec.packet_bytes = 9", "codec.packet_bytes = 9");
	sim_config_init(&c);
	c.gpus = 16;
	c.net_ports = 5;
	assert_int_equal(sim_config_check(&c, &error), -GN_EINVAL);
	assert_non_null(strstr(error.text, "gpus must be from 1 to 8"));
	sim_config_init(&c);
	c.walk_cycles = 0;
	assert_int_equal(sim_config_check(&c, &error), -GN_EINVAL);
	assert_non_null(strstr(error.text, "mmu.walk_cycles = 0: must be from 1"));
}

static void test_presets(void **state)
{
	static const char *const names[] = {"none", "bypass", "fine", "coalesce", "cache", "dualopt"};

	(void)state;
	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		sim_config_init(&c);
		assert_int_equal(sim_config_optimize(&c, names[k], &error), 0);
		assert_int_equal(sim_config_check(&c, &error), 0);
	}
	assert_int_equal(c.l2.bytes, 512 << 10);
	assert_int_equal(sim_config_optimize(&c, "best", &error), -GN_ENOENT);
	assert_non_null(strstr(error.text, "none, bypass, fine, coalesce, cache or dualopt"));
}

/* The file that comes with the program names every key, and says what a fresh configuration is. */
static void test_mgpusim(void **state)
{
	const char *text = sim_shipped_at(0)->text;
	struct sim_config read;

	(void)state;
	assert_string_equal(sim_shipped_at(0)->name, "mgpusim.conf");
	for (uint32_t k = 0; sim_key_at(k); k++) {
		char start[80];

		snprintf(start, sizeof start, "\n%s = ", sim_key_at(k)->name);
		if (!strstr(text, start))
			fail_msg("mgpusim.conf does not name %s", sim_key_at(k)->name);
	}
	memset(&read, 0, sizeof read);
	assert_int_equal(sim_config_read(&read, "mgpusim.conf", &error), 0);
	assert_memory_equal(&read, &c, sizeof c);
}

static void test_dualopt(void **state)
{
	(void)state;
	assert_int_equal(sim_config_read(&c, "dualopt.conf", &error), 0);
	assert_int_equal(sim_config_check(&c, &error), 0);
	assert_int_equal(c.l1v.mshr, 32);
	assert_int_equal(c.rc.bytes, 1536 << 10);
	assert_int_equal(sim_config_read(&c, "page-migration.conf", &error), 0);
	assert_int_equal(c.migrate_policy, SIM_MIGRATE_PAGE);
	assert_int_equal(sim_config_read(&c, "griffin.conf", &error), 0);
	assert_int_equal(c.migrate_policy, SIM_MIGRATE_FIRST_TOUCH);
	assert_int_equal(sim_config_check(&c, &error), 0);
}

/* What if: each over Table 1, with all mechanisms. */
static void test_what_if(void **state)
{
	static const char *const names[] = {"nvlink.conf", "redecide.conf"};

	(void)state;
	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		sim_config_init(&c);
		assert_int_equal(sim_config_read(&c, "dualopt.conf", &error), 0);
		assert_int_equal(sim_config_read(&c, names[k], &error), 0);
		assert_int_equal(sim_config_optimize(&c, "dualopt", &error), 0);
		c.gpus = 16;
		assert_int_equal(sim_config_check(&c, &error), 0);
	}
}

static int thousandths(double value)
{
	return (int)(1000 * value + .5);
}

/* Table 4 by the paper's own counts: 64 compute units, one CoDec; 0.032 % of a GPU of 489 mm2. */
static void test_overhead(void **state)
{
	struct sim_overhead o = sim_overhead_of(&c, 1000000);

	(void)state;
	assert_int_equal(thousandths(o.area_um2 + o.power_mw + o.energy_uj), 0);
	assert_int_equal(sim_config_optimize(&c, "dualopt", &error), 0);
	o = sim_overhead_of(&c, 1000000);
	assert_int_equal(thousandths(o.area_um2), 156589520); /* 64 x (964.99 + 202.94 + 697) + 37234 */
	assert_int_equal(thousandths(o.power_mw), 83100);     /* 64 x 0.8 + 31.9 */
	assert_int_equal(thousandths(o.energy_uj), 332400);   /* of four for a millisecond */
	assert_int_equal(thousandths(100 * o.area_um2 / 489e6), 32);
	assert_int_equal(sim_config_optimize(&c, "bypass", &error), 0);
	assert_int_equal(thousandths(sim_overhead_of(&c, 0).area_um2), 12988160); /* 64 x 202.94 */
	assert_int_equal(sim_config_optimize(&c, "cache", &error), 0);
	assert_int_equal(thousandths(sim_overhead_of(&c, 0).area_um2), 0);
}

static void test_files(void **state)
{
	char path[] = "/tmp/sim_config_XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	(void)state;
	fputs("# a comment\n\n gpus = 2 # two\nl2.size = 1M\nl2.wais = 3\n", f);
	fclose(f);
	assert_int_equal(sim_config_read(&c, path, &error), -GN_ENOENT);
	assert_non_null(strstr(error.text, ":5: l2.wais: unknown key; did you mean l2.ways?"));
	assert_int_equal(c.gpus, 2);
	unlink(path);
	assert_int_equal(sim_config_read(&c, path, &error), -GN_ENOENT);
	assert_non_null(strstr(error.text, "cannot be opened"));
}

/* What is printed can be read back. */
static void test_text(void **state)
{
	struct sim_config other;
	char line[160], value[64];

	(void)state;
	c.l2.bytes = 3 << 20;
	c.dispatch_cus = SIM_SPLIT_GREEDY;
	memset(&other, 0, sizeof other);
	c.rc.bytes = 1536;
	for (uint32_t k = 0; sim_key_at(k); k++) {
		snprintf(line, sizeof line, "%s = %s", sim_key_at(k)->name,
		         sim_key_text(&c, sim_key_at(k), value, sizeof value));
		assert_int_equal(sim_config_set(&other, line, &error), 0);
	}
	assert_memory_equal(&other, &c, sizeof c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_values, fresh),     cmocka_unit_test_setup(test_refused, fresh),
	    cmocka_unit_test_setup(test_impossible, fresh), cmocka_unit_test_setup(test_presets, fresh),
	    cmocka_unit_test_setup(test_mgpusim, fresh),    cmocka_unit_test_setup(test_dualopt, fresh),
	    cmocka_unit_test_setup(test_what_if, fresh),    cmocka_unit_test_setup(test_overhead, fresh),
	    cmocka_unit_test_setup(test_files, fresh),      cmocka_unit_test_setup(test_text, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
