/* SPDX-License-Identifier: Apache-2.0 */
#include "pagerank/pagerank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pagerank/kernels.h"

struct job {
	struct gn_scanner scanner;
	struct gn_pagerank_args args;
	struct gn_pagerank_counts counts; /* the host's copy */
	const struct gn_pagerank_options *options;
	struct gn_pagerank_result *result;
};

static int allocate(struct job *j, struct gn_error *error)
{
	struct gn_pagerank_args *a = &j->args;
	struct gn_scanner *s = &j->scanner;
	int rc;

	a->counts =
	    (struct gn_pagerank_counts *)simt_alloc(s->machine, sizeof *a->counts, SIMT_DEVICE, error);
	if (!a->counts)
		return gn_error_set(error, -GN_ENOMEM, "pagerank: out of memory on the machine for counters");
	rc = gn_state_init(s, &a->rank, sizeof(uint64_t), error);
	if (!rc)
		rc = gn_state_init(s, &a->share, sizeof(uint64_t), error);
	if (!rc)
		rc = gn_state_init(s, &a->come, sizeof(uint64_t), error);
	return rc ? rc : gn_state_init(s, &a->degree, sizeof(uint32_t), error);
}

static void free_job(struct job *j)
{
	simt_free(j->scanner.machine, j->args.counts);
	gn_scanner_fini(&j->scanner, &j->args.scan);
}

/* A launch over all vertices, and what it counted. */
static int run_counting(struct job *j, const struct simt_kernel *kernel, struct gn_error *error)
{
	struct simt_machine *machine = j->scanner.machine;
	int rc;

	memset(&j->counts, 0, sizeof j->counts);
	rc = simt_move(machine, j->args.counts, &j->counts, sizeof j->counts, error);
	if (rc)
		return gn_scanner_machine(&j->scanner, rc, error);
	rc = gn_scanner_run(&j->scanner, &j->args.scan, kernel, j->scanner.graph->vertices, error);
	if (rc)
		return rc;
	rc = simt_move(machine, &j->counts, j->args.counts, sizeof j->counts, error);
	return gn_scanner_machine(&j->scanner, rc, error);
}

/* A vertex's new rank is what has come, and an equal share of what no vertex gave. */
static int take(struct job *j, struct gn_error *error)
{
	const uint64_t rest = pagerank_one - j->counts.given, vertices = j->scanner.graph->vertices;

	j->args.base = rest / vertices;
	j->args.extra = rest % vertices;
	return run_counting(j, GN_SCAN_KERNEL_FOR(&j->scanner, gn_pagerank_take), error);
}

/* Nobody has given anything yet: all vertices get the same. */
static int start(struct job *j, struct gn_error *error)
{
	const int rc = run_counting(j, GN_SCAN_KERNEL_FOR(&j->scanner, gn_pagerank_degrees), error);

	if (rc)
		return rc;
	if (j->counts.widest >= UINT32_MAX)
		return gn_error_set(error, -GN_EFBIG,
		                    "pagerank: a vertex has %llu edges; at most 2^32 - 2 are possible",
		                    (unsigned long long)j->counts.widest);
	return take(j, error);
}

static int tell(struct job *j, struct gn_error *error)
{
	struct gn_graph_step step = {0};

	step.number = j->result->iterations - 1;
	step.frontier = j->scanner.graph->vertices;
	step.measure = j->result->moved;
	return gn_scanner_tell(&j->scanner, &step, error);
}

static int iterate(struct job *j, struct gn_error *error)
{
	const int pull = j->options->algorithm == GN_PAGERANK_PULL;
	struct gn_scanner *s = &j->scanner;
	int rc = gn_scanner_lists(s, &j->args.scan,
	                          pull ? GN_SCAN_LISTS_FOR(s, gn_pagerank_pull)
	                               : GN_SCAN_LISTS_FOR(s, gn_pagerank_push),
	                          pull ? GN_SCAN_KERNEL_FOR(s, gn_pagerank_pull_chunks)
	                               : GN_SCAN_KERNEL_FOR(s, gn_pagerank_push_chunks),
	                          gn_scanner_items(s, GN_SCAN_BY_CHUNK), error);

	if (!rc)
		rc = take(j, error);
	j->result->iterations++;
	j->result->moved = (double)j->counts.moved / (double)pagerank_one;
	j->result->converged = j->result->moved < j->options->tolerance;
	return rc ? rc : tell(j, error);
}

