/* SPDX-License-Identifier: Apache-2.0 */
#include "bfs.h"

#include <stdlib.h>

#include "bfs_kernel.h"

/*
 * A step goes bottom-up when the frontier has more edges than one in GN_BFS_ALPHA of those not yet left
 * behind, and top-down again when the frontier shrinks to one in GN_BFS_BETA of the vertices: the thresholds
 * of the GAP benchmark.
 */
enum { GN_BFS_ALPHA = 15, GN_BFS_BETA = 18 };

struct search {
	struct simt_machine *machine;
	const struct gn_bfs_options *options;
	struct gn_scanner scanner;
	struct gn_bfs_args args;
	uint32_t *lists[2]; /* the frontier and the next one */
	uint64_t frontier_count;
	uint64_t unexplored; /* edges of vertices that were in no frontier of a step top-down */
	int bottom_up;       /* was the last step */
	int listed;          /* the frontier is in its list */
};

static void free_search(struct search *s)
{
	simt_free(s->machine, s->lists[0]);
	simt_free(s->machine, s->lists[1]);
	simt_free(s->machine, s->args.frontier_bits);
	simt_free(s->machine, s->args.next_bits);
	simt_free(s->machine, s->args.open_bits);
	gn_scanner_fini(&s->scanner, &s->args.scan);
}

/* Of a bitmap. */
static uint64_t words_of(const struct search *s, uint64_t vertices)
{
	const uint64_t width = s->scanner.info.warp_width;

	return (vertices + width - 1) / width;
}

static int allocate_bits(struct search *s, uint64_t vertices)
{
	const uint64_t bytes = words_of(s, vertices) * sizeof(uint32_t);

	if (s->options->algorithm != GN_BFS_DIRECTION)
		return 1;
	s->args.frontier_bits = (uint32_t *)simt_alloc(s->machine, bytes, SIMT_DEVICE, NULL);
	s->args.next_bits = (uint32_t *)simt_alloc(s->machine, bytes, SIMT_DEVICE, NULL);
	s->args.open_bits = (uint32_t *)simt_alloc(s->machine, bytes, SIMT_DEVICE, NULL);
	return s->args.frontier_bits && s->args.next_bits && s->args.open_bits;
}

/* A frontier that is longer than its list is dense, and found by its depths. */
static int allocate(struct search *s, uint64_t vertices, struct gn_error *error)
{
	const uint64_t bytes = (vertices / GN_BFS_DENSE + 1) * sizeof(uint32_t);

	s->args.capacity = bytes / sizeof(uint32_t);
	s->lists[0] = (uint32_t *)simt_alloc(s->machine, bytes, SIMT_DEVICE, error);
	s->lists[1] = (uint32_t *)simt_alloc(s->machine, bytes, SIMT_DEVICE, error);
	if (!s->lists[0] || !s->lists[1] || !allocate_bits(s, vertices))
		return gn_error_set(error, -GN_ENOMEM,
		                    "bfs: out of memory on the machine for the frontiers of %llu vertices",
		                    (unsigned long long)vertices);
	return gn_state_init(&s->scanner, &s->args.depth, sizeof(uint32_t), error);
}

/* Nothing is reached but the source, which is the first frontier. depth serves as a host buffer. */
static int start(struct search *s, uint32_t *depth, struct gn_error *error)
{
	const uint64_t source = s->options->source;
	const uint64_t bytes = s->scanner.graph->vertices * sizeof *depth;
	const uint32_t vertex = (uint32_t)source;
	int rc;

	memset(depth, 0xff, bytes);
	depth[source] = 0;
	rc = gn_state_write(&s->scanner, &s->args.depth, depth, error);
	if (rc)
		return rc;
	rc = simt_move(s->machine, s->lists[0], &vertex, sizeof vertex, error);
	s->frontier_count = 1;
	s->unexplored = s->scanner.graph->edges;
	s->args.all_open = 1;
	s->listed = 1;
	return gn_scanner_machine(&s->scanner, rc, error);
}

/* ---- one step ---- */

static const struct simt_kernel *lists_kernel(const struct search *s)
{
	const struct gn_scanner *scanner = &s->scanner;
	const int count = s->options->algorithm == GN_BFS_DIRECTION;

	if (scanner->graph->plain_offsets)
		return &gn_bfs_expand_plain_kernel;
	if (s->args.dense)
		return count ? GN_SCAN_LISTS_FOR(scanner, gn_bfs_expand_counted)
		             : GN_SCAN_LISTS_FOR(scanner, gn_bfs_expand);
	return count ? GN_SCAN_KERNEL_FOR(scanner, gn_bfs_expand_counted)
	             : GN_SCAN_KERNEL_FOR(scanner, gn_bfs_expand);
}

static const struct simt_kernel *chunks_kernel(const struct search *s)
{
	if (s->options->algorithm == GN_BFS_DIRECTION)
		return GN_SCAN_KERNEL_FOR(&s->scanner, gn_bfs_chunks_counted);
	return s->scanner.graph->plain_offsets ? &gn_bfs_chunks_plain_kernel
	                                       : GN_SCAN_KERNEL_FOR(&s->scanner, gn_bfs_chunks);
}

