/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "matrix.h"

static const uint64_t piece = 65536; /* elements that are read at a time */

struct reference {
	const struct gn_matrix_exact *x, *y, *u, *v;
};

static void add_term(const struct gn_matrix_exact *to, uint64_t at, double by,
                     const struct gn_matrix_exact *from, uint64_t of)
{
	to->value[at] += by * from->value[of];
	to->magnitude[at] += fabs(by) * from->magnitude[of];
}

static void add_elements(const struct reference *r, uint64_t row, uint64_t column, const float *data,
                         uint64_t count)
{
	for (uint64_t k = 0; k < count; k++) {
		if (r->y)
			add_term(r->y, row, data[k], r->x, column + k);
		if (r->v)
			add_term(r->v, column + k, data[k], r->u, row);
	}
}

int gn_matrix_reference(const struct gn_matrix_source *a, uint64_t rows, uint64_t columns,
                        const struct gn_matrix_exact *x, const struct gn_matrix_exact *y,
                        const struct gn_matrix_exact *u, const struct gn_matrix_exact *v,
                        struct gn_error *error)
{
	const struct reference r = {x, y, u, v};
	float *data = (float *)malloc(piece * sizeof *data);
	int rc = data ? 0 : gn_error_set(error, -GN_ENOMEM, "matrix: out of memory for the reference");

	for (uint64_t row = 0; row < rows && !rc; row++) {
		for (uint64_t column = 0; column < columns && !rc; column += piece) {
			const uint64_t left = columns - column, count = left < piece ? left : piece;

			rc = a->read(a->user, row * columns + column, count, data, error);
			if (!rc)
				add_elements(&r, row, column, data, count);
		}
	}
	free(data);
	return rc;
}

static double gamma_of(uint64_t roundings)
{
	const double nu = (double)roundings * FLT_EPSILON / 2;

	return nu / (1 - nu);
}

/* The bound assumes that no sum of some of the terms overflows. What is no number stays none in any order. */
static int has_no_bound(const struct gn_matrix_exact *x, uint64_t i, double gamma)
{
	return !isnan(x->value[i]) && !(x->magnitude[i] * (1 + gamma) <= (double)FLT_MAX);
}

uint64_t gn_matrix_overflows(const struct gn_matrix_exact *x, uint64_t length, uint64_t roundings)
{
	const double gamma = gamma_of(roundings);
	uint64_t count = 0;

	for (uint64_t i = 0; i < length; i++) {
		if (!has_no_bound(x, i, gamma))
			continue;
		x->magnitude[i] = (double)INFINITY;
		count++;
	}
	return count;
}

static int is_off(float got, double want, double bound)
{
	return isnan(want) ? !isnan(got) : !(fabs((double)got - want) <= bound);
}

int gn_matrix_verify(const char *name, const float *got, const struct gn_matrix_exact *want, uint64_t length,
                     uint64_t roundings, struct gn_error *error)
{
	const double gamma = gamma_of(roundings);
	const double lost = (double)roundings * 0x1p-149;
	uint64_t off = 0, first = 0;

	if (roundings >= 1u << 23) /* gamma is 1 or more */
		return gn_error_set(
		    error, -GN_ERANGE,
		    "%s: %llu roundings: no error bound holds for so many; take fewer rows or "
		    "columns to verify",
		    name, (unsigned long long)roundings);
	for (uint64_t i = length; i--;) {
		if (has_no_bound(want, i, gamma) ||
		    !is_off(got[i], want->value[i], gamma * want->magnitude[i] + lost))
			continue;
		off++;
		first = i;
	}
	if (!off)
		return 0;
	return gn_error_set(
	    error, -GN_EBADMSG,
	    "%s: element %llu is %.9g, but the reference says %.9g and allows an error of %.3g; "
	    "%llu of %llu are off",
	    name, (unsigned long long)first, (double)got[first], want->value[first],
	    gamma * want->magnitude[first] + lost, (unsigned long long)off, (unsigned long long)length);
}
