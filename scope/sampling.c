/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/sampling.h"

#include <math.h>
#include <time.h>

bool scope_enough(const double *value, uint32_t count, double spread, double *share)
{
	struct scope_statistics s;

	*share = 1;
	if (scope_statistics_of(value, count, &s) || s.median <= 0)
		return false;
	*share = fmax(s.high - s.median, s.median - s.low) / s.median;
	return count >= SCOPE_LEAST_SAMPLES && *share <= spread;
}

static double median(const double *value, uint32_t count)
{
	struct scope_statistics s;

	return scope_statistics_of(value, count, &s) ? 0 : s.median;
}

bool scope_steady(const double last[SCOPE_WINDOW])
{
	const double before = median(last, SCOPE_WINDOW / 2),
	             after = median(last + SCOPE_WINDOW / 2, SCOPE_WINDOW / 2);

	return fabs(after - before) <= 0.02 * before;
}

double scope_drift(const double *value, uint32_t count)
{
	const uint32_t third = count / 3;
	struct scope_statistics first, last;

	if (third < SCOPE_LEAST_SAMPLES || scope_statistics_of(value, third, &first) ||
	    scope_statistics_of(value + count - third, third, &last) || first.median <= 0)
		return 0;
	return last.low > first.high || last.high < first.low ? last.median / first.median - 1 : 0;
}

uint64_t scope_operations(uint64_t operations, double seconds, double least)
{
	double more;

	if (seconds >= least)
		return operations;
	more = seconds > 0 ? 1.2 * least / seconds : 10;
	return (uint64_t)((double)operations * fmin(fmax(more, 2), 10));
}

double scope_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
