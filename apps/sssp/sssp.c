/* SPDX-License-Identifier: Apache-2.0 */
#include "sssp/sssp.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "sssp/kernels.h"

struct job {
	struct gn_scanner scanner;
	struct gn_sssp_args args;
	struct gn_sssp_counts counts; /* the host's copy between the steps */
	uint32_t *lists[2];           /* the near pile and the next one */
	struct gn_sssp_result *result;
	const struct gn_sssp_options *options;
	const struct gn_progress *progress;
	int is_f32;
};

static float float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static double number_of(int is_f32, uint32_t length)
{
	return is_f32 ? (double)float_of(length) : (double)length;
}

/* Digits that tell each length from all others. */
static int digits_of(int is_f32)
{
	return is_f32 ? 9 : 10;
}

/* ---- memory ---- */

static void *device(const struct job *j, uint64_t count)
{
	return simt_alloc(j->scanner.machine, count * sizeof(uint32_t), SIMT_DEVICE, NULL);
}

static int allocate(struct job *j, struct gn_error *error)
{
	struct gn_sssp_args *a = &j->args;
	const uint64_t vertices = j->scanner.graph->vertices;
	int rc;

	a->capacity = vertices / GN_SSSP_DENSE + 1;
	a->sample = (uint32_t *)device(j, GN_SSSP_SAMPLES);
	a->counts =
	    (struct gn_sssp_counts *)simt_alloc(j->scanner.machine, sizeof *a->counts, SIMT_DEVICE, error);
	j->lists[0] = (uint32_t *)device(j, a->capacity);
	j->lists[1] = (uint32_t *)device(j, a->capacity);
	if (!a->sample || !a->counts || !j->lists[0] || !j->lists[1])
		return gn_error_set(error, -GN_ENOMEM,
		                    "sssp: out of memory on the machine for the near piles of %llu vertices",
		                    (unsigned long long)vertices);
	rc = gn_state_init(&j->scanner, &a->length, sizeof(uint32_t), error);
	if (!rc)
		rc = gn_state_init(&j->scanner, &a->read, sizeof(uint32_t), error);
	return rc ? rc : gn_state_init(&j->scanner, &a->mark, sizeof(uint32_t), error);
}

static void free_job(struct job *j)
{
	struct simt_machine *machine = j->scanner.machine;

	simt_free(machine, j->args.sample);
	simt_free(machine, j->args.counts);
	simt_free(machine, j->lists[0]);
	simt_free(machine, j->lists[1]);
	gn_scanner_fini(&j->scanner, &j->args.scan);
}

/* Nothing is reached but the source, which is the first near pile. length serves as a host buffer. */
static int start(struct job *j, uint64_t source, uint32_t *length, struct gn_error *error)
{
	const uint64_t vertices = j->scanner.graph->vertices;
	const uint32_t vertex = (uint32_t)source;
	int rc;

	for (uint64_t v = 0; v < vertices; v++)
		length[v] = j->args.none;
	rc = gn_state_write(&j->scanner, &j->args.read, length, error);
	length[source] = 0;
	if (!rc)
		rc = gn_state_write(&j->scanner, &j->args.length, length, error);
	if (rc)
		return rc;
	rc = simt_move(j->scanner.machine, j->lists[0], &vertex, sizeof vertex, error);
	j->scanner.shared.found = 1;
	return gn_scanner_machine(&j->scanner, rc, error);
}

/* ---- the width of a step ---- */

/* The mean of the weights that were drawn, or of a sample. What is no weight counts as 0 here. */
static int mean_weight(struct job *j, double *mean, struct gn_error *error)
{
	const uint32_t too_much = j->is_f32 ? GN_SSSP_NONE_F32 : 0x80000000u;
	uint32_t sample[GN_SSSP_SAMPLES];
	int rc;

	*mean = (j->args.most + 1.0) / 2;
	if (!j->scanner.graph->weight || !j->scanner.graph->edges)
		return 0;
	rc = gn_scanner_run(&j->scanner, &j->args.scan, &gn_sssp_sample_kernel, GN_SSSP_SAMPLES, error);
	if (rc)
		return rc;
	rc = simt_move(j->scanner.machine, sample, j->args.sample, sizeof sample, error);
	*mean = 0;
	for (uint32_t k = 0; k < GN_SSSP_SAMPLES && !rc; k++)
		*mean += sample[k] < too_much ? number_of(j->is_f32, sample[k]) / GN_SSSP_SAMPLES : 0;
	return gn_scanner_machine(&j->scanner, rc, error);
}

