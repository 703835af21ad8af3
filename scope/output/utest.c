/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/output/utest.h"

#include <math.h>
#include <stdlib.h>

enum { EXACT = 40 };

struct ranked {
	double value;
	int first; /* of the first set? */
};

static int ascending(const void *a, const void *b)
{
	const double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;

	return (x > y) - (x < y);
}

/* Ways to choose n of n + m ranks so that U is u, for every u: the coefficients of a Gaussian binomial. */
static double exact(uint32_t n, uint32_t m, double u)
{
	double ways[EXACT * EXACT / 4 + 1] = {1}, below = 0, all = 0;
	const uint32_t most = n * m;

	for (uint32_t k = 1; k <= n; k++) {
		for (uint32_t at = most; at >= m + k; at--)
			ways[at] -= ways[at - m - k];
		for (uint32_t at = k; at <= most; at++)
			ways[at] += ways[at - k];
	}
	for (uint32_t at = 0; at <= most; at++) {
		all += ways[at];
		below += at <= u ? ways[at] : 0;
	}
	return 2 * below / all < 1 ? 2 * below / all : 1;
}

static double approximate(double n, double m, double u, double ties)
{
	const double all = n + m, middle = n * m / 2;
	const double deviation = sqrt(n * m / 12 * (all + 1 - ties / (all * (all - 1))));
	const double z = deviation > 0 ? (fabs(u - middle) - 0.5) / deviation : 0;

	return z > 0 ? erfc(z / sqrt(2)) : 1;
}

double scope_utest(const double *a, uint32_t n, const double *b, uint32_t m)
{
	struct ranked *all = (struct ranked *)malloc(((size_t)n + m + 1) * sizeof *all);
	double ranks = 0, ties = 0, u;

	if (!all)
		return -1;
	for (uint32_t k = 0; k < n + m; k++) {
		all[k].value = k < n ? a[k] : b[k - n];
		all[k].first = k < n;
	}
	qsort(all, n + m, sizeof *all, ascending);
	for (uint32_t k = 0, end; k < n + m; k = end) {
		for (end = k + 1; end < n + m && all[end].value <= all[k].value; end++)
			continue;
		for (uint32_t at = k; at < end; at++)
			ranks += all[at].first ? 0.5 * ((double)k + 1 + end) : 0;
		ties += pow(end - k, 3) - (end - k);
	}
	free(all);
	u = ranks - 0.5 * n * (n + 1.0);
	u = u < (double)n * m - u ? u : (double)n * m - u;
	if (!n || !m)
		return 1;
	return n + m <= EXACT && ties <= 0 ? exact(n, m, u) : approximate(n, m, u, ties);
}
