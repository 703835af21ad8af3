/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/read.h"
#include "tool.h"

int tool_fail(const char *subcommand, const struct gn_error *e)
{
	fprintf(stderr, "grapnel %s: %s\n", subcommand, e->text);
	return TOOL_FAILED;
}

double tool_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

uint64_t tool_number(const struct argp_state *state, const char *option, const char *text, uint64_t least,
                     uint64_t most)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	/* strtoull takes "-1" for a very large number */
	if (!isdigit((unsigned char)text[0]) || *end || errno || value < least || value > most)
		argp_error(state, "%s %s: not a whole number from %llu to %llu; give one", option, text,
		           (unsigned long long)least, (unsigned long long)most);
	return value;
}

void tool_graph_output(const struct argp_state *state, const char *path)
{
	enum gn_graph_format format;
	struct stat st;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return;
	if (gn_graph_format_of(path, &format, NULL) || format != GN_FORMAT_GNG)
		argp_error(state, "%s: Grapnel writes .gng files only; give a name that ends so", path);
}

void tool_graph_report(const char *path, const struct gn_graph *g, double seconds)
{
	static const char *const weights[] = {"no", "integer", "real"};

	printf("%s: %llu vertices, %llu edges (%s), %s weights, %.2f s\n", path,
	       (unsigned long long)g->vertices, (unsigned long long)g->edges,
	       g->flags & GN_GRAPH_UNDIRECTED ? "undirected, both directions" : "directed",
	       weights[g->weight], seconds);
}
