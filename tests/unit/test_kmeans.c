/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters over nodes are those that one thread finds. */
#include "test_spread_support.h"

#include "kmeans/kmeans.h"

enum { MOST = 20 * 16 /* coordinates of all centres */ };

struct found {
	struct kmeans_result result;
	uint32_t centres[MOST];
	uint64_t sizes[MOST];
};

struct trial {
	struct kmeans k;
	struct found want;
};

static void prepare(struct found *f)
{
	memset(f, 0, sizeof *f);
	f->result.centres = f->centres;
	f->result.sizes = f->sizes;
}

static int node_main(struct gn_net *net, void *argument)
{
	const struct trial *t = (const struct trial *)argument;
	struct found got;

	prepare(&got);
	CHECK_EQUAL(kmeans_run(net, &t->k, &got.result, NULL), 0);
	CHECK_EQUAL(got.result.iterations, t->want.result.iterations);
	CHECK_EQUAL(got.result.distance, t->want.result.distance);
	CHECK(!memcmp(got.centres, t->want.centres, sizeof got.centres));
	CHECK(!memcmp(got.sizes, t->want.sizes, sizeof got.sizes));
	return 0;
}

static void run_all(struct trial *t)
{
	prepare(&t->want);
	assert_int_equal(kmeans_reference(&t->k, &t->want.result), 0);
	for (unsigned k = 0; k < SHAPES; k++)
		run_on(&shapes[k], kmeans_heap(&t->k), node_main, t);
}

static void clusters_are_the_references(void **state)
{
	struct trial t = {{3000, 3, 8, 100, 5}, {{0}}};
	uint64_t points = 0;

	(void)state;
	run_all(&t);
	assert_in_range(t.want.result.iterations, 3, 99); /* it ended by itself, and not at once */
	for (uint32_t c = 0; c < t.k.clusters; c++)
		points += t.want.sizes[c];
	assert_int_equal(points, t.k.points);
}

/* On a line many points lie in the middle between two centres. */
static void of_equally_near_centres_the_first_counts(void **state)
{
	struct trial t = {{3000, 1, 40, 30, 3}, {{0}}};

	(void)state;
	run_all(&t);
}

static void it_ends_after_so_many_iterations(void **state)
{
	struct trial t = {{500, 16, 20, 2, 9}, {{0}}};

	(void)state;
	run_all(&t);
	assert_int_equal(t.want.result.iterations, 2);
}

/* By definition: every point is its own cluster, so no distance is left. */
static void as_many_clusters_as_points(void **state)
{
	struct trial t = {{5, 2, 5, 10, 1}, {{0}}};

	(void)state;
	run_all(&t);
	assert_int_equal(t.want.result.distance, 0);
	for (uint32_t c = 0; c < 5; c++)
		assert_int_equal(t.want.sizes[c], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(clusters_are_the_references),
	    cmocka_unit_test(of_equally_near_centres_the_first_counts),
	    cmocka_unit_test(it_ends_after_so_many_iterations),
	    cmocka_unit_test(as_many_clusters_as_points),
	};

	few_cases("as_many_clusters_as_points");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
