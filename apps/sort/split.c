/* SPDX-License-Identifier: Apache-2.0 */
/* Where the buckets begin in each run. */
#include <stdlib.h>
#include <string.h>

#include "job.h"

struct sample {
	uint64_t key;
	uint32_t run;
	uint32_t number; /* in the run */
};

static int compare_samples(const void *a, const void *b)
{
	const struct sample *p = (const struct sample *)a, *q = (const struct sample *)b;

	if (p->key != q->key)
		return p->key < q->key ? -1 : 1;
	if (p->run != q->run)
		return p->run < q->run ? -1 : 1;
	return p->number < q->number ? -1 : p->number > q->number;
}

static int out_of_memory(struct gn_error *error)
{
	return gn_error_set(error, -GN_ENOMEM, "sort: out of memory for samples; sort fewer runs");
}

static int machine_failed(int rc, struct gn_error *error)
{
	return gn_error_prefix(error, rc, "sort");
}

/* ---- samples ---- */

static uint64_t count_samples(const struct gn_sort_job *j)
{
	const uint64_t last = j->sort->plan.runs - 1;

	return last * gn_sort_job_samples(j, 0) + gn_sort_job_samples(j, last);
}

/* All samples as the machine has them; owned by the caller. */
static int fetch_keys(const struct gn_sort_job *j, uint64_t **keys, uint64_t samples, struct gn_error *error)
{
	int rc;

	*keys = (uint64_t *)malloc(samples * sizeof **keys);
	if (!*keys)
		return out_of_memory(error);
	rc = machine_failed(simt_move(j->machine, *keys, j->samples, samples * sizeof **keys, error), error);
	if (rc)
		free(*keys);
	return rc;
}

/* The samples in their order; owned by the caller. */
static int sort_samples(const struct gn_sort_job *j, struct sample **sorted, uint64_t samples,
                        struct gn_error *error)
{
	const uint64_t each = gn_sort_job_samples(j, 0);
	uint64_t *keys;
	int rc = fetch_keys(j, &keys, samples, error);

	if (rc)
		return rc;
	*sorted = (struct sample *)malloc(samples * sizeof **sorted);
	for (uint64_t s = 0; s < samples && *sorted; s++) {
		(*sorted)[s].key = keys[s];
		(*sorted)[s].run = (uint32_t)(s / each);
		(*sorted)[s].number = (uint32_t)(s % each);
	}
	free(keys);
	if (!*sorted)
		return out_of_memory(error);
	qsort(*sorted, samples, sizeof **sorted, compare_samples);
	return 0;
}

/* ---- splitters ---- */

static int tables_alloc(struct gn_sort_job *j, uint64_t samples, struct gn_error *error)
{
	const struct gn_sort_plan *plan = &j->sort->plan;
	uint64_t buckets = samples / plan->bucket_samples;

	buckets += samples % plan->bucket_samples != 0;
	j->result->buckets = buckets;
	j->splitter = (struct gn_sort_splitter *)malloc(buckets * sizeof *j->splitter);
	j->place = (uint64_t *)calloc((buckets + 1) * plan->runs, sizeof *j->place);
	return j->splitter && j->place ? 0 : out_of_memory(error);
}

/* A bucket begins at every bucket_samples-th sample. Its row of places tells how many samples each run has
 * before. */
static void choose(struct gn_sort_job *j, const struct sample *sorted, uint64_t samples)
{
	const uint64_t runs = j->sort->plan.runs, step = j->sort->plan.bucket_samples;
	uint64_t *before = j->place + j->result->buckets * runs; /* the last row: at last, all samples */

	for (uint64_t s = 0; s < samples; s++) {
		if (s % step == 0) {
			j->splitter[s / step].key = sorted[s].key;
			j->splitter[s / step].run = sorted[s].run;
			memcpy(j->place + s / step * runs, before, runs * sizeof *before);
		}
		before[sorted[s].run]++;
	}
	for (uint64_t run = 0; run < runs; run++)
		before[run] = gn_sort_job_run_keys(j, run);
}

/* ---- places ---- */

static int launch_split(struct gn_sort_job *j, struct gn_sort_split_args *a, struct gn_error *error)
{
	const uint64_t places = a->splitters * a->run_count;
	int rc = simt_move(j->machine, a->splitter, j->splitter, a->splitters * sizeof *a->splitter, error);

	if (!rc)
		rc = simt_move(j->machine, a->place, j->place, places * sizeof *a->place, error);
	rc = machine_failed(rc, error);
	if (!rc)
		rc = gn_sort_job_launch(j, &gn_sort_split_kernel, places / j->info.warp_width + 1, a, error);
	if (!rc)
		rc = gn_array_failure(&a->runs, error);
	if (rc)
		return rc;
	rc = simt_move(j->machine, j->place, a->place, places * sizeof *a->place, error);
	return machine_failed(rc, error);
}

/* The machine's threads look in the runs for the places, many side by side. */
static int find_places(struct gn_sort_job *j, struct gn_error *error)
{
	const struct gn_sort_plan *plan = &j->sort->plan;
	const uint64_t buckets = j->result->buckets;
	struct gn_sort_split_args a;
	int rc;

	memset(&a, 0, sizeof a);
	a.splitter = (struct gn_sort_splitter *)simt_alloc(j->machine, buckets * sizeof *a.splitter,
	                                                   SIMT_DEVICE, error);
	a.place =
	    (uint64_t *)simt_alloc(j->machine, buckets * plan->runs * sizeof *a.place, SIMT_DEVICE, error);
	a.runs = j->sort->runs;
	a.splitters = buckets;
	a.run_count = plan->runs;
	a.run_keys = plan->run_keys;
	a.interval = plan->interval;
	a.key_bytes = j->key_bytes;
	rc = a.splitter && a.place ? launch_split(j, &a, error) : out_of_memory(error);
	simt_free(j->machine, a.splitter);
	simt_free(j->machine, a.place);
	return rc;
}

int gn_sort_job_split(struct gn_sort_job *j, struct gn_error *error)
{
	const uint64_t samples = count_samples(j);
	struct sample *sorted;
	int rc = sort_samples(j, &sorted, samples, error);

	if (rc)
		return rc;
	rc = tables_alloc(j, samples, error);
	if (!rc)
		choose(j, sorted, samples);
	free(sorted);
	return rc ? rc : find_places(j, error);
}
