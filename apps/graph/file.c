/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "io.h"
#include "layout.h"

void gn__layout_fill(struct gn_graph_file *f)
{
	f->offsets.at = GN_GRAPH_FILE_PAGE;
	f->offsets.bytes = (f->vertices + 1) * 8;
	f->neighbours.at = f->offsets.at + gn__page_up(f->offsets.bytes);
	f->neighbours.bytes = f->edges * f->id_bytes;
	f->weights.at = f->neighbours.at + gn__page_up(f->neighbours.bytes);
	f->weights.bytes = f->weight ? f->edges * 4 : 0;
	f->bytes = f->weights.at + gn__page_up(f->weights.bytes);
}

uint32_t gn__header_crc(const unsigned char *page)
{
	static const unsigned char zero[4] = {0};
	uLong crc = crc32(0, page, GN_HEADER_CRC);

	crc = crc32(crc, zero, sizeof zero);
	return (uint32_t)crc32(crc, page + GN_HEADER_END, GN_GRAPH_FILE_PAGE - GN_HEADER_END);
}

/* Everything that can be said without knowing what the numbers mean. */
static int check_frame(const unsigned char *page, const char *name, struct gn_error *e)
{
	const uint32_t version = gn__get_u32(page, GN_HEADER_VERSION);

	if (memcmp(page, GN_HEADER_MAGIC_TEXT, 8))
		return gn_error_set(
		    e, -GN_EBADMSG,
		    "%s: byte 0: this is not a Grapnel graph file; make one with 'grapnel convert'", name);
	if (gn__get_u32(page, GN_HEADER_BYTE_ORDER) != GN_HEADER_BYTE_ORDER_MARK)
		return gn_error_set(e, -GN_ENOTSUP,
		                    "%s: byte %d: the file was written in another byte order; convert the "
		                    "graph on this machine",
		                    name, (int)GN_HEADER_BYTE_ORDER);
	if (version != GN_GRAPH_FILE_VERSION && version != GN_GRAPH_FILE_VERSION_WIDE)
		return gn_error_set(e, -GN_ENOTSUP,
		                    "%s: byte %d: the format has version %u, but this program reads versions "
		                    "%d and %d; update this program or convert the graph again",
		                    name, (int)GN_HEADER_VERSION, version, (int)GN_GRAPH_FILE_VERSION,
		                    (int)GN_GRAPH_FILE_VERSION_WIDE);
	if (gn__get_u32(page, GN_HEADER_CRC) != gn__header_crc(page))
		return gn_error_set(e, -GN_EBADMSG,
		                    "%s: byte %d: the checksum of the header is wrong, the file is damaged; "
		                    "copy or convert it again",
		                    name, (int)GN_HEADER_CRC);
	return 0;
}

static int bad_field(const char *name, unsigned at, const char *what, uint64_t value, struct gn_error *e)
{
	return gn_error_set(e, -GN_EBADMSG,
	                    "%s: byte %u: %s of %llu is not possible; copy or convert the file again", name,
	                    at, what, (unsigned long long)value);
}

static int get_counts(struct gn_graph_file *f, const unsigned char *page, const char *name,
                      struct gn_error *e)
{
	const int wide = gn__get_u32(page, GN_HEADER_VERSION) == GN_GRAPH_FILE_VERSION_WIDE;

	f->id_bytes = wide ? 8 : 4;
	f->flags = gn__get_u32(page, GN_HEADER_FLAGS);
	f->weight = gn__get_u32(page, GN_HEADER_WEIGHT);
	f->vertices = gn__get_u64(page, GN_HEADER_VERTICES);
	f->edges = gn__get_u64(page, GN_HEADER_EDGES);
	if (gn__get_u32(page, GN_HEADER_PAGE) != GN_GRAPH_FILE_PAGE)
		return bad_field(name, GN_HEADER_PAGE, "a page size", gn__get_u32(page, GN_HEADER_PAGE), e);
	if (f->flags & ~(uint32_t)(GN_GRAPH_UNDIRECTED | GN_GRAPH_SORTED))
		return bad_field(name, GN_HEADER_FLAGS, "flags", f->flags, e);
	if (f->weight > GN_WEIGHT_F32)
		return bad_field(name, GN_HEADER_WEIGHT, "a kind of weight", f->weight, e);
	if (f->vertices > (wide ? GN_GRAPH_FILE_MAX_VERTICES : GN_GRAPH_MAX_VERTICES))
		return bad_field(name, GN_HEADER_VERTICES, "a number of vertices", f->vertices, e);
	if (f->edges > GN_GRAPH_MAX_EDGES || (f->edges && !f->vertices))
		return bad_field(name, GN_HEADER_EDGES, "a number of edges", f->edges, e);
	return 0;
}

