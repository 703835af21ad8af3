/* SPDX-License-Identifier: Apache-2.0 */
#include "scan.h"

#include <string.h>

#include "balance.h"

double gn_scanner_clock(void)
{
	return 1e-9 * (double)simt_clock_ns();
}

int gn_scanner_machine(const struct gn_scanner *s, int rc, struct gn_error *error)
{
	return gn_error_prefix(error, rc, "%s", s->job);
}

void gn_scanner_listen(struct gn_scanner *s, const struct gn_graph_listener *listener)
{
	s->listener = *listener;
	if (!s->listener.step)
		return;
	s->told_edges = s->shared.edges;
	s->told_seconds = gn_scanner_clock();
}

/* The time of the listener itself belongs to no step. */
int gn_scanner_tell(struct gn_scanner *s, struct gn_graph_step *step, struct gn_error *error)
{
	int rc;

	if (!s->listener.step)
		return 0;
	step->edges = s->shared.edges - s->told_edges;
	step->seconds = gn_scanner_clock() - s->told_seconds;
	rc = s->listener.step(s->listener.user, step, error);
	s->told_edges = s->shared.edges;
	s->told_seconds = gn_scanner_clock();
	return rc;
}

void gn_scanner_share_pages(struct gn_scanner *s, uint32_t pages_a_warp)
{
	const uint64_t pages = s->graph->pages, warps = pages < 2 * pages_a_warp ? 1 : pages / pages_a_warp;

	if (pages && warps * s->info.warp_width < s->info.resident_threads)
		s->info.resident_threads = (uint32_t)(warps * s->info.warp_width);
}

/* Does a miss of the neighbours fetch a whole page, which may be fetched again later? */
static int fetches_pages(const struct gn_graph_arrays *g)
{
	return g->pages && !g->choice && !g->plain_offsets && !g->neighbours.memory &&
	       !g->neighbours.pages.backing;
}

static uint32_t edges_of_chunk(const struct gn_graph_arrays *g, uint32_t processors)
{
	const uint64_t share = g->edges / processors / GN_SCAN_SHARE, least = GN_SCAN_CHUNK,
	               most = GN_SCAN_MOST;
	uint64_t edges;

	if (g->starts)
		return g->start_edges;
	if (!fetches_pages(g))
		return GN_SCAN_CHUNK;
	edges = (uint64_t)GN_SCAN_PAGES << (g->neighbours.pages.page_log2 - g->neighbours.element_log2);
	edges = edges < share ? edges : share;
	edges = edges < most ? edges : most;
	return (uint32_t)(edges > least ? edges : least);
}

int gn_scanner_init_chunks(struct gn_scanner *s, struct gn_scan *scan, struct simt_machine *machine,
                           struct gn_graph_arrays *graph, const char *job, uint32_t chunk_edges,
                           struct gn_error *error)
{
	memset(s, 0, sizeof *s);
	memset(scan, 0, sizeof *scan);
	s->machine = machine;
	s->graph = graph;
	s->job = job;
	s->any = graph->state != NULL || graph->wide;
	s->balanced = graph->starts != NULL && !graph->plain_offsets;
	simt_describe(machine, &s->info);
	if (!graph->choice)
		gn_scanner_share_pages(s, graph->weight ? 3 : 2);
	scan->graph = *graph;
	scan->chunk_edges = chunk_edges;
	scan->chunk_capacity = graph->edges / chunk_edges + 1;
	scan->chunks = (struct gn_scan_chunk *)simt_alloc(
	    machine, scan->chunk_capacity * sizeof *scan->chunks, SIMT_DEVICE, error);
	scan->shared = (struct gn_scan_shared *)simt_alloc(machine, sizeof *scan->shared, SIMT_DEVICE, error);
	if (scan->chunks && scan->shared)
		return gn_state_begin(s, error);
	return gn_error_set(error, -GN_ENOMEM, "%s: out of memory on the machine for %llu edges", job,
	                    (unsigned long long)graph->edges);
}

int gn_scanner_init(struct gn_scanner *s, struct gn_scan *scan, struct simt_machine *machine,
                    struct gn_graph_arrays *graph, const char *job, struct gn_error *error)
{
	struct simt_info info;

	simt_describe(machine, &info);
	return gn_scanner_init_chunks(s, scan, machine, graph, job, edges_of_chunk(graph, info.processors),
	                              error);
}

void gn_scanner_fini(const struct gn_scanner *s, struct gn_scan *scan)
{
	if (!s->machine)
		return;
	gn_state_fini(s);
	simt_free(s->machine, scan->chunks);
	simt_free(s->machine, scan->shared);
}

/* Behind the chunks come the vertices that have no edge, where each must be looked at. */
uint64_t gn_scanner_items(const struct gn_scanner *s, enum gn_scan_handing handing)
{
	const struct gn_graph_arrays *g = s->graph;
	const uint64_t behind = g->vertices - g->start_end;

	if (!s->balanced)
		return g->vertices;
	if (handing == GN_SCAN_BY_CHUNK)
		return g->start_chunks;
	return g->start_chunks + (behind + GN_BALANCE_STRETCH - 1) / GN_BALANCE_STRETCH;
}

/* Enough warps to keep the machine busy, in as many blocks as it has processors, or more. */
static struct simt_grid grid_for(const struct gn_scanner *s, uint64_t items)
{
	const uint32_t resident = s->info.resident_threads, width = s->info.warp_width;
	const uint32_t each = resident / s->info.processors / width * width;
	const uint32_t threads = each < width ? width : each < 128 ? each : 128;
	struct simt_grid grid = {resident / threads, threads, 0};

