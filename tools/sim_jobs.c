/* SPDX-License-Identifier: Apache-2.0 */
#include "sim_jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef GRAPNEL_VERSION
#define GRAPNEL_VERSION "unknown"
#endif

/* ---- what is to be done ---- */

int sim_jobs_add(struct sim_jobs *jobs, const struct sim_workload *workload, const struct tool_sim *sim)
{
	if (jobs->count == jobs->room) {
		const uint32_t room = 2 * jobs->room + 16;
		struct sim_job *job = (struct sim_job *)realloc(jobs->job, room * sizeof *job);

		if (!job)
			return -GN_ENOMEM;
		jobs->job = job;
		jobs->room = room;
	}
	memset(&jobs->job[jobs->count], 0, sizeof *jobs->job);
	jobs->job[jobs->count].workload = workload;
	jobs->job[jobs->count].sim = *sim;
	return (int)jobs->count++;
}

/* A text that lives as long as the jobs. */
static const char *keep(struct sim_jobs *jobs, const char *name, const char *value)
{
	char **text = (char **)realloc(jobs->text, (jobs->texts + 1) * sizeof *text);
	char *line = NULL;

	if (!text)
		return NULL;
	jobs->text = text;
	if (asprintf(&line, "%s%s%s", name, *name ? "=" : "", value) < 0)
		return NULL;
	return jobs->text[jobs->texts++] = line;
}

int sim_jobs_vary(struct sim_jobs *jobs, uint32_t k, const char *name, const char *value)
{
	struct tool_sim *s = &jobs->job[k].sim;
	const bool special = !strcmp(name, "opt") || !strcmp(name, "size") || !strcmp(name, "seed");
	const char *text = keep(jobs, special ? "" : name, value);

	if (!text)
		return -GN_ENOMEM;
	if (!strcmp(name, "seed") && (!*value || value[strspn(value, "0123456789")]))
		return -GN_EINVAL;
	if (!strcmp(name, "opt"))
		s->opt = text;
	else if (!strcmp(name, "size"))
		s->request.size = text;
	else if (!strcmp(name, "seed"))
		s->request.seed = strtoull(text, NULL, 10);
	else if (s->sets == TOOL_SIM_SETS)
		return -GN_EINVAL;
	else
		s->set[s->sets++] = text;
	return 0;
}

void sim_jobs_fini(struct sim_jobs *jobs)
{
	for (uint32_t k = 0; k < jobs->count; k++) {
		free(jobs->job[k].key);
		json_decref(jobs->job[k].result);
	}
	for (uint32_t k = 0; k < jobs->texts; k++)
		free(jobs->text[k]);
	free(jobs->text);
	free(jobs->job);
	memset(jobs, 0, sizeof *jobs);
}

double sim_job_counter(const struct sim_job *job, const char *name)
{
	return json_number_value(json_object_get(job->result, name));
}

/* ---- files ---- */

/* FNV-1a of some bytes more. */
static uint64_t hash_on(uint64_t h, const char *bytes, size_t count)
{
	for (size_t k = 0; k < count; k++)
		h = (h ^ (unsigned char)bytes[k]) * UINT64_C(0x100000001b3);
	return h;
}

static const uint64_t hash_of_nothing = UINT64_C(0xcbf29ce484222325);

/* What a file holds; its name's ending, which says how it is read, is part of the key by itself. */
static int hash_file(const char *path, uint64_t *h, struct gn_error *e)
{
	FILE *f = fopen(path, "r");
	char bytes[65536];
	size_t count;
	int rc = 0;

	if (!f)
		return gn_error_set(e, -GN_ENOENT, "%s: %s", path, strerror(errno));
	for (*h = hash_of_nothing; (count = fread(bytes, 1, sizeof bytes, f));)
		*h = hash_on(*h, bytes, count);
	if (ferror(f))
		rc = gn_error_set(e, -GN_EIO, "%s: the file cannot be read", path);
	fclose(f);
	return rc;
}

static const char *ending(const char *path)
{
	const char *name = strrchr(path, '/'), *dot = strchr(name ? name : path, '.');

	return dot ? dot : "";
}

static int put_input(const struct sim_job *j, FILE *to, struct gn_error *e)
{
	const char *input = j->sim.request.input;
	uint64_t h = 0;
	int rc = input ? hash_file(input, &h, e) : 0;
	char *end = input ? tool_utf8(ending(input), strlen(ending(input))) : NULL;

	if (input && !end)
		rc = gn_error_set(e, -GN_ENOMEM, "out of memory for the name of %s", input);
	if (end)
		fprintf(to, " input=%016" PRIx64 "%s", h, end);
	free(end);
	return rc;
}

