/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <zlib.h>

#include "file.h"
#include "io.h"
#include "layout.h"
#include "section.h"

static void put_section(unsigned char *page, unsigned at, const struct gn_graph_section *s)
{
	gn__put_u64(page, at + GN_SECTION_AT, s->at);
	gn__put_u64(page, at + GN_SECTION_BYTES, s->bytes);
	gn__put_u32(page, at + GN_SECTION_CRC, s->crc);
}

void gn__header_put(unsigned char *page, const struct gn_graph_file *f)
{
	memset(page, 0, GN_GRAPH_FILE_PAGE);
	memcpy(page + GN_HEADER_MAGIC, GN_HEADER_MAGIC_TEXT, 8);
	gn__put_u32(page, GN_HEADER_VERSION,
	            f->id_bytes == 8 ? GN_GRAPH_FILE_VERSION_WIDE : GN_GRAPH_FILE_VERSION);
	gn__put_u32(page, GN_HEADER_BYTE_ORDER, GN_HEADER_BYTE_ORDER_MARK);
	gn__put_u32(page, GN_HEADER_PAGE, GN_GRAPH_FILE_PAGE);
	gn__put_u32(page, GN_HEADER_FLAGS, f->flags);
	gn__put_u32(page, GN_HEADER_WEIGHT, f->weight);
	gn__put_u64(page, GN_HEADER_VERTICES, f->vertices);
	gn__put_u64(page, GN_HEADER_EDGES, f->edges);
	put_section(page, GN_HEADER_OFFSETS, &f->offsets);
	put_section(page, GN_HEADER_NEIGHBOURS, &f->neighbours);
	put_section(page, GN_HEADER_WEIGHTS, &f->weights);
	gn__put_u64(page, GN_HEADER_FILE_BYTES, f->bytes);
	gn__put_u32(page, GN_HEADER_CRC, gn__header_crc(page));
}

static int put_array(struct gn_output *o, const void *data, uint64_t bytes, const struct gn_graph_file *f,
                     const struct gn_progress *progress, struct gn_error *e)
{
	static const unsigned char zeros[GN_GRAPH_FILE_PAGE] = {0};
	const uint64_t chunk = UINT64_C(1) << 26;
	const char *from = (const char *)data;
	int err = 0;

	for (uint64_t done = 0; done < bytes && !err; done += chunk) {
		gn_progress_step(progress, "writing", o->written, f->bytes);
		err = gn__output_write(o, from + done, gn__min_u64(bytes - done, chunk), e);
	}
	return err ? err : gn__output_write(o, zeros, gn__page_up(bytes) - bytes, e);
}

/* Ids of 8 bytes, a piece at a time: into the file, or, without one, into their checksum. */
static int put_wide(struct gn_output *o, const struct gn_graph *g, uLong *crc,
                    const struct gn_progress *progress, struct gn_error *e)
{
	enum { PIECE = 8192 };
	static const unsigned char zeros[GN_GRAPH_FILE_PAGE] = {0};
	uint64_t piece[PIECE];
	int err = 0;

	for (uint64_t done = 0; done < g->edges && !err; done += PIECE) {
		const uint64_t n = gn__min_u64(g->edges - done, PIECE);

		for (uint64_t i = 0; i < n; i++)
			piece[i] = g->neighbours[done + i];
		*crc = crc32(*crc, (const unsigned char *)piece, (uInt)(n * 8));
		if (o) {
			gn_progress_step(progress, "writing", o->written, o->written + (g->edges - done) * 8);
			err = gn__output_write(o, piece, n * 8, e);
		}
	}
	return err || !o ? err : gn__output_write(o, zeros, gn__page_up(g->edges * 8) - g->edges * 8, e);
}

static uint32_t neighbours_crc(const struct gn_graph_file *f, const struct gn_graph *g)
{
	uLong crc = crc32(0, NULL, 0);

	if (!g->wide)
		return gn__crc_of(g->neighbours, f->neighbours.bytes);
	put_wide(NULL, g, &crc, NULL, NULL);
	return (uint32_t)crc;
}

/* What the header will say; checksums come first so that a file is written front to back. */
static void describe(struct gn_graph_file *f, const struct gn_graph *g)
{
	memset(f, 0, sizeof *f);
	f->vertices = g->vertices;
	f->edges = g->edges;
	f->flags = g->flags;
	f->weight = g->weight;
	f->id_bytes = g->wide ? 8 : 4;
	gn__layout_fill(f);
	f->offsets.crc = gn__crc_of(g->offsets, f->offsets.bytes);
	f->neighbours.crc = neighbours_crc(f, g);
	f->weights.crc = gn__crc_of(g->weights, f->weights.bytes);
}

int gn_graph_file_write(const struct gn_graph *g, const char *path, const struct gn_progress *progress,
                        struct gn_error *e)
{
	unsigned char page[GN_GRAPH_FILE_PAGE];
	struct gn_graph_file f;
	struct gn_output o;
	uLong crc = 0;
	int err;

	describe(&f, g);
	gn__header_put(page, &f);
	err = gn__output_begin(&o, path, f.bytes, e);
	if (err)
		return err;
	err = gn__output_write(&o, page, sizeof page, e);
	if (!err)
		err = put_array(&o, g->offsets, f.offsets.bytes, &f, progress, e);
	if (!err)
		err = g->wide ? put_wide(&o, g, &crc, progress, e)
		              : put_array(&o, g->neighbours, f.neighbours.bytes, &f, progress, e);
	if (!err)
		err = put_array(&o, g->weights, f.weights.bytes, &f, progress, e);
	if (err) {
		gn__output_drop(&o);
		return err;
	}
	gn_progress_step(progress, "writing", f.bytes, f.bytes);
	return gn__output_end(&o, e);
}

int gn_graph_file_writable(const char *path, struct gn_error *e)
{
	struct gn_output o;
	int err = gn__output_begin(&o, path, 0, e);

	if (!err)
		gn__output_drop(&o);
	return err;
}
