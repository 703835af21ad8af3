/* SPDX-License-Identifier: Apache-2.0 */
/* What queries come to, from the kernel or the reference. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns/values.h"
#include "query.h"

int gn_query_result_init(struct gn_query_result *result, const struct gn_query *q, struct gn_error *e)
{
	memset(result, 0, sizeof *result);
	result->group_rows = (uint64_t *)calloc(q->groups, sizeof *result->group_rows);
	result->totals =
	    (struct gn_query_total *)calloc(q->groups * (q->slots ? q->slots : 1), sizeof *result->totals);
	return result->group_rows && result->totals
	           ? 0
	           : gn_error_set(e, -GN_ENOMEM, "query: out of memory for the results of %llu groups",
	                          (unsigned long long)q->groups);
}

void gn_query_result_free(struct gn_query_result *result)
{
	free(result->group_rows);
	free(result->totals);
	memset(result, 0, sizeof *result);
}

static int less(union gn_value a, union gn_value b, int real)
{
	return real ? a.real < b.real : a.exact < b.exact;
}

void gn_query_total_add(struct gn_query_total *to, const struct gn_query_total *from, int real)
{
	if (!from->count)
		return;
	if (!to->count || less(from->least, to->least, real))
		to->least = from->least;
	if (!to->count || less(to->most, from->most, real))
		to->most = from->most;
	to->count += from->count;
	to->exact += from->exact;
	to->real += from->real;
	to->sizes += from->sizes;
}

/* ---- verifying ---- */

static void text_of(char text[GN_EXACT_TEXT], __int128 value, uint32_t scale)
{
	gn_exact_text(text, (int64_t)(value >> 64), (uint64_t)value, scale);
}

static int differs(const struct gn_query *q, uint32_t slot, uint64_t group, const char *what, const char *got,
                   const char *want, struct gn_error *e)
{
	return gn_error_set(e, -GN_EBADMSG,
	                    "query: %s of \"%.100s\" in group %llu is %s, but the reference says %s", what,
	                    q->slot[slot]->expression.text, (unsigned long long)group, got, want);
}

static int differs_exact(const struct gn_query *q, uint32_t slot, uint64_t group, const char *what,
                         __int128 got, __int128 want, uint32_t scale, struct gn_error *e)
{
	char a[GN_EXACT_TEXT], b[GN_EXACT_TEXT];

	if (got == want)
		return 0;
	text_of(a, got, scale);
	text_of(b, want, scale);
	return differs(q, slot, group, what, a, b, e);
}

static int differs_real(const struct gn_query *q, uint32_t slot, uint64_t group, const char *what, double got,
                        double want, double tolerance, struct gn_error *e)
{
	char a[32], b[32];

	if (fabs(got - want) <= tolerance)
		return 0;
	snprintf(a, sizeof a, "%.17g", got);
	snprintf(b, sizeof b, "%.17g", want);
	return differs(q, slot, group, what, a, b, e);
}

static int verify_total(const struct gn_query *q, uint32_t slot, uint64_t group,
                        const struct gn_query_total *got, const struct gn_query_total *want,
                        struct gn_error *e)
{
	const struct gn_expression *x = &q->slot[slot]->expression;
	const struct gn_node *root = &x->node[x->root];
	/* each side adds count numbers in an order of its own, and rounds as often */
	const double near = 2 * (double)want->count * (DBL_EPSILON / 2) * want->sizes;
	int rc = differs_exact(q, slot, group, "count", got->count, want->count, 0, e);

	if (rc || !want->count || !(q->slot[slot]->aggregates & ~(uint32_t)GN_WANT_COUNT))
		return rc;
	if (root->type == GN_TYPE_REAL) {
		if (gn_query_slot_sums(q->slot[slot]))
			rc = differs_real(q, slot, group, "sum", got->real, want->real, near, e);
		if (!rc)
			rc = differs_real(q, slot, group, "min", got->least.real, want->least.real, 0, e);
		return rc ? rc : differs_real(q, slot, group, "max", got->most.real, want->most.real, 0, e);
	}
	rc = differs_exact(q, slot, group, "sum", got->exact, want->exact, root->scale, e);
	if (!rc)
		rc =
		    differs_exact(q, slot, group, "min", got->least.exact, want->least.exact, root->scale, e);
	return rc ? rc
	          : differs_exact(q, slot, group, "max", got->most.exact, want->most.exact, root->scale, e);
}

static int verify_group(const struct gn_query *q, uint64_t group, const struct gn_query_result *got,
                        const struct gn_query_result *want, struct gn_error *e)
{
	int rc = 0;

	if (got->group_rows[group] != want->group_rows[group])
		return gn_error_set(e, -GN_EBADMSG,
		                    "query: %llu rows of group %llu match, but the reference says %llu",
		                    (unsigned long long)got->group_rows[group], (unsigned long long)group,
		                    (unsigned long long)want->group_rows[group]);
	for (uint32_t k = 0; !rc && k < q->slots; k++)
		rc = verify_total(q, k, group, &got->totals[group * q->slots + k],
		                  &want->totals[group * q->slots + k], e);
	return rc;
}

int gn_query_verify(const struct gn_query *q, const struct gn_query_result *got,
                    const struct gn_query_result *want, struct gn_error *e)
{
	int rc = 0;

	for (uint64_t g = 0; !rc && g < q->groups; g++)
		rc = verify_group(q, g, got, want, e);
	return rc;
}
