/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - what the parts of scope_tune share: a report, what is known so far, and how a setting is written
 * down.
 */
#ifndef GN_SCOPE_TUNE_H
#define GN_SCOPE_TUNE_H

#include "scope/output/read.h"

#ifdef __cplusplus
extern "C" {
#endif

struct scope_tuning {
	const struct scope_read *r;
	const char *machine; /* "grapnel-gpu" or "grapnel-cpu": whose rows are used */
	double page;         /* bytes, 0: not known */
	double page_rate;    /* bytes a second that pages of that size reach */
	json_t *to;
};

/* scope_tune_set - a setting and its reckoning; a value below zero is none. */
void scope_tune_set(json_t *to, const char *name, double value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Is it a measured cell of that row of the machine's, such as "page-in"? */
bool scope_tune_is(const struct scope_tuning *t, const struct scope_read_cell *c, const char *row);

/*
 * The best cell of a row of the machine's with an argument of that value; value 0: any. NULL: none was
 * measured.
 */
const struct scope_read_cell *scope_tune_best(const struct scope_tuning *t, const char *row, const char *arg,
                                              uint64_t value);

/* Ways of copying by size, and the thresholds of the decision engine. */
void scope_tune_copies(struct scope_tuning *t);
void scope_tune_decisions(const struct scope_tuning *t, json_t *to);

#ifdef __cplusplus
}
#endif

#endif
