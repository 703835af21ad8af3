/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subway's graphs: the numbers of vertices and of edges, u32 each, an offset a vertex, u32, and then the
 * neighbours: u32, or pairs of u32 neighbour and weight in a .bwcsr. The last row ends with the edges.
 */
#include <string.h>

#include "formats.h"
#include "io.h"

enum { BCSR_HEADER = 8 };

struct header {
	uint32_t vertices, edges;
};

/* Ascetic and Liberator give files of another layout the same name. */
static const char *other_layout(int fd, const char *name, uint64_t bytes, unsigned each)
{
	uint64_t count[2];

	if (bytes < sizeof count || gn__input_read(fd, name, 0, count, sizeof count, NULL))
		return "";
	if (count[0] > GN_GRAPH_MAX_VERTICES || count[1] > GN_GRAPH_MAX_EDGES ||
	    bytes != sizeof count + count[0] * 8 + count[1] * each)
		return "";
	return " (it has the layout of Ascetic's and Liberator's files, which are not read)";
}

static int check_size(int fd, const char *name, bool weighted, const struct header *h, uint64_t bytes,
                      struct gn_error *e)
{
	const unsigned each = weighted ? 8 : 4;
	const uint64_t whole = BCSR_HEADER + (uint64_t)h->vertices * 4 + (uint64_t)h->edges * each;

	if (bytes == whole)
		return 0;
	return gn_error_set(
	    e, -GN_EBADMSG,
	    "%s: the file has %llu bytes, but its header, of %lu vertices and %lu edges, asks "
	    "for %llu; it is cut, damaged, or a %s file%s: copy or rename it",
	    name, (unsigned long long)bytes, (unsigned long)h->vertices, (unsigned long)h->edges,
	    (unsigned long long)whole, weighted ? ".bcsr" : ".bwcsr", other_layout(fd, name, bytes, each));
}

static int read_header(int fd, const char *name, bool weighted, struct header *h, struct gn_error *e)
{
	uint64_t bytes;
	int err = gn__input_size(fd, name, &bytes, e);

	if (err)
		return err;
	if (bytes < BCSR_HEADER)
		return gn_error_set(
		    e, -GN_EBADMSG,
		    "%s: the file ends at byte %llu, inside its header of 8 bytes; copy it again", name,
		    (unsigned long long)bytes);
	err = gn__input_read(fd, name, 0, h, BCSR_HEADER, e);
	if (!err)
		err = check_size(fd, name, weighted, h, bytes, e);
	if (err)
		return err;
	if (!h->vertices && h->edges)
		return gn_error_set(e, -GN_EBADMSG,
		                    "%s: byte 4: %lu edges without vertices are not possible; the file is "
		                    "damaged, copy it again",
		                    name, (unsigned long)h->edges);
	return 0;
}

int gn__read_bcsr(struct gn_graph *g, int fd, const char *name, bool weighted,
                  const struct gn_graph_read_options *o, struct gn_error *e)
{
	struct gn_foreign_rows rows = {
	    {fd, name, BCSR_HEADER}, {fd, name, 0}, {0}, 0, 0, 4, 4, false, weighted, true};
	struct header h;
	int err = read_header(fd, name, weighted, &h, e);

	if (err)
		return err;
	rows.vertices = h.vertices;
	rows.edges = h.edges;
	rows.neighbours.at = BCSR_HEADER + (uint64_t)h.vertices * 4;
	return gn__read_rows(g, &rows, 0, o, e);
}
