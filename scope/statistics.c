/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(const double *sorted, uint32_t count, double q)
{
	const double at = q * (count - 1);
	const uint32_t below = (uint32_t)at;

	if (below + 1 >= count)
		return sorted[count - 1];
	return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

static double log_factorial(uint32_t n)
{
	int sign; /* lgamma would put it into a variable of the whole process */

	return lgamma_r(n + 1.0, &sign);
}

/*
 * How many samples at each end lie outside the interval: the largest k with P(Binomial(count, 1/2) < k) <=
 * 2.5 % (Conover, Practical Nonparametric Statistics, 3.2).
 */
static uint32_t outside(uint32_t count)
{
	double below = 0;

	for (uint32_t k = 0; k < count / 2; k++) {
		below += exp(log_factorial(count) - log_factorial(k) - log_factorial(count - k) -
		             count * log(2.0));
		if (below > 0.025)
			return k;
	}
	return count / 2;
}

static void moments(const double *value, uint32_t count, struct scope_statistics *s)
{
	double sum = 0, squares = 0;

	for (uint32_t k = 0; k < count; k++)
		sum += value[k];
	s->mean = sum / count;
	for (uint32_t k = 0; k < count; k++)
		squares += (value[k] - s->mean) * (value[k] - s->mean);
	if (count > 1 && s->mean != 0)
		s->variation = sqrt(squares / (count - 1)) / s->mean;
}

static void order(const double *sorted, uint32_t count, struct scope_statistics *s)
{
	const uint32_t k = outside(count);

	s->least = sorted[0];
	s->p5 = quantile(sorted, count, 0.05);
	s->quarter = quantile(sorted, count, 0.25);
	s->median = quantile(sorted, count, 0.5);
	s->three_quarters = quantile(sorted, count, 0.75);
	s->p95 = quantile(sorted, count, 0.95);
	s->most = sorted[count - 1];
	s->low = sorted[k ? k - 1 : 0];
	s->high = sorted[count - (k ? k : 1)];
}

int scope_statistics_of(const double *value, uint32_t count, struct scope_statistics *s)
{
	double *sorted;

	memset(s, 0, sizeof *s);
	if (!count)
		return 0;
	sorted = (double *)malloc(count * sizeof *sorted);
	if (!sorted)
		return -GN_ENOMEM;
	memcpy(sorted, value, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, ascending);
	moments(value, count, s);
	order(sorted, count, s);
	free(sorted);
	s->rounds = 1;
	s->least_round = s->most_round = s->median;
	return 0;
}

/* Medians of the rounds; returns how many have samples. */
static int medians_of(const double *value, const uint32_t *end, uint32_t rounds, double *median,
                      uint32_t *count)
{
	*count = 0;
	for (uint32_t k = 0; k < rounds; k++) {
		const uint32_t begin = k ? end[k - 1] : 0;
		struct scope_statistics one;

		if (end[k] == begin)
			continue;
		if (scope_statistics_of(value + begin, end[k] - begin, &one))
			return -GN_ENOMEM;
		median[(*count)++] = one.median;
	}
	return 0;
}

/* Half the 95 % interval of a mean of so many, from their standard deviation: Student's t at 97.5 %. */
static double student(const double *value, uint32_t count)
{
	static const double t[SCOPE_MOST_ROUNDS] = {0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365};
	struct scope_statistics of;

	memset(&of, 0, sizeof of);
	moments(value, count, &of);
	return t[count - 1] * of.mean * of.variation / sqrt(count);
}

int scope_statistics_of_rounds(const double *value, const uint32_t *end, uint32_t rounds,
                               struct scope_statistics *s)
{
	double median[SCOPE_MOST_ROUNDS], half;
	uint32_t count = 0;
	int rc = scope_statistics_of(value, rounds ? end[rounds - 1] : 0, s);

	rc = rc ? rc : medians_of(value, end, rounds, median, &count);
	if (rc || count < 2)
		return rc;
	half = student(median, count);
	s->rounds = count;
	s->low = fmax(0, fmin(s->low, s->median - half));
	s->high = fmax(s->high, s->median + half);
	for (uint32_t k = 0; k < count; k++) {
		s->least_round = k ? fmin(s->least_round, median[k]) : median[k];
		s->most_round = k ? fmax(s->most_round, median[k]) : median[k];
	}
	return 0;
}