static int run(struct job *j, const struct gn_progress *progress, struct gn_error *error)
{
	const double begin = gn_scanner_clock();
	int rc;

	gn_scanner_listen(&j->scanner, &j->options->listener);
	rc = start(j, error);
	while (!rc && !j->result->converged && j->result->iterations < j->options->iterations) {
		gn_progress_step(progress, "iterating", j->result->iterations, j->options->iterations);
		rc = iterate(j, error);
	}
	j->result->seconds = gn_scanner_clock() - begin;
	j->result->edges = j->scanner.shared.edges;
	return rc;
}

/* If as much comes as is given the sum is 1. */
static int finish(struct job *j, uint64_t *rank, struct gn_error *error)
{
	const uint64_t vertices = j->scanner.graph->vertices;
	const int rc = gn_state_read(&j->scanner, &j->args.rank, rank, error);
	uint64_t sum = 0;

	if (rc)
		return rc;
	for (uint64_t v = 0; v < vertices; v++)
		sum += rank[v];
	if (sum == pagerank_one)
		return 0;
	return gn_error_set(
	    error, -GN_EBADMSG,
	    "pagerank: the ranks add up to %.15g instead of 1; if the graph's file says that it is "
	    "undirected, check that every edge is there in both directions, else please report it",
	    (double)sum / (double)pagerank_one);
}

int gn_pagerank(struct simt_machine *machine, struct gn_graph_arrays *graph,
                const struct gn_pagerank_options *options, uint64_t *rank, struct gn_pagerank_result *result,
                const struct gn_progress *progress, struct gn_error *error)
{
	struct job j;
	int rc;

	memset(&j, 0, sizeof j);
	memset(result, 0, sizeof *result);
	if (!graph->vertices)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "pagerank: the graph has no vertex; give a graph with at least one vertex");
	j.options = options;
	j.result = result;
	rc = gn_scanner_init(&j.scanner, &j.args.scan, machine, graph, "pagerank", error);
	if (!rc)
		rc = allocate(&j, error);
	if (!rc)
		rc = run(&j, progress, error);
	if (!rc)
		rc = finish(&j, rank, error);
	free_job(&j);
	return rc;
}

/* ---- against the reference ---- */

/* @want, @got  room for a number of each vertex */
static int compare(const struct gn_graph *graph, const struct gn_pagerank_result *result,
                   const uint64_t *rank, double *want, double *got, struct gn_pagerank_check *check)
{
	int rc = pagerank_reference(graph, result->iterations, want);

	check->bound = pagerank_bound(graph);
	check->distance = 0;
	for (uint64_t v = 0; v < graph->vertices && !rc; v++) {
		got[v] = (double)rank[v] / (double)pagerank_one;
		check->distance += fabs(got[v] - want[v]);
	}
	return rc ? rc : pagerank_error(graph, got, &check->error);
}

int gn_pagerank_verify(const struct gn_graph *graph, const struct gn_pagerank_options *options,
                       const struct gn_pagerank_result *result, const uint64_t *rank,
                       struct gn_pagerank_check *check, struct gn_error *error)
{
	double *want = (double *)malloc(graph->vertices * sizeof *want),
	       *got = (double *)malloc(graph->vertices * sizeof *got);
	const int rc = want && got ? compare(graph, result, rank, want, got, check) : -GN_ENOMEM;

	free(want);
	free(got);
	if (rc)
		return gn_error_set(error, rc, "pagerank: out of memory for the reference of %llu vertices",
		                    (unsigned long long)graph->vertices);
	if (check->distance > check->bound)
		return gn_error_set(
		    error, -GN_EBADMSG,
		    "pagerank: the ranks are %.3g from the reference, but rounding explains %.3g at "
		    "most; if the graph's file says that it is undirected, check that every edge is "
		    "there in both directions, else please report it",
		    check->distance, check->bound);
	/* rounding may be most of a small tolerance */
	if (result->converged && !(check->error < options->tolerance + check->bound))
		return gn_error_set(
		    error, -GN_EBADMSG,
		    "pagerank: one more iteration moves the ranks by %.3g, which is not below the "
		    "tolerance, %.3g; please report it",
		    check->error, options->tolerance);
	return 0;
}
