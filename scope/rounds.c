/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.c - what the rounds of a cell come to together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scope/scope.h"

static int append(double **list, uint32_t have, const double *more, uint32_t count)
{
	double *larger;

	if (!more)
		return 0;
	larger = (double *)realloc(*list, ((size_t)have + count) * sizeof **list);
	if (!larger)
		return -GN_ENOMEM;
	memcpy(larger + have, more, count * sizeof *more);
	*list = larger;
	return 0;
}

static int join(struct scope_result *r, const struct scope_result *round)
{
	if (append(&r->value, r->samples, round->value, round->samples) ||
	    append(&r->second, r->samples, round->second, round->samples) ||
	    append(&r->seconds, r->samples, round->seconds, round->samples))
		return -GN_ENOMEM;
	r->samples += round->samples;
	r->end[r->rounds++] = r->samples;
	r->operations = round->operations;
	r->bytes = round->bytes;
	if (round->why[0])
		memcpy(r->why, round->why, sizeof r->why);
	return 0;
}

int scope_result_pool(struct scope_result *r, struct scope_result *round)
{
	int rc = 0;

	if (round->status == SCOPE_MEASURED) {
		rc = join(r, round);
	} else if (round->status == SCOPE_SKIPPED) {
		snprintf(r->why, sizeof r->why, "no round %u: %.*s", r->rounds + 1, SCOPE_WHY - 32,
		         round->why);
	} else {
		snprintf(round->why + strlen(round->why), sizeof round->why - strlen(round->why),
		         " (in round %u)", r->rounds + 1);
		scope_result_free(r);
		*r = *round;
		memset(round, 0, sizeof *round);
	}
	scope_result_free(round);
	return rc;
}

int scope_result_statistics(const struct scope_result *r, struct scope_statistics *s)
{
	return scope_statistics_of_rounds(r->value, r->end, r->rounds, s);
}

void scope_result_free(struct scope_result *r)
{
	free(r->value);
	free(r->second);
	free(r->seconds);
	r->value = r->second = r->seconds = NULL;
	r->samples = r->rounds = 0;
}
