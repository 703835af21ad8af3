/* SPDX-License-Identifier: Apache-2.0 */
/* The offsets of a graph on their way past the host, part by part. */
#include <stdlib.h>

#include "graph/io.h"
#include "graph_job.h"

enum { PART = 1 << 19 }; /* offsets that are read at once */

int graph_input_offsets(const struct graph_input *in,
                        int (*take)(void *context, const uint64_t *offsets, uint64_t first, uint64_t n,
                                    struct gn_error *e),
                        void *context, struct gn_error *e)
{
	const struct gn_graph_file *f = &in->file;
	uint64_t *part;
	int rc;

	if (in->has_graph)
		return take(context, in->graph.offsets, 0, in->graph.vertices, e);
	part = (uint64_t *)malloc((PART + 1) * sizeof *part);
	rc = part ? 0 : gn_error_set(e, -GN_ENOMEM, "%s: out of memory for offsets", f->name);
	for (uint64_t first = 0; first < f->vertices && !rc; first += PART) {
		const uint64_t n = f->vertices - first < PART ? f->vertices - first : (uint64_t)PART;

		rc = gn__input_read(f->fd, f->name, f->offsets.at + first * sizeof *part, part,
		                    (n + 1) * sizeof *part, e);
		if (!rc)
			rc = take(context, part, first, n, e);
	}
	free(part);
	return rc;
}
