/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/io.h"
#include "tool.h"

bool tool_to_stdout(const char *json)
{
	return json && !strcmp(json, "-");
}

void tool_print_machine(const struct simt_info *info, const char *path)
{
	printf("%s, %u processors, warps of %u; %s", info->name, info->processors, info->warp_width, path);
}

json_t *tool_json_machine(const struct simt_info *info)
{
	return json_pack("{s:s, s:i, s:i}", "name", info->name, "processors", (int)info->processors,
	                 "warp_width", (int)info->warp_width);
}

int tool_write_file(const char *path, const void *data, uint64_t bytes, struct gn_error *e)
{
	struct gn_output out;
	int rc = gn__output_begin(&out, path, bytes, e);

	if (rc)
		return rc;
	rc = gn__output_write(&out, data, bytes, e);
	if (!rc)
		return gn__output_end(&out, e);
	gn__output_drop(&out);
	return rc;
}

int tool_write_json(json_t *root, const char *path, struct gn_error *e)
{
	char *text = root ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) : NULL;
	int rc = 0;

	json_decref(root);
	if (!text)
		return gn_error_set(
		    e, -GN_ENOMEM,
		    "the report cannot be made as JSON: out of memory, or a name in it is not UTF-8");
	if (tool_to_stdout(path))
		puts(text);
	else
		rc = tool_write_file(path, text, strlen(text), e);
	free(text);
	return rc;
}
