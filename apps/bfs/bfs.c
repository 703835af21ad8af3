/* SPDX-License-Identifier: Apache-2.0 */
#include "bfs.h"

#include <stdlib.h>
#include <time.h>

#include "bfs_kernel.h"

struct search {
	struct simt_machine *machine;
	struct gn_scanner scanner;
	struct gn_bfs_args args;
	uint32_t *lists[2]; /* the frontier and the next one */
	uint64_t frontier_count;
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void free_search(struct search *s)
{
	simt_free(s->machine, s->args.depth);
	simt_free(s->machine, s->lists[0]);
	simt_free(s->machine, s->lists[1]);
	gn_scanner_fini(&s->scanner, &s->args.scan);
}

static int allocate(struct search *s, uint64_t vertices, struct gn_error *error)
{
	const uint64_t bytes = vertices * sizeof(uint32_t);

	s->args.depth = (uint32_t *)simt_alloc(s->machine, bytes, SIMT_DEVICE);
	s->lists[0] = (uint32_t *)simt_alloc(s->machine, bytes, SIMT_DEVICE);
	s->lists[1] = (uint32_t *)simt_alloc(s->machine, bytes, SIMT_DEVICE);
	if (s->args.depth && s->lists[0] && s->lists[1])
		return 0;
	return gn_error_set(error, -GN_ENOMEM, "bfs: out of memory on the machine for %llu vertices",
	                    (unsigned long long)vertices);
}

/* Nothing is reached but the source, which is the first frontier. depth serves as a host buffer. */
static int start(struct search *s, uint64_t source, uint32_t *depth, struct gn_error *error)
{
	const uint64_t bytes = s->scanner.graph->vertices * sizeof *depth;
	const uint32_t vertex = (uint32_t)source;
	int rc;

	memset(depth, 0xff, bytes);
	depth[source] = 0;
	rc = simt_move(s->machine, s->args.depth, depth, bytes);
	if (!rc)
		rc = simt_move(s->machine, s->lists[0], &vertex, sizeof vertex);
	s->frontier_count = 1;
	return gn_scanner_machine(&s->scanner, rc, error);
}

static int run_level(struct search *s, uint32_t level, struct gn_error *error)
{
	const struct gn_graph_arrays *graph = s->scanner.graph;
	const int plain = graph->plain_offsets != NULL;
	int rc;

	s->args.level = level;
	s->args.frontier = s->lists[level & 1];
	s->args.next = s->lists[~level & 1];
	s->args.dense = s->frontier_count > graph->vertices / GN_BFS_DENSE;
	s->scanner.shared.found = 0;
	rc = gn_scanner_lists(&s->scanner, &s->args.scan,
	                      plain ? &gn_bfs_expand_plain_kernel : &gn_bfs_expand_kernel,
	                      plain ? &gn_bfs_chunks_plain_kernel : &gn_bfs_chunks_kernel,
	                      s->args.dense ? graph->vertices : s->frontier_count, error);
	s->frontier_count = s->scanner.shared.found;
	return rc;
}

static int search_levels(struct search *s, struct gn_bfs_result *result, const struct gn_progress *progress,
                         struct gn_error *error)
{
	const double begin = seconds();
	int rc = 0;

	result->reached = 1;
	for (uint32_t level = 0; s->frontier_count && !rc; level++) {
		gn_progress_step(progress, "searching", result->reached, s->scanner.graph->vertices);
		rc = run_level(s, level, error);
		result->reached += s->frontier_count;
		result->levels = level + 1;
	}
	result->edges = s->scanner.shared.edges;
	result->seconds = seconds() - begin;
	return rc;
}

int gn_bfs(struct simt_machine *machine, struct gn_graph_arrays *graph, uint64_t source, uint32_t *depth,
           struct gn_bfs_result *result, const struct gn_progress *progress, struct gn_error *error)
{
	struct search s;
	int rc;

	memset(&s, 0, sizeof s);
	memset(result, 0, sizeof *result);
	if (source >= graph->vertices)
		return gn_error_set(error, -GN_ERANGE,
		                    "bfs: source %llu is not a vertex; vertices are 0 to %lld",
		                    (unsigned long long)source, (long long)graph->vertices - 1);
	s.machine = machine;
	rc = allocate(&s, graph->vertices, error);
	if (!rc)
		rc = gn_scanner_init(&s.scanner, &s.args.scan, machine, graph, "bfs", error);
	if (!rc)
		rc = start(&s, source, depth, error);
	if (!rc)
		rc = search_levels(&s, result, progress, error);
	if (!rc)
		rc = gn_scanner_machine(
		    &s.scanner, simt_move(machine, depth, s.args.depth, graph->vertices * sizeof *depth),
		    error);
	free_search(&s);
	return rc;
}
