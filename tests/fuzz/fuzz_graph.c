/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feed bytes to the reader of one format (GN_FUZZ_FORMAT): it must refuse them or give a graph whose
 * every row and neighbour is in range.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/formats.h"
#include "graph/read.h"
#include "fuzz.h"

static void require_sound(const struct gn_graph *g)
{
	FUZZ_REQUIRE(g->offsets && g->offsets[0] == 0 && g->offsets[g->vertices] == g->edges);
	for (uint64_t v = 0; v < g->vertices; v++)
		FUZZ_REQUIRE(g->offsets[v] <= g->offsets[v + 1]);
	for (uint64_t i = 0; i < g->edges; i++)
		FUZZ_REQUIRE(g->neighbours[i] < g->vertices);
	FUZZ_REQUIRE(g->edges == 0 || (g->weight != GN_WEIGHT_NONE) == (g->weights != NULL));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	/* threads cost more than these small inputs take, and hide which input failed */
	return setenv("OMP_NUM_THREADS", "1", 1);
}

static int read_one(struct gn_graph *g, const uint8_t *data, size_t size,
                    const struct gn_graph_read_options *o, struct gn_error *e)
{
	int fd = fuzz_file(data, size);
	int err = gn_graph_read_fd(g, fd, "fuzz", (enum gn_graph_format)GN_FUZZ_FORMAT, o, e);

	close(fd);
	return err;
}

/* The first two bytes are the lengths of the first two of EMOGI's files; without a rest there is no third. */
static int read_three(struct gn_graph *g, const uint8_t *data, size_t size,
                      const struct gn_graph_read_options *o, struct gn_error *e)
{
	struct gn_foreign_array file[GN_BEL_FILES] = {{-1, "col", 0}, {-1, "dst", 0}, {-1, NULL, 0}};
	size_t at = size < 2 ? size : 2;
	int err;

	for (unsigned k = 0; k < GN_BEL_FILES; k++) {
		size_t n = k < 2 && size > 2 ? data[k] : size - at;

		n = n < size - at ? n : size - at;
		if (k == GN_BEL_WEIGHTS && n)
			file[k].name = "val";
		file[k].fd = fuzz_file(data + at, n);
		at += n;
	}
	memset(g, 0, sizeof *g);
	err = gn__read_bel_files(g, file, o, e);
	for (unsigned k = 0; k < GN_BEL_FILES; k++)
		close(file[k].fd);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gn_graph_read_options o = {false, false, UINT64_C(1) << 24, {NULL, NULL}};
	struct gn_error e = {0};
	struct gn_graph g;
	int err;

	o.undirected = size & 1;
	o.simple = size & 2;
	err = GN_FUZZ_FORMAT == GN_FORMAT_BEL ? read_three(&g, data, size, &o, &e)
	                                      : read_one(&g, data, size, &o, &e);
	if (err) {
		FUZZ_REQUIRE(err < 0 && e.code == err && e.text[0] && !g.offsets);
	} else {
		require_sound(&g);
		gn_graph_fini(&g);
	}
	return 0;
}
