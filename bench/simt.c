/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simt.c - what the cpu machine costs, on one OS thread; one JSON object on stdout.
 *
 *   empty_thread_ns    a thread that does nothing, launched in blocks of 256, a million a launch
 *   switch_ns          one simt_relax of N threads that relax by turns: time / relaxes
 *   collective_of_32_ns
 *                      a collective of a warp of 32 lanes: time / calls
 *   launch_ns          simt_launch and simt_wait of one thread
 *
 * Each figure is the median of REPEATS. A point of a checking schedule is off: load_with_point_ns is what it
 * leaves.
 */
#define SIMT_PREEMPT 1

#include <stdio.h>

#include <grapnel/simt.h>

#include "support/engine.h"

enum { REPEATS = 9, CALLS = 2000 };

struct work {
	uint32_t times, kind;
	uint64_t *sink;
};

SIMT_FN void nothing(const struct work *a)
{
	(void)a;
}
SIMT_KERNEL(nothing, struct work)

SIMT_FN void relax(const struct work *a)
{
	for (uint32_t k = 0; k < a->times; k++)
		simt_relax();
}
SIMT_KERNEL(relax, struct work)

SIMT_FN void points(const struct work *a)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < a->times; k++)
		sum += simt_load_relaxed_dev_u64(a->sink);
	simt_store_relaxed_dev_u64(a->sink, sum);
}
SIMT_KERNEL(points, struct work)

enum { BALLOT, SHFL, MATCH_EQUAL, MATCH_DISTINCT, ACTIVE, SYNC };

SIMT_FN void collective(const struct work *a)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < a->times; k++) {
		switch (a->kind) {
		case BALLOT: sum += simt_ballot(0xffffffff, simt_lane() & 1); break;
		case SHFL: sum += simt_shfl_u64(0xffffffff, k, k % 32); break;
		case MATCH_EQUAL: sum += simt_match_any_u64(0xffffffff, k); break;
		case MATCH_DISTINCT: sum += simt_match_any_u64(0xffffffff, k + simt_lane()); break;
		case ACTIVE: sum += simt_active(); break;
		default: simt_warp_sync(0xffffffff); break;
		}
	}
	simt_add_relaxed_dev_u64(a->sink, sum);
}
SIMT_KERNEL(collective, struct work)

/* Median time of a launch in ns, behind one that does not count. */
static double launch_ns(struct simt_machine *m, const struct simt_kernel *kernel, struct simt_grid grid,
                        struct work work)
{
	double ns[REPEATS];

	bench_launch(m, kernel, grid, &work);
	for (int k = 0; k < REPEATS; k++)
		ns[k] = 1e9 * bench_launch(m, kernel, grid, &work);
	return bench_median(ns, REPEATS);
}

static json_t *switches(struct simt_machine *m, uint64_t *sink)
{
	static const uint32_t threads[] = {2, 32, 256, 1024};
	const struct work work = {CALLS, 0, sink};
	json_t *all = json_object();
	char name[16];

	for (unsigned k = 0; k < 4; k++) {
		const struct simt_grid grid = {threads[k], 1, 0};

		snprintf(name, sizeof name, "%u", threads[k]);
		json_object_set_new(
		    all, name,
		    json_real(launch_ns(m, &relax_kernel, grid, work) / ((double)threads[k] * CALLS)));
	}
	return all;
}

static json_t *collectives(void)
{
	static const char *const names[] = {"ballot",         "shfl",   "match_equal",
	                                    "match_distinct", "active", "warp_sync"};
	struct simt_machine *m = bench_machine("cpu", 1, 32);
	const struct simt_grid grid = {1, 32, 0};
	json_t *all = json_object();
	uint64_t sink = 0;

	for (uint32_t k = 0; k < 6; k++) {
		const struct work work = {CALLS, k, &sink};

		json_object_set_new(all, names[k],
		                    json_real(launch_ns(m, &collective_kernel, grid, work) / CALLS));
	}
	simt_close(m);
	return all;
}

int main(int argc, char **argv)
{
	const struct simt_grid one = {1, 1, 0}, million = {4096, 256, 0}, single = {1 << 20, 1, 0};
	uint64_t sink = 0;
	const struct work none = {0, 0, &sink}, many = {1000000, 0, &sink};
	struct simt_machine *m;

	bench_begin(argc, argv, "");
	m = bench_machine("cpu", 1, 1);
	bench_print(json_pack("{s:s, s:f, s:f, s:f, s:f, s:o, s:o}", "schema", "grapnel-bench-simt-1",
	                      "launch_ns", launch_ns(m, &nothing_kernel, one, none), "empty_thread_ns",
	                      launch_ns(m, &nothing_kernel, million, none) / (1 << 20), "empty_block_ns",
	                      launch_ns(m, &nothing_kernel, single, none) / (1 << 20), "load_with_point_ns",
	                      launch_ns(m, &points_kernel, one, many) / 1e6, "switch_ns", switches(m, &sink),
	                      "collective_of_32_ns", collectives()));
	simt_close(m);
	return 0;
}
