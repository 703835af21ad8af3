/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.h - when there are samples enough, and whether a row is warm: the rules of scope_measure, for
 * themselves.
 */
#ifndef GN_SCOPE_SAMPLING_H
#define GN_SCOPE_SAMPLING_H

#include "scope/scope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sample's region is at least so many steps of its clock: a step more or less is then 0.1 %. */
enum { SCOPE_TICKS = 1000 };

/* Fewer samples have no 95 % interval of the median that is narrower than their range. */
enum { SCOPE_LEAST_SAMPLES = 9 };

/* How many values are looked at to see whether a row is warm: two windows of half of them. */
enum { SCOPE_WINDOW = 10 };

/*
 * scope_enough - is the 95 % interval of the median within `spread` of it? Also says how far it is, as a
 * share.
 */
bool scope_enough(const double *value, uint32_t count, double spread, double *share);

/* scope_steady - do the medians of the two halves of the last SCOPE_WINDOW values agree within 2 %? */
bool scope_steady(const double last[SCOPE_WINDOW]);

/*
 * scope_drift - the median of the last third over that of the first, less 1; 0 where their intervals overlap,
 * and for thirds of fewer than SCOPE_LEAST_SAMPLES.
 */
double scope_drift(const double *value, uint32_t count);

/*
 * scope_operations - how many operations the next sample should have, after one of `operations` that took so
 * many seconds where `least` seconds are wanted: the same if it was long enough, otherwise 2 to 10 times as
 * many.
 */
uint64_t scope_operations(uint64_t operations, double seconds, double least);

/* scope_clock - seconds on CLOCK_MONOTONIC_RAW, which nobody slews. For rows too. */
double scope_clock(void);

#ifdef __cplusplus
}
#endif

#endif
