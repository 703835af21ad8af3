/* SPDX-License-Identifier: Apache-2.0 */
#include "bfs.h"

#include <stdlib.h>
#include <time.h>

#include "bfs_kernel.h"

struct search {
	struct simt_machine *machine;
	const struct gn_graph_arrays *graph;
	struct gn_bfs_args args;
	struct gn_bfs_shared shared; /* the host's copy between kernels */
	uint32_t *lists[2];          /* the frontier and the next one */
	uint64_t frontier_count;
	struct simt_info info;
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
	simt_free(s->machine, s->args.ranges);
	simt_free(s->machine, s->args.shared);
}

static int allocate(struct search *s)
{
	const uint64_t list_bytes = s->graph->vertices * sizeof(uint32_t);

	s->args.range_capacity = s->graph->edges / GN_BFS_CHUNK + 1;
	s->args.depth = (uint32_t *)simt_alloc(s->machine, list_bytes, SIMT_DEVICE);
	s->lists[0] = (uint32_t *)simt_alloc(s->machine, list_bytes, SIMT_DEVICE);
	s->lists[1] = (uint32_t *)simt_alloc(s->machine, list_bytes, SIMT_DEVICE);
	s->args.ranges = (struct gn_bfs_range *)simt_alloc(
	    s->machine, s->args.range_capacity * sizeof *s->args.ranges, SIMT_DEVICE);
	s->args.shared = (struct gn_bfs_shared *)simt_alloc(s->machine, sizeof *s->args.shared, SIMT_DEVICE);
	return s->args.depth && s->lists[0] && s->lists[1] && s->args.ranges && s->args.shared ? 0
	                                                                                       : -GN_ENOMEM;
}

/* Nothing is reached but the source, which is the first frontier. depth serves as a host buffer. */
static int start(struct search *s, uint64_t source, uint32_t *depth)
{
	const uint32_t vertex = (uint32_t)source;
	int rc;

	memset(depth, 0xff, s->graph->vertices * sizeof *depth);
	depth[source] = 0;
	rc = simt_move(s->machine, s->args.depth, depth, s->graph->vertices * sizeof *depth);
	if (!rc)
		rc = simt_move(s->machine, s->lists[0], &vertex, sizeof vertex);
	s->frontier_count = 1;
	return rc;
}

static int machine_failed(const struct search *s, int rc, struct gn_error *error)
{
	return rc ? gn_error_set(error, rc, "bfs: %s", simt_message(s->machine)) : 0;
}

/* One launch, to its end; before it the mode of the neighbours is asked for, behind it they look back. */
static int launch(struct search *s, const struct simt_kernel *kernel, struct simt_grid grid,
                  struct gn_error *error)
{
	struct gn_auto *choice = s->graph->choice;
	int rc;

	if (choice)
		s->args.neighbours = gn_auto_array(choice);
	rc = simt_launch(s->machine, kernel, grid, &s->args);
	if (!rc)
		rc = simt_wait(s->machine);
	if (rc)
		return machine_failed(s, rc, error);
	rc = choice ? gn_auto_adapt(choice, error) : 0;
	return rc < 0 ? rc : 0;
}

/* Enough warps to keep the machine busy, and items taken in batches as long as there is enough for all. */
static int run(struct search *s, const struct simt_kernel *kernel, uint64_t items, struct gn_error *error)
{
	const uint32_t threads = 128;
	const uint64_t warps = s->info.resident_threads / s->info.warp_width;
	const uint64_t share = items / (warps * 8), width = s->info.warp_width;
	/* a warp takes as many at once as it has lanes */
	const uint64_t batch = share > width ? share - share % width : share;
	struct simt_grid grid = {s->info.resident_threads / threads, threads, 0};
	int rc;

	if (items * s->info.warp_width < s->info.resident_threads)
		grid.blocks = (uint32_t)(items * s->info.warp_width / threads) + 1;
	s->args.item_count = items;
	s->args.batch = batch < 1 ? 1 : batch > 256 ? 256 : (uint32_t)batch;
	s->shared.taken = 0;
	rc = machine_failed(s, simt_move(s->machine, s->args.shared, &s->shared, sizeof s->shared), error);
	if (!rc)
		rc = launch(s, kernel, grid, error);
	return rc ? rc
	          : machine_failed(s, simt_move(s->machine, &s->shared, s->args.shared, sizeof s->shared),
	                           error);
}

