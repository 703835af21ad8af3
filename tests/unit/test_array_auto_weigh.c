/* SPDX-License-Identifier: Apache-2.0 */
/* What the clock says of launches, and what is made of it: the choice in force, and trials of others. */
#include "test_array_auto_support.h"

enum { PAGES_4K = 3 };

/* After a look that forecast so many seconds for direct and for pages of 4 KiB, and nothing else. */
static struct gn_auto looked(double direct, double paged)
{
	struct gn_auto x;

	memset(&x, 0, sizeof x);
	x.has_direct = 1;
	x.choice = GN_AUTO_DIRECT;
	x.fresh = 1;
	x.looks = 1;
	x.patience = 1;
	x.next_look = 1000000;
	x.study.share = x.study.covered = 1;
	x.rates = gpu_rates();
	x.rates.change = 3e-3;
	for (int c = 0; c < GN_AUTO_CHOICES; c++)
		x.forecast.seconds[c] = -1;
	x.forecast.seconds[GN_AUTO_DIRECT] = direct;
	x.forecast.seconds[PAGES_4K] = paged;
	return x;
}

/* A launch of so long, and the change that comes of it. */
static void launch_of(struct gn_auto *x, double seconds)
{
	int choice;

	x->launches++;
	choice = gn__auto_weigh(x, seconds);
	if (choice != x->choice) {
		x->choice = choice;
		x->fresh = 1;
		x->steady = 0;
	}
}

/* Launches in the choice in force, which takes what is said, until another is tried. */
static unsigned launches_until_trial(struct gn_auto *x, double seconds, unsigned most)
{
	const int choice = x->choice;
	unsigned k = 0;

	while (k < most && x->choice == choice) {
		launch_of(x, seconds);
		k++;
	}
	return k;
}

static void a_choice_that_is_near_is_tried_and_kept(void **state)
{
	struct gn_auto x = looked(10.8e-3, 11.5e-3);
	unsigned k;

	(void)state;
	k = launches_until_trial(&x, 10.7e-3, 100);
	assert_int_equal(x.choice, PAGES_4K);
	/* the change there and back, and 0.8 ms: a twentieth of the time */
	assert_true(k * 10.7e-3 * 0.05 >= 6e-3 && (k - 1) * 10.7e-3 * 0.05 < 6.8e-3);
	for (k = 0; k < 100; k++)
		launch_of(&x, 9.4e-3);
	assert_int_equal(x.choice, PAGES_4K);
}

static void a_trial_that_is_worse_ends_after_a_launch(void **state)
{
	static const double takes[] = {12e-3, 10.9e-3, 10.4e-3}; /* not better by a twentieth */

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct gn_auto x = looked(10.8e-3, 11.5e-3);

		assert_true(launches_until_trial(&x, 10.7e-3, 100) < 100);
		launch_of(&x, takes[k]);
		assert_int_equal(x.choice, GN_AUTO_DIRECT);
		assert_int_equal(launches_until_trial(&x, 10.7e-3, 1000), 1000); /* once is enough */
	}
}

/* Looking takes time, which a trial has not. */
static void a_trial_is_not_looked_at(void **state)
{
	struct gn_auto x = looked(10.8e-3, 11.5e-3);

	(void)state;
	assert_true(launches_until_trial(&x, 10.7e-3, 100) < 100);
	x.next_look = x.launches;
	assert_false(gn__auto_is_due(&x));
	launch_of(&x, 9.4e-3);
	assert_true(gn__auto_is_due(&x));
}

static void a_choice_that_is_far_is_not_tried(void **state)
{
	struct gn_auto far = looked(10.8e-3, 13e-3), near = looked(10.8e-3, 12.5e-3);

	(void)state;
	assert_int_equal(launches_until_trial(&far, 10.7e-3, 1000), 1000);
	assert_true(launches_until_trial(&near, 10.7e-3, 1000) < 1000);
}

/* From time to time there is a look, but where no other choice is near only the clock asks for one. */
static void a_look_in_vain_is_put_off(void **state)
{
	struct gn_auto far = looked(10.8e-3, 13e-3), near = looked(10.8e-3, 12.5e-3);

	(void)state;
	far.routine = near.routine = 1;
	far.launches = near.launches = 16;
	far.next_look = near.next_look = 16;
	assert_true(!gn__auto_is_due(&far) && far.next_look == 256);
	assert_true(gn__auto_is_due(&near));
	for (unsigned k = 0; k < 3; k++)
		launch_of(&far, k < 2 ? 10.7e-3 : 30e-3);
	assert_true(gn__auto_is_due(&far));
}

static void launches_of_another_kind_begin_anew(void **state)
{
	struct gn_auto x = looked(10.8e-3, 11.5e-3);

	(void)state;
	for (unsigned k = 0; k < 5; k++)
		launch_of(&x, 10.7e-3);
	launch_of(&x, 30e-3);
	assert_true(x.spent == 0 && x.next_look == x.launches);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_choice_that_is_near_is_tried_and_kept),
	    cmocka_unit_test(a_trial_that_is_worse_ends_after_a_launch),
	    cmocka_unit_test(a_trial_is_not_looked_at),
	    cmocka_unit_test(a_choice_that_is_far_is_not_tried),
	    cmocka_unit_test(a_look_in_vain_is_put_off),
	    cmocka_unit_test(launches_of_another_kind_begin_anew),
	};

	return cmocka_run_group_tests_name("array: what the clock says", tests, NULL, NULL);
}
