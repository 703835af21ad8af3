/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <grapnel/store.h>

#include "graph/read.h"
#include "tool.h"

int tool_fail(const char *subcommand, const struct gn_error *e)
{
	const size_t name = strlen(subcommand);

	if (!strncmp(e->text, subcommand, name) && !strncmp(e->text + name, ": ", 2))
		fprintf(stderr, "grapnel %s\n", e->text); /* a job of this name has said it */
	else
		fprintf(stderr, "grapnel %s: %s\n", subcommand, e->text);
	return TOOL_FAILED;
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
		argp_error(state, "%s %s: give a whole number from %llu to %llu", option, text,
		           (unsigned long long)least, (unsigned long long)most);
	return value;
}

uint64_t tool_size(const struct argp_state *state, const char *option, const char *text, uint64_t least)
{
	uint64_t bytes = 0;

	if (gn_size_parse(text, &bytes) || bytes < least)
		argp_error(state, "%s %s: give a size of at least %llu byte%s, for example 4096, 64K or 8G",
		           option, text, (unsigned long long)least, least == 1 ? "" : "s");
	return bytes;
}

uint32_t tool_page(const struct argp_state *state, const char *option, const char *text)
{
	const uint64_t bytes = tool_size(state, option, text, 1);

	if (bytes < 512 || bytes > 2u << 20 || bytes & (bytes - 1))
		argp_error(state, "%s %s: give a power of two from 512 to 2M", option, text);
	return (uint32_t)bytes;
}

/* "a, b or c" */
static void list_words(const char *const *words, char *to, size_t bytes)
{
	size_t length = 0;

	for (unsigned k = 0; words[k] && length < bytes; k++)
		length += (size_t)snprintf(to + length, bytes - length, "%s%s",
		                           !k             ? ""
		                           : words[k + 1] ? ", "
		                                          : " or ",
		                           words[k]);
}

unsigned tool_word(const struct argp_state *state, const char *option, const char *text,
                   const char *const *words)
{
	char list[128];

	for (unsigned k = 0; words[k]; k++)
		if (!strcmp(words[k], text))
			return k;
	list_words(words, list, sizeof list);
	argp_error(state, "%s %s: give %s", option, text, list);
	return 0;
}

void tool_argument(const struct argp_state *state, const char **to, const char *what, const char *text)
{
	if (*to)
		argp_error(state, "%s: too many arguments; give one %s", text, what);
	*to = text;
}

/* The path without links, also of a file that is not there yet. NULL: no such folder, or no memory. */
static char *whole_path(const char *path)
{
	char *whole = realpath(path, NULL), *copy = whole ? NULL : strdup(path), *folder;
	const char *slash = strrchr(path, '/');

	if (whole || !copy)
		return whole;
	folder = realpath(dirname(copy), NULL);
	if (folder && asprintf(&whole, "%s/%s", folder, slash ? slash + 1 : path) < 0)
		whole = NULL;
	free(folder);
	free(copy);
	return whole;
}

void tool_own_file(const struct argp_state *state, const char *option, const char *path, const char *other)
{
	char *a, *b;
	struct stat st;
	bool same;

	if (!path || !other || tool_to_stdout(path) || (!stat(path, &st) && !S_ISREG(st.st_mode)))
		return;
	a = whole_path(path);
	b = whole_path(other);
	same = a && b && !strcmp(a, b);
	free(a);
	free(b);
	if (same)
		argp_error(state,
		           "%s %s: this would replace %s, another file of this command; give another name",
		           option, path, other);
}

const char *const tool_tables[] = {"auto", "direct", "sets", NULL};
const char *const tool_policies[] = {"clock", "fifo", "random", NULL};

/* ---- a machine ---- */

enum { OPT_MACHINE = 256, OPT_WARP, OPT_THREADS };

static const struct argp_option machine_options[] = {
    {"machine", OPT_MACHINE, "NAME", 0,
     "machine that runs the kernels: cpu, cuda or cuda:INDEX (default cpu)"},
    {"warp-width", OPT_WARP, "W", 0, "lanes of a warp on the machine cpu: 1, 2, 4, 8, 16 or 32 (default 1)"},
    {"threads", OPT_THREADS, "N", 0, "OS threads of the machine cpu, 1 to 1024 (default one a core)"},
    {0},
};

static error_t parse_machine(int key, char *arg, struct argp_state *state)
{
	struct simt_options *c = (struct simt_options *)state->input;

	switch (key) {
	case OPT_MACHINE: c->name = arg; return 0;
	case OPT_WARP:
		c->warp_width = (unsigned)tool_number(state, "--warp-width", arg, 1, 32);
		if (c->warp_width & (c->warp_width - 1))
			argp_error(state, "--warp-width %s: give 1, 2, 4, 8, 16 or 32", arg);
		return 0;
	case OPT_THREADS: c->threads = (unsigned)tool_number(state, "--threads", arg, 1, 1024); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

const struct argp tool_machine_argp = {machine_options, parse_machine};

const struct argp_child tool_machine_child[] = {{&tool_machine_argp}, {0}};

/* ---- graphs ---- */

unsigned tool_ids(const struct argp_state *state, const char *text)
{
	static const char *const widths[] = {"32", "64", NULL};

	return tool_word(state, "--ids", text, widths) ? 64 : 32;
}

void tool_graph_output(const struct argp_state *state, const char *path, unsigned ids)
{
	enum gn_graph_format format;
	struct stat st;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return;
	if (gn_graph_format_of(path, &format, NULL) ||
	    (format != GN_FORMAT_GNG && format != GN_FORMAT_BEL && format != GN_FORMAT_BCSR &&
	     format != GN_FORMAT_BWCSR))
		argp_error(state,
		           "%s: graphs of this format are not written; give a name that ends in .gng, .bel, "
		           ".bcsr or .bwcsr",
		           path);
	if (ids && format != GN_FORMAT_GNG && ids != (format == GN_FORMAT_BEL ? 64u : 32u))
		argp_error(state, "--ids %u: %s cannot have such ids; give a .gng file, or leave --ids out",
		           ids, path);
}

void tool_graph_report(const char *path, const struct gn_graph *g, double seconds)
{
	static const char *const weights[] = {"no", "integer", "real"};

	printf("%s: %llu vertices, %llu edges (%s), %s weights, %.2f s\n", path,
	       (unsigned long long)g->vertices, (unsigned long long)g->edges,
	       g->flags & GN_GRAPH_UNDIRECTED ? "undirected, both directions" : "directed",
	       weights[g->weight], seconds);
}
