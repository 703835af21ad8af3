/* SPDX-License-Identifier: Apache-2.0 */
#include "net.h"

#include <stdio.h>
#include <string.h>

enum {
	OPT_NODES = 256,
	OPT_COLUMNS,
	OPT_TRANSPORT,
	OPT_PACKET,
	OPT_FLUSH,
	OPT_FORM,
	OPT_LOG,
	OPT_ROUTE,
	OPT_TIMEOUT,
	OPT_JSON
};

static const char *const route_names[] = {"packets", "direct", NULL};

enum { DEFAULT_NODES = 2 };

const char *const tool_net_forms[] = {"combined", "coprocessor", "coalesced", "message-per-lane", NULL};

static const struct argp_option options[] = {
    {"nodes", OPT_NODES, "N", 0, "nodes of this process (default 2)", 0},
    {"columns", OPT_COLUMNS, "N", 0,
     "of the grid in which nodes stand: 1 sends directly, more in two ways (default: "
     "chosen)",
     0},
    {"transport", OPT_TRANSPORT, "NAME", 0,
     "what carries packets: local or mpi (default: mpi if a launcher started this, else local)", 0},
    {"packet", OPT_PACKET, "SIZE", 0, "largest packet, at most 64K (default 64K)", 0},
    {"flush", OPT_FLUSH, "US", 0, "microseconds after which a packet that is not full is sent (default 125)",
     0},
    {"form", OPT_FORM, "NAME", 0,
     "how messages leave: combined; or, to compare, coprocessor, coalesced, "
     "message-per-lane (default combined)",
     0},
    {"log", OPT_LOG, "SIZE", 0, "messages of a processor that wait for the network (default 1M)", 0},
    {"route", OPT_ROUTE, "NAME", 0,
     "packets; direct: threads change the memory of nodes that their machine reaches "
     "(default packets)",
     0},
    {"timeout", OPT_TIMEOUT, "S", 0, "seconds after which a wait for another node is given up (default 30)",
     0},
    {"json", OPT_JSON, "FILE", 0, "write the result as JSON; - for standard output, without the text", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct tool_net *n = (struct tool_net *)state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		n->config.nodes = DEFAULT_NODES;
		state->child_inputs[0] = &n->config.machine;
		break;
	case OPT_NODES: n->config.nodes = (uint32_t)tool_number(state, "--nodes", text, 1, 4096); break;
	case OPT_COLUMNS: n->config.columns = (uint32_t)tool_number(state, "--columns", text, 1, 4096); break;
	case OPT_TRANSPORT: n->config.transport = text; break;
	case OPT_PACKET: n->config.packet_bytes = tool_size(state, "--packet", text, 1); break;
	case OPT_FLUSH: n->config.flush_ns = 1000 * tool_number(state, "--flush", text, 1, 1000000); break;
	case OPT_ROUTE:
		n->config.route = (enum gn_net_route)tool_word(state, "--route", text, route_names);
		break;
	case OPT_FORM:
		n->config.form = (enum gn_net_form)tool_word(state, "--form", text, tool_net_forms);
		break;
	case OPT_LOG: n->config.log_bytes = tool_size(state, "--log", text, 1); break;
	case OPT_TIMEOUT:
		n->config.timeout_ns = 1000000000 * tool_number(state, "--timeout", text, 1, 86400);
		break;
	case OPT_JSON: n->json = text; break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp tool_net_argp = {options, parse, NULL, NULL, tool_machine_child, NULL, NULL};

/* ---- the run ---- */

static int gather_waits(struct gn_net *net, struct tool_net *t)
{
	const uint32_t nodes = gn_net_nodes(net);
	uint64_t waited[TOOL_NET_MATRIX * TOOL_NET_MATRIX] = {0};
	int rc;

	if (nodes > TOOL_NET_MATRIX)
		return 0;
	gn_net_waited(net, waited + gn_net_node(net) * nodes);
	rc = gn_net_reduce_u64(gn_net_host(net), GN_ADD, waited, nodes * nodes);
	if (rc || gn_net_node(net))
		return rc;
	memcpy(t->waited_ns, waited, sizeof waited);
	t->waits = nodes;
	return 0;
}

int tool_net_gather(struct gn_net *net, struct tool_net *t, struct gn_net_statistics *stats)
{
	const int rc = gather_waits(net, t);

	return rc ? rc : gn_net_reduce_u64(gn_net_host(net), GN_ADD, (uint64_t *)stats, sizeof *stats / 8);
}

struct run {
	const char *subcommand;
	int (*node)(struct gn_net *net, void *argument);
	void *argument;
};

static int run_node(struct gn_net *net, void *argument)
{
	const struct run *r = (const struct run *)argument;
	const int rc = r->node(net, r->argument);

	if (rc && gn_net_message(net)[0])
		fprintf(stderr, "grapnel %s: node %u: %s\n", r->subcommand, gn_net_node(net),
		        gn_net_message(net));
	return rc;
}

int tool_net_run(const char *subcommand, const struct tool_net *net,
                 int (*node)(struct gn_net *net, void *argument), void *argument, struct gn_error *e)
{
	struct run r = {subcommand, node, argument};
	int rc;

	memset(e, 0, sizeof *e);
	rc = gn_net_run(&net->config, run_node, &r, e);
	if (rc && !e->code)
		gn_error_set(e, rc, "a node failed with %s", gn_error_name(rc));
	return rc;
}

/* ---- the report ---- */

static double mean_packet(const struct gn_net_statistics *s)
{
	return s->packets ? (double)s->packet_bytes / (double)s->packets : 0;
}

void tool_net_print(const struct gn_net_statistics *s)
{
	printf("  %llu messages in %llu packets of %.0f bytes (%llu full, %llu old, %llu waited for)\n",
	       (unsigned long long)s->sent, (unsigned long long)s->packets, mean_packet(s),
	       (unsigned long long)s->full, (unsigned long long)s->aged, (unsigned long long)s->urgent);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static json_t *sizes_json(const struct gn_net_statistics *s)
{
	json_t *sizes = json_array();

	for (unsigned k = 0; k < sizeof s->size / sizeof *s->size; k++)
		json_array_append_new(sizes, json_integer((json_int_t)s->size[k]));
	return sizes;
}

static json_t *waits_json(const struct tool_net *t)
{
	json_t *rows = json_array();

	for (uint32_t from = 0; t && from < t->waits; from++) {
		json_t *row = json_array();

		for (uint32_t to = 0; to < t->waits; to++)
			json_array_append_new(row,
			                      json_real(1e-6 * (double)t->waited_ns[from * t->waits + to]));
		json_array_append_new(rows, row);
	}
	return rows;
}

/* Members of gn_net_statistics by their names, and what they come to. */
json_t *tool_net_json(const struct tool_net *t, const struct gn_net_statistics *s)
{
	json_t *counts = json_pack(
	    "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "sent", (json_int_t)s->sent,
	    "calls", (json_int_t)s->calls, "passed", (json_int_t)s->passed, "packets", (json_int_t)s->packets,
	    "packet_bytes", (json_int_t)s->packet_bytes, "message_bytes", (json_int_t)s->message_bytes,
	    "full", (json_int_t)s->full, "aged", (json_int_t)s->aged, "urgent", (json_int_t)s->urgent,
	    "stalls", (json_int_t)s->stalls, "turns", (json_int_t)s->turns, "idle_turns",
	    (json_int_t)s->idle_turns, "buffer_bytes", (json_int_t)s->buffer_bytes);
	json_t *means =
	    json_pack("{s:f, s:f, s:f, s:f, s:o, s:o}", "mean_packet", mean_packet(s), "occupancy",
	              share(s->message_bytes, 65504 * s->packets), "wire_over_messages",
	              share(s->packet_bytes, s->message_bytes), "idle_share", share(s->idle_turns, s->turns),
	              "packet_log2_bytes", sizes_json(s), "waited_ms", waits_json(t));

	json_object_update(counts, means);
	json_decref(means);
	return counts;
}