/* A frontier that was found bottom-up is in no list, and is found by its depths. */
static int step_down(struct search *s, struct gn_error *error)
{
	const uint64_t vertices = s->scanner.graph->vertices;
	const uint32_t level = s->args.level;

	s->args.frontier = s->lists[level & 1];
	s->args.next = s->lists[~level & 1];
	s->args.dense = !s->listed || s->frontier_count > vertices / GN_BFS_DENSE;
	s->listed = 1;
	return gn_scanner_lists(
	    &s->scanner, &s->args.scan, lists_kernel(s), chunks_kernel(s),
	    s->args.dense ? gn_scanner_items(&s->scanner, GN_SCAN_BY_CHUNK) : s->frontier_count, error);
}

/* The bits that the step before found are this step's frontier; behind a step top-down there are none yet. */
static int step_up(struct search *s, struct gn_error *error)
{
	const uint64_t words = words_of(s, s->scanner.graph->vertices);
	uint32_t *bits = s->args.frontier_bits;
	int rc = 0;

	if (s->listed) {
		rc = gn_scanner_run(&s->scanner, &s->args.scan, GN_SCAN_KERNEL_FOR(&s->scanner, gn_bfs_mark),
		                    words, error);
	} else {
		s->args.frontier_bits = s->args.next_bits;
		s->args.next_bits = bits;
	}
	s->listed = 0;
	if (!rc)
		rc = gn_scanner_lists(&s->scanner, &s->args.scan,
		                      GN_SCAN_KERNEL_FOR(&s->scanner, gn_bfs_parents),
		                      GN_SCAN_KERNEL_FOR(&s->scanner, gn_bfs_parents_chunks), words, error);
	s->args.all_open = 0;
	return rc;
}

static int tell(struct search *s, uint64_t frontier, struct gn_error *error)
{
	struct gn_graph_step step = {0};

	step.number = s->args.level;
	step.direction = s->bottom_up ? "bottom-up" : "top-down";
	step.frontier = frontier;
	return gn_scanner_tell(&s->scanner, &step, error);
}

static int run_step(struct search *s, uint32_t level, struct gn_error *error)
{
	const uint64_t frontier = s->frontier_count;
	int rc;

	s->args.level = level;
	s->scanner.shared.found = 0;
	s->scanner.shared.ahead = 0;
	rc = s->bottom_up ? step_up(s, error) : step_down(s, error);
	s->frontier_count = s->scanner.shared.found;
	return rc ? rc : tell(s, frontier, error);
}

/* ---- all steps ---- */

/* The direction of the step after one that had a frontier of so many vertices (section 4 of the paper). */
static void choose_direction(struct search *s, uint64_t frontier_before)
{
	const uint64_t ahead = s->scanner.shared.ahead;

	if (s->options->algorithm != GN_BFS_DIRECTION)
		return;
	if (s->bottom_up) {
		s->bottom_up = s->frontier_count >= frontier_before ||
		               s->frontier_count > s->scanner.graph->vertices / GN_BFS_BETA;
		return;
	}
	s->bottom_up = ahead > s->unexplored / GN_BFS_ALPHA;
	s->unexplored -= ahead < s->unexplored ? ahead : s->unexplored;
}

static int search_levels(struct search *s, struct gn_bfs_result *result, const struct gn_progress *progress,
                         struct gn_error *error)
{
	const double begin = gn_scanner_clock();
	int rc = 0;

	gn_scanner_listen(&s->scanner, &s->options->listener);
	result->reached = 1;
	for (uint32_t level = 0; s->frontier_count && !rc; level++) {
		const uint64_t frontier = s->frontier_count;

		gn_progress_step(progress, "searching", result->reached, s->scanner.graph->vertices);
		rc = run_step(s, level, error);
		choose_direction(s, frontier);
		result->reached += s->frontier_count;
		result->levels = level + 1;
	}
	result->edges = s->scanner.shared.edges;
	result->seconds = gn_scanner_clock() - begin;
	return rc;
}

static int check(const struct gn_graph_arrays *graph, const struct gn_bfs_options *options,
                 struct gn_error *error)
{
	if (options->source >= graph->vertices)
		return gn_error_set(error, -GN_ERANGE,
		                    "bfs: source %llu is not a vertex; vertices are 0 to %lld",
		                    (unsigned long long)options->source, (long long)graph->vertices - 1);
	if (options->algorithm == GN_BFS_DIRECTION && graph->plain_offsets)
		return gn_error_set(error, -GN_EINVAL,
		                    "bfs: a direction-optimising search reads arrays, not plain pointers; "
		                    "search top-down");
	if (graph->state && graph->plain_offsets)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "bfs: over plain pointers the depths are in the machine's own memory; leave "
		    "the place of state out");
	return 0;
}

int gn_bfs(struct simt_machine *machine, struct gn_graph_arrays *graph, const struct gn_bfs_options *options,
           uint32_t *depth, struct gn_bfs_result *result, const struct gn_progress *progress,
           struct gn_error *error)
{
	struct search s;
	int rc;

	memset(&s, 0, sizeof s);
	memset(result, 0, sizeof *result);
	rc = check(graph, options, error);
	if (rc)
		return rc;
	s.machine = machine;
	s.options = options;
	rc = gn_scanner_init(&s.scanner, &s.args.scan, machine, graph, "bfs", error);
	if (!rc)
		rc = allocate(&s, graph->vertices, error);
	if (!rc)
		rc = start(&s, depth, error);
	if (!rc)
		rc = search_levels(&s, result, progress, error);
	if (!rc)
		rc = gn_state_read(&s.scanner, &s.args.depth, depth, error);
	free_search(&s);
	return rc;
}
