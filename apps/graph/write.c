/* SPDX-License-Identifier: Apache-2.0 */
#include "write.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "formats.h"
#include "io.h"

/* ---- arrays, converted a part at a time ---- */

/* Elements first to first + n - 1 of an array of the file. */
typedef void (*fill_part)(const struct gn_graph *g, uint64_t first, uint64_t n, void *part);

static void fill_offsets(const struct gn_graph *g, uint64_t first, uint64_t n, void *part)
{
	memcpy(part, g->offsets + first, n * sizeof *g->offsets);
}

static void fill_narrow_offsets(const struct gn_graph *g, uint64_t first, uint64_t n, void *part)
{
	for (uint64_t i = 0; i < n; i++)
		((uint32_t *)part)[i] = (uint32_t)g->offsets[first + i];
}

static void fill_neighbours(const struct gn_graph *g, uint64_t first, uint64_t n, void *part)
{
	memcpy(part, g->neighbours + first, n * sizeof *g->neighbours);
}

static void fill_wide_neighbours(const struct gn_graph *g, uint64_t first, uint64_t n, void *part)
{
	for (uint64_t i = 0; i < n; i++)
		((uint64_t *)part)[i] = g->neighbours[first + i];
}

static void fill_pairs(const struct gn_graph *g, uint64_t first, uint64_t n, void *part)
{
	for (uint64_t i = 0; i < n; i++) {
		((uint32_t *)part)[2 * i] = g->neighbours[first + i];
		((uint32_t *)part)[2 * i + 1] = g->weights[first + i];
	}
}

static void fill_weights(const struct gn_graph *g, uint64_t first, uint64_t n, void *part)
{
	memcpy(part, g->weights + first, n * sizeof *g->weights);
}

static int put(struct gn_output *o, const struct gn_graph *g, uint64_t count, unsigned width, fill_part fill,
               const struct gn_progress *progress, struct gn_error *e)
{
	const uint64_t most = (UINT64_C(1) << 22) / width;
	void *part = malloc(gn__min_u64(count, most) * width + 1);
	int err = 0;

	if (!part)
		return gn_error_set(e, -GN_ENOMEM, "%s: out of memory to write the file", o->path);
	for (uint64_t first = 0; first < count && !err; first += most) {
		const uint64_t n = gn__min_u64(count - first, most);

		gn_progress_step(progress, "writing", first, count);
		fill(g, first, n, part);
		err = gn__output_write(o, part, n * width, e);
	}
	free(part);
	return err;
}

/* EMOGI and Subway read weights as u32. */
static int check_weights(const struct gn_graph *g, const char *path, struct gn_error *e)
{
	if (g->weight == GN_WEIGHT_F32)
		return gn_error_set(e, -GN_ENOTSUP,
		                    "%s: the graph has real weights, but this format has integers; write a "
		                    ".gng or .bcsr file",
		                    path);
	for (uint64_t i = 0; g->weights && i < g->edges; i++) {
		if (g->weights[i] > INT32_MAX)
			return gn_error_set(e, -GN_EINVAL,
			                    "%s: weight %llu is %ld, but this format has none below 0; write "
			                    "a .gng or .bcsr file",
			                    path, (unsigned long long)i, (long)(int32_t)g->weights[i]);
	}
	return 0;
}

/* ---- Subway ---- */

static int check_bcsr(const struct gn_graph *g, const char *path, bool weighted, struct gn_error *e)
{
	if (g->edges > UINT32_MAX)
		return gn_error_set(
		    e, -GN_EFBIG,
		    "%s: the graph has %llu edges, but this format counts at most 4294967295; "
		    "write a .gng or .bel file",
		    path, (unsigned long long)g->edges);
	if (!weighted)
		return 0;
	if (!g->weight)
		return gn_error_set(
		    e, -GN_ENOTSUP,
		    "%s: the graph has no weights, which this format needs; write a .bcsr file", path);
	return check_weights(g, path, e);
}

static int write_bcsr(const struct gn_graph *g, const char *path, bool weighted,
                      const struct gn_progress *progress, struct gn_error *e)
{
	const uint32_t header[2] = {(uint32_t)g->vertices, (uint32_t)g->edges};
	const unsigned each = weighted ? 8 : 4;
	struct gn_output o;
	int err = check_bcsr(g, path, weighted, e);

	if (!err)
		err = gn__output_begin(&o, path, sizeof header + g->vertices * 4 + g->edges * each, e);
	if (err)
		return err;
	err = gn__output_write(&o, header, sizeof header, e);
	if (!err)
		err = put(&o, g, g->vertices, 4, fill_narrow_offsets, progress, e);
	if (!err)
		err = put(&o, g, g->edges, each, weighted ? fill_pairs : fill_neighbours, progress, e);
	if (!err)
		return gn__output_end(&o, e);
	gn__output_drop(&o);
	return err;
}

/* ---- EMOGI ---- */

