/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bfs - breadth-first search (SHOC, the kernel of 32-wide warps). A launch a level: each warp looks at 32
 * vertices one after the other, and where one is of this level, its lanes step over the neighbours. The host
 * looks at a flag to see whether there is another level.
 *
 * From the source: grid, placement, accesses. Not fitted. A wavefront of 64 is two warps. Levels are read as
 * they were when the launch began, so that what a wavefront does depends on no other one; a vertex may be
 * found several times, as there.
 */
#include <sim/workloads/support.h>

#include <string.h>

enum { GROUP = 1024, WARP = 32, CHUNK = 32 };

static const uint32_t unseen = UINT32_MAX;

struct bfs {
	uint32_t vertices, edges, source;
	uint32_t level; /* of this launch */
	uint32_t launches;
	struct sim_buffer offset, neighbour, levels, flag;
	struct sim_buffer before; /* the levels' addresses, and their values when the launch began */
};

/* Lanes step over the neighbours of their warp's vertex. */
static void visit(struct sim_wave *w, const struct bfs *b, const uint32_t *begin, const uint32_t *end)
{
	uint32_t at[SIM_LANES], to[SIM_LANES] = {0}, level[SIM_LANES] = {0}, zero[SIM_LANES] = {0};
	uint32_t next[SIM_LANES], one[SIM_LANES];

	for (uint32_t l = 0; l < SIM_LANES; l++) {
		at[l] = begin[l] + l % WARP;
		next[l] = b->level + 1;
		one[l] = 1;
	}
	for (;;) {
		uint64_t left = 0, found = 0;

		for (uint32_t l = 0; l < SIM_LANES; l++)
			left |= (uint64_t)(at[l] < end[l]) << l;
		if (!left)
			return;
		sim_valu(w, 4);
		sim_load_u32(w, left, &b->neighbour, at, to);
		sim_wait(w, 0);
		sim_valu(w, 4);
		sim_load_u32(w, left, &b->before, to, level);
		sim_wait(w, 0);
		for (uint32_t l = 0; l < SIM_LANES; l++) {
			found |= (left >> l & 1 & (level[l] == unseen)) << l;
			at[l] += WARP;
		}
		sim_valu(w, 2);
		sim_salu(w, 3);
		if (found) {
			sim_store_u32(w, found, &b->levels, to, next);
			sim_store_u32(w, found, &b->flag, zero, one);
		}
		sim_valu(w, 1);
		sim_salu(w, 2);
	}
}

/* The k-th vertex of each warp. */
static void look_at(struct sim_wave *w, const struct bfs *b, const uint32_t *first, uint32_t k)
{
	uint32_t vertex[SIM_LANES], behind[SIM_LANES], level[SIM_LANES], begin[SIM_LANES] = {0},
	                                                                 end[SIM_LANES] = {0};
	uint64_t inside = 0, mine = 0;

	for (uint32_t l = 0; l < SIM_LANES; l++) {
		vertex[l] = first[l] + k;
		behind[l] = vertex[l] + 1;
		level[l] = unseen;
		inside |= (uint64_t)(vertex[l] < b->vertices) << l;
	}
	sim_valu(w, 4);
	sim_salu(w, 3);
	if (!inside)
		return;
	sim_load_u32(w, inside, &b->before, vertex, level);
	sim_wait(w, 0);
	for (uint32_t l = 0; l < SIM_LANES; l++)
		mine |= (uint64_t)(level[l] == b->level) << l;
	sim_valu(w, 1);
	sim_salu(w, 3);
	if (!mine)
		return;
	sim_valu(w, 4);
	sim_load_u32(w, mine, &b->offset, vertex, begin);
	sim_load_u32(w, mine, &b->offset, behind, end);
	sim_wait(w, 0);
	sim_valu(w, 2);
	visit(w, b, begin, end);
}

static void kernel(struct sim_wave *w, const void *arguments)
{
	const struct bfs *b = (const struct bfs *)arguments;
	uint32_t first[SIM_LANES];

	for (uint32_t l = 0; l < SIM_LANES; l++)
		first[l] = (uint32_t)sim_wave_item(w, l) / WARP * CHUNK;
	sim_salu(w, 10);
	sim_valu(w, 8);
	for (uint32_t k = 0; k < CHUNK; k++)
		look_at(w, b, first, k);
}

