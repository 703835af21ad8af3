/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GN_SCOPE_UTEST_H
#define GN_SCOPE_UTEST_H

#include <stdint.h>

/*
 * scope_utest - how likely two sets of samples differ as much as they do, or more, if they come from one
 * distribution: the two-sided p-value of Mann and Whitney's U test. Exact for up to 40 samples together
 * without ties, else by the normal approximation with corrections for ties and continuity. 1 where either is
 * empty; a negative value: no memory. Source: Mann and Whitney 1947, section 3; Conover, Practical
 * Nonparametric Statistics, 5.1.
 */
double scope_utest(const double *a, uint32_t n, const double *b, uint32_t m);

#endif
