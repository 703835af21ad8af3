/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What jobs over a graph tell of their steps: how many there are, that they add up to the whole, what each
 * job says beside; and that a listener ends a job.
 */
#include "far_graph.h"

#include <math.h>

#include "bc/bc.h"
#include "bfs/bfs.h"
#include "cc/cc.h"
#include "graph/generate.h"
#include "pagerank/pagerank.h"
#include "sssp/sssp.h"
#include "tc/tc.h"

enum { MOST = 256, SOURCE = 7 };

/* Of all steps together. */
struct told {
	uint64_t steps, numbers, frontiers, edges, counts;
	uint64_t there, back; /* whose direction is one of two words */
	double measure;       /* of the last step */
};

/* What they are to be. */
struct want {
	uint64_t steps, numbers, edges, counts, there, back;
	uint64_t least_frontiers, most_frontiers;
	double least_measure, most_measure;
};

static int is_back(const char *direction)
{
	return !strcmp(direction, "backward") || !strcmp(direction, "bottom-up");
}

static int see(void *user, const struct gn_graph_step *step, struct gn_error *e)
{
	struct told *t = (struct told *)user;

	(void)e;
	assert_true(step->frontier > 0 && step->seconds >= 0);
	t->steps++;
	t->numbers += step->number;
	t->frontiers += step->frontier;
	t->edges += step->edges;
	t->counts += step->count;
	if (step->direction) {
		t->there += !strcmp(step->direction, "forward") || !strcmp(step->direction, "top-down");
		t->back += (uint64_t)is_back(step->direction);
	}
	t->measure = step->measure;
	return 0;
}

static int stop(void *user, const struct gn_graph_step *step, struct gn_error *e)
{
	(void)step;
	++*(unsigned *)user;
	return gn_error_set(e, -GN_ENOMEM, "enough");
}

/* ---- the jobs ---- */

/* Steps that are counted from 0 on, each over all vertices. */
static struct want passes(const struct far_graph *f, uint64_t steps, uint64_t edges)
{
	struct want w = {0};

	w.steps = steps;
	w.numbers = steps * (steps - 1) / 2;
	w.edges = edges;
	w.least_frontiers = w.most_frontiers = steps * f->arrays.vertices;
	return w;
}

static int run_bfs(struct far_graph *f, struct gn_graph_listener to, struct want *w)
{
	const struct gn_bfs_options o = {SOURCE, GN_BFS_TOP_DOWN, to};
	struct gn_bfs_result r;
	uint32_t depth[MOST];
	const int rc = gn_bfs(f->machine, &f->arrays, &o, depth, &r, NULL, &far_error);

	*w = passes(f, r.levels, r.edges);
	w->there = r.levels;
	w->least_frontiers = w->most_frontiers = r.reached;
	return rc;
}

static int run_bc(struct far_graph *f, struct gn_graph_listener to, struct want *w)
{
	const uint32_t twice[2] = {SOURCE, SOURCE};
	const struct gn_bc_options o = {twice, 2, to};
	struct gn_bc_result r;
	float score[MOST];
	const int rc = gn_bc(f->machine, &f->arrays, &o, score, &r, NULL, &far_error);
	const uint64_t levels = r.levels / 2;

	*w = passes(f, 4 * levels, r.edges);
	w->numbers = 2 * levels * (levels - 1);
	w->counts = SOURCE * w->steps;
	w->there = w->back = 2 * levels;
	w->least_frontiers = w->steps;
	w->most_frontiers = 4 * f->arrays.vertices;
	return rc;
}

static int run_cc(struct far_graph *f, struct gn_graph_listener to, struct want *w,
                  enum gn_cc_algorithm algorithm)
{
	const struct gn_cc_options o = {algorithm, 1, to};
	struct gn_cc_result r;
	uint32_t label[MOST];
	const int rc = gn_cc(f->machine, &f->arrays, &o, label, &r, NULL, &far_error);

	*w = passes(f, r.iterations, r.edges);
	w->counts = f->arrays.vertices - r.components;
	return rc;
}

static int run_afforest(struct far_graph *f, struct gn_graph_listener to, struct want *w)
{
	return run_cc(f, to, w, GN_CC_AFFOREST);
}

static int run_sv(struct far_graph *f, struct gn_graph_listener to, struct want *w)
{
	return run_cc(f, to, w, GN_CC_SV);
}

static int run_pagerank(struct far_graph *f, struct gn_graph_listener to, struct want *w,
                        enum gn_pagerank_algorithm algorithm)
{
	const struct gn_pagerank_options o = {algorithm, 4, 0, to};
	struct gn_pagerank_result r;
	uint64_t rank[MOST];
	const int rc = gn_pagerank(f->machine, &f->arrays, &o, rank, &r, NULL, &far_error);

	*w = passes(f, r.iterations, r.edges);
	w->least_measure = w->most_measure = r.moved;
	return rc;
}

static int run_pull(struct far_graph *f, struct gn_graph_listener to, struct want *w)
{
	return run_pagerank(f, to, w, GN_PAGERANK_PULL);
}

