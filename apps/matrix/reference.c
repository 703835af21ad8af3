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

/* What is too large for a float is infinite in the result, and what is no number is none there. */
static int is_off(float got, double want, double bound)
{
	if (isnan(want))
		return !isnan(got);
	if (fabs(want) > (double)FLT_MAX)
		return !isinf(got) || !signbit(got) != !signbit(want);
	return !(fabs((double)got - want) <= bound);
}

int gn_matrix_verify(const char *name, const float *got, const struct gn_matrix_exact *want, uint64_t length,
                     uint64_t roundings, struct gn_error *error)
{
	const double nu = (double)roundings * FLT_EPSILON / 2, gamma = nu / (1 - nu);
	const double lost = (double)roundings * 0x1p-149;
	uint64_t off = 0, first = 0;

	if (nu >= 0.5)
		return gn_error_set(
		    error, -GN_ERANGE,
		    "%s: %llu roundings: no error bound holds for so many; take fewer rows or "
		    "columns to verify",
		    name, (unsigned long long)roundings);
	for (uint64_t i = length; i--;) {
		if (!is_off(got[i], want->value[i], gamma * want->magnitude[i] + lost))
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
