/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel bench: workloads on data in host memory by Grapnel, by what a program does without it, and by the
 * machine's limits, in one run. Every word read or written is compared with what it should be; one that is
 * not fails the run.
 */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#include "tool.h"

static const struct bench_workload workloads[] = {
    {"sequential", "every word in order", bench_sequential, 1},
    {"pages", "random pages of 512 bytes, 4 KiB and 16 KiB, each once, cold cache", bench_pages, 1},
    {"words", "random words of 4 bytes", bench_words, 1},
    {"add", "C = A + B, three arrays", bench_add, 3},
    {"reuse", "pages by Zipf's law, as the cache shrinks", bench_reuse, 1},
    {"sum", "natural loop: floats added up in order, cold cache", bench_sum, 1},
    {"rows", "natural loop: rows of 128 bytes anywhere", bench_scattered_rows, 1},
    {"random", "natural loop: words anywhere", bench_random, 1},
    {"hot-rows", "natural loop: rows of 128 bytes, three of four among a scattered 64th", bench_hot_rows, 1},
    {"few-frames", "natural loop: words anywhere through 512 pages", bench_few_frames, 1},
    {"search", "natural loop: binary search of sorted keys", bench_search, 1},
    {"stores", "natural loop: floats written in order, direct mode", bench_stores, 1},
    {"patterns", "natural loops: twenty patterns of reads", bench_patterns, 1},
};

enum { WORKLOADS = sizeof workloads / sizeof workloads[0] };

enum { OPT_QUICK = 256, OPT_LIST };

struct choice {
	struct bench_request request;
	unsigned chosen; /* bit k: workload k */
	int list, quick;
};

static const struct argp_option options[] = {
    {"quick", OPT_QUICK, NULL, 0, "4 MiB of data and one run: a test, not a measurement"},
    {"list", OPT_LIST, NULL, 0, "list the workloads and end"},
    {0},
};

static void choose(const struct argp_state *state, struct choice *c, const char *name)
{
	for (unsigned k = 0; k < WORKLOADS; k++)
		if (!strcmp(workloads[k].name, name)) {
			c->chosen |= 1u << k;
			return;
		}
	argp_error(state, "%s: unknown workload; --list lists the workloads", name);
}

static void check(const struct argp_state *state, const struct bench_request *q)
{
	if (q->data_bytes && q->data_bytes < 1 << 20)
		argp_error(state, "--data: an array must have at least 1M; give 1M or more");
	if (q->cache_bytes && q->cache_bytes < 64 << 10)
		argp_error(state, "--cache: the cache must have at least 64K; give 64K or more");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct choice *c = (struct choice *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: bench_inputs(state, &c->request); return 0;
	case OPT_QUICK: c->quick = 1; return 0;
	case OPT_LIST: c->list = 1; return 0;
	case ARGP_KEY_ARG: choose(state, c, arg); return 0;
	case ARGP_KEY_END: check(state, &c->request); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    "[WORKLOAD...]",
    "Run workloads on data in host memory, with Grapnel and without it, beside the machine's "
    "limits.\vWithout WORKLOAD all workloads run. Exit status: 0 success, 1 a run failed or read a wrong "
    "word, 2 the command line is wrong.",
    bench_children,
};

static int open_arrays(struct bench *b, const struct choice *c, unsigned arrays, struct gn_error *e)
{
	int rc = bench_open(b, e);

	b->bytes = c->request.data_bytes     ? c->request.data_bytes
	           : c->quick                ? 4ull << 20
	           : b->fixture.info.is_cuda ? 8ull << 30
	                                     : 256ull << 20;
	b->bytes &= ~0xffffull;
	rc = rc ? rc : bench_memory_store(b, b->bytes * arrays, e);
	return rc ? rc : bench_fill(b, b->memory, b->bytes, e);
}

static int run(struct bench *b, const struct choice *c, struct gn_error *e)
{
	const unsigned chosen = c->chosen ? c->chosen : (1u << WORKLOADS) - 1;
	unsigned arrays = 1;
	int rc;

	for (unsigned k = 0; k < WORKLOADS; k++)
		if (chosen >> k & 1 && workloads[k].arrays > arrays)
			arrays = workloads[k].arrays;
	rc = open_arrays(b, c, arrays, e);
	for (unsigned k = 0; k < WORKLOADS && !rc; k++) {
		if (!(chosen >> k & 1))
			continue;
		rc = workloads[k].run(b, e);
		bench_print(b);
	}
	return rc;
}

static int list(void)
{
	for (unsigned k = 0; k < WORKLOADS; k++)
		printf("%-12s %s\n", workloads[k].name, workloads[k].summary);
	return TOOL_OK;
}

int tool_bench(int argc, char **argv)
{
	static struct bench b; /* its rows are large for a stack */
	struct choice c;
	struct gn_error e;
	int rc;

	memset(&c, 0, sizeof c);
	memset(&b, 0, sizeof b);
	memset(&e, 0, sizeof e);
	bench_standard(&c.request, 0, 0);
	argp_parse(&argp, argc, argv, 0, NULL, &c);
	if (c.list)
		return list();
	if (!c.request.repeat)
		c.request.repeat = c.quick ? 1 : 3;
	b.command = "bench";
	b.q = &c.request;
	rc = run(&b, &c, &e);
	return bench_end(&b, rc, json_pack("{s:I}", "data_bytes", (json_int_t)b.bytes), &e);
}
