/* SPDX-License-Identifier: Apache-2.0 */
/* Which vertices the searches of betweenness centrality start from. */
#include "bc.h"
#include "kernels.h"
#include "spread/mix.h"

enum { ROUNDS = 64 }; /* in which candidates are drawn, before it is given up */

/* One round: candidates, and which of them have edges. */
static int draw(struct gn_scanner *s, struct gn_bc_args *args, uint64_t seed, uint32_t *vertex,
                uint32_t *has_edges, struct gn_error *error)
{
	const size_t bytes = GN_BC_CANDIDATES * sizeof *vertex;
	int rc;

	for (uint64_t k = 0; k < GN_BC_CANDIDATES; k++)
		vertex[k] = (uint32_t)(spread_mix(seed + k) % s->graph->vertices);
	rc = gn_scanner_machine(s, simt_move(s->machine, args->candidates, vertex, bytes, error), error);
	if (!rc)
		rc =
		    gn_scanner_lists(s, &args->scan, &gn_bc_have_edges_kernel, NULL, GN_BC_CANDIDATES, error);
	if (rc)
		return rc;
	return gn_scanner_machine(s, simt_move(s->machine, has_edges, args->candidates, bytes, error), error);
}

static int choose(struct gn_scanner *s, struct gn_bc_args *args, uint64_t seed, uint32_t count,
                  uint32_t *source, struct gn_error *error)
{
	uint32_t vertex[GN_BC_CANDIDATES], has_edges[GN_BC_CANDIDATES], found = 0;

	for (uint64_t round = 0; round < ROUNDS + count; round++) {
		const int rc =
		    draw(s, args, spread_mix(seed) + round * GN_BC_CANDIDATES, vertex, has_edges, error);

		if (rc)
			return rc;
		for (uint32_t k = 0; k < GN_BC_CANDIDATES && found < count; k++)
			if (has_edges[k])
				source[found++] = vertex[k];
		if (found == count)
			return 0;
	}
	return gn_error_set(error, -GN_ENOENT,
	                    "bc: %u of %u vertices with edges were found by chance; give the sources", found,
	                    count);
}

int gn_bc_choose_sources(struct simt_machine *machine, struct gn_graph_arrays *graph, uint64_t seed,
                         uint32_t count, uint32_t *source, struct gn_error *error)
{
	struct gn_scanner s;
	struct gn_bc_args args;
	int rc;

	memset(&s, 0, sizeof s);
	memset(&args, 0, sizeof args);
	if (!graph->vertices)
		return gn_error_set(
		    error, -GN_ENOENT,
		    "bc: the graph has no vertex to begin at; give a graph with at least one vertex");
	if (!graph->edges)
		return gn_error_set(error, -GN_ENOENT, "bc: no vertex has an edge; give the sources");
	rc = gn_scanner_init(&s, &args.scan, machine, graph, "bc", error);
	args.candidates =
	    (uint32_t *)simt_alloc(machine, GN_BC_CANDIDATES * sizeof(uint32_t), SIMT_DEVICE, error);
	if (!rc && !args.candidates)
		rc = gn_error_set(error, -GN_ENOMEM, "bc: out of memory on the machine for candidates");
	if (!rc)
		rc = choose(&s, &args, seed, count, source, error);
	simt_free(machine, args.candidates);
	gn_scanner_fini(&s, &args.scan);
	return rc;
}
