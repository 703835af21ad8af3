/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel net-model: what small messages between nodes would come to, on more nodes than there are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"
#include "net_model/model.h"

enum {
	OPT_NODES = 256,
	OPT_COLUMNS,
	OPT_SIMULATED,
	OPT_PACKET,
	OPT_FLUSH,
	OPT_COMPRESS,
	OPT_TABLE,
	OPT_UPDATES,
	OPT_OP,
	OPT_UPDATE_NS,
	OPT_SORT_NS,
	OPT_PASS_NS,
	OPT_APPLY_NS,
	OPT_PACKET_NS,
	OPT_BYTE_NS,
	OPT_LOOK_NS,
	OPT_CORES,
	OPT_SLICE,
	OPT_LINK,
	OPT_LATENCY,
	OPT_JSON
};

static const char *const op_names[] = {"inc", "xor", NULL};

struct request {
	struct net_model model;
	uint32_t columns;
	const char *json;
	struct net_model_result result;
};

static const struct argp_option options[] = {
    {0, 0, NULL, 0, "The nodes:", 1},
    {"nodes", OPT_NODES, "N", 0, "number of nodes, 2 to 65536 (default 1024)"},
    {"columns", OPT_COLUMNS, "N", 0, "columns of the grid of nodes (default: as the library chooses)"},
    {"simulated", OPT_SIMULATED, "N", 0,
     "nodes that are simulated and stand for all (default 1; 0: all nodes)"},
    {"packet", OPT_PACKET, "SIZE", 0, "bytes of the largest packet, at most 64K (default 64K)"},
    {"flush", OPT_FLUSH, "US", 0,
     "microseconds after which a packet may be sent though it is not full, 1 to 1000000 (default 125)"},
    {"compress", OPT_COMPRESS, NULL, 0, "leave out of a packet the bytes that its messages share"},
    {0, 0, NULL, 0, "Their work:", 2},
    {"table", OPT_TABLE, "SIZE", 0, "bytes of each node's part of the table, a power of two (default 16M)"},
    {"updates", OPT_UPDATES, "N", 0, "updates by each node (default 4M)"},
    {"op", OPT_OP, "NAME", 0, "operation of an update: inc or xor (default inc)"},
    {0, 0, NULL, 0, "Costs in nanoseconds:", 3},
    {"update-ns", OPT_UPDATE_NS, "NS", 0, "time between two updates of a node (default 22)"},
    {"sort-ns", OPT_SORT_NS, "NS", 0, "to put a message into a packet (default 13)"},
    {"pass-ns", OPT_PASS_NS, "NS", 0, "to pass a message on from one packet to another (default 13)"},
    {"apply-ns", OPT_APPLY_NS, "NS", 0, "to apply a message to memory (default 12)"},
    {"packet-ns", OPT_PACKET_NS, "NS", 0, "for a packet at each end (default 1000)"},
    {"byte-ns", OPT_BYTE_NS, "NS", 0, "for a byte of a packet at each end (default 0.05)"},
    {"look-ns", OPT_LOOK_NS, "NS", 0, "to look whether an open packet is old (default 3)"},
    {0, 0, NULL, 0, "The machine:", 4},
    {"cores", OPT_CORES, "N", 0, "cores for all simulated nodes together (default: two for each node)"},
    {"slice", OPT_SLICE, "US", 0,
     "microseconds that a thread may keep a core while others wait for it (default 3000)"},
    {"link", OPT_LINK, "GBPS", 0,
     "gigabytes a second that a node sends, and that it receives (default: no limit, packets are handed "
     "over)"},
    {"latency", OPT_LATENCY, "NS", 0, "nanoseconds of latency of the link (default 0)"},
    {"json", OPT_JSON, "FILE", 0,
     "write the result to FILE as JSON; - is standard output, and then no text is printed"},
    {0},
};

/* A number of 0 or more, with a fraction. */
static double real(struct argp_state *state, const char *option, const char *text)
{
	char *end;
	const double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0 && value <= 1e12))
		argp_error(state, "%s %s: give a number from 0 to 1e12", option, text);
	return value;
}

