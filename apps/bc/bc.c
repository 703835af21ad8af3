/* SPDX-License-Identifier: Apache-2.0 */
#include "bc.h"

#include <stdlib.h>
#include <string.h>

#include "kernels.h"

struct job {
	struct gn_scanner scanner;
	struct gn_bc_args args;
	struct gn_bc_result *result;
	uint64_t *begin, room; /* where each level begins in order, and where the last one ends */
	uint32_t levels;
};

static void free_job(struct job *j)
{
	free(j->begin);
	gn_scanner_fini(&j->scanner, &j->args.scan);
}

static int allocate(struct job *j, struct gn_error *error)
{
	struct gn_scanner *s = &j->scanner;
	struct gn_bc_args *a = &j->args;
	int rc = gn_state_init(s, &a->depth, sizeof(uint32_t), error);

	if (!rc)
		rc = gn_state_init(s, &a->paths, sizeof(double), error);
	if (!rc)
		rc = gn_state_init(s, &a->share, sizeof(double), error);
	if (!rc)
		rc = gn_state_init(s, &a->score, sizeof(double), error);
	return rc ? rc : gn_state_init(s, &a->order, sizeof(uint32_t), error);
}

/* Room for where so many levels begin. */
static int room_for(struct job *j, uint64_t levels, struct gn_error *error)
{
	const uint64_t more = levels < 64 ? 64 : 2 * levels;
	uint64_t *begin;

	if (levels <= j->room)
		return 0;
	begin = (uint64_t *)realloc(j->begin, more * sizeof *begin);
	if (!begin)
		return gn_error_set(error, -GN_ENOMEM, "bc: out of memory for %llu levels",
		                    (unsigned long long)more);
	j->begin = begin;
	j->room = more;
	return 0;
}

/* ---- one source ---- */

/* The source is the first level, and one path leads to it. */
static int start(struct job *j, uint32_t source, struct gn_error *error)
{
	const int rc = room_for(j, 2, error);

	if (rc)
		return rc;
	j->args.source = source;
	j->begin[0] = 0;
	j->begin[1] = 1;
	j->levels = 1;
	return gn_scanner_run(&j->scanner, &j->args.scan, GN_SCAN_KERNEL_FOR(&j->scanner, gn_bc_clear),
	                      j->scanner.graph->vertices, error);
}

static uint64_t at_level(struct job *j, uint32_t level)
{
	j->args.at = level;
	j->args.level = j->begin[level];
	j->args.next = j->begin[level + 1];
	j->scanner.shared.found = 0;
	return j->begin[level + 1] - j->begin[level];
}

static int tell(struct job *j, const char *direction, uint64_t vertices, struct gn_error *error)
{
	struct gn_graph_step step = {0};

	step.number = j->args.at;
	step.direction = direction;
	step.frontier = vertices;
	step.count = j->args.source;
	return gn_scanner_tell(&j->scanner, &step, error);
}

/* A launch over the lists of a level; a large one of a balanced graph is found by its depths. */
static int read_level(struct job *j, const struct simt_kernel *lists, const struct simt_kernel *balanced,
                      const struct simt_kernel *chunks, uint64_t vertices, struct gn_error *error)
{
	struct gn_scanner *s = &j->scanner;
	const int dense = s->balanced && vertices > s->graph->vertices / GN_BC_DENSE;

	return gn_scanner_lists(s, &j->args.scan, dense ? balanced : lists, chunks,
	                        dense ? gn_scanner_items(s, GN_SCAN_BY_CHUNK) : vertices, error);
}

static int go_forward(struct job *j, struct gn_error *error)
{
	const struct gn_scanner *s = &j->scanner;

	for (;;) {
		const uint64_t vertices = at_level(j, j->levels - 1);
		int rc = read_level(j, GN_SCAN_KERNEL_FOR(s, gn_bc_forward),
		                    GN_SCAN_KERNEL_FOR(s, gn_bc_forward_balanced),
		                    GN_SCAN_KERNEL_FOR(s, gn_bc_forward_chunks), vertices, error);

		if (!rc)
			rc = tell(j, "forward", vertices, error);
		if (rc || !j->scanner.shared.found)
			return rc;
		rc = room_for(j, j->levels + UINT64_C(2), error);
		if (rc)
			return rc;
		j->begin[j->levels + 1] = j->begin[j->levels] + j->scanner.shared.found;
		j->levels++;
	}
}

