/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel color: colours of a graph that is spread over nodes; color in Gravel's figures 12 and 15 and table
 * 5.
 */
#include <stdio.h>

#include "color/color.h"
#include "net.h"

struct request {
	struct tool_net net;
	int64_t greedy;             /* colours in the order of numbers, if verify */
	struct color_result result; /* node 0's */
};

static const struct tool_net_option options[] = {{0}};

/* The colours wanted, by rank in one thread, are held against their definition themselves. */
static int prepare(struct tool_net *n, struct gn_error *e)
{
	struct request *q = (struct request *)n;
	uint32_t *want = (uint32_t *)n->want;

	n->config.heap_bytes = color_heap(&n->graph, tool_net_least_nodes(n));
	if (!n->verify)
		return 0;
	q->greedy = color_greedy(&n->graph, COLOR_BY_NUMBER, want);
	if (q->greedy < 0 || color_greedy(&n->graph, COLOR_BY_RANK, want) < 0)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for the reference");
	if (color_conflicts(&n->graph, want))
		return gn_error_set(
		    e, -GN_EBADMSG,
		    "the reference gives two neighbours the same colour; this is a bug, please report it");
	return 0;
}

static int node(struct gn_net *net, struct tool_net *n, struct tool_net_part *part, struct gn_error *error)
{
	const uint32_t *got = (const uint32_t *)n->got, *want = (const uint32_t *)n->want;
	struct color_result result;
	uint32_t end, v = tool_net_vertices(net, n, &end);
	const int rc = color_run(net, &n->graph, (uint32_t *)n->got, &result, error);

	if (rc)
		return rc;
	part->seconds = result.seconds;
	part->stats = result.stats;
	part->digest = tool_net_digest(net, n, sizeof *got);
	for (; want && v < end; v++)
		part->wrong += got[v] != want[v];
	if (!gn_net_node(net))
		((struct request *)n)->result = result;
	return 0;
}

static bool word(const struct tool_net *n, uint64_t vertex, uint32_t *to)
{
	*to = ((const uint32_t *)n->got)[vertex];
	return true;
}

static void print(const struct tool_net *n)
{
	const struct request *q = (const struct request *)n;

	printf("%.3f s, %llu colours, %llu rounds\n", n->seconds, (unsigned long long)q->result.colors,
	       (unsigned long long)q->result.rounds);
	if (n->verify)
		printf("  verified; in the order of their numbers vertices need %lld colours\n",
		       (long long)q->greedy);
}

static json_t *report(const struct tool_net *n)
{
	const struct request *q = (const struct request *)n;

	return json_pack("{s:I, s:I, s:o*}", "rounds", (json_int_t)q->result.rounds, "colors",
	                 (json_int_t)q->result.colors, "greedy_colors",
	                 n->verify ? json_integer(q->greedy) : NULL);
}

static const struct tool_net_command command = {
    "color",
    "Colour the vertices of an undirected graph (.gng, .mtx, .el, .wel, also as .gz, .sg, .wsg, .bel, .bcsr, "
    ".bwcsr) that is spread over nodes, so that neighbours have different colours. Every colour travels "
    "along each edge as a small message. Self loops and duplicate edges are left out.",
    options,
    "GRAPH",
    "check that no edge joins two vertices of the same colour, compare every colour with a sequential run, "
    "and print how many colours the plain greedy order needs",
    "colours are wrong",
    prepare,
    node,
    print,
    report,
    "write the colours to FILE: one little-endian u32 a vertex",
    word,
    NULL,
    NULL,
    NULL,
    true};

int tool_color(int argc, char **argv)
{
	return tool_net_main(&command, sizeof(struct request), argc, argv);
}
