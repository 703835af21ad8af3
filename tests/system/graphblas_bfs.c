/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are these the depths of a breadth-first search? Computed once more by GraphBLAS, as products of a vector
 * and the adjacency matrix over (or, and). Usage: graphblas_bfs GRAPH SOURCE DEPTHS
 */
#include <GraphBLAS.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/read.h"

static void must(int ok, const char *what, const char *why)
{
	if (ok)
		return;
	fprintf(stderr, "graphblas_bfs: %s: %s\n", what, why);
	exit(1);
}

static void call(GrB_Info info, const char *what)
{
	must(info == GrB_SUCCESS, what, "GraphBLAS failed");
}

static GrB_Matrix adjacency(const struct gn_graph *g)
{
	GrB_Index *row = (GrB_Index *)malloc((g->edges + 1) * sizeof *row);
	GrB_Index *column = (GrB_Index *)malloc((g->edges + 1) * sizeof *column);
	bool *one = (bool *)malloc(g->edges + 1);
	GrB_Matrix a;

	must(row && column && one, "matrix", "out of memory");
	for (uint64_t v = 0; v < g->vertices; v++)
		for (uint64_t e = g->offsets[v]; e < g->offsets[v + 1]; e++) {
			row[e] = v;
			column[e] = g->neighbours[e];
			one[e] = true;
		}
	call(GrB_Matrix_new(&a, GrB_BOOL, g->vertices, g->vertices), "matrix");
	call(GrB_Matrix_build_BOOL(a, row, column, one, g->edges, GrB_LOR), "matrix");
	free(row);
	free(column);
	free(one);
	return a;
}

/* depth[v], absent where unreachable */
static GrB_Vector search(GrB_Matrix a, GrB_Index vertices, GrB_Index source)
{
	GrB_Vector depth, front;
	GrB_Index reached = 1;

	call(GrB_Vector_new(&depth, GrB_UINT32, vertices), "depths");
	call(GrB_Vector_new(&front, GrB_BOOL, vertices), "frontier");
	call(GrB_Vector_setElement_BOOL(front, true, source), "frontier");
	for (uint32_t level = 0; reached; level++) {
		call(GrB_Vector_assign_UINT32(depth, front, NULL, level, GrB_ALL, vertices, GrB_DESC_S),
		     "depths");
		call(GrB_vxm(front, depth, NULL, GrB_LOR_LAND_SEMIRING_BOOL, front, a, GrB_DESC_RSC),
		     "level");
		call(GrB_Vector_nvals(&reached, front), "frontier");
	}
	GrB_Vector_free(&front);
	return depth;
}

static void compare(GrB_Vector depth, uint64_t vertices, const char *path)
{
	FILE *f = fopen(path, "rb");
	unsigned char got[4];

	must(f != NULL, path, "cannot be opened");
	for (uint64_t v = 0; v < vertices; v++) {
		uint32_t want = UINT32_MAX, is;

		GrB_Vector_extractElement_UINT32(&want, depth, v);
		must(fread(got, sizeof got, 1, f) == 1, path, "ends too early");
		is = got[0] | (uint32_t)got[1] << 8 | (uint32_t)got[2] << 16 | (uint32_t)got[3] << 24;
		if (is == want)
			continue;
		fprintf(stderr, "graphblas_bfs: %s: vertex %llu has depth %u, should have %u\n", path,
		        (unsigned long long)v, is, want);
		exit(1);
	}
	must(fread(got, 1, 1, f) == 0, path, "is too long");
	fclose(f);
}

int main(int argc, char **argv)
{
	struct gn_graph g;
	struct gn_error e;
	GrB_Matrix a;
	GrB_Vector depth;

	must(argc == 4, "usage", "graphblas_bfs GRAPH SOURCE DEPTHS");
	must(!gn_graph_read(&g, argv[1], NULL, &e), "graph", e.text);
	call(GrB_init(GrB_NONBLOCKING), "init");
	a = adjacency(&g);
	depth = search(a, g.vertices, strtoull(argv[2], NULL, 10));
	compare(depth, g.vertices, argv[3]);
	GrB_Vector_free(&depth);
	GrB_Matrix_free(&a);
	GrB_finalize();
	gn_graph_fini(&g);
	return 0;
}