	if (items * width < resident)
		grid.blocks = (uint32_t)(items * width / threads) + 1;
	return grid;
}

/* Items that a warp takes at once: many, as long as there is enough for all. */
static uint32_t batch_for(const struct gn_scanner *s, uint64_t items)
{
	const uint64_t width = s->info.warp_width, warps = s->info.resident_threads / width;
	const uint64_t share = items / (warps * 8);
	/* a warp reads as many lists side by side as it has lanes */
	const uint64_t batch = share > width ? share - share % width : share;

	return batch < 1 ? 1 : batch > 256 ? 256 : (uint32_t)batch;
}

/* Chunks that a warp takes at once: few, because a launch lasts until the last warp has read all its own. */
static uint32_t chunk_batch_for(const struct gn_scanner *s, uint64_t items)
{
	const uint64_t batch = items / (s->info.resident_threads / s->info.warp_width * 8);

	return batch < 1 ? 1 : batch > 8 ? 8 : (uint32_t)batch;
}

int gn_scanner_run(struct gn_scanner *s, struct gn_scan *scan, const struct simt_kernel *kernel,
                   uint64_t items, struct gn_error *error)
{
	int rc;

	scan->item_count = items;
	scan->batch = batch_for(s, items);
	scan->chunk_batch = chunk_batch_for(s, items);
	s->shared.taken = 0;
	rc = gn_scanner_machine(s, simt_move(s->machine, scan->shared, &s->shared, sizeof s->shared, error),
	                        error);
	if (rc)
		return rc;
	rc = simt_launch(s->machine, kernel, grid_for(s, items), scan, error);
	if (!rc)
		rc = simt_wait(s->machine, error);
	if (!rc)
		rc = simt_move(s->machine, &s->shared, scan->shared, sizeof s->shared, error);
	return rc ? gn_scanner_machine(s, rc, error) : gn_state_failure(s, error);
}

/* The mode of the neighbours is asked for before the launch, and they look back behind it. */
static int run_reading(struct gn_scanner *s, struct gn_scan *scan, const struct simt_kernel *kernel,
                       uint64_t items, struct gn_error *error)
{
	struct gn_auto *choice = s->graph->choice;
	int rc;

	if (choice)
		scan->graph.neighbours = gn_auto_array(choice);
	rc = gn_scanner_run(s, scan, kernel, items, error);
	if (!rc && choice)
		rc = gn_auto_adapt(choice, error);
	return rc < 0 ? rc : 0;
}

static int array_failed(struct gn_graph_arrays *graph, struct gn_error *error)
{
	int rc;

	if (graph->plain_offsets)
		return 0;
	rc = gn_array_failure(&graph->offsets, error);
	if (rc)
		return rc;
	rc = graph->weight ? gn_array_failure(&graph->weights, error) : 0;
	if (rc)
		return rc;
	return graph->choice ? gn_auto_failure(graph->choice, error)
	                     : gn_array_failure(&graph->neighbours, error);
}

/* What went wrong in a launch that ran, if anything: an array, or the graph itself. */
static int trouble(const struct gn_scanner *s, struct gn_error *error)
{
	const int rc = array_failed(s->graph, error);

	if (rc)
		return rc;
	if (s->shared.fault == GN_SCAN_BAD_OFFSETS)
		return gn_error_set(error, -GN_EBADMSG,
		                    "%s: the offsets of vertex %u decrease or reach past the edges; the "
		                    "graph is damaged, convert or generate it again",
		                    s->job, s->shared.fault_vertex);
	if (s->shared.fault == GN_SCAN_UNSORTED)
		return gn_error_set(error, -GN_EBADMSG,
		                    "%s: the neighbours of vertex %u do not ascend; convert the graph again",
		                    s->job, s->shared.fault_vertex);
	if (s->shared.fault == GN_SCAN_BAD_NEIGHBOUR && s->shared.fault_vertex == UINT32_MAX)
		return gn_error_set(
		    error, -GN_EBADMSG,
		    "%s: a neighbour is 2^32 - 1 or more, but the graph has %llu vertices; the "
		    "graph is damaged, convert or generate it again",
		    s->job, (unsigned long long)s->graph->vertices);
	if (s->shared.fault == GN_SCAN_BAD_NEIGHBOUR)
		return gn_error_set(error, -GN_EBADMSG,
		                    "%s: neighbour %u is not below the number of vertices, %llu; the graph "
		                    "is damaged, convert or generate it again",
		                    s->job, s->shared.fault_vertex, (unsigned long long)s->graph->vertices);
	if (s->shared.fault == GN_SCAN_BAD_WEIGHT)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "%s: an edge of vertex %u has a weight that is less than 0, infinite or not "
		    "a number; give a graph whose weights are numbers of 0 or more",
		    s->job, s->shared.fault_vertex);
	return 0;
}

int gn_scanner_lists(struct gn_scanner *s, struct gn_scan *scan, const struct simt_kernel *lists,
                     const struct simt_kernel *chunks, uint64_t items, struct gn_error *error)
{
	int rc;

	s->shared.chunk_count = 0;
	rc = run_reading(s, scan, lists, items, error);
	if (!rc && !s->shared.fault && s->shared.chunk_count)
		rc = run_reading(s, scan, chunks, s->shared.chunk_count, error);
	return rc ? rc : trouble(s, error);
}