/* ---- the graph ---- */

static int take(struct bfs *b, const struct gn_graph *g, struct sim_memory *memory, struct gn_error *error)
{
	const struct sim_wanted wanted[] = {{&b->offset, 4 * g->vertices + 4, SIM_INTERLEAVED},
	                                    {&b->neighbour, 4 * (g->edges + 1), SIM_INTERLEAVED},
	                                    {&b->levels, 4 * g->vertices, SIM_INTERLEAVED},
	                                    {&b->flag, 4, SIM_INTERLEAVED}};
	int rc = sim_buffers(memory, "bfs", wanted, 4, error);

	if (rc)
		return rc;
	b->vertices = (uint32_t)g->vertices;
	b->edges = (uint32_t)g->offsets[g->vertices];
	b->source = sim_graph_largest(g);
	for (uint32_t v = 0; v <= b->vertices; v++)
		((uint32_t *)b->offset.host)[v] = (uint32_t)g->offsets[v];
	memcpy(b->neighbour.host, g->neighbours, 4ull * b->edges);
	memset(b->levels.host, 0xff, 4ull * b->vertices);
	((uint32_t *)b->levels.host)[b->source] = 0;
	b->before = b->levels;
	b->before.host = sim_state(4ull * b->vertices, "bfs", error);
	return b->before.host ? 0 : -GN_ENOMEM;
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct gn_graph g;
	struct bfs *b;
	int rc;

	b = (struct bfs *)sim_state(sizeof *b, "bfs", error);
	*state = b;
	if (!b)
		return -GN_ENOMEM;
	rc = sim_graph_get(&g, request, "bfs", error);
	if (!rc)
		rc = take(b, &g, memory, error);
	gn_graph_fini(&g);
	return rc;
}

static int next(void *state, struct sim_launch *launch)
{
	struct bfs *b = (struct bfs *)state;
	uint32_t *flag = (uint32_t *)b->flag.host;

	if (b->launches && !*flag)
		return 0;
	b->level = b->launches++;
	*flag = 0;
	memcpy(b->before.host, b->levels.host, 4ull * b->vertices);
	sim_launch_row(launch, "bfs", kernel, b, ((uint64_t)b->vertices + GROUP - 1) / GROUP * GROUP, GROUP);
	return 1;
}

static void reference(const struct bfs *b, uint32_t *level, uint32_t *queue)
{
	const uint32_t *offset = (const uint32_t *)b->offset.host,
	               *neighbour = (const uint32_t *)b->neighbour.host;
	uint32_t read = 0, written = 0;

	memset(level, 0xff, 4ull * b->vertices);
	level[b->source] = 0;
	queue[written++] = b->source;
	while (read < written) {
		const uint32_t v = queue[read++];

		for (uint32_t k = offset[v]; k < offset[v + 1]; k++)
			if (level[neighbour[k]] == unseen) {
				level[neighbour[k]] = level[v] + 1;
				queue[written++] = neighbour[k];
			}
	}
}

static int check(void *state, struct gn_error *error)
{
	const struct bfs *b = (const struct bfs *)state;
	uint32_t *level = (uint32_t *)sim_state(4ull * b->vertices, "bfs", error);
	uint32_t *queue = (uint32_t *)sim_state(4ull * b->vertices, "bfs", error);
	int rc = level && queue ? 0 : -GN_ENOMEM;

	if (!rc) {
		reference(b, level, queue);
		rc = sim_same_u32("bfs", (const uint32_t *)b->levels.host, level, b->vertices, error);
	}
	free(level);
	free(queue);
	return rc;
}

static void destroy(void *state)
{
	if (state)
		free(((struct bfs *)state)->before.host);
	free(state);
}

const struct sim_workload sim__bfs = {"bfs",
                                      "breadth-first search (SHOC), a launch a level; --input reads a graph",
                                      "vertices, mean degree: 16384, 8",
                                      create,
                                      next,
                                      check,
                                      destroy,
                                      1};