struct bel_file {
	char *name;
	struct gn_output output;
	bool named; /* it is complete */
};

static int bel_name(struct bel_file *f, const char *path, unsigned file, struct gn_error *e)
{
	struct stat st;

	f->name = gn__bel_name(path, file, e);
	if (!f->name)
		return -GN_ENOMEM;
	if (lstat(f->name, &st))
		return 0;
	return gn_error_set(e, -GN_EINVAL,
	                    "%s: the file is there already, and the files of a .bel graph cannot be replaced "
	                    "in one step; remove them, or give another name",
	                    f->name);
}

/* All names are looked at, also that of weights that will not be written: a reader would take what is there.
 */
static int bel_names(struct bel_file *f, const char *path, struct gn_error *e)
{
	int err = 0;

	for (unsigned k = 0; k < GN_BEL_FILES; k++)
		f[k].output.fd = -1; /* bel_close gives back all files, those too that were not looked at */
	for (unsigned k = 0; k < GN_BEL_FILES && !err; k++)
		err = bel_name(&f[k], path, k, e);
	return err;
}

/* Unless everything went well, files that have their names are removed too: none was there before. */
static void bel_close(struct bel_file *f, int err)
{
	for (unsigned k = 0; k < GN_BEL_FILES; k++) {
		if (f[k].named && err)
			unlink(f[k].name);
		if (!f[k].named)
			gn__output_drop(&f[k].output);
		free(f[k].name);
	}
}

static int bel_put(struct bel_file *f, unsigned file, const struct gn_graph *g,
                   const struct gn_progress *progress, struct gn_error *e)
{
	static const fill_part fill[GN_BEL_FILES] = {fill_offsets, fill_wide_neighbours, fill_weights};
	const unsigned width = file == GN_BEL_WEIGHTS ? 4 : 8;
	const uint64_t header[2] = {file == GN_BEL_OFFSETS ? g->vertices + 1 : g->edges, 0};
	int err = gn__output_begin(&f->output, f->name, sizeof header + header[0] * width, e);

	if (!err)
		err = gn__output_write(&f->output, header, sizeof header, e);
	return err ? err : put(&f->output, g, header[0], width, fill[file], progress, e);
}

static int write_bel(const struct gn_graph *g, const char *path, const struct gn_progress *progress,
                     struct gn_error *e)
{
	const unsigned files = g->weight ? GN_BEL_FILES : GN_BEL_WEIGHTS;
	struct bel_file f[GN_BEL_FILES] = {0};
	int err = check_weights(g, path, e);

	if (err)
		return err;
	err = bel_names(f, path, e);
	for (unsigned k = 0; k < files && !err; k++)
		err = bel_put(&f[k], k, g, progress, e);
	/* the offsets come last: without them a reader finds no graph */
	for (unsigned k = files; k-- && !err;) {
		err = gn__output_end(&f[k].output, e);
		f[k].named = !err;
	}
	bel_close(f, err);
	return err;
}

static int bel_writable(const char *path, struct gn_error *e)
{
	struct bel_file f[GN_BEL_FILES] = {0};
	int err = bel_names(f, path, e);

	if (!err)
		err = gn_graph_file_writable(f[GN_BEL_OFFSETS].name, e);
	bel_close(f, err);
	return err;
}

/* ---- any format ---- */

/* What is there and is no regular file is written in place, in Grapnel's own format. */
static int format_of(const char *path, enum gn_graph_format *format, struct gn_error *e)
{
	struct stat st;

	*format = GN_FORMAT_GNG;
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return 0;
	return gn_graph_format_of(path, format, e);
}

static int only_read(const char *path, struct gn_error *e)
{
	return gn_error_set(e, -GN_ENOTSUP,
	                    "%s: graphs of this format are read, but not written; give a name that ends in "
	                    ".gng, .bel, .bcsr or .bwcsr",
	                    path);
}

int gn_graph_write(const struct gn_graph *g, const char *path, const struct gn_progress *progress,
                   struct gn_error *e)
{
	enum gn_graph_format format;
	const int err = format_of(path, &format, e);

	if (err)
		return err;
	switch (format) {
	case GN_FORMAT_GNG: return gn_graph_file_write(g, path, progress, e);
	case GN_FORMAT_BEL: return write_bel(g, path, progress, e);
	case GN_FORMAT_BCSR: return write_bcsr(g, path, false, progress, e);
	case GN_FORMAT_BWCSR: return write_bcsr(g, path, true, progress, e);
	default: return only_read(path, e);
	}
}

int gn_graph_writable(const char *path, struct gn_error *e)
{
	enum gn_graph_format format;
	const int err = format_of(path, &format, e);

	if (err)
		return err;
	switch (format) {
	case GN_FORMAT_GNG:
	case GN_FORMAT_BCSR:
	case GN_FORMAT_BWCSR: return gn_graph_file_writable(path, e);
	case GN_FORMAT_BEL: return bel_writable(path, e);
	default: return only_read(path, e);
	}
}