/*
 * Davidson and others: the width of a warp times the mean weight over the mean number of edges of a vertex.
 * 32 whatever the width is, so that runs can be compared.
 */
static int choose_delta(struct job *j, struct gn_error *error)
{
	const struct gn_graph_arrays *g = j->scanner.graph;
	double mean, delta;
	const int rc = mean_weight(j, &mean, error);

	if (rc)
		return rc;
	delta = g->edges ? 32 * mean * (double)g->vertices / (double)g->edges : 0;
	if (!j->is_f32)
		delta = fmax(1, floor(delta));
	j->result->delta = delta > 0 ? fmin(delta, FLT_MAX) : 1;
	return 0;
}

static int set_delta(struct job *j, double delta, struct gn_error *error)
{
	if (delta == 0)
		return choose_delta(j, error);
	if (!(delta > 0 && delta <= (double)FLT_MAX))
		return gn_error_set(error, -GN_EINVAL,
		                    "sssp: delta %g: give a number above 0 and at most 3.4e38", delta);
	if (!j->is_f32 && delta < 1)
		return gn_error_set(error, -GN_EINVAL,
		                    "sssp: delta %g: the weights are whole numbers; give 1 or more", delta);
	j->result->delta = delta;
	return 0;
}

/* A border that is above least. */
static uint32_t border_above(const struct job *j, uint32_t least)
{
	const uint32_t none = j->args.none;
	double border = (double)least + j->result->delta;
	uint32_t bits;

	if (!j->is_f32)
		return border < none ? (uint32_t)border : none;
	border = (double)float_of(least) + j->result->delta;
	bits = border < (double)FLT_MAX ? bits_of((float)border) : none;
	return bits > least ? bits : least + 1;
}

/* ---- rounds ---- */

static int tell(struct job *j, uint64_t near, struct gn_error *error)
{
	const uint32_t border = j->args.border;
	struct gn_graph_step step = {0};

	step.number = (uint32_t)(j->result->launches - 1);
	step.frontier = near;
	step.measure = border < j->args.none ? number_of(j->is_f32, border) : (double)INFINITY;
	return gn_scanner_tell(&j->scanner, &step, error);
}

/* Read the lists of the near pile, which has scanner.shared.found vertices. */
static int relax(struct job *j, struct gn_error *error)
{
	const uint64_t near = j->scanner.shared.found;
	struct gn_scanner *s = &j->scanner;
	struct gn_sssp_args *a = &j->args;
	int rc;

	a->dense = near > a->capacity;
	a->list = j->lists[a->round & 1];
	a->round++;
	a->next = j->lists[a->round & 1];
	j->scanner.shared.found = 0;
	j->result->launches++;
	rc = gn_scanner_lists(s, &a->scan,
	                      a->dense ? GN_SCAN_LISTS_FOR(s, gn_sssp_relax)
	                               : GN_SCAN_KERNEL_FOR(s, gn_sssp_relax),
	                      GN_SCAN_KERNEL_FOR(s, gn_sssp_relax_chunks),
	                      a->dense ? gn_scanner_items(s, GN_SCAN_BY_START) : near, error);
	return rc ? rc : tell(j, near, error);
}

static int move_counts(struct job *j, int to_device, struct gn_error *error)
{
	struct gn_sssp_counts *there = j->args.counts;
	const size_t bytes = sizeof *there;
	const int rc = to_device ? simt_move(j->scanner.machine, there, &j->counts, bytes, error)
	                         : simt_move(j->scanner.machine, &j->counts, there, bytes, error);

	return gn_scanner_machine(&j->scanner, rc, error);
}

/* A step is over: nothing is near. What is near behind the next border becomes the near pile. */
static int split(struct job *j, struct gn_error *error)
{
	struct gn_sssp_args *a = &j->args;
	int rc;

	a->border = border_above(j, j->counts.least);
	j->counts.least = a->none;
	rc = move_counts(j, 1, error);
	if (rc)
		return rc;
	a->next = j->lists[a->round & 1];
	j->scanner.shared.found = 0;
	return gn_scanner_run(&j->scanner, &a->scan, GN_SCAN_KERNEL_FOR(&j->scanner, gn_sssp_split),
	                      j->scanner.graph->vertices, error);
}

static int step(struct job *j, struct gn_error *error)
{
	int rc = 0;

	j->result->buckets += j->scanner.shared.found != 0;
	while (!rc && j->scanner.shared.found)
		rc = relax(j, error);
	if (!rc)
		rc = move_counts(j, 0, error);
	gn_progress_step(j->progress, "searching", j->counts.reached, j->scanner.graph->vertices);
	return rc;
}