static int run_push(struct far_graph *f, struct gn_graph_listener to, struct want *w)
{
	return run_pagerank(f, to, w, GN_PAGERANK_PUSH);
}

/* A vertex is in a near pile once at least, and the last border is above all lengths. */
static int run_sssp(struct far_graph *f, struct gn_graph_listener to, struct want *w, double delta)
{
	const struct gn_sssp_options o = {SOURCE, delta, 255, to};
	struct gn_sssp_result r;
	uint32_t length[MOST];
	const int rc = gn_sssp(f->machine, &f->arrays, &o, length, &r, NULL, &far_error);

	*w = passes(f, r.launches, r.edges);
	w->least_frontiers = r.reached;
	w->most_frontiers = r.launches * r.reached;
	w->least_measure = r.farthest + 1;
	w->most_measure = r.farthest + delta;
	return rc;
}

static int run_narrow(struct far_graph *f, struct gn_graph_listener to, struct want *w)
{
	return run_sssp(f, to, w, 40);
}

/* Every length is below the one border. */
static int run_wide(struct far_graph *f, struct gn_graph_listener to, struct want *w)
{
	const int rc = run_sssp(f, to, w, 1e30);

	w->least_measure = w->most_measure = (double)INFINITY;
	return rc;
}

static int run_tc(struct far_graph *f, struct gn_graph_listener to, struct want *w)
{
	const struct gn_tc_options o = {to};
	struct gn_tc_result r;
	const int rc = gn_tc(f->machine, &f->arrays, &o, &r, NULL, &far_error);

	*w = passes(f, 1, r.edges);
	w->counts = r.triangles;
	return rc;
}

static const struct {
	int (*run)(struct far_graph *f, struct gn_graph_listener to, struct want *w);
	uint32_t state;
} jobs[] = {{run_bfs, GN_BFS_STATE},     {run_bc, GN_BC_STATE},         {run_afforest, GN_CC_STATE},
            {run_sv, GN_CC_STATE},       {run_pull, GN_PAGERANK_STATE}, {run_push, GN_PAGERANK_STATE},
            {run_narrow, GN_SSSP_STATE}, {run_wide, GN_SSSP_STATE},     {run_tc, 4}};

enum { JOBS = sizeof jobs / sizeof *jobs };

/* ---- what is told ---- */

static void expect_told(const struct told *t, const struct want *w)
{
	assert_int_equal(t->steps, w->steps);
	assert_int_equal(t->numbers, w->numbers);
	assert_int_equal(t->edges, w->edges);
	assert_int_equal(t->counts, w->counts);
	assert_int_equal(t->there, w->there);
	assert_int_equal(t->back, w->back);
	assert_in_range(t->frontiers, w->least_frontiers, w->most_frontiers);
	assert_true(t->measure >= w->least_measure && t->measure <= w->most_measure);
}

static void check_graph(const struct gn_graph *g)
{
	for (unsigned job = 0; job < JOBS; job++)
		for (unsigned k = far_turn() % FAR_STEP; k < FAR_WAYS; k += FAR_STEP) {
			struct told told = {0};
			const struct gn_graph_listener to = {see, &told};
			struct far_graph f;
			struct want want;

			open_far_way(&f, g, &far_ways[k], jobs[job].state);
			far_must(jobs[job].run(&f, to, &want));
			expect_told(&told, &want);
			close_far(&f);
		}
}

static void a_path(struct gn_graph *g)
{
	begin_list(30, GN_WEIGHT_NONE);
	for (uint32_t v = 0; v + 1 < 30; v++)
		add_both(v, v + 1, 0);
	build_rows(g);
}

static void steps_of_a_path_add_up(void **state)
{
	struct gn_graph g;

	(void)state;
	a_path(&g);
	check_graph(&g);
	gn_graph_fini(&g);
}

static void steps_of_a_kronecker_graph_add_up(void **state)
{
	struct gn_generate_options o;
	struct gn_graph g;

	(void)state;
	memset(&o, 0, sizeof o);
	o.kind = GN_GENERATOR_KRON;
	o.scale = 7;
	o.degree = 8;
	o.seed = 1;
	o.undirected = true;
	far_must(gn_graph_generate(&g, &o, &far_error));
	check_graph(&g);
	gn_graph_fini(&g);
}

/* In its first step, and nothing is told afterwards. */
static void a_listener_ends_the_job(void **state)
{
	struct gn_graph g;

	(void)state;
	a_path(&g);
	for (unsigned job = 0; job < JOBS; job++) {
		unsigned calls = 0;
		const struct gn_graph_listener to = {stop, &calls};
		struct far_graph f;
		struct want want;

		open_far(&f, &g, 1, 512);
		assert_int_equal(jobs[job].run(&f, to, &want), -GN_ENOMEM);
		expect_words("enough");
		assert_int_equal(calls, 1);
		close_far(&f);
	}
	gn_graph_fini(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(steps_of_a_path_add_up),
	    cmocka_unit_test(steps_of_a_kronecker_graph_add_up),
	    cmocka_unit_test(a_listener_ends_the_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
