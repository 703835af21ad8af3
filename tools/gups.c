/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel gups: random updates of a table that lies on all nodes, any number of them under way or, as HPCC
 * asks, few.
 */
#include <stdio.h>

#include "gups/check.h"
#include "net.h"

enum { TABLE, UPDATES, OP, HOLD };

static const char *const op_names[] = {"inc", "xor", NULL};

static const char *table_wrong(uint64_t bytes, const uint64_t *all)
{
	return bytes < 8 || tool_net_not_a_power(bytes / 8, all) ? "give a power of two, at least 8 bytes"
	                                                         : NULL;
}

static const struct tool_net_option options[] = {
    {"table", 0, "SIZE", "bytes of each node's part of the table, a power of two (default 16M)", 16u << 20, 1,
     0, table_wrong},
    {"updates", 0, "N", "updates by each node (default four for each word of 8 bytes of its table)", 0, 1,
     1ull << 48},
    {"op", 0, "NAME",
     "operation of an update: xor as in HPCC RandomAccess, or inc as in Gravel (default xor)", 1, 0, 0, NULL,
     op_names},
    {"hold", 0, "N", "most updates of a node that may be outstanding; HPCC allows 1024 (default: any number)",
     0, 1, 1ull << 48},
    {0},
};

static struct gups gups_of(const struct tool_net *n)
{
	struct gups g = {n->value[TABLE] / 8, n->value[UPDATES], 0, (uint32_t)n->value[OP], n->value[HOLD]};

	g.updates = g.updates ? g.updates : 4 * g.part_words;
	return g;
}

static int prepare(struct tool_net *n, struct gn_error *e)
{
	(void)e;
	n->config.heap_bytes = gups_of(n).part_words * 8 + (1u << 20);
	return 0;
}

static int node(struct gn_net *net, struct tool_net *n, struct tool_net_part *part, struct gn_error *error)
{
	const struct gups g = gups_of(n);
	struct gups_result result;
	const int rc = gups_run(net, &g, &result, error);

	if (rc)
		return rc;
	part->seconds = result.seconds;
	part->stats = result.stats;
	part->wrong = gn_net_node(net) ? 0 : (double)result.wrong; /* every node knows those of all */
	return 0;
}

static double rate(const struct tool_net *n)
{
	return 1e-9 * (double)gups_of(n).updates * n->nodes / n->seconds;
}

static void print(const struct tool_net *n)
{
	printf("%s, %s: %.6f GUPS, %.3f s, %.15g wrong\n", op_names[n->value[OP]],
	       tool_net_forms[n->config.form], rate(n), n->seconds, n->wrong);
}

static json_t *report(const struct tool_net *n)
{
	const struct gups g = gups_of(n);

	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:f, s:s, s:I}", "op", op_names[n->value[OP]], "form",
	                 tool_net_forms[n->config.form], "hold", (json_int_t)g.hold, "table_bytes",
	                 (json_int_t)(g.part_words * 8 * n->nodes), "updates",
	                 (json_int_t)(g.updates * n->nodes), "gups", rate(n), "compared",
	                 gups_every_word(&g, n->nodes) ? "words" : "sums", "wrong", (json_int_t)n->wrong);
}

static const struct tool_net_command command = {
    "gups",  "Random updates of a table that is spread over nodes. Every update is a small message.",
    options, NULL,
    NULL,    "words or parts are wrong",
    prepare, node,
    print,   report};

int tool_gups(int argc, char **argv)
{
	return tool_net_main(&command, sizeof(struct tool_net), argc, argv);
}