static int make_key(struct sim_job *j, const struct sim_config *config, struct gn_error *e)
{
	const struct sim_request *q = &j->sim.request;
	const struct sim_key *key;
	size_t bytes = 0;
	char value[64];
	FILE *to = open_memstream(&j->key, &bytes);
	int rc;

	if (!to)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for the runs; give fewer");
	fprintf(to, GRAPNEL_VERSION " %s size=%s seed=%" PRIu64, j->workload->name, q->size ? q->size : "",
	        q->seed);
	rc = put_input(j, to, e);
	for (uint32_t k = 0; (key = sim_key_at(k)); k++)
		fprintf(to, " %s=%s", key->name, sim_key_text(config, key, value, sizeof value));
	return fclose(to) ? gn_error_set(e, -GN_ENOMEM, "out of memory for the runs; give fewer") : rc;
}

/* Names only need to differ; the file holds the whole key. */
static uint64_t hash(const char *text)
{
	return hash_on(hash_of_nothing, text, strlen(text));
}

static int prepare(struct sim_jobs *jobs, uint32_t k, const char *folder, struct gn_error *e)
{
	struct sim_job *j = &jobs->job[k];
	struct sim_config config;
	int rc = tool_sim_configure(&j->sim, &config, e);

	rc = rc ? rc : make_key(j, &config, e);
	if (rc)
		return rc;
	if ((size_t)snprintf(j->path, sizeof j->path, "%s/%s-%016" PRIx64 ".json", folder, j->workload->name,
	                     hash(j->key)) >= sizeof j->path)
		return gn_error_set(e, -GN_EINVAL,
		                    "%s: the name of the folder is too long; give a shorter one", folder);
	j->first = true;
	for (uint32_t n = 0; n < k && j->first; n++)
		j->first = strcmp(jobs->job[n].path, j->path) != 0;
	return 0;
}

/* What was simulated before, if it is the same thing. */
static void load(struct sim_job *j)
{
	json_t *root = json_load_file(j->path, 0, NULL);
	const char *key = json_string_value(json_object_get(root, "key"));

	if (key && !strcmp(key, j->key) && json_is_true(json_object_get(root, "verified")))
		j->result = root;
	else
		json_decref(root);
}

/* ---- processes ---- */

static int simulate(const struct sim_job *j)
{
	struct tool_sim_result r;
	struct gn_error e;
	json_t *root;
	int rc = tool_sim_simulate(&j->sim, j->workload, &r, &e);

	if (!rc) {
		rc = r.checked.code;
		e = r.checked;
		root = tool_sim_report(&j->sim, j->workload, &r);
		json_object_set_new(root, "key", json_string(j->key));
		if (!rc)
			rc = tool_write_json(root, j->path, &e);
		else
			json_decref(root);
	}
	if (rc)
		fprintf(stderr, "grapnel sim: %s: %s\n", j->workload->name, e.text);
	return rc ? TOOL_FAILED : TOOL_OK;
}

static int begin(const struct sim_job *j)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child)
		_exit(simulate(j));
	return child < 0 ? -GN_EAGAIN : 0;
}

static int run_missing(struct sim_jobs *jobs, uint32_t missing, uint32_t parallel, struct gn_error *e)
{
	uint32_t running = 0, done = 0, next = 0;
	struct tool_bar bar;
	struct gn_progress progress = tool_bar_begin(&bar);
	int rc = 0;

	while (done < missing) {
		while (!rc && running < parallel && next < jobs->count) {
			const struct sim_job *j = &jobs->job[next++];

			if (!j->first || j->result)
				continue;
			rc = begin(j);
			running += !rc;
		}
		if (!running || wait(NULL) < 0)
			break;
		running--;
		done++;
		if (progress.step)
			progress.step(progress.user, "simulations", done, missing);
	}
	tool_bar_end(&bar);
	return rc ? gn_error_set(e, rc,
	                         "the system cannot start another process; run the command again with a "
	                         "smaller --jobs")
	          : 0;
}

int sim_jobs_run(struct sim_jobs *jobs, const char *folder, uint32_t parallel, struct gn_error *e)
{
	uint32_t missing = 0, failed = 0;
	int rc = 0;

	if (mkdir(folder, 0777) && errno != EEXIST)
		return gn_error_set(e, -GN_EIO, "%s: the folder cannot be made", folder);
	for (uint32_t k = 0; k < jobs->count && !rc; k++) {
		rc = prepare(jobs, k, folder, e);
		if (!rc)
			load(&jobs->job[k]);
		missing += jobs->job[k].first && !jobs->job[k].result;
	}
	if (!rc)
		rc = run_missing(jobs, missing, parallel, e);
	for (uint32_t k = 0; k < jobs->count && !rc; k++) {
		if (!jobs->job[k].result)
			load(&jobs->job[k]);
		failed += !jobs->job[k].result;
	}
	if (!rc && failed)
		rc = gn_error_set(e, -GN_EIO,
		                  "%u of %u simulations failed, see the messages above; the results of the "
		                  "others are in %s",
		                  failed, jobs->count, folder);
	return rc;
}