static int get_section(struct gn_graph_section *s, const unsigned char *page, unsigned at, const char *name,
                       struct gn_error *e)
{
	if (gn__get_u64(page, at + GN_SECTION_AT) != s->at)
		return bad_field(name, at + GN_SECTION_AT, "a section start",
		                 gn__get_u64(page, at + GN_SECTION_AT), e);
	if (gn__get_u64(page, at + GN_SECTION_BYTES) != s->bytes)
		return bad_field(name, at + GN_SECTION_BYTES, "a section length",
		                 gn__get_u64(page, at + GN_SECTION_BYTES), e);
	s->crc = gn__get_u32(page, at + GN_SECTION_CRC);
	return 0;
}

/* A later version may give these bytes a meaning, which this one would miss. */
static int check_reserved(const unsigned char *page, const char *name, struct gn_error *e)
{
	for (unsigned at = GN_HEADER_RESERVED; at < GN_GRAPH_FILE_PAGE; at++) {
		bool reserved = at < GN_HEADER_VERTICES || at >= GN_HEADER_END;

		if (at >= GN_HEADER_OFFSETS && at < GN_HEADER_FILE_BYTES)
			reserved = (at - GN_HEADER_OFFSETS) % GN_SECTION_WIDTH >= GN_SECTION_RESERVED;
		if (reserved && page[at])
			return bad_field(name, at, "a reserved byte", page[at], e);
	}
	return 0;
}

static int get_sections(struct gn_graph_file *f, const unsigned char *page, const char *name,
                        struct gn_error *e)
{
	int err;

	gn__layout_fill(f);
	err = get_section(&f->offsets, page, GN_HEADER_OFFSETS, name, e);
	if (!err)
		err = get_section(&f->neighbours, page, GN_HEADER_NEIGHBOURS, name, e);
	if (!err)
		err = get_section(&f->weights, page, GN_HEADER_WEIGHTS, name, e);
	if (!err && gn__get_u64(page, GN_HEADER_FILE_BYTES) != f->bytes)
		err = bad_field(name, GN_HEADER_FILE_BYTES, "a file size",
		                gn__get_u64(page, GN_HEADER_FILE_BYTES), e);
	return err;
}

static int read_header(struct gn_graph_file *f, int fd, const char *name, uint64_t bytes, struct gn_error *e)
{
	unsigned char page[GN_GRAPH_FILE_PAGE];
	int err;

	if (bytes < sizeof page)
		return gn_error_set(e, -GN_EBADMSG,
		                    "%s: the file ends at byte %llu, inside its header of 4096 bytes; copy "
		                    "or convert it again",
		                    name, (unsigned long long)bytes);
	err = gn__input_read(fd, name, 0, page, sizeof page, e);
	if (!err)
		err = check_frame(page, name, e);
	if (!err)
		err = check_reserved(page, name, e);
	if (!err)
		err = get_counts(f, page, name, e);
	if (!err)
		err = get_sections(f, page, name, e);
	if (!err && bytes != f->bytes)
		err = gn_error_set(e, -GN_EBADMSG,
		                   "%s: the file has %llu bytes, but its header says %llu: it is %s; copy or "
		                   "convert it again",
		                   name, (unsigned long long)bytes, (unsigned long long)f->bytes,
		                   bytes < f->bytes ? "truncated" : "oversized");
	return err;
}

/* Takes fd over, whatever happens. */
static int open_owned(struct gn_graph_file *f, int fd, const char *name, uint64_t bytes, struct gn_error *e)
{
	int err;

	memset(f, 0, sizeof *f);
	err = read_header(f, fd, name, bytes, e);
	f->fd = fd;
	f->name = strdup(name);
	if (!err && !f->name)
		err = gn_error_set(e, -GN_ENOMEM, "%s: out of memory to open the file", name);
	if (err)
		gn_graph_file_close(f);
	return err;
}

int gn_graph_file_open(struct gn_graph_file *f, const char *path, struct gn_error *e)
{
	uint64_t bytes;
	int fd;
	int err;

	memset(f, 0, sizeof *f);
	f->fd = -1;
	err = gn__input_open(path, &fd, &bytes, e);
	return err ? err : open_owned(f, fd, path, bytes, e);
}

int gn_graph_file_open_fd(struct gn_graph_file *f, int fd, const char *name, struct gn_error *e)
{
	uint64_t bytes;
	int err, own;

	memset(f, 0, sizeof *f);
	f->fd = -1;
	err = gn__input_again(fd, name, &own, &bytes, e);
	return err ? err : open_owned(f, own, name, bytes, e);
}

void gn_graph_file_close(struct gn_graph_file *f)
{
	if (f->name || f->fd > 0) {
		if (f->fd >= 0)
			close(f->fd);
		free(f->name);
	}
	memset(f, 0, sizeof *f);
	f->fd = -1;
}