static error_t parse_cost(int key, char *text, struct argp_state *state)
{
	struct net_model *m = &((struct request *)state->input)->model;

	switch (key) {
	case OPT_UPDATE_NS:
		m->update_ns = real(state, "--update-ns", text);
		if (!(m->update_ns > 0))
			argp_error(state, "--update-ns %s: give a number above 0", text);
		break;
	case OPT_SORT_NS: m->sort_ns = real(state, "--sort-ns", text); break;
	case OPT_PASS_NS: m->pass_ns = real(state, "--pass-ns", text); break;
	case OPT_APPLY_NS: m->apply_ns = real(state, "--apply-ns", text); break;
	case OPT_PACKET_NS: m->packet_ns = real(state, "--packet-ns", text); break;
	case OPT_BYTE_NS: m->byte_ns = real(state, "--byte-ns", text); break;
	case OPT_LOOK_NS: m->look_ns = real(state, "--look-ns", text); break;
	case OPT_CORES: m->cores = (uint32_t)tool_number(state, "--cores", text, 1, 65536); break;
	case OPT_SLICE: m->slice_ns = 1000 * real(state, "--slice", text); break;
	case OPT_LINK: m->link_bytes_ns = real(state, "--link", text); break;
	case OPT_LATENCY: m->latency_ns = real(state, "--latency", text); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;
	struct net_model *m = &q->model;

	switch (key) {
	case OPT_NODES: m->nodes = (uint32_t)tool_number(state, "--nodes", text, 2, GN_NET_MOST_NODES); break;
	case OPT_COLUMNS:
		q->columns = (uint32_t)tool_number(state, "--columns", text, 1, GN_NET_MOST_NODES);
		break;
	case OPT_SIMULATED:
		m->simulated = (uint32_t)tool_number(state, "--simulated", text, 0, GN_NET_MOST_NODES);
		break;
	case OPT_PACKET: m->packet_bytes = tool_size(state, "--packet", text, 1); break;
	case OPT_FLUSH: m->flush_ns = 1000 * tool_number(state, "--flush", text, 1, 1000000); break;
	case OPT_COMPRESS: m->compressed = 1; break;
	case OPT_TABLE:
		m->part_words = tool_size(state, "--table", text, 8) / 8;
		if (m->part_words & (m->part_words - 1))
			argp_error(state, "--table %s: give a power of two", text);
		break;
	case OPT_UPDATES: m->updates = tool_number(state, "--updates", text, 1, 1ull << 40); break;
	case OPT_OP: m->xors = tool_word(state, "--op", text, op_names); break;
	case OPT_JSON: q->json = text; break;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: unexpected argument; this command takes options only", text);
		break;
	default: return parse_cost(key, text, state);
	}
	return 0;
}

static const struct argp argp = {
    options, parse, NULL,
    "A discrete-event model of nodes that update random words of each other's memory by small messages. It "
    "says how full the packets are, how much memory they need, and the rate of updates."};

/* ---- the report ---- */

static double rate(const struct request *q)
{
	return 1e-9 * (double)q->model.updates / q->result.seconds;
}

static void print(const struct request *q)
{
	printf("%u nodes in %u columns: %.6f GUPS a node, %.3f s, link %.0f %% busy\n", q->model.nodes,
	       q->model.columns, rate(q), q->result.seconds, 100 * q->result.link_share);
	printf("  %.2f MiB of packets a node at most, %.2f MiB made\n",
	       (double)net_model_buffers(&q->model) / (1 << 20), (double)q->result.made_bytes / (1 << 20));
	tool_net_print(&q->result.stats);
}

static json_t *report(const struct request *q)
{
	const struct net_model *m = &q->model;

	return json_pack("{s:s, s:i, s:i, s:i, s:I, s:s, s:f, s:f, s:f, s:f, s:I, s:I, s:o}", "schema",
	                 "grapnel-net-model-1", "nodes", (int)m->nodes, "columns", (int)m->columns,
	                 "simulated", (int)(m->simulated ? m->simulated : m->nodes), "updates",
	                 (json_int_t)m->updates, "op", op_names[m->xors], "seconds", q->result.seconds,
	                 "sorted_seconds", q->result.sorted_seconds, "gups_of_a_node", rate(q), "link_share",
	                 q->result.link_share, "buffer_bytes_of_a_node", (json_int_t)net_model_buffers(m),
	                 "made_bytes_of_a_node", (json_int_t)q->result.made_bytes, "net",
	                 tool_net_json(NULL, &q->result.stats));
}

int tool_net_model(int argc, char **argv)
{
	struct gn_error e = {0, ""};
	struct request q;
	int rc;

	memset(&q, 0, sizeof q);
	q.model = net_model_of(1024, 0);
	q.model.simulated = 1;
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	q.model.columns = q.columns ? q.columns : net_model_of(q.model.nodes, 0).columns;
	rc = net_model_run(&q.model, &q.result);
	if (rc)
		gn_error_set(&e, rc, "%u nodes, %u columns, %u simulated nodes: %s", q.model.nodes,
		             q.model.columns, q.model.simulated,
		             rc == -GN_EINVAL
		                 ? "give at most as many columns and as many simulated nodes as nodes"
		                 : "out of memory");
	if (!rc && q.json)
		rc = tool_write_json(report(&q), q.json, &e);
	if (!rc && !tool_to_stdout(q.json))
		print(&q);
	return rc ? tool_fail("net-model", &e) : TOOL_OK;
}
