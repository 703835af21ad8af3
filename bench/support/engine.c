/* SPDX-License-Identifier: Apache-2.0 */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USAGE = 2, SKIP = 77 };

static char *const *arguments;
static const char *program = "bench";

void bench_must(int rc, const char *text)
{
	if (!rc)
		return;
	fprintf(stderr, "%s: %s\n", program, text);
	exit(rc == -GN_ENODEV ? SKIP : EXIT_FAILURE);
}

struct gn_error bench_error;

void bench_must_run(int rc)
{
	bench_must(rc, bench_error.text);
}

/* Is the argument one of "NAME NAME..."? */
static int is_known(const char *argument, const char *names)
{
	const size_t length = strcspn(argument, "=");

	if (!argument[length])
		return 0;
	for (; *names; names += strcspn(names, " "), names += *names == ' ')
		if (strcspn(names, " ") == length && !strncmp(names, argument, length))
			return 1;
	return 0;
}

void bench_begin(int argc, char **argv, const char *names)
{
	program = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	arguments = argv + (argc > 0);
	for (int k = 1; k < argc; k++)
		if (!is_known(argv[k], names)) {
			fprintf(stderr, "%s: %s: give NAME=VALUE with a name of: %s\n", program, argv[k],
			        names);
			exit(USAGE);
		}
}

const char *bench_text(const char *name, const char *otherwise)
{
	const size_t length = strlen(name);

	for (char *const *at = arguments; *at; at++)
		if (!strncmp(*at, name, length) && (*at)[length] == '=')
			return *at + length + 1;
	return otherwise;
}

uint64_t bench_number(const char *name, uint64_t otherwise)
{
	const char *text = bench_text(name, NULL);
	char *end;
	uint64_t value;

	if (!text)
		return otherwise;
	value = strtoull(text, &end, 10);
	if (end == text || *end) {
		fprintf(stderr, "%s: %s=%s: give a whole number\n", program, name, text);
		exit(USAGE);
	}
	return value;
}

int bench_word(const char *name, const char *const *words)
{
	const char *text = bench_text(name, "");

	for (int k = 0; words[k]; k++)
		if (!strcmp(text, words[k]))
			return k;
	bench_must(1, name);
	return 0;
}

struct simt_machine *bench_machine(const char *name, unsigned threads, unsigned width)
{
	struct simt_options config = {name, threads, width, SIMT_FAIR, 0};
	struct simt_machine *m;
	struct gn_error e = {0, ""};

	bench_must(simt_open(&m, &config, &e), e.text);
	return m;
}

void *bench_alloc(struct simt_machine *m, size_t bytes, enum simt_memory where)
{
	void *memory = simt_alloc(m, bytes, where, &bench_error);

	bench_must_run(memory ? 0 : bench_error.code);
	return memory;
}

double bench_launch(struct simt_machine *m, const struct simt_kernel *kernel, struct simt_grid grid,
                    const void *args)
{
	const double begin = scope_clock();
	int rc = simt_launch(m, kernel, grid, args, &bench_error);

	bench_must_run(rc ? rc : simt_wait(m, &bench_error));
	return scope_clock() - begin;
}

double bench_clock_ns(clockid_t of)
{
	struct timespec t;

	clock_gettime(of, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

double bench_median(const double *value, uint32_t count)
{
	struct scope_statistics s;

	bench_must(scope_statistics_of(value, count, &s), "no memory");
	return s.median;
}

void bench_print(json_t *root)
{
	bench_must(!root || json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) ||
	               putchar('\n') < 0,
	           "the result cannot be written");
	json_decref(root);
}
