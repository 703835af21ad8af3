/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scope/output.h"

int scope_report_load(const char *path, json_t **report, struct gn_error *e)
{
	const bool in = !strcmp(path, "-");
	FILE *from = in ? stdin : fopen(path, "re");
	json_error_t wrong;

	*report = NULL;
	if (!from)
		return gn_error_set(e, -GN_ENOENT,
		                    "%s: cannot be read: %s; give a report that grapnel scope --json wrote",
		                    path, strerror(errno));
	*report = json_loadf(from, JSON_REJECT_DUPLICATES, &wrong);
	if (!in)
		fclose(from);
	return *report ? 0
	               : gn_error_set(e, -GN_EINVAL,
	                              "%s:%d: not JSON: %s; give a report that grapnel scope --json wrote",
	                              path, wrong.line, wrong.text);
}
