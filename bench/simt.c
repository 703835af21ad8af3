/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simt.c - what the cpu machine costs, on one OS thread; one JSON object on stdout.
 *
 *   empty_thread_ns    a thread that does nothing, launched in blocks of 256, a million a launch
 *   switch_ns          one simt_relax of N threads that relax by turns: time / relaxes
 *   ballot_lane_ns ... a collective of 32 lanes: time / (calls * 32); match_equal and match_distinct are for
 * a warp launch_ns          simt_launch and simt_wait of one thread Each figure is the median of REPEATS. A
 * point of a checking schedule is off: point_ns is what it leaves.
 */
#define SIMT_PREEMPT 1

#include <stdio.h>
#include <stdlib.h>

#include <grapnel/simt.h>

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

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Median time of a launch in ns; ends the program if it fails. */
static double launch_ns(struct simt_machine *machine, const struct simt_kernel *kernel, struct simt_grid grid,
                        struct work work)
{
	double ns[REPEATS];

	for (int k = -1; k < REPEATS; k++) {
		uint64_t began = simt_clock_ns();

		if (simt_launch(machine, kernel, grid, &work) || simt_wait(machine)) {
			fprintf(stderr, "bench_simt: %s\n", simt_message(machine));
			exit(1);
		}
		if (k >= 0)
			ns[k] = (double)(simt_clock_ns() - began);
	}
	qsort(ns, REPEATS, sizeof *ns, by_value);
	return ns[REPEATS / 2];
}

static struct simt_machine *open_cpu(unsigned width)
{
	struct simt_options config = {"cpu", 1, width, SIMT_FAIR, 0};
	struct simt_machine *machine;
	struct gn_error error;

	if (simt_open(&machine, &config, &error)) {
		fprintf(stderr, "bench_simt: %s\n", error.text);
		exit(1);
	}
	return machine;
}

static void scalar(void)
{
	static const uint32_t threads[] = {2, 32, 256, 1024};
	struct simt_machine *machine = open_cpu(1);
	uint64_t sink = 0;
	struct simt_grid one = {1, 1, 0}, million = {4096, 256, 0}, single = {1 << 20, 1, 0};
	struct work none = {0, 0, &sink}, many = {1000000, 0, &sink};

	printf("\"launch_ns\": %.0f, ", launch_ns(machine, &nothing_kernel, one, none));
	printf("\"empty_thread_ns\": %.2f, ", launch_ns(machine, &nothing_kernel, million, none) / (1 << 20));
	printf("\"empty_block_ns\": %.2f, ", launch_ns(machine, &nothing_kernel, single, none) / (1 << 20));
	printf("\"load_with_point_ns\": %.2f, ", launch_ns(machine, &points_kernel, one, many) / 1e6);
	printf("\"switch_ns\": {");
	for (unsigned k = 0; k < 4; k++) {
		struct simt_grid grid = {threads[k], 1, 0};
		struct work work = {CALLS, 0, &sink};

		printf("%s\"%u\": %.2f", k ? ", " : "", threads[k],
		       launch_ns(machine, &relax_kernel, grid, work) / ((double)threads[k] * CALLS));
	}
	printf("}, ");
	simt_close(machine);
}

static void warps(void)
{
	static const char *const names[] = {"ballot",         "shfl",   "match_equal",
	                                    "match_distinct", "active", "warp_sync"};
	struct simt_machine *machine = open_cpu(32);
	uint64_t sink = 0;
	struct simt_grid grid = {1, 32, 0};

	printf("\"collective_of_32_ns\": {");
	for (uint32_t k = 0; k < 6; k++) {
		struct work work = {CALLS, k, &sink};

		printf("%s\"%s\": %.1f", k ? ", " : "", names[k],
		       launch_ns(machine, &collective_kernel, grid, work) / CALLS);
	}
	printf("}");
	simt_close(machine);
}

int main(void)
{
	printf("{\"schema\": \"grapnel-bench-simt-1\", ");
	scalar();
	warps();
	printf("}\n");
	return 0;
}
