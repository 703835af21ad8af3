/* SPDX-License-Identifier: Apache-2.0 */
#include "bc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Arrays of one search; paths and dependency are added to, order holds vertices as they were reached. */
struct search {
	const struct gn_graph *g;
	uint32_t *depth, *order;
	double *paths, *dependency, *score;
	uint64_t reached;
};

static void count_paths(struct search *s, uint32_t source)
{
	const struct gn_graph *g = s->g;

	memset(s->depth, 0xff, g->vertices * sizeof *s->depth);
	memset(s->paths, 0, g->vertices * sizeof *s->paths);
	s->depth[source] = 0;
	s->paths[source] = 1;
	s->order[0] = source;
	s->reached = 1;
	for (uint64_t k = 0; k < s->reached; k++) {
		const uint32_t u = s->order[k];

		for (uint64_t i = g->offsets[u]; i < g->offsets[u + UINT64_C(1)]; i++) {
			const uint32_t v = g->neighbours[i];

			if (s->depth[v] == UINT32_MAX) {
				s->depth[v] = s->depth[u] + 1;
				s->order[s->reached++] = v;
			}
			if (s->depth[v] == s->depth[u] + 1)
				s->paths[v] += s->paths[u];
		}
	}
}

static void add_dependencies(struct search *s)
{
	const struct gn_graph *g = s->g;

	for (uint64_t k = s->reached; k-- > 0;) {
		const uint32_t u = s->order[k];
		double sum = 0;

		for (uint64_t i = g->offsets[u]; i < g->offsets[u + UINT64_C(1)]; i++) {
			const uint32_t v = g->neighbours[i];

			if (s->depth[v] == s->depth[u] + 1)
				sum += s->paths[u] / s->paths[v] * (1 + s->dependency[v]);
		}
		s->dependency[u] = sum;
		s->score[u] += sum;
	}
}

static void normalise(const double *sum, uint64_t vertices, float *score)
{
	double largest = 0;

	for (uint64_t v = 0; v < vertices; v++)
		largest = sum[v] > largest ? sum[v] : largest;
	for (uint64_t v = 0; v < vertices; v++)
		score[v] = largest > 0 ? (float)(sum[v] / largest) : 0;
}

int gn_bc_reference(const struct gn_graph *g, const struct gn_bc_options *options, float *score,
                    struct gn_error *error)
{
	const size_t n = g->vertices ? g->vertices : 1;
	struct search s = {g,
	                   (uint32_t *)calloc(n, sizeof *s.depth),
	                   (uint32_t *)calloc(n, sizeof *s.order),
	                   (double *)calloc(n, sizeof *s.paths),
	                   (double *)calloc(n, sizeof *s.dependency),
	                   (double *)calloc(n, sizeof *s.score),
	                   0};
	int rc = 0;

	if (s.depth && s.order && s.paths && s.dependency && s.score) {
		for (uint32_t k = 0; k < options->source_count; k++) {
			count_paths(&s, options->sources[k]);
			add_dependencies(&s);
		}
		normalise(s.score, g->vertices, score);
	} else {
		rc = gn_error_set(error, -GN_ENOMEM, "out of memory for the reference of %llu vertices",
		                  (unsigned long long)g->vertices);
	}
	free(s.depth);
	free(s.order);
	free(s.paths);
	free(s.dependency);
	free(s.score);
	return rc;
}

int gn_bc_verify(const float *got, const float *want, uint64_t vertices, struct gn_error *error)
{
	uint64_t differ = 0, first = 0;

	for (uint64_t v = vertices; v-- > 0;) {
		if (!(fabs((double)got[v] - (double)want[v]) <=
		      0x1p-23)) { /* what is not a number differs too */
			first = v;
			differ++;
		}
	}
	if (!differ)
		return 0;
	return gn_error_set(error, -GN_EBADMSG,
	                    "vertex %llu has score %.9g, but the reference says %.9g; %llu of %llu vertices "
	                    "differ by more than 2^-23: the scores are wrong, please report it",
	                    (unsigned long long)first, (double)got[first], (double)want[first],
	                    (unsigned long long)differ, (unsigned long long)vertices);
}
