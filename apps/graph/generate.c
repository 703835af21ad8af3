/* SPDX-License-Identifier: Apache-2.0 */
#include "generate.h"

#include "build.h"
#include "draw.h"

static void draw(const void *self, uint64_t first, uint64_t count, struct gn_edge *edges, uint32_t *weights)
{
	const struct gn_draw *d = (const struct gn_draw *)self;

	(void)weights;
	for (uint64_t i = 0; i < count; i++)
		edges[i] = gn_draw_edge(d, first + i);
}

int gn_graph_generate_check(const struct gn_generate_options *options, struct gn_error *e)
{
	if (options->scale > GN_GENERATOR_MAX_SCALE)
		return gn_error_set(e, -GN_EINVAL, "scale %u is too large; give at most %d", options->scale,
		                    (int)GN_GENERATOR_MAX_SCALE);
	if (options->degree > (GN_GRAPH_MAX_EDGES >> (options->scale + 1)))
		return gn_error_set(e, -GN_EFBIG,
		                    "degree %llu at scale %u is too large; at most 2^55 edges are possible",
		                    (unsigned long long)options->degree, options->scale);
	return 0;
}

int gn_graph_generate(struct gn_graph *g, const struct gn_generate_options *options, struct gn_error *e)
{
	struct gn_build b = {0};
	struct gn_draw d;
	int err = gn_graph_generate_check(options, e);

	if (err)
		return err;
	d = gn_draw_init(options);
	b.source.self = &d;
	b.source.edges = options->degree << options->scale;
	b.source.draw = draw;
	b.vertices = UINT64_C(1) << options->scale;
	b.mirror = options->undirected ? GN_MIRROR_SAME : GN_MIRROR_NONE;
	b.simple = !options->keep;
	b.memory_limit = options->memory_limit;
	b.progress = &options->progress;
	err = gn__graph_build(g, &b, e);
	g->wide = !err && options->wide;
	return err;
}
