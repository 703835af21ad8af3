/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel sim sweep: workloads by values of parameters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim_jobs.h"

enum { MOST_WORKLOADS = 64, MOST_VARIED = 8, MOST_VALUES = 32 };

struct varied {
	char *name, *value[MOST_VALUES]; /* in text */
	uint32_t count;
	char *text;
};

struct request {
	struct tool_sim sim;
	const struct sim_workload *workload[MOST_WORKLOADS];
	uint32_t workloads;
	struct varied varied[MOST_VARIED];
	uint32_t varieds;
	const char *folder, *json;
	uint32_t jobs;
};

enum { OPT_VARY = 256, OPT_JOBS };

static const struct argp_option options[] = {
    {"vary", OPT_VARY, "NAME=V,V...", 0,
     "values of a key of the configuration, or of opt, size or seed; if given several times, every "
     "combination is run"},
    {"out", 'o', "FOLDER", 0,
     "folder of the results; a simulation whose result is there is not run again (default sim-sweep)"},
    {"jobs", OPT_JOBS, "N", 0, "simulations at a time, 1 to 1024 (default one a core)"},
    {"json", 'j', "FILE", 0, "write all results to FILE as JSON; - is standard output"},
    {0},
};

static void add_varied(const struct argp_state *state, struct request *q, const char *text)
{
	struct varied *v = &q->varied[q->varieds];
	char *rest;

	if (q->varieds == MOST_VARIED)
		argp_error(state, "--vary %s: too many --vary; give at most %d", text, MOST_VARIED);
	v->text = strdup(text);
	if (!v->text || !strchr(v->text, '='))
		argp_error(state, "--vary %s: give a name and values, for example net.clock=1,2,4", text);
	rest = v->text;
	v->name = strsep(&rest, "=");
	while (rest && v->count < MOST_VALUES)
		v->value[v->count++] = strsep(&rest, ",");
	if (rest)
		argp_error(state, "--vary %s: too many values; give at most %d", text, MOST_VALUES);
	q->varieds++;
}

