/* SPDX-License-Identifier: Apache-2.0 */
/* Which blocks a worker of the cpu machine begins. */
#include <string.h>

#include <simt/engine.h>

#include "unit.h"

static const struct simt_kernel kernel = {"kernel", 0, NULL, NULL};

/* A worker that joined a launch of four blocks, of which two are its share, at this time. */
static void join(struct simt__worker *w, struct simt__launch *launch, uint64_t joined_ns)
{
	const struct simt_grid grid = {4, 1, 0};

	memset(w, 0, sizeof *w);
	memset(launch, 0, sizeof *launch);
	simt__worker_init(w, 0, 1, 1024);
	simt__launch_init(launch, &kernel, grid, NULL);
	launch->share = 2;
	w->launch = launch;
	w->joined_ns = joined_ns;
}

/* All threads of the block it begins wait. Returns 0 if it begins none. */
static int begin_one(struct simt__worker *w)
{
	const int begun = simt__feed(w);

	w->feed = NULL;
	return begun;
}

static void leaves_blocks_to_workers_that_wake(void **state)
{
	const uint64_t hour_ns = (uint64_t)3600 * 1000000000;
	struct simt__launch launch;
	struct simt__worker w;

	(void)state;
	join(&w, &launch, simt__system_ns() + hour_ns); /* an hour to come */
	assert_true(begin_one(&w) && begin_one(&w));
	assert_false(begin_one(&w));
	w.live = 0; /* its threads have ended: it is free to go on */
	assert_true(begin_one(&w));
	assert_false(begin_one(&w));
	w.joined_ns -= 2 * hour_ns; /* the others had their time */
	assert_true(begin_one(&w));
	assert_false(begin_one(&w));
	assert_true(w.exhausted);
	simt__worker_fini(&w);
}

static void has_all_blocks_where_it_is_alone(void **state)
{
	struct simt__launch launch;
	struct simt__worker w;

	(void)state;
	join(&w, &launch, 0);
	assert_true(begin_one(&w) && begin_one(&w) && begin_one(&w) && begin_one(&w));
	assert_false(begin_one(&w));
	simt__worker_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(leaves_blocks_to_workers_that_wake),
	    cmocka_unit_test(has_all_blocks_where_it_is_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
