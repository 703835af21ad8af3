/* SPDX-License-Identifier: Apache-2.0 */
#include "net.h"

#include <stdio.h>
#include <stdlib.h>
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
	OPT_SORT,
	OPT_TIMEOUT,
	OPT_JSON
};

static const char *const route_names[] = {"packets", "direct", NULL};

enum sort { SORT_HOST, SORT_KERNEL };

static const char *const sort_names[] = {"host", "kernel", NULL};

enum { DEFAULT_NODES = 2 };

const char *const tool_net_forms[] = {"combined", "coprocessor", "coalesced", "message-per-lane", NULL};

static const struct argp_option net_options[] = {
    {"nodes", OPT_NODES, "N", 0,
     "nodes with the transport local, 1 to 4096 (default 2); with mpi each process is one node"},
    {"columns", OPT_COLUMNS, "N", 0,
     "columns of the grid of nodes, 1 to 4096: with 1 every message goes directly, with more it may pass one "
     "node in between (default: 1 up to 64 nodes, more from 65 on)"},
    {"transport", OPT_TRANSPORT, "NAME", 0,
     "transport of packets: local (nodes are threads of this process) or mpi (default: mpi if an MPI "
     "launcher started this process, else local)"},
    {"packet", OPT_PACKET, "SIZE", 0, "bytes of the largest packet, at most 64K (default 64K)"},
    {"flush", OPT_FLUSH, "US", 0,
     "microseconds after which a packet is sent though it is not full, 1 to 1000000 (default 125)"},
    {"form", OPT_FORM, "NAME", 0,
     "how messages are sent: combined, or for comparison coprocessor, coalesced or message-per-lane (default "
     "combined)"},
    {"log", OPT_LOG, "SIZE", 0,
     "bytes of messages that one processor may have waiting for the network (default 1M, on cuda 256K)"},
    {"route", OPT_ROUTE, "NAME", 0,
     "packets: all messages travel in packets; direct: threads change the memory of another node themselves "
     "where their machine reaches it (default packets)"},
    {"sort", OPT_SORT, "NAME", 0,
     "what sorts the messages of kernels into packets: host (the network thread) or kernel (a kernel that "
     "stays on the machine) (default kernel on cuda, host on cpu)"},
    {"timeout", OPT_TIMEOUT, "S", 0,
     "seconds after which a wait for another node fails, 1 to 86400 (default 30)"},
    {"json", OPT_JSON, "FILE", 0,
     "write the result to FILE as JSON; - is standard output, and then no text is printed"},
    {0},
};

static error_t parse_net(int key, char *text, struct argp_state *state)
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
	case OPT_SORT:
		n->config.by_kernel = tool_word(state, "--sort", text, sort_names) == SORT_KERNEL;
		n->config.host_sorts = !n->config.by_kernel;
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

static const struct argp net_argp = {net_options, parse_net, NULL, NULL, tool_machine_child};

/* ---- the options of a command ---- */

enum { OPT_OWN = 512, OPT_VERIFY = OPT_OWN + TOOL_NET_OPTIONS, OPT_OUT };

/* The place of an option by its key; -1: it is none of the command's. */
static int place_of(const struct tool_net_option *o, int key)
{
	for (int k = 0; o[k].name; k++)
		if (key == (o[k].key ? o[k].key : OPT_OWN + k))
			return k;
	return -1;
}

static void read_option(struct tool_net *n, int k, char *text, const struct argp_state *state)
{
	const struct tool_net_option *o = &n->command->options[k];
	char name[32];

	snprintf(name, sizeof name, "--%s", o->name);
	n->text[k] = text;
	n->value[k] = o->words  ? tool_word(state, name, text, o->words)
	              : o->most ? tool_number(state, name, text, o->least, o->most)
	                        : tool_size(state, name, text, o->least);
}

static void check_options(const struct tool_net *n, const struct argp_state *state)
{
	const struct tool_net_command *c = n->command;

	for (int k = 0; c->options[k].name; k++) {
		const struct tool_net_option *o = &c->options[k];
		const char *why = o->wrong ? o->wrong(n->value[k], n->value) : NULL;

		if (why && n->text[k])
			argp_error(state, "--%s %s: %s", o->name, n->text[k], why);
		else if (why)
			argp_error(state, "--%s %llu: %s", o->name, (unsigned long long)n->value[k], why);
	}
	if (c->argument && !n->path)
		argp_error(state, "no %s given; see --help", c->argument);
	tool_own_file(state, "--json", n->json, n->path);
	tool_own_file(state, "--json", n->json, n->out);
	tool_own_file(state, "--out", n->out, n->path);
}

static void read_argument(struct tool_net *n, char *text, const struct argp_state *state)
{
	if (!n->command->argument)
		argp_error(state, "%s: unexpected argument; this command takes options only", text);
	tool_argument(state, &n->path, n->command->argument, text);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct tool_net *n = (struct tool_net *)state->input;
	const int k = place_of(n->command->options, key);

	if (k >= 0) {
		read_option(n, k, text, state);
		return 0;
	}
	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = n; return 0;
	case OPT_VERIFY: n->verify = true; return 0;
	case OPT_OUT: n->out = text; return 0;
	case 'u': n->undirected = true; return 0;
	case ARGP_KEY_ARG: read_argument(n, text, state); return 0;
	case ARGP_KEY_END: check_options(n, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

bool tool_net_has_graph(const struct tool_net_command *c)
{
	return c->argument && !strcmp(c->argument, "GRAPH");
}

void tool_net_options(struct tool_net *n, int argc, char **argv)
{
	const struct tool_net_command *c = n->command;
	struct argp_option options[TOOL_NET_OPTIONS + 4];
	const struct argp_child children[] = {{&net_argp}, {0}};
	const struct argp argp = {options, parse, c->argument, c->summary, children};
	unsigned k = 0;

	memset(options, 0, sizeof options);
	for (; c->options[k].name; k++) {
		const struct tool_net_option *o = &c->options[k];

		n->value[k] = o->otherwise;
		options[k].name = o->name;
		options[k].key = o->key ? o->key : OPT_OWN + (int)k;
		options[k].arg = o->unit;
		options[k].doc = o->help;
	}
	if (c->verify) {
		options[k].name = "verify";
		options[k].key = OPT_VERIFY;
		options[k++].doc = c->verify;
	}
	if (c->out) {
		options[k].name = "out";
		options[k].key = OPT_OUT;
		options[k].arg = "FILE";
		options[k++].doc = c->out;
	}
	if (tool_net_has_graph(c)) {
		options[k].name = "undirected";
		options[k].key = 'u';
		options[k].doc = "add the opposite direction of every edge";
	}
	argp_parse(&argp, argc, argv, 0, NULL, n);
}

/* --nodes, or what argp takes for it: its beginning, down to --n. */
static bool says_nodes(const char *word)
{
	const size_t length = strcspn(word, "=");

	return length > 2 && !strncmp(word, "--nodes", length);
}

bool tool_net_launched(void)
{
	return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK");
}

bool tool_net_asked(int argc, char **argv)
{
	for (int k = 1; k < argc && strcmp(argv[k], "--"); k++)
		if (says_nodes(argv[k]))
			return true;
	return tool_net_launched();
}

const char *tool_net_not_a_power(uint64_t value, const uint64_t *all)
{
	(void)all;
	return value & (value - 1) ? "give a power of two" : NULL;
}
