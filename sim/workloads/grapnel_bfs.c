/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel-bfs - Grapnel's breadth-first search (apps/bfs, its own sources) on the simulated machine: its
 * kernels run on the recording machine, the depths are compared with the reference's, then the timing model
 * runs what was recorded. The graph rests in a host: store, which arrays read directly.
 */
#include <sim/workloads/support.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <sim/record.h>

#include "bfs/bfs.h"
#include "graph/reference.h"

#define NAME "grapnel-bfs"

/* While it is recorded; what is not NULL is to be given back. */
struct search {
	struct gn_graph graph;
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_graph_arrays arrays;
	FILE *file;
	uint32_t *depth, *want;
};

static int open_file(struct search *s, const char *path, struct gn_error *error)
{
	s->file = path ? fopen(path, "w+b") : tmpfile();
	return s->file ? 0
	               : gn_error_set(error, -GN_EACCES, "%s: %s", path ? path : "a file for the stream",
	                              strerror(errno));
}

/* Offsets, and from a page of its own on the neighbours. */
static int open_store(struct search *s, uint64_t *neighbours_at, struct gn_error *error)
{
	const uint64_t offsets = (s->graph.vertices + 1) * 8, neighbours = s->graph.edges * 4;
	char uri[32];
	int rc;

	*neighbours_at = (offsets + SIM_PAGE_BYTES - 1) / SIM_PAGE_BYTES * SIM_PAGE_BYTES;
	snprintf(uri, sizeof uri, "host:%" PRIu64, *neighbours_at + neighbours + SIM_PAGE_BYTES);
	rc = gn_store_open(&s->store, s->machine, uri, NULL, error);
	if (!rc)
		rc = gn_store_write_host(s->store, 0, s->graph.offsets, offsets, error);
	if (!rc && neighbours)
		rc = gn_store_write_host(s->store, *neighbours_at, s->graph.neighbours, neighbours, error);
	return rc;
}

static int open_arrays(struct search *s, struct gn_error *error)
{
	struct gn_array_options c = {GN_DIRECT, NULL, NULL, 0, s->graph.vertices + 1, 8};
	uint64_t neighbours_at;
	int rc = open_store(s, &neighbours_at, error);

	c.store = s->store;
	if (!rc)
		rc = gn_array_create(&s->arrays.offsets, s->machine, &c, error);
	c.offset = neighbours_at;
	c.count = s->graph.edges;
	c.element_bytes = 4;
	if (!rc)
		rc = gn_array_create(&s->arrays.neighbours, s->machine, &c, error);
	s->arrays.vertices = s->graph.vertices;
	s->arrays.edges = s->graph.edges;
	return rc;
}

static int run_search(struct search *s, struct gn_error *error)
{
	const struct gn_bfs_options options = {sim_graph_largest(&s->graph), GN_BFS_TOP_DOWN, {NULL, NULL}};
	struct gn_bfs_result result;
	int rc;

	s->depth = (uint32_t *)sim_state(s->graph.vertices * 4, NAME, error);
	s->want = (uint32_t *)sim_state(s->graph.vertices * 4, NAME, error);
	if (!s->depth || !s->want)
		return -GN_ENOMEM;
	rc = gn_bfs(s->machine, &s->arrays, &options, s->depth, &result, NULL, error);
	if (!rc)
		rc = gn_bfs_reference(&s->graph, options.source, s->want, error);
	return rc ? rc : gn_depths_verify(s->depth, s->want, s->graph.vertices, error);
}

static void close_search(struct search *s)
{
	if (s->machine) {
		gn_array_destroy(&s->arrays.offsets, s->machine);
		gn_array_destroy(&s->arrays.neighbours, s->machine);
	}
	gn_store_close(s->store);
	simt_close(s->machine);
	gn_graph_fini(&s->graph);
	free(s->depth);
	free(s->want);
}

static int record(struct search *s, const struct sim_request *request, struct gn_error *error)
{
	int rc = sim_graph_get(&s->graph, request, NAME, error);

	if (!rc)
		rc = open_file(s, request->record, error);
	if (!rc)
		rc = sim_record_open(&s->machine, s->file, request->seed, error);
	if (!rc)
		rc = open_arrays(s, error);
	if (!rc)
		rc = run_search(s, error);
	if (!rc)
		rc = sim_record_end(s->machine, error);
	close_search(s);
	return rc;
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct sim_replay *r = (struct sim_replay *)sim_state(sizeof *r, NAME, error);
	struct search s;
	int rc;

	*state = r;
	if (!r)
		return -GN_ENOMEM;
	memset(&s, 0, sizeof s);
	rc = record(&s, request, error);
	if (!rc)
		rc = sim_replay_open(r, fileno(s.file), NAME, memory, error);
	if (s.file)
		fclose(s.file);
	return rc;
}

const struct sim_workload sim__grapnel_bfs = {
    NAME,
    "breadth-first search, Grapnel's own kernels, recorded; --input reads a graph",
    "vertices, mean degree: 16384, 8",
    create,
    sim_replay_next,
    sim_replay_check,
    sim_replay_destroy,
    1,
    0,
    1};
