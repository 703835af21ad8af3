/* SPDX-License-Identifier: Apache-2.0 */
#include "cc.h"

#include <stdlib.h>
#include <string.h>

#include "kernels.h"

struct job {
	struct gn_scanner scanner;
	struct gn_cc_args args;
	struct gn_cc_result *result;
	const struct gn_progress *progress;
	uint64_t hooks; /* of all passes: so many vertices are no roots any more */
};

static void free_job(struct job *j)
{
	simt_free(j->scanner.machine, j->args.sample);
	gn_scanner_fini(&j->scanner, &j->args.scan);
}

static int allocate(struct job *j, struct gn_error *error)
{
	struct simt_machine *machine = j->scanner.machine;

	j->args.sample =
	    (uint32_t *)simt_alloc(machine, GN_CC_SAMPLES * sizeof *j->args.sample, SIMT_DEVICE, error);
	if (!j->args.sample)
		return gn_error_set(error, -GN_ENOMEM, "cc: out of memory on the machine for a sample");
	return gn_state_init(&j->scanner, &j->args.label, sizeof(uint32_t), error);
}

/* Every vertex is a component of its own. label serves as a host buffer. */
static int start(struct job *j, uint32_t *label, struct gn_error *error)
{
	const uint64_t vertices = j->scanner.graph->vertices;

	for (uint64_t v = 0; v < vertices; v++)
		label[v] = (uint32_t)v;
	return gn_state_write(&j->scanner, &j->args.label, label, error);
}

/* ---- passes over the graph ---- */

static int tell(struct job *j, struct gn_error *error)
{
	struct gn_graph_step step = {0};

	step.number = j->result->iterations - 1;
	step.frontier = j->scanner.graph->vertices;
	step.count = j->scanner.shared.found;
	return gn_scanner_tell(&j->scanner, &step, error);
}

/* Edges begin to end - 1 of each list, and then the labels are roots again. */
static int pass(struct job *j, const struct simt_kernel *lists, const struct simt_kernel *chunks,
                uint64_t begin, uint64_t end, struct gn_error *error)
{
	const uint64_t vertices = j->scanner.graph->vertices;
	int rc;

	gn_progress_step(j->progress, "joining", j->hooks, vertices);
	j->args.begin = begin;
	j->args.end = end;
	j->scanner.shared.found = 0;
	rc = gn_scanner_lists(&j->scanner, &j->args.scan, lists, chunks,
	                      gn_scanner_items(&j->scanner, GN_SCAN_BY_CHUNK), error);
	if (!rc)
		rc = gn_scanner_run(&j->scanner, &j->args.scan,
		                    GN_SCAN_KERNEL_FOR(&j->scanner, gn_cc_compress), vertices, error);
	j->hooks += j->scanner.shared.found;
	j->result->iterations++;
	return rc ? rc : tell(j, error);
}

static int run_sv(struct job *j, struct gn_error *error)
{
	int rc;

	do
		rc = pass(j, GN_SCAN_LISTS_FOR(&j->scanner, gn_cc_hook),
		          GN_SCAN_KERNEL_FOR(&j->scanner, gn_cc_hook_chunks), 0, UINT64_MAX, error);
	while (!rc && j->scanner.shared.found);
	return rc;
}

static int by_value(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static uint32_t most_frequent(uint32_t *sample)
{
	uint32_t best = 0, most = 0, count = 0;

	qsort(sample, GN_CC_SAMPLES, sizeof *sample, by_value);
	for (uint32_t k = 0; k < GN_CC_SAMPLES; k++) {
		count = k && sample[k] == sample[k - 1] ? count + 1 : 1;
		if (count > most) {
			most = count;
			best = sample[k];
		}
	}
	return best;
}

/* The vertices of what is probably the largest component are left out from now on. */
static int skip_largest(struct job *j, struct gn_error *error)
{
	uint32_t sample[GN_CC_SAMPLES];
	int rc = gn_scanner_run(&j->scanner, &j->args.scan, GN_SCAN_KERNEL_FOR(&j->scanner, gn_cc_sample),
	                        GN_CC_SAMPLES, error);

	if (rc)
		return rc;
	rc = simt_move(j->scanner.machine, sample, j->args.sample, sizeof sample, error);
	if (rc)
		return gn_scanner_machine(&j->scanner, rc, error);
	j->args.skip = most_frequent(sample);
	return 0;
}

/*
 * An edge out of the largest component is not seen where its list is left out. Its opposite direction is in
 * the list of a vertex that is not left out, or both ends are in the component. So each edge must be there in
 * both directions. Where that is not known no list is left out, and every edge is linked.
 */
static int run_afforest(struct job *j, int both_directions, struct gn_error *error)
{
	const struct simt_kernel *lists = GN_SCAN_LISTS_FOR(&j->scanner, gn_cc_link),
	                         *chunks = GN_SCAN_KERNEL_FOR(&j->scanner, gn_cc_link_chunks);
	int rc = pass(j, lists, chunks, 0, GN_CC_FIRST, error);

	if (!rc && both_directions)
		rc = skip_largest(j, error);
	return rc ? rc : pass(j, lists, chunks, GN_CC_FIRST, UINT64_MAX, error);
}

static int run(struct job *j, const struct gn_cc_options *options, struct gn_error *error)
{
	const double begin = gn_scanner_clock();
	int rc;

	gn_scanner_listen(&j->scanner, &options->listener);
	rc = options->algorithm == GN_CC_SV ? run_sv(j, error)
	                                    : run_afforest(j, options->both_directions, error);

	j->result->seconds = gn_scanner_clock() - begin;
	j->result->edges = j->scanner.shared.edges;
	return rc;
}

/* ---- results ---- */

static int count_components(const uint32_t *label, uint64_t vertices, struct gn_cc_result *result,
                            struct gn_error *error)
{
	uint32_t *size = (uint32_t *)calloc(vertices, sizeof *size);

	if (!size)
		return gn_error_set(error, -GN_ENOMEM, "cc: out of memory for the sizes of %llu components",
		                    (unsigned long long)vertices);
	for (uint64_t v = 0; v < vertices; v++)
		size[label[v]]++;
	for (uint64_t v = 0; v < vertices; v++) {
		result->components += size[v] != 0;
		if (size[v] > result->largest) {
			result->largest = size[v];
			result->largest_label = (uint32_t)v;
		}
	}
	free(size);
	return 0;
}

int gn_cc(struct simt_machine *machine, struct gn_graph_arrays *graph, const struct gn_cc_options *options,
          uint32_t *label, struct gn_cc_result *result, const struct gn_progress *progress,
          struct gn_error *error)
{
	struct job j;
	int rc;

	memset(&j, 0, sizeof j);
	memset(result, 0, sizeof *result);
	if (!graph->vertices)
		return 0;
	j.result = result;
	j.progress = progress;
	j.args.skip = (uint32_t)GN_CC_NONE;
	rc = gn_scanner_init(&j.scanner, &j.args.scan, machine, graph, "cc", error);
	if (!rc)
		rc = allocate(&j, error);
	if (!rc)
		rc = start(&j, label, error);
	if (!rc)
		rc = run(&j, options, error);
	if (!rc)
		rc = gn_state_read(&j.scanner, &j.args.label, label, error);
	if (!rc)
		rc = count_components(label, graph->vertices, result, error);
	free_job(&j);
	return rc;
}