static int run(struct job *j, struct gn_error *error)
{
	const double begin = gn_scanner_clock();
	int rc;

	gn_scanner_listen(&j->scanner, &j->options->listener);
	j->counts.least = j->args.none;
	j->args.border = border_above(j, 0);
	rc = move_counts(j, 1, error);
	if (!rc)
		rc = step(j, error);
	while (!rc && j->counts.least < j->args.none) {
		rc = split(j, error);
		if (!rc)
			rc = step(j, error);
	}
	j->result->seconds = gn_scanner_clock() - begin;
	j->result->edges = j->scanner.shared.edges;
	j->result->reached = j->counts.reached;
	j->result->edges_needed = j->counts.edges;
	return rc;
}

/* ---- results ---- */

static int finish(struct job *j, uint32_t *length, struct gn_error *error)
{
	const uint64_t vertices = j->scanner.graph->vertices;
	uint32_t farthest = 0;
	const int rc = gn_state_read(&j->scanner, &j->args.length, length, error);

	if (rc)
		return rc;
	for (uint64_t v = 0; v < vertices; v++) {
		if (length[v] == j->args.limit)
			return gn_error_set(
			    error, -GN_EFBIG,
			    "sssp: the shortest way to vertex %llu has the length %.*g or more, "
			    "which is not held; give smaller weights",
			    (unsigned long long)v, digits_of(j->is_f32), number_of(j->is_f32, length[v]));
		if (length[v] != j->args.none && length[v] > farthest)
			farthest = length[v];
	}
	j->result->farthest = number_of(j->is_f32, farthest);
	return 0;
}

static void set_up(struct job *j, const struct gn_sssp_options *options)
{
	j->args.none = j->is_f32 ? GN_SSSP_NONE_F32 : GN_SSSP_NONE;
	j->args.limit = j->args.none - 1;
	j->args.most = options->most ? options->most : 1;
}

int gn_sssp(struct simt_machine *machine, struct gn_graph_arrays *graph,
            const struct gn_sssp_options *options, uint32_t *length, struct gn_sssp_result *result,
            const struct gn_progress *progress, struct gn_error *error)
{
	struct job j;
	int rc;

	memset(&j, 0, sizeof j);
	memset(result, 0, sizeof *result);
	if (options->source >= graph->vertices)
		return gn_error_set(
		    error, -GN_ERANGE,
		    "sssp: source %llu is not a vertex; the graph has %llu vertices, numbered "
		    "from 0",
		    (unsigned long long)options->source, (unsigned long long)graph->vertices);
	j.result = result;
	j.options = options;
	j.progress = progress;
	j.is_f32 = graph->weight == GN_WEIGHT_F32;
	set_up(&j, options);
	rc = gn_scanner_init(&j.scanner, &j.args.scan, machine, graph, "sssp", error);
	if (!rc)
		rc = allocate(&j, error);
	if (!rc)
		rc = set_delta(&j, options->delta, error);
	if (!rc)
		rc = start(&j, options->source, length, error);
	if (!rc)
		rc = run(&j, error);
	if (!rc)
		rc = finish(&j, length, error);
	free_job(&j);
	return rc;
}

/* ---- against the reference ---- */

static uint32_t narrow(uint64_t length, uint32_t weight)
{
	const uint32_t none = weight == GN_WEIGHT_F32 ? GN_SSSP_NONE_F32 : GN_SSSP_NONE;

	return length < none ? (uint32_t)length : none;
}

int gn_sssp_verify(const uint32_t *got, const uint64_t *want, uint64_t vertices, uint32_t weight,
                   struct gn_error *error)
{
	const int is_f32 = weight == GN_WEIGHT_F32, digits = digits_of(is_f32);
	uint64_t first = vertices, differ = 0;

	for (uint64_t v = vertices; v--;) {
		if (got[v] == narrow(want[v], weight))
			continue;
		first = v;
		differ++;
	}
	if (!differ)
		return 0;
	return gn_error_set(
	    error, -GN_EBADMSG,
	    "the way to vertex %llu has length %.*g, but the reference says %.*g; %llu of %llu "
	    "vertices differ: the lengths are wrong; please report it",
	    (unsigned long long)first, digits, number_of(is_f32, got[first]), digits,
	    number_of(is_f32, narrow(want[first], weight)), (unsigned long long)differ,
	    (unsigned long long)vertices);
}