static void add_workload(const struct argp_state *state, struct request *q, const char *name)
{
	if (!strcmp(name, "all")) {
		for (uint32_t k = 0; sim_workload_at(k); k++)
			if (!sim_workload_at(k)->needs_input)
				add_workload(state, q, sim_workload_at(k)->name);
		return;
	}
	if (q->workloads == MOST_WORKLOADS)
		argp_error(state, "%s: too many workloads; give at most %d", name, MOST_WORKLOADS);
	q->workload[q->workloads++] = tool_sim_workload(state, name);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &q->sim; break;
	case OPT_VARY: add_varied(state, q, text); break;
	case 'o': q->folder = text; break;
	case OPT_JOBS: q->jobs = (uint32_t)tool_number(state, "--jobs", text, 1, 1024); break;
	case 'j': q->json = text; break;
	case ARGP_KEY_ARG: add_workload(state, q, text); break;
	case ARGP_KEY_NO_ARGS:
		argp_error(
		    state,
		    "no workload given; give workloads or all, 'grapnel sim list' lists the workloads");
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {{&tool_sim_argp}, {0}};
static const struct argp argp = {options, parse, "WORKLOAD...",
                                 "Simulate workloads with every combination of values. After an interruption "
                                 "the same command continues with the simulations that are missing.",
                                 children};

static uint32_t combinations(const struct request *q)
{
	uint32_t count = 1;

	for (uint32_t k = 0; k < q->varieds; k++)
		count *= q->varied[k].count;
	return count;
}

/* Which value of varied k combination n has: the last one varies fastest. */
static const char *value_of(const struct request *q, uint32_t n, uint32_t k)
{
	for (uint32_t m = q->varieds; --m > k;)
		n /= q->varied[m].count;
	return q->varied[k].value[n % q->varied[k].count];
}

static int add_all(const struct request *q, struct sim_jobs *jobs, struct gn_error *e)
{
	for (uint32_t w = 0; w < q->workloads; w++)
		for (uint32_t n = 0; n < combinations(q); n++) {
			const int job = sim_jobs_add(jobs, q->workload[w], &q->sim);
			int rc = job < 0 ? job : 0;

			for (uint32_t k = 0; k < q->varieds && !rc; k++)
				rc = sim_jobs_vary(jobs, (uint32_t)job, q->varied[k].name, value_of(q, n, k));
			if (rc)
				return gn_error_set(e, rc,
				                    rc == -GN_EINVAL
				                        ? "--vary: a seed is not a number, or there are too "
				                          "many keys; give numbers, or fewer keys"
				                        : "out of memory for the runs; give fewer values");
		}
	return 0;
}

/* As a table (padded) or as values between commas. */
static void write_rows(const struct request *q, const struct sim_jobs *jobs, FILE *to, bool table)
{
	fprintf(to, table ? "%-10s" : "%s", "workload");
	for (uint32_t k = 0; k < q->varieds; k++)
		fprintf(to, table ? " %16s" : ",%s", q->varied[k].name);
	fprintf(to, table ? " %12s %8s %12s %14s\n" : ",%s,%s,%s,%s\n", "cycles", "speedup", "remote",
	        "network bytes");
	for (uint32_t n = 0; n < jobs->count; n++) {
		const struct sim_job *j = &jobs->job[n], *first = &jobs->job[n - n % combinations(q)];
		const double cycles = sim_job_counter(j, "kernel_cycles");

		fprintf(to, table ? "%-10s" : "%s", j->workload->name);
		for (uint32_t k = 0; k < q->varieds; k++)
			fprintf(to, table ? " %16s" : ",%s", value_of(q, n % combinations(q), k));
		fprintf(to, table ? " %12.0f %8.3f %12.0f %14.0f\n" : ",%.0f,%.6f,%.0f,%.0f\n", cycles,
		        cycles ? sim_job_counter(first, "kernel_cycles") / cycles : 0,
		        sim_job_counter(j, "remote_transactions"), sim_job_counter(j, "net_bytes"));
	}
}

static int write_csv(const struct request *q, const struct sim_jobs *jobs, struct gn_error *e)
{
	char path[512], *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	int rc;

	snprintf(path, sizeof path, "%s/sweep.csv", q->folder);
	if (!to)
		return gn_error_set(e, -GN_ENOMEM, "%s: out of memory", path);
	write_rows(q, jobs, to, false);
	rc = fclose(to) ? gn_error_set(e, -GN_ENOMEM, "%s: out of memory", path)
	                : tool_write_file(path, text, bytes, e);
	free(text);
	return rc;
}

static json_t *all_results(const struct sim_jobs *jobs)
{
	json_t *all = json_array();

	for (uint32_t k = 0; k < jobs->count; k++)
		json_array_append(all, jobs->job[k].result);
	return json_pack("{s:s, s:o}", "schema", "grapnel-sim-sweep-1", "runs", all);
}

int tool_sim_sweep(int argc, char **argv)
{
	struct sim_jobs jobs;
	struct request q;
	struct gn_error e;
	int rc;

	memset(&jobs, 0, sizeof jobs);
	memset(&q, 0, sizeof q);
	q.folder = "sim-sweep";
	q.jobs = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	rc = add_all(&q, &jobs, &e);
	if (!rc)
		rc = sim_jobs_run(&jobs, q.folder, q.jobs, &e);
	if (!rc)
		rc = write_csv(&q, &jobs, &e);
	if (!rc && q.json)
		rc = tool_write_json(all_results(&jobs), q.json, &e);
	if (!rc && !tool_to_stdout(q.json))
		write_rows(&q, &jobs, stdout, true);
	sim_jobs_fini(&jobs);
	for (uint32_t k = 0; k < q.varieds; k++)
		free(q.varied[k].text);
	return rc ? tool_fail("sim sweep", &e) : TOOL_OK;
}
