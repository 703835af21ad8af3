/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <zlib.h>

#include "file.h"
#include "io.h"
#include "layout.h"
#include "section.h"

enum { PART = 1 << 22 };

/* The state of one check: two buffers, whatever the size of the file. */
struct checking {
	const struct gn_graph_file *f;
	const struct gn_progress *progress;
	struct gn_error *e;
	void *part;        /* PART bytes of the section being read */
	uint64_t *offsets; /* PART bytes of the offsets, which neighbours are held against */
	uint64_t first;    /* number of offsets[0] */
	uint64_t loaded;   /* how many are in offsets */
	uint64_t next;     /* the offset looked at, an index of offsets */
	uint64_t previous; /* last element of the part before */
};

typedef int (*part_check)(struct checking *c, uint64_t first, uint64_t bytes);

static int check_padding(struct checking *c, const struct gn_graph_section *s)
{
	unsigned char padding[GN_GRAPH_FILE_PAGE];
	uint64_t n = gn__page_up(s->bytes) - s->bytes;
	int err = gn__input_read(c->f->fd, c->f->name, s->at + s->bytes, padding, n, c->e);

	for (uint64_t i = 0; i < n && !err; i++) {
		if (padding[i])
			err = gn_error_set(c->e, -GN_EBADMSG,
			                   "%s: byte %llu: the padding is not zero, the file is damaged; "
			                   "copy or convert it again",
			                   c->f->name, (unsigned long long)(s->at + s->bytes + i));
	}
	return err;
}

static int check_section(struct checking *c, const struct gn_graph_section *s, const char *what,
                         part_check check)
{
	uLong crc = crc32(0, NULL, 0);
	int err = 0;

	for (uint64_t done = 0; done < s->bytes && !err; done += PART) {
		uint64_t n = gn__min_u64(s->bytes - done, PART);

		gn_progress_step(c->progress, "checking", s->at + done, c->f->bytes);
		err = gn__input_read(c->f->fd, c->f->name, s->at + done, c->part, n, c->e);
		if (err)
			break;
		crc = crc32(crc, (const unsigned char *)c->part, (uInt)n);
		if (check)
			err = check(c, done, n);
	}
	if (!err)
		err = gn__crc_check(c->f, s, what, (uint32_t)crc, c->e);
	return err ? err : check_padding(c, s);
}

static int check_offsets(struct checking *c, uint64_t done, uint64_t bytes)
{
	const uint64_t *part = (const uint64_t *)c->part;
	int err = gn__offsets_check(part, done / 8, bytes / 8, c->previous, c->f, c->e);

	c->previous = part[bytes / 8 - 1];
	return err;
}

/* Sets *yes when edge i is the first of some row; i must not decrease from call to call. */
static int starts_row(struct checking *c, uint64_t i, int *yes)
{
	for (;;) {
		uint64_t left = c->f->vertices + 1 - c->first;
		int err;

		while (c->next < c->loaded && c->offsets[c->next] < i)
			c->next++;
		if (c->next < c->loaded || left == c->loaded) {
			*yes = c->next < c->loaded && c->offsets[c->next] == i;
			return 0;
		}
		c->first += c->loaded;
		left -= c->loaded;
		c->loaded = gn__min_u64(left, PART / 8);
		c->next = 0;
		err = gn__input_read(c->f->fd, c->f->name, c->f->offsets.at + c->first * 8, c->offsets,
		                     c->loaded * 8, c->e);
		if (err)
			return err;
	}
}

/* A neighbour smaller than the one before it is right only where a row starts. */
static int check_ascending(struct checking *c, uint64_t first, uint64_t n)
{
	uint64_t before = c->previous, vertex;

	for (uint64_t i = 0; i < n; i++, before = vertex) {
		int start;
		int err;

		vertex = gn__neighbour(c->part, i, c->f->id_bytes);
		if (vertex >= before)
			continue;
		err = starts_row(c, first + i, &start);
		if (err)
			return err;
		if (!start)
			return gn__unsorted(c->f, first + i, c->e);
	}
	return 0;
}

static int check_neighbours(struct checking *c, uint64_t done, uint64_t bytes)
{
	const uint32_t width = c->f->id_bytes;
	int err = gn__neighbours_check(c->part, done / width, bytes / width, c->f, c->e);

	if (!err && (c->f->flags & GN_GRAPH_SORTED))
		err = check_ascending(c, done / width, bytes / width);
	c->previous = gn__neighbour(c->part, bytes / width - 1, width);
	return err;
}

static int check_all(struct checking *c)
{
	int err = check_section(c, &c->f->offsets, "offsets", check_offsets);

	c->previous = 0;
	if (!err)
		err = check_section(c, &c->f->neighbours, "neighbours", check_neighbours);
	if (!err)
		err = check_section(c, &c->f->weights, "weights", NULL);
	gn_progress_step(c->progress, "checking", c->f->bytes, c->f->bytes);
	return err;
}

int gn_graph_file_check(const struct gn_graph_file *f, const struct gn_progress *progress, struct gn_error *e)
{
	struct checking c = {f, progress, e};
	int err;

	c.part = malloc(PART);
	c.offsets = (uint64_t *)malloc(PART);
	if (c.part && c.offsets)
		err = check_all(&c);
	else
		err = gn_error_set(e, -GN_ENOMEM, "%s: out of memory to check the file (8 MiB)", f->name);
	free(c.part);
	free(c.offsets);
	return err;
}