static int settle(struct job *j, uint64_t vertices, struct gn_error *error)
{
	const int rc = gn_scanner_run(&j->scanner, &j->args.scan,
	                              GN_SCAN_KERNEL_FOR(&j->scanner, gn_bc_settle), vertices, error);

	if (rc || !j->scanner.shared.found)
		return rc;
	return gn_error_set(error, -GN_ERANGE,
	                    "bc: more than 2^1000 shortest paths lead to a vertex, which is too many for "
	                    "the doubles that count them; take sources from which paths are shorter");
}

/* The last level has no successors, so its lists are not read. */
static int go_back(struct job *j, struct gn_error *error)
{
	const struct gn_scanner *s = &j->scanner;
	int rc = 0;

	for (uint32_t level = j->levels; level-- > 0 && !rc;) {
		const uint64_t vertices = at_level(j, level);

		if (level + 1 < j->levels)
			rc = read_level(j, GN_SCAN_KERNEL_FOR(s, gn_bc_backward),
			                GN_SCAN_KERNEL_FOR(s, gn_bc_backward_balanced),
			                GN_SCAN_KERNEL_FOR(s, gn_bc_backward_chunks), vertices, error);
		if (!rc)
			rc = settle(j, vertices, error);
		if (!rc)
			rc = tell(j, "backward", vertices, error);
	}
	return rc;
}

static int run(struct job *j, const struct gn_bc_options *options, const struct gn_progress *progress,
               struct gn_error *error)
{
	const double begin = gn_scanner_clock();
	int rc = 0;

	gn_scanner_listen(&j->scanner, &options->listener);
	for (uint32_t k = 0; k < options->source_count && !rc; k++) {
		gn_progress_step(progress, "sources", k, options->source_count);
		rc = start(j, options->sources[k], error);
		if (!rc)
			rc = go_forward(j, error);
		if (!rc)
			rc = go_back(j, error);
		j->result->levels += j->levels;
	}
	j->result->seconds = gn_scanner_clock() - begin;
	j->result->edges = j->scanner.shared.edges;
	return rc;
}

/* ---- results ---- */

static int fetch_scores(struct job *j, float *score, struct gn_error *error)
{
	const uint64_t vertices = j->scanner.graph->vertices;
	double *sum = (double *)malloc(vertices * sizeof *sum), largest = 0;
	int rc;

	if (!sum)
		return gn_error_set(error, -GN_ENOMEM, "bc: out of memory for the scores of %llu vertices",
		                    (unsigned long long)vertices);
	rc = gn_state_read(&j->scanner, &j->args.score, sum, error);
	for (uint64_t v = 0; v < vertices && !rc; v++)
		largest = sum[v] > largest ? sum[v] : largest;
	for (uint64_t v = 0; v < vertices && !rc; v++)
		score[v] = largest > 0 ? (float)(sum[v] / largest) : 0;
	j->result->largest = largest;
	free(sum);
	return rc;
}

static int check_sources(const struct gn_graph_arrays *graph, const struct gn_bc_options *options,
                         struct gn_error *error)
{
	for (uint32_t k = 0; k < options->source_count; k++)
		if (options->sources[k] >= graph->vertices)
			return gn_error_set(error, -GN_ERANGE,
			                    "bc: source %u is not a vertex; the graph has %llu vertices, "
			                    "numbered from 0",
			                    options->sources[k], (unsigned long long)graph->vertices);
	return 0;
}

int gn_bc(struct simt_machine *machine, struct gn_graph_arrays *graph, const struct gn_bc_options *options,
          float *score, struct gn_bc_result *result, const struct gn_progress *progress,
          struct gn_error *error)
{
	struct job j;
	int rc;

	memset(&j, 0, sizeof j);
	memset(result, 0, sizeof *result);
	rc = check_sources(graph, options, error);
	if (rc || !graph->vertices)
		return rc;
	j.result = result;
	rc = gn_scanner_init(&j.scanner, &j.args.scan, machine, graph, "bc", error);
	if (!rc)
		rc = allocate(&j, error);
	if (!rc)
		rc = run(&j, options, progress, error);
	if (!rc)
		rc = fetch_scores(&j, score, error);
	free_job(&j);
	return rc;
}
