/* SPDX-License-Identifier: Apache-2.0 */
#include "net_graph.h"

#include <string.h>

#include "graph/read.h"

static const struct argp_option options[] = {
    {"undirected", 'u', NULL, 0, "add the other direction of every edge", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct tool_graph *g = (struct tool_graph *)state->input;

	switch (key) {
	case 'u': g->undirected = true; return 0;
	case ARGP_KEY_ARG:
		if (g->path)
			argp_error(state, "%s: one argument too many; one graph is expected", text);
		g->path = text;
		return 0;
	case ARGP_KEY_END:
		if (!g->path)
			argp_error(state, "a graph is needed; see --help");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

const struct argp tool_graph_argp = {options, parse, "GRAPH", NULL, NULL, NULL, NULL};

int tool_graph_read(struct tool_graph *g, struct gn_error *e)
{
	struct gn_graph_read_options read = {0};
	struct tool_bar bar;
	int rc;

	read.undirected = g->undirected;
	read.simple = g->simple;
	read.progress = tool_bar_begin(&bar);
	rc = gn_graph_read(&g->graph, g->path, &read, e);
	tool_bar_end(&bar);
	if (!rc && !g->graph.vertices)
		rc =
		    gn_error_set(e, -GN_EINVAL, "%s: has no vertex; give a graph with one at least", g->path);
	return rc;
}

uint32_t tool_graph_least_nodes(const struct tool_net *net)
{
	const char *transport = net->config.transport;

	return transport && !strcmp(transport, "local") ? net->config.nodes : 1;
}
