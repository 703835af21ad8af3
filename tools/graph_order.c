/* SPDX-License-Identifier: Apache-2.0 */
/* Which graphs a job is for, and whether their vertices are numbered by degree before they are stored. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "graph/order.h"
#include "graph_job.h"

int graph_order_check(const struct graph_options *o, uint32_t flags, struct gn_error *e)
{
	if (!o->undirected_only || flags & GN_GRAPH_UNDIRECTED)
		return 0;
	return gn_error_set(
	    e, -GN_EINVAL,
	    "%s: the graph has directed edges, and grapnel %s is for undirected ones; give "
	    "--undirected, or where this is a .gng file make another one with grapnel convert "
	    "--undirected",
	    o->graph, o->subcommand);
}

/* The offsets of a vertex and of the next one. */
static int read_offsets(const struct graph_input *in, uint64_t vertex, uint64_t *offset, struct gn_error *e)
{
	const uint64_t at = in->file.offsets.at + vertex * sizeof *offset;
	ssize_t got;

	if (in->has_graph) {
		memcpy(offset, in->graph.offsets + vertex, 2 * sizeof *offset);
		return 0;
	}
	got = pread(in->file.fd, offset, 2 * sizeof *offset, (off_t)at);
	if (got == 2 * sizeof *offset)
		return 0;
	return gn_error_set(e, -GN_EIO, "%s: reading at byte %llu failed (%s); make the file again",
	                    in->file.name, (unsigned long long)at,
	                    got < 0 ? strerror(errno) : "the file ends there");
}

static int pays(const struct graph_input *in, bool *yes, struct gn_error *e)
{
	const uint32_t count =
	    in->vertices < GN_ORDER_SAMPLES ? (uint32_t)in->vertices : (uint32_t)GN_ORDER_SAMPLES;
	uint64_t degree[GN_ORDER_SAMPLES], offset[2];
	int rc = 0;

	for (uint32_t k = 0; k < count && !rc; k++) {
		rc = read_offsets(in, gn_graph_order_sample(in->vertices, k), offset, e);
		if (!rc)
			degree[k] = offset[1] - offset[0];
	}
	if (!rc)
		*yes = gn_graph_order_pays(in->vertices, in->edges, degree, count);
	return rc;
}

/* Of a file that is larger than memory nothing is ordered unless that was asked for. */
static bool fits(const struct graph_input *in)
{
	const uint64_t loaded = in->file.weight ? 8 : 4; /* bytes of an edge */
	const uint64_t both = (in->vertices + 1) * (2 * 8 + 12) + in->edges * (loaded + 4 / 2);

	return in->has_graph || !gn_graph_memory_fits(both, 0, "the graph", NULL);
}

int graph_order_wanted(const struct graph_input *in, const struct graph_options *o, bool *wanted,
                       struct gn_error *e)
{
	*wanted = o->order == GRAPH_ORDER_ALWAYS;
	if (o->order != GRAPH_ORDER_AUTO || !in->vertices || !fits(in))
		return 0;
	return pays(in, wanted, e);
}
