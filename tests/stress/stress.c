/* SPDX-License-Identifier: Apache-2.0 */
#include "stress.h"

#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Under sanitizers, whose builds run the same rounds as the release build, half as long; so too where few
 * cases are asked for (tests/unit/unit.h).
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STRESS_SECONDS 1
#else
#define STRESS_SECONDS 2
#endif

static char wrong[256];

int stress_wrong(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(wrong, sizeof wrong, format, arguments);
	va_end(arguments);
	return 1;
}

struct simt_grid stress_grid(const struct stress *s, uint32_t threads)
{
	struct simt_grid grid = {1, 32, 0};

	if (s->info.is_cuda)
		grid.block_threads = 128;
	if (threads > s->info.resident_threads)
		threads = s->info.resident_threads;
	if (threads > grid.block_threads)
		grid.blocks = threads / grid.block_threads;
	return grid;
}

int stress_run(struct stress *s, const struct simt_kernel *kernel, struct simt_grid grid,
               const void *arguments)
{
	struct gn_error error;
	int rc = simt_launch(s->machine, kernel, grid, arguments, &error);

	if (!rc)
		rc = simt_wait(s->machine, &error);
	return rc ? stress_wrong("kernel %s: %s: %s", kernel->name, gn_error_name(rc), error.text) : 0;
}

/* ---- a run that does not end ---- */

enum { MOST_TOLD = 20 };

static struct {
	const uint32_t *doing;
	uint64_t threads, seed;
} watched;

static uint32_t done_by(uint64_t thread)
{
	return simt_load_relaxed_sys_u32(&watched.doing[thread]);
}

/* How many threads are where this one is; 0 if one before it is there, too. */
static uint64_t count_alike(uint64_t thread)
{
	uint64_t count = 0;

	for (uint64_t k = 0; k < watched.threads; k++) {
		if (done_by(k) != done_by(thread))
			continue;
		if (k < thread)
			return 0;
		count++;
	}
	return count;
}

static void tell(int signal)
{
	uint32_t told = 0;

	(void)signal;
	dprintf(2, "seed %llu: the run does not end\n", (unsigned long long)watched.seed);
	for (uint64_t k = 0; k < watched.threads && told < MOST_TOLD; k++) {
		const uint64_t alike = count_alike(k);

		if (!alike)
			continue;
		if (done_by(k) == (uint32_t)STRESS_DONE)
			dprintf(2, "  %llu threads have ended\n", (unsigned long long)alike);
		else
			dprintf(2, "  %llu threads, the first of them %llu, are at step %u, doing %u\n",
			        (unsigned long long)alike, (unsigned long long)k, done_by(k) >> 8,
			        done_by(k) & 0xff);
		told++;
	}
	_exit(1);
}

void stress_watch(const struct stress *s, const uint32_t *doing, uint64_t threads)
{
	/* longer than any wait of the run, which is four transfers' time, and shorter than ctest waits */
	const uint64_t seconds = stress_patience_ns(s) / 1000000000 * 4 + 60;

	watched.doing = doing;
	watched.threads = threads;
	watched.seed = s->seed;
	signal(SIGALRM, tell);
	alarm(doing ? (unsigned)seconds : 0);
}

struct settings {
	struct simt_options machine;
	double seconds;
	uint64_t seed;
};

/* Returns 0, or 2 for arguments that are none. */
static int parse(int argc, char **argv, struct settings *s)
{
	static const struct option options[] = {
	    {"machine", required_argument, NULL, 'm'}, {"seconds", required_argument, NULL, 's'},
	    {"threads", required_argument, NULL, 't'}, {"warp-width", required_argument, NULL, 'w'},
	    {"seed", required_argument, NULL, 'r'},    {NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'm')
			s->machine.name = optarg;
		else if (option == 's')
			s->seconds = atof(optarg);
		else if (option == 't')
			s->machine.threads = (unsigned)atoi(optarg);
		else if (option == 'w')
			s->machine.warp_width = (unsigned)atoi(optarg);
		else if (option == 'r')
			s->seed = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	return optind == argc ? 0 : 2;
}

static int rounds(struct stress *s, const struct settings *settings, const char *name, stress_round *round)
{
	uint64_t began = simt_clock_ns(), count = 0;
	double seconds;

	do {
		s->seed = settings->seed + count++;
		if (round(s)) {
			fprintf(stderr, "%s: seed %llu on %s: %s\n", name, (unsigned long long)s->seed,
			        s->info.name, wrong);
			return 1;
		}
		seconds = (double)(simt_clock_ns() - began) * 1e-9;
	} while (seconds < settings->seconds);
	printf("%s on %s: %llu rounds, %llu operations in %.1f s\n", name, s->info.name,
	       (unsigned long long)count, (unsigned long long)s->operations, seconds);
	return 0;
}

int stress_main(int argc, char **argv, const char *name, stress_round *round)
{
	struct settings settings;
	struct stress s;
	struct gn_error error;
	int rc;

	memset(&settings, 0, sizeof settings);
	memset(&s, 0, sizeof s);
	settings.machine.name = "cpu";
	settings.seconds = getenv("GN_TEST_FEW") ? 1 : STRESS_SECONDS;
	settings.seed = 1;
	if (parse(argc, argv, &settings)) {
		fprintf(stderr,
		        "usage: %s [--machine cpu|cuda[:i]] [--seconds S] [--threads N] [--warp-width W] "
		        "[--seed N]\n",
		        argv[0]);
		return 2;
	}
	rc = simt_open(&s.machine, &settings.machine, &error);
	if (rc) {
		fprintf(stderr, "%s: %s\n", name, error.text);
		return rc == -GN_ENODEV ? 77 : 1;
	}
	simt_describe(s.machine, &s.info);
	rc = rounds(&s, &settings, name, round);
	simt_close(s.machine);
	return rc;
}
