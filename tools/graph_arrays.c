/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The offsets, neighbours and weights of a graph as arrays: through a cache, directly, or as gn_auto chooses
 * for the neighbours.
 */
#include <string.h>

#include "graph_job.h"

/*
 * In mode auto the neighbours have a cache of their own: each gets its share, and the other arrays a few
 * pages at least.
 */
static uint64_t others_share(const struct graph_input *in, const struct graph_options *o, uint64_t bytes)
{
	const uint64_t least = 16ull * o->far.page_bytes;
	const double others = (double)in->bytes - in->id_bytes * (double)in->edges;
	const uint64_t share = (uint64_t)((double)bytes * others / (double)in->bytes);

	return share < least ? least : share;
}

static int open_cache(struct graph_arrays *a, struct simt_machine *machine, const struct graph_input *in,
                      const struct graph_options *o, struct gn_error *e)
{
	struct gn_cache_options c = tool_far_cache_options(&o->far, in->bytes);

	if (o->mode == GRAPH_DIRECT)
		return 0;
	a->graph.pages = c.bytes < in->bytes ? c.bytes / c.page_bytes : 0;
	if (o->mode == GRAPH_AUTO)
		c.bytes = others_share(in, o, c.bytes);
	return gn_cache_create(&a->cache, machine, &in->store, 1, &c, e);
}

static int open_choice(struct graph_arrays *a, struct simt_machine *machine, const struct graph_input *in,
                       const struct graph_options *o, struct gn_error *e)
{
	const uint64_t all = tool_far_cache_bytes(&o->far, in->bytes), taken = others_share(in, o, all),
	               least = 16ull * o->far.page_bytes;
	struct gn_auto_options c = {0};

	c.cache_bytes = all > taken + least ? all - taken : least;
	a->graph.pages = c.cache_bytes / GRAPH_AUTO_PAGE;
	c.offset = in->neighbours_at;
	c.count = in->edges;
	c.element_bytes = in->id_bytes;
	c.policy = o->far.policy;
	return gn_auto_open(&a->graph.choice, machine, in->store, &c, e);
}

static int open_neighbours(struct graph_arrays *a, struct simt_machine *machine, const struct graph_input *in,
                           const struct graph_options *o, struct gn_array_options config, struct gn_error *e)
{
	if (o->mode == GRAPH_AUTO && in->edges)
		return open_choice(a, machine, in, o, e);
	/* Without edges there is no section to lay an array over. */
	config.offset = in->edges ? in->neighbours_at : 0;
	config.count = in->edges;
	config.element_bytes = in->id_bytes;
	return gn_array_create(&a->graph.neighbours, machine, &config, e);
}

static int open_weights(struct graph_arrays *a, struct simt_machine *machine, const struct graph_input *in,
                        struct gn_array_options config, struct gn_error *e)
{
	if (!in->weight)
		return 0;
	a->graph.weight = in->weight;
	config.offset = in->edges ? in->weights_at : 0;
	config.count = in->edges;
	config.element_bytes = 4;
	return gn_array_create(&a->graph.weights, machine, &config, e);
}

int graph_arrays_open(struct graph_arrays *a, struct simt_machine *machine, const struct graph_input *in,
                      const struct graph_options *o, struct gn_error *e)
{
	struct gn_array_options config = {o->mode == GRAPH_DIRECT ? GN_DIRECT : GN_PAGED,
	                                  NULL,
	                                  in->store,
	                                  in->offsets_at,
	                                  in->vertices + 1,
	                                  8};
	int rc = open_cache(a, machine, in, o, e);

	config.cache = a->cache;
	if (!rc)
		rc = gn_array_create(&a->graph.offsets, machine, &config, e);
	if (!rc)
		rc = open_neighbours(a, machine, in, o, config, e);
	if (!rc)
		rc = open_weights(a, machine, in, config, e);
	a->graph.vertices = in->vertices;
	a->graph.edges = in->edges;
	a->graph.wide = in->id_bytes == 8;
	return rc;
}

void graph_arrays_close(struct graph_arrays *a, struct simt_machine *machine)
{
	if (machine) {
		gn_auto_close(a->graph.choice);
		gn_array_destroy(&a->graph.offsets, machine);
		gn_array_destroy(&a->graph.neighbours, machine);
		gn_array_destroy(&a->graph.weights, machine);
	}
	if (a->cache)
		gn_cache_destroy(a->cache);
}

void graph_arrays_describe(const struct graph_arrays *a, struct graph_report *r)
{
	if (a->cache)
		gn_cache_describe(a->cache, &r->cache, NULL);
	if (!a->graph.choice)
		return;
	gn_auto_describe(a->graph.choice, &r->choice);
	gn_auto_explain(a->graph.choice, r->explain, sizeof r->explain);
}
