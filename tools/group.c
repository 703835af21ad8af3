/* SPDX-License-Identifier: Apache-2.0 */
/* Subcommands that have subcommands of their own. */
#include <stdio.h>
#include <string.h>

#include "tool.h"

static void help(const struct tool_group *g)
{
	printf("Usage: grapnel %s SUBCOMMAND [OPTION...]\n\n%s\n\n", g->name, g->about);
	for (unsigned k = 0; k < g->count; k++)
		printf("  %-8s  %s\n", g->tools[k].name, g->tools[k].summary);
	printf("\n'grapnel %s SUBCOMMAND --help' prints the options of a subcommand.\n", g->name);
}

int tool_group_run(const struct tool_group *g, int argc, char **argv)
{
	static char name[64];

	if (argc < 2) {
		fprintf(stderr,
		        "grapnel %s: no subcommand given; 'grapnel %s --help' lists the subcommands\n",
		        g->name, g->name);
		return TOOL_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?") || !strcmp(argv[1], "help")) {
		help(g);
		return TOOL_OK;
	}
	for (unsigned k = 0; k < g->count; k++)
		if (!strcmp(g->tools[k].name, argv[1])) {
			snprintf(name, sizeof name, "grapnel %s %s", g->name, g->tools[k].name);
			argv[1] = name;
			return g->tools[k].run(argc - 1, argv + 1);
		}
	fprintf(stderr, "grapnel %s: %s: unknown subcommand; 'grapnel %s --help' lists the subcommands\n",
	        g->name, argv[1], g->name);
	return TOOL_USAGE;
}
