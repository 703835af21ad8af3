/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - what the trials of all models have. Include it behind struct trial, which has a member `wrong`.
 */
#ifndef GN_TESTS_TRIAL_H
#define GN_TESTS_TRIAL_H

static struct trial the_trial; /* one at a time */

struct arguments {
	struct trial *t;
};

static const struct arguments the_arguments = {&the_trial};

/* The first that is wrong is what is said. */
SIMT_FN void blame(struct trial *t, const char *what)
{
	if (!t->wrong)
		t->wrong = what;
}

#endif
