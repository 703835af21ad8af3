/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "tool.h"

double tool_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int tool_launch(struct simt_machine *machine, const struct simt_kernel *kernel, struct simt_grid grid,
                const void *args, double *seconds, struct gn_error *e)
{
	const double begin = tool_seconds();
	int rc = simt_launch(machine, kernel, grid, args);

	if (!rc)
		rc = simt_wait(machine);
	*seconds = tool_seconds() - begin;
	return rc ? gn_error_set(e, rc, "%s: %s", kernel->name, simt_message(machine)) : 0;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double tool_median(double *seconds, unsigned count)
{
	qsort(seconds, count, sizeof *seconds, ascending);
	return seconds[count / 2];
}
