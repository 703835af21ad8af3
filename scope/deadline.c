/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/scope.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A cell on its way, which the thread and who waits for it share. The last of them frees it. */
struct job {
	pthread_mutex_t lock;
	pthread_cond_t over;
	bool done, left; /* the thread has ended; nobody waits for it any more */
	struct scope_cell cell;
	struct scope_machine machine;
	uint32_t samples;
	struct scope_result result;
};

static void job_free(struct job *j)
{
	scope_result_free(&j->result);
	pthread_cond_destroy(&j->over);
	pthread_mutex_destroy(&j->lock);
	free(j);
}

static struct job *job_make(const struct scope_cell *c, const struct scope_machine *m, uint32_t samples)
{
	struct job *j = (struct job *)calloc(1, sizeof *j);
	pthread_condattr_t clock;

	if (!j)
		return NULL;
	j->cell = *c;
	j->machine = *m;
	j->samples = samples;
	pthread_mutex_init(&j->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&j->over, &clock);
	pthread_condattr_destroy(&clock);
	return j;
}

static void *run(void *argument)
{
	struct job *j = (struct job *)argument;
	bool left;

	scope_measure(&j->cell, &j->machine, j->samples, &j->result);
	pthread_mutex_lock(&j->lock);
	j->done = true;
	left = j->left;
	pthread_cond_signal(&j->over);
	pthread_mutex_unlock(&j->lock);
	if (left)
		job_free(j);
	return NULL;
}

static struct timespec after(double seconds)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += (time_t)seconds;
	t.tv_nsec += (long)(1e9 * (seconds - (double)(time_t)seconds));
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

/* Whether the job ended in time. */
static bool await(struct job *j)
{
	const struct timespec end = after(j->machine.deadline);
	bool done;
	int rc = 0;

	pthread_mutex_lock(&j->lock);
	while (!j->done && !rc)
		rc = pthread_cond_timedwait(&j->over, &j->lock, &end);
	done = j->done;
	j->left = !done;
	pthread_mutex_unlock(&j->lock);
	return done;
}

static void failed(struct scope_result *r, const struct scope_cell *c)
{
	memset(r, 0, sizeof *r);
	r->cell = *c;
	r->status = SCOPE_FAILED;
}

bool scope_measure_within(const struct scope_cell *c, const struct scope_machine *m, uint32_t samples,
                          struct scope_result *r)
{
	struct job *j = job_make(c, m, samples);
	pthread_t thread;

	failed(r, c);
	if (!j || pthread_create(&thread, NULL, run, j)) {
		snprintf(r->why, sizeof r->why, "out of memory or threads for the measurement");
		if (j)
			job_free(j);
		return true;
	}
	if (!await(j)) {
		snprintf(r->why, sizeof r->why, "the cell was stopped because it had not ended after %g s",
		         m->deadline);
		pthread_detach(thread);
		return false;
	}
	pthread_join(thread, NULL);
	*r = j->result;
	memset(&j->result, 0, sizeof j->result);
	job_free(j);
	return true;
}