static int run_level(struct search *s, uint32_t level, struct gn_error *error)
{
	const int plain = s->args.plain_offsets != NULL;
	const uint64_t vertices = s->args.vertices;
	int rc;

	s->args.level = level;
	s->args.frontier = s->lists[level & 1];
	s->args.next = s->lists[~level & 1];
	s->args.dense = s->frontier_count > vertices / GN_BFS_DENSE;
	s->shared.next_count = s->shared.range_count = 0;
	rc = run(s, plain ? &gn_bfs_expand_plain_kernel : &gn_bfs_expand_kernel,
	         s->args.dense ? vertices : s->frontier_count, error);
	if (!rc && !s->shared.fault && s->shared.range_count)
		rc = run(s, plain ? &gn_bfs_ranges_plain_kernel : &gn_bfs_ranges_kernel,
		         s->shared.range_count, error);
	s->frontier_count = s->shared.next_count;
	return rc;
}

static int array_failed(struct gn_graph_arrays *graph, struct gn_error *error)
{
	int rc;

	if (graph->plain_offsets)
		return 0;
	rc = gn_array_failure(&graph->offsets, error);
	if (rc)
		return rc;
	return graph->choice ? gn_auto_failure(graph->choice, error)
	                     : gn_array_failure(&graph->neighbours, error);
}

/* What went wrong in a level that ran, if anything: an array, or the graph itself. */
static int trouble(struct search *s, struct gn_graph_arrays *graph, struct gn_error *error)
{
	const int rc = array_failed(graph, error);

	if (rc)
		return rc;
	if (s->shared.fault == GN_BFS_BAD_OFFSETS)
		return gn_error_set(error, -GN_EBADMSG,
		                    "bfs: the offsets of vertex %u decrease or reach past the edges; the "
		                    "graph is damaged, convert or generate it again",
		                    s->shared.fault_vertex);
	if (s->shared.fault == GN_BFS_BAD_NEIGHBOUR)
		return gn_error_set(error, -GN_EBADMSG,
		                    "bfs: neighbour %u is not below the number of vertices, %llu; the graph "
		                    "is damaged, convert or generate it again",
		                    s->shared.fault_vertex, (unsigned long long)graph->vertices);
	return 0;
}

static int search_levels(struct search *s, struct gn_graph_arrays *graph, struct gn_bfs_result *result,
                         const struct gn_progress *progress, struct gn_error *error)
{
	const double begin = seconds();
	int rc = 0;

	result->reached = 1;
	for (uint32_t level = 0; s->frontier_count && !rc; level++) {
		gn_progress_step(progress, "searching", result->reached, graph->vertices);
		rc = run_level(s, level, error);
		if (!rc)
			rc = trouble(s, graph, error);
		result->reached += s->frontier_count;
		result->levels = level + 1;
	}
	result->edges = s->shared.edges;
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
	s.graph = graph;
	simt_describe(machine, &s.info);
	s.args.offsets = graph->offsets;
	s.args.neighbours = graph->neighbours;
	s.args.plain_offsets = graph->plain_offsets;
	s.args.plain_neighbours = graph->plain_neighbours;
	s.args.vertices = graph->vertices;
	s.args.edges = graph->edges;
	rc = allocate(&s);
	if (rc)
		gn_error_set(error, rc, "bfs: out of memory on the machine for %llu vertices",
		             (unsigned long long)graph->vertices);
	if (!rc)
		rc = machine_failed(&s, start(&s, source, depth), error);
	if (!rc)
		rc = search_levels(&s, graph, result, progress, error);
	if (!rc)
		rc = machine_failed(
		    &s, simt_move(machine, depth, s.args.depth, graph->vertices * sizeof *depth), error);
	free_search(&s);
	return rc;
}
