/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of a job in a process of its own, so that no run finds what another left in memory. What the process
 * writes goes to files without a name.
 */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sweep.h"

extern char **environ;

/* What the sweep adds to a job's arguments. */
enum { ADDED = 8 };

struct command {
	char **word;
	char cache[24];
};

/* The sweep's options come first: behind a "--" of the job they would be arguments. */
static int make_command(struct command *c, const struct sweep_request *q, const struct sweep_point *p,
                        bool verify, struct gn_error *e)
{
	size_t words = 0, n = 0;

	while (q->job[words])
		words++;
	c->word = (char **)malloc((words + ADDED) * sizeof *c->word);
	if (!c->word)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for the command line of a run");
	c->word[n++] = (char *)"grapnel";
	c->word[n++] = q->job[0];
	c->word[n++] = (char *)"--json=-";
	if (p && p->baseline) {
		c->word[n++] = (char *)"--baseline";
		c->word[n++] = (char *)(uintptr_t)p->baseline;
	} else if (p) {
		snprintf(c->cache, sizeof c->cache, "%llu", (unsigned long long)p->cache_bytes);
		c->word[n++] = (char *)"--cache";
		c->word[n++] = c->cache;
	}
	if (verify)
		c->word[n++] = (char *)"--verify";
	if (p && p->baseline)
		sweep_baseline_words(c->word + n, q->job + 1);
	else
		memcpy(c->word + n, q->job + 1, words * sizeof *c->word);
	return 0;
}

static int cannot_start(int code, struct gn_error *e)
{
	return gn_error_set(e, -GN_EAGAIN, "a run cannot be started: %s", strerror(code));
}

static int spawn(char *const *word, FILE *out, FILE *err, pid_t *child, struct gn_error *e)
{
	posix_spawn_file_actions_t actions;
	int code = posix_spawn_file_actions_init(&actions);

	if (code)
		return cannot_start(code, e);
	code = posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
	if (!code)
		code = posix_spawn_file_actions_adddup2(&actions, fileno(err), STDERR_FILENO);
	if (!code)
		code = posix_spawn(child, "/proc/self/exe", &actions, NULL, word, environ);
	posix_spawn_file_actions_destroy(&actions);
	return code ? cannot_start(code, e) : 0;
}

static int wait_for(pid_t child, struct sweep_run *r, struct gn_error *e)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return gn_error_set(e, -GN_EIO, "a run cannot be waited for: %s", strerror(errno));
	r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return 0;
}

/* All that is in a file, as text. */
static char *text_of(FILE *f)
{
	const long bytes = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
	char *text = bytes < 0 ? NULL : (char *)malloc((size_t)bytes + 1);

	rewind(f);
	if (text)
		text[fread(text, 1, (size_t)bytes, f)] = '\0';
	return text;
}

static int run_into(char *const *word, FILE *out, FILE *err, struct sweep_run *r, struct gn_error *e)
{
	pid_t child;
	int rc = spawn(word, out, err, &child, e);

	if (!rc)
		rc = wait_for(child, r, e);
	if (rc)
		return rc;
	r->said = text_of(err);
	rewind(out);
	r->report = r->status ? NULL : json_loadf(out, 0, NULL);
	return r->said ? 0 : gn_error_set(e, -GN_ENOMEM, "out of memory for the messages of a run");
}

int sweep_run_job(const struct sweep_request *q, const struct sweep_point *p, bool verify,
                  struct sweep_run *r, struct gn_error *e)
{
	FILE *out = tmpfile(), *err = tmpfile();
	struct command c = {NULL, ""};
	int rc = out && err ? 0
	                    : gn_error_set(e, -GN_EIO, "no temporary file for the output of a run: %s",
	                                   strerror(errno));

	memset(r, 0, sizeof *r);
	if (!rc)
		rc = make_command(&c, q, p, verify, e);
	if (!rc)
		rc = run_into(c.word, out, err, r, e);
	if (out)
		fclose(out);
	if (err)
		fclose(err);
	free(c.word);
	return rc;
}

void sweep_run_free(struct sweep_run *r)
{
	json_decref(r->report);
	free(r->said);
}
