/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <zlib.h>

#include "file.h"
#include "io.h"
#include "section.h"

struct loading {
	const struct gn_graph_file *f;
	const struct gn_progress *progress;
	uint64_t done; /* bytes, of all sections */
};

/* Several parts at a time, since one reader does not fill a fast disk. */
static int load_section(struct loading *l, const struct gn_graph_section *s, void *into, struct gn_error *e)
{
	const uint64_t part = UINT64_C(1) << 22;
	const uint64_t parts_per_step = 64;
	const uint64_t parts = (s->bytes + part - 1) / part;
	int err = 0;

	for (uint64_t step = 0; step < parts && !err; step += parts_per_step) {
		uint64_t end = gn__min_u64(parts, step + parts_per_step);

		gn_progress_step(l->progress, "reading", l->done + step * part, l->f->bytes);
#pragma omp parallel for schedule(dynamic, 1)
		for (uint64_t k = step; k < end; k++) {
			uint64_t n = gn__min_u64(s->bytes - k * part, part);
			struct gn_error mine = {0};

			if (gn__input_read(l->f->fd, l->f->name, s->at + k * part, (char *)into + k * part, n,
			                   &mine)) {
#pragma omp critical(gn_load)
				err = gn_error_set(e, mine.code, "%s", mine.text);
			}
		}
	}
	l->done += s->bytes;
	return err;
}

/* Ids of 8 bytes, checked, into 4; one thread. */
static int load_wide(struct loading *l, struct gn_graph *g, struct gn_error *e)
{
	enum { PIECE = 1 << 19 };
	const struct gn_graph_file *f = l->f;
	uint64_t *piece = (uint64_t *)malloc(PIECE * sizeof *piece);
	uLong crc = crc32(0, NULL, 0);
	int err = piece ? 0 : gn_error_set(e, -GN_ENOMEM, "%s: out of memory to read it", f->name);

	for (uint64_t done = 0; done < f->edges && !err; done += PIECE) {
		const uint64_t n = gn__min_u64(f->edges - done, PIECE);

		gn_progress_step(l->progress, "reading", l->done + done * 8, f->bytes);
		err = gn__input_read(f->fd, f->name, f->neighbours.at + done * 8, piece, n * 8, e);
		if (err)
			break;
		crc = crc32(crc, (const unsigned char *)piece, (uInt)(n * 8));
		err = gn__neighbours_check(piece, done, n, f, e);
		for (uint64_t i = 0; i < n && !err; i++)
			g->neighbours[done + i] = (uint32_t)piece[i];
	}
	free(piece);
	l->done += f->neighbours.bytes;
	return err ? err : gn__crc_check(f, &f->neighbours, "neighbours", (uint32_t)crc, e);
}

/* Ids of 4 bytes as they are in the file. */
static int check_narrow(const struct gn_graph_file *f, const struct gn_graph *g, struct gn_error *e)
{
	int err =
	    gn__crc_check(f, &f->neighbours, "neighbours", gn__crc_of(g->neighbours, f->neighbours.bytes), e);

	return err ? err : gn__neighbours_check(g->neighbours, 0, g->edges, f, e);
}

static int check_sorted(const struct gn_graph_file *f, const struct gn_graph *g, struct gn_error *e)
{
	uint64_t worst = UINT64_MAX;

#pragma omp parallel for schedule(dynamic, 4096) reduction(min : worst)
	for (uint64_t v = 0; v < g->vertices; v++) {
		for (uint64_t i = g->offsets[v] + 1; i < g->offsets[v + 1]; i++) {
			if (g->neighbours[i] < g->neighbours[i - 1] && i < worst)
				worst = i;
		}
	}
	return worst == UINT64_MAX ? 0 : gn__unsorted(f, worst, e);
}

static int check_content(const struct gn_graph_file *f, const struct gn_graph *g, struct gn_error *e)
{
	int err;

	err = gn__crc_check(f, &f->offsets, "offsets", gn__crc_of(g->offsets, f->offsets.bytes), e);
	if (!err)
		err = gn__crc_check(f, &f->weights, "weights", gn__crc_of(g->weights, f->weights.bytes), e);
	if (!err)
		err = gn__offsets_check(g->offsets, 0, g->vertices + 1, 0, f, e);
	if (!err && f->id_bytes == 4)
		err = check_narrow(f, g, e);
	if (!err && (f->flags & GN_GRAPH_SORTED))
		err = check_sorted(f, g, e);
	return err;
}

int gn_graph_file_load(const struct gn_graph_file *f, struct gn_graph *g, uint64_t memory_limit,
                       const struct gn_progress *progress, struct gn_error *e)
{
	struct loading l = {f, progress, 0};
	int err = gn_graph_init(g, f->vertices, f->edges, f->weight, memory_limit, e);

	if (err)
		return err;
	g->flags = f->flags;
	err = load_section(&l, &f->offsets, g->offsets, e);
	if (!err)
		err = f->id_bytes == 8 ? load_wide(&l, g, e)
		                       : load_section(&l, &f->neighbours, g->neighbours, e);
	if (!err)
		err = load_section(&l, &f->weights, g->weights, e);
	if (!err)
		err = check_content(f, g, e);
	if (err)
		gn_graph_fini(g);
	return err;
}

int gn_graph_file_offsets(const struct gn_graph_file *f, gn_graph_take_offsets *take, void *context,
                          struct gn_error *e)
{
	const uint64_t most = 1 << 19;
	uint64_t *part = (uint64_t *)malloc((most + 1) * sizeof *part);
	int rc = part ? 0 : gn_error_set(e, -GN_ENOMEM, "%s: out of memory for offsets", f->name);

	for (uint64_t first = 0; first < f->vertices && !rc; first += most) {
		const uint64_t n = gn__min_u64(f->vertices - first, most);

		rc = gn__input_read(f->fd, f->name, f->offsets.at + first * sizeof *part, part,
		                    (n + 1) * sizeof *part, e);
		if (!rc)
			rc = take(context, part, first, n, e);
	}
	free(part);
	return rc;
}
