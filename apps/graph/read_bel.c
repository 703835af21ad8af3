/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EMOGI's graphs: three files beside each other. Each starts with the number of its elements and a word that
 * means nothing, u64 both. NAME.bel.col has the offsets, u64, one more than vertices; NAME.bel.dst the
 * neighbours, u64; NAME.bel.val the weights, u32.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats.h"
#include "io.h"

enum { BEL_HEADER = 16 };

const char *const gn__bel_suffix[GN_BEL_FILES] = {".col", ".dst", ".val"};

char *gn__bel_name(const char *path, unsigned file, struct gn_error *e)
{
	const size_t bytes = strlen(path) + strlen(gn__bel_suffix[file]) + 1;
	char *name = (char *)malloc(bytes);

	if (name)
		snprintf(name, bytes, "%s%s", path, gn__bel_suffix[file]);
	else
		gn_error_set(e, -GN_ENOMEM, "%s: out of memory for the name", path);
	return name;
}

/* The number of elements, if the file has room for just so many. */
static int read_count(const struct gn_foreign_array *f, unsigned each, uint64_t *count, struct gn_error *e)
{
	uint64_t bytes;
	int err = gn__input_size(f->fd, f->name, &bytes, e);

	if (err)
		return err;
	if (bytes < BEL_HEADER)
		return gn_error_set(
		    e, -GN_EBADMSG,
		    "%s: the file ends at byte %llu, inside its header of 16 bytes; copy it again", f->name,
		    (unsigned long long)bytes);
	err = gn__input_read(f->fd, f->name, 0, count, sizeof *count, e);
	if (err)
		return err;
	bytes -= BEL_HEADER;
	if (*count == bytes / each && bytes % each == 0)
		return 0;
	return gn_error_set(e, -GN_EBADMSG,
	                    "%s: byte 0: the file says that it has %llu elements of %u bytes, but behind its "
	                    "header are %llu bytes; it is cut or damaged, copy it again",
	                    f->name, (unsigned long long)*count, each, (unsigned long long)bytes);
}

static int check_counts(const struct gn_foreign_array *file, const uint64_t *count, struct gn_error *e)
{
	if (!count[GN_BEL_OFFSETS] || count[GN_BEL_OFFSETS] - 1 > GN_GRAPH_MAX_VERTICES)
		return gn_error_set(
		    e, -GN_EBADMSG,
		    "%s: byte 0: %llu offsets are not possible, one more than vertices, of which there "
		    "are at most 2^32 - 1; the file is damaged, copy it again",
		    file[GN_BEL_OFFSETS].name, (unsigned long long)count[GN_BEL_OFFSETS]);
	if (count[GN_BEL_WEIGHTS] != count[GN_BEL_NEIGHBOURS])
		return gn_error_set(
		    e, -GN_EBADMSG,
		    "%s: byte 0: there are %llu weights for the %llu neighbours of %s; the files "
		    "are not of the same graph: copy them again, or remove this one",
		    file[GN_BEL_WEIGHTS].name, (unsigned long long)count[GN_BEL_WEIGHTS],
		    (unsigned long long)count[GN_BEL_NEIGHBOURS], file[GN_BEL_NEIGHBOURS].name);
	return 0;
}

int gn__read_bel_files(struct gn_graph *g, const struct gn_foreign_array *file,
                       const struct gn_graph_read_options *o, struct gn_error *e)
{
	static const unsigned each[GN_BEL_FILES] = {8, 8, 4};
	struct gn_foreign_rows rows = {file[GN_BEL_OFFSETS],
	                               file[GN_BEL_NEIGHBOURS],
	                               file[GN_BEL_WEIGHTS],
	                               0,
	                               0,
	                               8,
	                               8,
	                               true,
	                               false,
	                               true};
	uint64_t count[GN_BEL_FILES] = {0};
	int err = 0;

	for (unsigned k = 0; k < GN_BEL_FILES && file[k].name && !err; k++)
		err = read_count(&file[k], each[k], &count[k], e);
	if (err)
		return err;
	if (!file[GN_BEL_WEIGHTS].name)
		count[GN_BEL_WEIGHTS] = count[GN_BEL_NEIGHBOURS];
	err = check_counts(file, count, e);
	if (err)
		return err;
	rows.vertices = count[GN_BEL_OFFSETS] - 1;
	rows.edges = count[GN_BEL_NEIGHBOURS];
	rows.offsets.at = rows.neighbours.at = rows.weights.at = BEL_HEADER;
	return gn__read_rows(g, &rows, 0, o, e);
}

/* A file that is not there is no failure if it holds the weights. */
static int open_file(const char *path, unsigned file, struct gn_foreign_array *a, char **name,
                     struct gn_error *e)
{
	uint64_t bytes;
	int err;

	*name = gn__bel_name(path, file, e);
	if (!*name)
		return -GN_ENOMEM;
	if (file == GN_BEL_WEIGHTS && access(*name, F_OK))
		return 0;
	err = gn__input_open(*name, &a->fd, &bytes, e);
	a->name = *name;
	return err;
}

int gn__read_bel(struct gn_graph *g, const char *path, const struct gn_graph_read_options *o,
                 struct gn_error *e)
{
	struct gn_foreign_array file[GN_BEL_FILES] = {{-1, NULL, 0}, {-1, NULL, 0}, {-1, NULL, 0}};
	char *name[GN_BEL_FILES] = {NULL};
	int err = 0;

	for (unsigned k = 0; k < GN_BEL_FILES && !err; k++)
		err = open_file(path, k, &file[k], &name[k], e);
	if (!err)
		err = gn__read_bel_files(g, file, o, e);
	for (unsigned k = 0; k < GN_BEL_FILES; k++) {
		if (file[k].fd >= 0)
			close(file[k].fd);
		free(name[k]);
	}
	return err;
}
