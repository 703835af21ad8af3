/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scope/output/findings.h"
#include "scope/output/format.h"
#include "scope/output/utest.h"

enum { ENOUGH = 15 };

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void spread(const double *v, uint32_t n, double *mean, double *deviation)
{
	double sum = 0, squares = 0;

	for (uint32_t k = 0; k < n; k++)
		sum += v[k];
	*mean = sum / n;
	for (uint32_t k = 0; k < n; k++)
		squares += (v[k] - *mean) * (v[k] - *mean);
	*deviation = sqrt(squares / n);
}

/* The widest gap that leaves a fifth of the samples at least on both sides divides them. */
static uint32_t divide(const double *sorted, uint32_t n)
{
	const uint32_t least = n / 5;
	uint32_t at = least;

	for (uint32_t k = least; k + least <= n; k++)
		if (sorted[k] - sorted[k - 1] > sorted[at] - sorted[at - 1])
			at = k;
	return at;
}

/*
 * Two humps: the gap between them is three deviations of either, and their means lie a twentieth of the value
 * apart. Of samples with one hump, be it even, normal or with a long tail, one set in two hundred looks so.
 */
bool scope_is_bimodal(const double *value, uint32_t count, double *low, double *high, double *share)
{
	double *sorted = count >= ENOUGH ? (double *)malloc(count * sizeof *sorted) : NULL;
	double below, above, gap;
	uint32_t at;

	if (!sorted)
		return false;
	memcpy(sorted, value, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, ascending);
	at = divide(sorted, count);
	spread(sorted, at, low, &below);
	spread(sorted + at, count - at, high, &above);
	gap = sorted[at] - sorted[at - 1];
	*share = (double)(at < count - at ? at : count - at) / count;
	free(sorted);
	return *high > 1.05 * *low && gap > 3 * below && gap > 3 * above;
}

/* The same of the samples of a round. */
static double slowing(const double *value, uint32_t samples, enum scope_unit unit)
{
	const uint32_t third = samples / 3;
	struct scope_statistics first, last;
	double change;

	if (samples < 2 * ENOUGH || scope_statistics_of(value, third, &first) ||
	    scope_statistics_of(value + samples - third, third, &last))
		return 0;
	change = scope_more_is_better(unit) ? 1 - last.median / first.median : last.median / first.median - 1;
	return change > 0.03 && scope_utest(value, third, value + samples - third, third) < 0.001 ? change
	                                                                                          : 0;
}

double scope_slowing(const struct scope_read_cell *c)
{
	double least = 1;

	for (uint32_t k = 0; k < c->rounds && least > 0; k++) {
		const uint32_t begin = k ? c->end[k - 1] : 0;

		least = fmin(least, slowing(c->value + begin, c->end[k] - begin, c->row->unit));
	}
	return least < 1 ? least : 0;
}

/* How far apart its rounds are, as a share of their least. */
static double scatter(const struct scope_read_cell *c)
{
	return c->s.least_round > 0 ? c->s.most_round / c->s.least_round - 1 : 0;
}

static const double far_apart = 0.03;

/*
 * What the best tenth of the samples is better than: on a machine that others use too, nearer to what the way
 * can do.
 */
static double best_tenth(const struct scope_read_cell *c)
{
	double *sorted = (double *)malloc(c->samples * sizeof *sorted), best = 0;

	if (!sorted)
		return c->s.median;
	memcpy(sorted, c->value, c->samples * sizeof *sorted);
	qsort(sorted, c->samples, sizeof *sorted, ascending);
	best =
	    sorted[scope_more_is_better(c->row->unit) ? c->samples - 1 - c->samples / 10 : c->samples / 10];
	free(sorted);
	return best;
}

static void find_scattered(struct scope_finding *f)
{
	const struct scope_read_cell *worst = NULL;
	struct scope_names names = {"", 0};
	uint32_t several = 0;
	double scale;

	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(f->r, NULL, c));) {
		several += c->s.rounds > 1;
		if (scatter(c) <= far_apart)
			continue;
		worst = !worst || scatter(c) > scatter(worst) ? c : worst;
		scope_names_add(&names, c->name);
	}
	if (!worst)
		return;
	scale = scope_format_scale(worst->row->unit);
	scope_find(f,
	           "%u of %u figures differ by more than 3 %% from one round to the next: %s. Each round has "
	           "other pages and another moment of the run, so they hang on where memory lay or on what "
	           "else used it; run again, they may differ as much. Most of all %s: rounds from %.4g to "
	           "%.4g %s, their median %.4g, the best tenth of the samples from %.4g on.",
	           names.count, several, scope_names_end(&names), worst->name, scale * worst->s.least_round,
	           scale * worst->s.most_round, scope_format_unit(worst->row->unit), scale * worst->s.median,
	           scale * best_tenth(worst));
}

static void find_bimodal(struct scope_finding *f)
{
	struct scope_names names = {"", 0};
	double low, high, share, first_low = 0, first_high = 0, first_share = 0;

	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(f->r, NULL, c));) {
		/* a step in time, or rounds that differ, make two groups as well, and are said already */
		if (scope_slowing(c) > 0 || scatter(c) > far_apart ||
		    !scope_is_bimodal(c->value, c->samples, &low, &high, &share))
			continue;
		if (!names.count) {
			const double scale = scope_format_scale(c->row->unit);

			first_low = low * scale;
			first_high = high * scale;
			first_share = share;
		}
		scope_names_add(&names, c->name);
	}
	if (names.count)
		scope_find(f,
		           "Samples in two groups with nothing between them: %s (the first around %.4g and "
		           "%.4g, %.0f %% in the smaller group). One median stands for neither. Two clocks, "
		           "two nodes or two kinds of page take turns: see the samples in the JSON, pin the "
		           "process, and measure again.",
		           scope_names_end(&names), first_low, first_high, 100 * first_share);
}

static void find_slowing(struct scope_finding *f)
{
	struct scope_names names = {"", 0};
	double most = 0;

	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(f->r, NULL, c));) {
		const double change = scope_slowing(c);

		most = change > most ? change : most;
		if (change > 0)
			scope_names_add(&names, c->name);
	}
	if (names.count)
		scope_find(
		    f,
		    "Slower while they were measured, up to %.0f %% from the first third of the samples to "
		    "the last: %s. Clocks were throttled by heat or power, or something else began to run. "
		    "Let the machine cool, see its clocks and its other processes, and measure again.",
		    100 * most, scope_names_end(&names));
}

static void find_noisy(struct scope_finding *f)
{
	struct scope_names names = {"", 0};
	uint32_t measured = 0;

	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(f->r, NULL, c));) {
		measured++;
		if (scope_noise_percent(&c->s) > 5)
			scope_names_add(&names, c->name);
	}
	if (names.count)
		scope_find(f,
		           "%u of %u medians are not sure within 5 %%: %s. Differences of that size between "
		           "them mean nothing; measure on a quieter machine, or with --full.",
		           names.count, measured, scope_names_end(&names));
}

void scope_find_in_samples(struct scope_finding *f)
{
	find_slowing(f);
	find_scattered(f);
	find_bimodal(f);
	find_noisy(f);
}
