/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 50, HUNG_AFTER_S = 60 };

static char wrong[256];
static char running[96]; /* what to say if nothing ever returns */

int model_wrong(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(wrong, sizeof wrong, format, arguments);
	va_end(arguments);
	return 1;
}

static void hung(int signal)
{
	static const char text[] = " hangs: a run did not end\n";
	size_t length = 0;

	(void)signal;
	while (running[length])
		length++;
	if (write(2, running, length) < 0 || write(2, text, sizeof text - 1) < 0)
		_exit(1);
	_exit(1);
}

static int launch(const struct model *model, struct simt_machine *machine, uint64_t trial)
{
	struct gn_error error = {0, ""};
	int rc;

	model->draw(trial);
	model->reset(NULL);
	rc = simt_launch(machine, model->kernel, model->grid(), model->arguments, &error);
	if (!rc)
		rc = simt_wait(machine, &error);
	if (rc)
		return model_wrong("the launch failed: %s", error.text);
	return model->check(NULL);
}

/* The first `runs` schedules of a seed. */
static int run_seed(const struct model *model, uint64_t seed, uint64_t runs)
{
	struct simt_options options = {"cpu", 1, model->width ? model->width(seed) : 1, SIMT_RANDOM, seed};
	struct simt_machine *machine;
	struct gn_error error;
	int bad = 0;

	snprintf(running, sizeof running, "%s: seed %llu", model->name, (unsigned long long)seed);
	if (simt_open(&machine, &options, &error)) {
		fprintf(stderr, "%s: %s\n", model->name, error.text);
		return 1;
	}
	alarm(HUNG_AFTER_S);
	for (uint64_t k = 0; k < runs && !bad; k++) {
		bad = launch(model, machine, seed * BATCH + k);
		if (bad)
			fprintf(stderr,
			        "%s: seed %llu, schedule %llu: %s\n  again: %s seed %llu; keep it in "
			        "tests/model/seeds.txt\n",
			        model->name, (unsigned long long)seed, (unsigned long long)k, wrong,
			        model->name, (unsigned long long)seed);
	}
	alarm(0);
	simt_close(machine);
	return bad;
}

static int run_random(const struct model *model, uint64_t runs, uint64_t first)
{
	for (uint64_t done = 0; done < runs; done += BATCH)
		if (run_seed(model, first + done / BATCH,
		             runs - done < BATCH ? runs - done : (uint64_t)BATCH))
			return 1;
	printf("%s: %llu random schedules\n", model->name, (unsigned long long)runs);
	return 0;
}

static int run_kept(const struct model *model, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[128], name[32];
	unsigned long long seed;
	unsigned count = 0;
	int bad = 0;

	if (!file) {
		perror(path);
		return 1;
	}
	while (!bad && fgets(line, sizeof line, file))
		if (sscanf(line, "%31s %llu", name, &seed) == 2 && !strcmp(name, model->name)) {
			bad = run_seed(model, seed, BATCH);
			count++;
		}
	fclose(file);
	printf("%s: %u kept seeds\n", model->name, count);
	return bad;
}

/* Returns -1 if there is no such case. */
static int explore(const struct model *model, unsigned k, const char *preemptions)
{
	struct simt_exploration bound;
	struct simt_explored explored;
	const char *name;
	int rc;

	memset(&bound, 0, sizeof bound);
	bound.reset = model->reset;
	bound.check = model->check;
	bound.most_steps = 1000000;
	name = model->pick(k, &bound);
	if (!name)
		return -1;
	if (preemptions)
		bound.preemptions = (unsigned)strtoul(preemptions, NULL, 0);
	wrong[0] = 0;
	rc = simt_explore(model->kernel, model->grid(), model->arguments, &bound, &explored);
	if (rc) {
		fprintf(stderr, "%s: case %u (%s), run %llu: %s\n  schedule: %s\n", model->name, k, name,
		        (unsigned long long)explored.runs, rc < 0 ? gn_error_name(rc) : wrong,
		        explored.schedule);
		return 1;
	}
	printf("%s: case %u, %s, %u preemptions: %llu schedules\n", model->name, k, name, bound.preemptions,
	       (unsigned long long)explored.runs);
	fflush(stdout);
	return 0;
}

static int run_exhaustive(const struct model *model)
{
	for (unsigned k = 0;; k++) {
		int rc = explore(model, k, NULL);

		if (rc)
			return rc > 0;
	}
}

static int usage(const char *program)
{
	fprintf(stderr,
	        "usage: %s random RUNS [FIRST] | seed SEED | kept FILE | exhaustive [CASE [PREEMPTIONS]]\n"
	        "       CASE is a number, or its name as exhaustive prints it\n",
	        program);
	return 2;
}

/* The number of the case that is so called; -1: there is none. */
static int numbered(const struct model *model, const char *called)
{
	struct simt_exploration bound;
	const char *name;

	for (unsigned k = 0;; k++) {
		memset(&bound, 0, sizeof bound);
		name = model->pick(k, &bound);
		if (!name)
			return -1;
		if (!strcmp(name, called))
			return (int)k;
	}
}

static int run_case(const struct model *model, const char *which, const char *preemptions)
{
	char *end;
	const unsigned long number = strtoul(which, &end, 0);
	const int k = *which && !*end ? (int)number : numbered(model, which);

	if (k < 0) {
		fprintf(stderr, "%s: there is no case '%s'\n", model->name, which);
		return 2;
	}
	return explore(model, (unsigned)k, preemptions) != 0;
}

int model_main(const struct model *model, int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	uint64_t number = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;

	signal(SIGALRM, hung);
	if (!strcmp(verb, "random") && argc >= 3)
		return run_random(model, number, argc > 3 ? strtoull(argv[3], NULL, 0) : 1);
	if (!strcmp(verb, "seed") && argc == 3)
		return run_seed(model, number, BATCH);
	if (!strcmp(verb, "kept") && argc == 3)
		return run_kept(model, argv[2]);
	if (!strcmp(verb, "exhaustive") && argc <= 4)
		return argc >= 3 ? run_case(model, argv[2], argv[3]) : run_exhaustive(model);
	return usage(argv[0]);
}
