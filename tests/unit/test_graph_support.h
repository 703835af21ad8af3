/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_graph_support.h - files in memory and assertions that the tests of graphs share.
 */
#ifndef GN_TEST_GRAPH_SUPPORT_H
#define GN_TEST_GRAPH_SUPPORT_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "graph/file.h"
#include "graph/generate.h"
#include "graph/read.h"
#include "graph/reference.h"
#include "unit.h"

/* A file that has no name, holding these bytes. */
static inline int memory_file(const void *bytes, size_t n)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	return fd;
}

/* The call failed with this code, and its message holds every one of these words. */
static inline void assert_error(int err, int code, const struct gn_error *e, const char *where,
                                const char *remedy)
{
	if (err != code || !strstr(e->text, where) || !strstr(e->text, remedy))
		fail_msg("got %d (%s), wanted %d, '%s' and '%s'", err, e->text, code, where, remedy);
	assert_int_equal(e->code, code);
}

static inline void assert_row(const struct gn_graph *g, uint64_t v, const uint32_t *want, unsigned n)
{
	assert_int_equal(g->offsets[v + 1] - g->offsets[v], n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(g->neighbours[g->offsets[v] + i], want[i]);
}

static inline void assert_same_graph(const struct gn_graph *a, const struct gn_graph *b)
{
	assert_int_equal(a->vertices, b->vertices);
	assert_int_equal(a->edges, b->edges);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->weight, b->weight);
	assert_memory_equal(a->offsets, b->offsets, (a->vertices + 1) * sizeof *a->offsets);
	if (a->edges)
		assert_memory_equal(a->neighbours, b->neighbours, a->edges * sizeof *a->neighbours);
	if (a->edges && a->weight)
		assert_memory_equal(a->weights, b->weights, a->edges * sizeof *a->weights);
}

/* Read text as a file of this format. */
static inline int read_text(struct gn_graph *g, const char *text, enum gn_graph_format format,
                            const struct gn_graph_read_options *o, struct gn_error *e)
{
	int fd = memory_file(text, strlen(text));
	int err = gn_graph_read_fd(g, fd, "the-file", format, o, e);

	close(fd);
	return err;
}

/* A directory of the test's own, for scratch_remove. */
static inline char *scratch_directory(void)
{
	char *path = strdup("/tmp/grapnel-test-XXXXXX");

	assert_non_null(mkdtemp(path));
	return path;
}

static inline char *path_in(const char *directory, const char *name)
{
	char *path = (char *)malloc(strlen(directory) + strlen(name) + 2);

	sprintf(path, "%s/%s", directory, name);
	return path;
}

/* Remove the one file of a directory and the directory, and free both paths. */
static inline void scratch_remove(char *path, char *directory)
{
	unlink(path);
	rmdir(directory);
	free(path);
	free(directory);
}

#endif
