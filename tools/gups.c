/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel gups: random updates of a table that lies on all nodes, any number of them under way or, as HPCC
 * asks, few.
 */
#include <stdio.h>
#include <string.h>

#include "gups/gups.h"
#include "net.h"

enum { OPT_TABLE = 256, OPT_UPDATES, OPT_OP, OPT_HOLD };

static const char *const op_names[] = {"inc", "xor", NULL};

struct request {
	struct tool_net net;
	struct gups gups;
	struct gups_result result; /* node 0's; stats: of all nodes */
	uint32_t nodes;
};

static const struct argp_option options[] = {
    {"table", OPT_TABLE, "SIZE", 0, "bytes of the table of a node, a power of two (default 16M)", 0},
    {"updates", OPT_UPDATES, "N", 0, "of a node (default four for each word of its table)", 0},
    {"op", OPT_OP, "NAME", 0, "xor (HPCC RandomAccess) or inc (Gravel) (default xor)", 0},
    {"hold", OPT_HOLD, "N", 0,
     "at most so many updates of a node under way; HPCC allows 1024 (default: any number)", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &q->net; break;
	case OPT_TABLE:
		q->gups.part_words = tool_size(state, "--table", text, 1) / 8;
		if (!q->gups.part_words || q->gups.part_words & (q->gups.part_words - 1))
			argp_error(state, "--table %s: not a power of two from 8 bytes on", text);
		break;
	case OPT_UPDATES: q->gups.updates = tool_number(state, "--updates", text, 1, 1ull << 48); break;
	case OPT_OP: q->gups.xors = tool_word(state, "--op", text, op_names); break;
	case OPT_HOLD: q->gups.hold = tool_number(state, "--hold", text, 1, 1ull << 48); break;
	case ARGP_KEY_ARG: argp_error(state, "%s: nothing is expected behind the options", text); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {{&tool_net_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,  parse, NULL, "Random updates of a table that is spread over nodes, each a small message.",
    children, NULL,  NULL};

/* ---- the run ---- */

static int node_main(struct gn_net *net, void *argument)
{
	struct request *q = (struct request *)argument;
	struct gups_result result;
	int rc = gups_run(net, &q->gups, &result);

	if (!rc)
		rc = tool_net_gather(net, &q->net, &result.stats);
	if (!rc && !gn_net_node(net)) {
		q->result = result;
		q->nodes = gn_net_nodes(net);
	}
	return rc;
}

static double gups_of(const struct request *q)
{
	return 1e-9 * (double)q->gups.updates * q->nodes / q->result.seconds;
}

static void print(const struct request *q)
{
	printf("%u nodes, %s, %s: %.6f GUPS, %.3f s, %llu wrong\n", q->nodes, op_names[q->gups.xors],
	       tool_net_forms[q->net.config.form], gups_of(q), q->result.seconds,
	       (unsigned long long)q->result.wrong);
	tool_net_print(&q->result.stats);
}

static json_t *report(const struct request *q)
{
	return json_pack("{s:s, s:i, s:s, s:s, s:I, s:I, s:I, s:f, s:f, s:I, s:b, s:o}", "schema",
	                 "grapnel-gups-1", "nodes", (int)q->nodes, "op", op_names[q->gups.xors], "form",
	                 tool_net_forms[q->net.config.form], "hold", (json_int_t)q->gups.hold, "table_bytes",
	                 (json_int_t)(q->gups.part_words * 8 * q->nodes), "updates",
	                 (json_int_t)(q->gups.updates * q->nodes), "seconds", q->result.seconds, "gups",
	                 gups_of(q), "wrong", (json_int_t)q->result.wrong, "verified", q->result.wrong == 0,
	                 "net", tool_net_json(&q->net, &q->result.stats));
}

int tool_gups(int argc, char **argv)
{
	struct gn_error e;
	struct request q;
	int rc;

	memset(&q, 0, sizeof q);
	q.gups.part_words = (16u << 20) / 8;
	q.gups.xors = 1;
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	if (!q.gups.updates)
		q.gups.updates = 4 * q.gups.part_words;
	q.net.config.heap_bytes = q.gups.part_words * 8 + (1u << 20);
	rc = tool_net_run("gups", &q.net, node_main, &q, &e);
	if (!rc && q.nodes && q.net.json)
		rc = tool_write_json(report(&q), q.net.json, &e);
	if (!rc && q.nodes && !tool_to_stdout(q.net.json))
		print(&q);
	if (!rc && q.result.wrong)
		rc = gn_error_set(&e, -GN_EBADMSG, "%llu words are wrong: this is a bug; please report it",
				  (unsigned long long)q.result.wrong);
	return rc ? tool_fail("gups", &e) : TOOL_OK;
}
