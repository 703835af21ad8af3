/* SPDX-License-Identifier: Apache-2.0 */
#include "file_parts.h"

#include <string.h>
#include <zlib.h>

#include "layout.h"
#include "section.h"

int gn__graph_parts_begin(struct gn_graph_parts *p, const char *path, uint64_t vertices, uint64_t most_edges,
                          uint32_t flags, uint32_t id_bytes, struct gn_error *e)
{
	memset(p, 0, sizeof *p);
	p->file.vertices = vertices;
	p->file.edges = most_edges;
	p->file.flags = flags;
	p->file.id_bytes = id_bytes;
	gn__layout_fill(&p->file);
	p->file.edges = 0;
	return gn__output_begin(&p->output, path, p->file.bytes, e);
}

/* Write the next bytes of a section, behind the first `done` bytes, which are there. */
static int append(struct gn_graph_parts *p, struct gn_graph_section *s, uint64_t done, const void *data,
                  uint64_t bytes, struct gn_error *e)
{
	const int err = gn__output_write_at(&p->output, s->at + done, data, bytes, e);

	if (!err)
		s->crc = (uint32_t)crc32_combine(s->crc, gn__crc_of(data, bytes), (z_off_t)bytes);
	return err;
}

int gn__graph_parts_offsets(struct gn_graph_parts *p, const uint64_t *offsets, uint64_t n, struct gn_error *e)
{
	const int err =
	    append(p, &p->file.offsets, p->offsets * sizeof *offsets, offsets, n * sizeof *offsets, e);

	p->offsets += n;
	return err;
}

int gn__graph_parts_neighbours(struct gn_graph_parts *p, const void *neighbours, uint64_t n,
                               struct gn_error *e)
{
	const uint64_t each = p->file.id_bytes;
	const int err = append(p, &p->file.neighbours, p->file.edges * each, neighbours, n * each, e);

	p->file.edges += n;
	return err;
}

int gn__graph_parts_end(struct gn_graph_parts *p, struct gn_error *e)
{
	unsigned char page[GN_GRAPH_FILE_PAGE];
	int err;

	gn__layout_fill(&p->file);
	gn__header_put(page, &p->file);
	/* fewer edges may have come than there is space for; bytes that were never written are zero */
	err = gn__output_resize(&p->output, p->file.bytes, e);
	if (!err)
		err = gn__output_write_at(&p->output, 0, page, sizeof page, e);
	if (!err)
		return gn__output_end(&p->output, e);
	gn__output_drop(&p->output);
	return err;
}

void gn__graph_parts_drop(struct gn_graph_parts *p)
{
	gn__output_drop(&p->output);
}
