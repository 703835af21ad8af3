/* SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "build.h"
#include "file.h"
#include "formats.h"
#include "io.h"

static const struct {
	const char *suffix;
	enum gn_graph_format format;
} formats[] = {
    {".gng", GN_FORMAT_GNG},    {".mtx", GN_FORMAT_MTX},   {".mtx.gz", GN_FORMAT_MTX},
    {".el", GN_FORMAT_EL},      {".el.gz", GN_FORMAT_EL},  {".wel", GN_FORMAT_WEL},
    {".wel.gz", GN_FORMAT_WEL}, {".sg", GN_FORMAT_SG},     {".wsg", GN_FORMAT_WSG},
    {".bel", GN_FORMAT_BEL},    {".bcsr", GN_FORMAT_BCSR}, {".bwcsr", GN_FORMAT_BWCSR},
};

static bool has_suffix(const char *path, const char *suffix)
{
	size_t n = strlen(path);
	size_t m = strlen(suffix);

	return n > m && !strcasecmp(path + n - m, suffix);
}

int gn_graph_format_of(const char *path, enum gn_graph_format *format, struct gn_error *e)
{
	for (unsigned k = 0; k < sizeof formats / sizeof formats[0]; k++) {
		if (has_suffix(path, formats[k].suffix)) {
			*format = formats[k].format;
			return 0;
		}
	}
	return gn_error_set(
	    e, -GN_ENOTSUP,
	    "%s: the end of the name is not that of a graph format; rename the file to end in .gng, .mtx, "
	    ".el, .wel, .sg, .wsg, .bcsr or .bwcsr (.mtx.gz, .el.gz and .wel.gz are read too), or give "
	    "NAME.bel for NAME.bel.col and NAME.bel.dst",
	    path);
}

static bool needs_mirror(const struct gn_graph *g, const struct gn_graph_read_options *o)
{
	return o->undirected && !(g->flags & GN_GRAPH_UNDIRECTED);
}

int gn__read_rebuild(struct gn_graph *g, const struct gn_graph_read_options *o, struct gn_error *e)
{
	struct gn_graph from = *g;
	struct gn_build b = {0};
	int err;

	if (!needs_mirror(g, o) && !o->simple && (g->flags & GN_GRAPH_SORTED))
		return 0;
	b.source = gn__graph_source(&from);
	b.vertices = from.vertices;
	b.weight = from.weight;
	b.mirror = needs_mirror(g, o) ? GN_MIRROR_SAME : GN_MIRROR_NONE;
	b.simple = o->simple;
	b.memory_limit = o->memory_limit;
	b.progress = &o->progress;
	err = gn__graph_build(g, &b, e);
	if (!err)
		g->flags |= from.flags & GN_GRAPH_UNDIRECTED;
	gn_graph_fini(&from);
	return err;
}

static int read_gng(struct gn_graph *g, int fd, const char *name, const struct gn_graph_read_options *o,
                    struct gn_error *e)
{
	struct gn_graph_file f;
	int err = gn_graph_file_open_fd(&f, fd, name, e);

	if (err)
		return err;
	err = gn_graph_file_load(&f, g, o->memory_limit, &o->progress, e);
	gn_graph_file_close(&f);
	return err ? err : gn__read_rebuild(g, o, e);
}

static const struct gn_graph_read_options defaults = {false, false, 0, {NULL, NULL}};

int gn_graph_read_fd(struct gn_graph *g, int fd, const char *name, enum gn_graph_format format,
                     const struct gn_graph_read_options *options, struct gn_error *e)
{
	const struct gn_graph_read_options *o = options ? options : &defaults;

	memset(g, 0, sizeof *g);
	switch (format) {
	case GN_FORMAT_GNG: return read_gng(g, fd, name, o, e);
	case GN_FORMAT_MTX: return gn__read_mtx(g, fd, name, o, e);
	case GN_FORMAT_EL: return gn__read_el(g, fd, name, false, o, e);
	case GN_FORMAT_WEL: return gn__read_el(g, fd, name, true, o, e);
	case GN_FORMAT_SG: return gn__read_sg(g, fd, name, false, o, e);
	case GN_FORMAT_WSG: return gn__read_sg(g, fd, name, true, o, e);
	case GN_FORMAT_BCSR: return gn__read_bcsr(g, fd, name, false, o, e);
	case GN_FORMAT_BWCSR: return gn__read_bcsr(g, fd, name, true, o, e);
	case GN_FORMAT_BEL: break; /* more than one file */
	}
	return gn_error_set(e, -GN_EINVAL, "%s: %d is not the format of one file", name, (int)format);
}

int gn_graph_read(struct gn_graph *g, const char *path, const struct gn_graph_read_options *options,
                  struct gn_error *e)
{
	enum gn_graph_format format;
	uint64_t bytes;
	int fd;
	int err;

	memset(g, 0, sizeof *g);
	if (!gn_graph_format_of(path, &format, NULL) && format == GN_FORMAT_BEL)
		return gn__read_bel(g, path, options ? options : &defaults, e);
	/* a directory is better called that than a name without a format */
	err = gn__input_open(path, &fd, &bytes, e);
	if (err)
		return err;
	err = gn_graph_format_of(path, &format, e);
	if (!err)
		err = gn_graph_read_fd(g, fd, path, format, options, e);
	close(fd);
	return err;
}
