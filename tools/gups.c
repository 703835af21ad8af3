/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel gups: random updates of a table that lies on all nodes, in the forms of Gravel's figure 15.
 *
 * Nodes are threads of this process, or the processes that an MPI launcher started; then node 0 speaks.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gups/gups.h"
#include "tool.h"

enum { OPT_NODES = 256, OPT_COLUMNS, OPT_TRANSPORT, OPT_TABLE, OPT_UPDATES, OPT_THREADS, OPT_WARP, OPT_OP, OPT_FORM,
       OPT_PACKET, OPT_FLUSH, OPT_JSON };

enum form { COMBINED, LANE, LEGAL };
static const char *const form_names[] = {"combined", "message-per-lane", "legal"};

struct request {
	struct gn_net_config net;
	struct gups gups;
	enum form form;
	const char *json;
	struct gups_result result; /* node 0's; stats: of all nodes */
	uint32_t nodes;
};

static const struct argp_option options[] = {
    {"nodes", OPT_NODES, "N", 0, "nodes of this process (default 2)", 0},
    {"columns", OPT_COLUMNS, "N", 0, "of the grid in which nodes stand: 1 sends directly, more in two ways (default: chosen)", 0},
    {"transport", OPT_TRANSPORT, "NAME", 0, "what carries packets (default: local)", 0},
    {"table", OPT_TABLE, "SIZE", 0, "bytes of the table of a node, a power of two (default 16M)", 0},
    {"updates", OPT_UPDATES, "N", 0, "of a node (default four for each word of its table)", 0},
    {"op", OPT_OP, "NAME", 0, "xor (HPCC RandomAccess) or inc (Gravel) (default xor)", 0},
    {"form", OPT_FORM, "NAME", 0, "combined; message-per-lane: a packet for each message; legal: at most 1024 updates of a "
     "node under way, as HPCC asks (default combined)", 0},
    {"packet", OPT_PACKET, "SIZE", 0, "largest packet, at most 64K (default 64K)", 0},
    {"flush", OPT_FLUSH, "US", 0, "microseconds after which a packet that is not full is sent (default 125)", 0},
    {"threads", OPT_THREADS, "N", 0, "OS threads of a node (default: the cores, divided by the nodes)", 0},
    {"warp-width", OPT_WARP, "W", 0, "lanes of a warp: 1, 2, 4, 8, 16 or 32 (default 1)", 0},
    {"json", OPT_JSON, "FILE", 0, "write the result as JSON; - for standard output, without the text", 0},
    {0},
};

static uint64_t size_option(const struct argp_state *state, const char *option, const char *text)
{
	uint64_t bytes = 0;

	if (gn_size_parse(text, &bytes) || !bytes)
		argp_error(state, "%s %s: not a size; give bytes such as 4096, 64K or 8G", option, text);
	return bytes;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case OPT_NODES: q->net.nodes = (uint32_t)tool_number(state, "--nodes", text, 1, 4096); break;
	case OPT_COLUMNS: q->net.columns = (uint32_t)tool_number(state, "--columns", text, 1, 4096); break;
	case OPT_TRANSPORT: q->net.transport = text; break;
	case OPT_TABLE:
		q->gups.part_words = size_option(state, "--table", text) / 8;
		if (!q->gups.part_words || q->gups.part_words & (q->gups.part_words - 1))
			argp_error(state, "--table %s: not a power of two from 8 bytes on", text);
		break;
	case OPT_UPDATES: q->gups.updates = tool_number(state, "--updates", text, 1, 1ull << 48); break;
	case OPT_OP:
		q->gups.xors = !strcmp(text, "xor");
		if (!q->gups.xors && strcmp(text, "inc"))
			argp_error(state, "--op %s: use xor or inc", text);
		break;
	case OPT_FORM:
		for (q->form = COMBINED; q->form <= LEGAL && strcmp(text, form_names[q->form]);)
			q->form = (enum form)(q->form + 1);
		if (q->form > LEGAL)
			argp_error(state, "--form %s: use combined, message-per-lane or legal", text);
		break;
	case OPT_PACKET: q->net.packet_bytes = size_option(state, "--packet", text); break;
	case OPT_FLUSH: q->net.flush_ns = 1000 * tool_number(state, "--flush", text, 1, 1000000); break;
	case OPT_THREADS: q->net.machine.threads = (unsigned)tool_number(state, "--threads", text, 1, 1024); break;
	case OPT_WARP: q->net.machine.warp_width = (unsigned)tool_number(state, "--warp-width", text, 1, 32); break;
	case OPT_JSON: q->json = text; break;
	case ARGP_KEY_ARG: argp_error(state, "%s: nothing is expected behind the options", text); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {options, parse, NULL,
				 "Random updates of a table that is spread over nodes, each a small message.", NULL, NULL, NULL};

/* ---- the run ---- */

static int node_main(struct gn_net *net, void *argument)
{
	struct request *q = (struct request *)argument;
	struct gups_result result;
	int rc = gups_run(net, &q->gups, &result);

	if (!rc)
		rc = gn_net_reduce_u64(gn_net_host(net), GN__ADD, (uint64_t *)&result.stats, sizeof result.stats / 8);
	if (!rc && !gn_net_node(net)) {
		q->result = result;
		q->nodes = gn_net_nodes(net);
	}
	if (rc && gn_net_message(net)[0])
		fprintf(stderr, "grapnel gups: node %u: %s\n", gn_net_node(net), gn_net_message(net));
	return rc;
}

static double gups_of(const struct request *q)
{
	return 1e-9 * (double)q->gups.updates * q->nodes / q->result.seconds;
}

static double mean_packet(const struct gn_net_stats *s)
{
	return s->packets ? (double)s->packet_bytes / (double)s->packets : 0;
}

static void print(const struct request *q)
{
	const struct gn_net_stats *s = &q->result.stats;

	printf("%u nodes, %s, %s: %.6f GUPS, %.3f s, %llu wrong\n", q->nodes, q->gups.xors ? "xor" : "inc",
	       form_names[q->form], gups_of(q), q->result.seconds, (unsigned long long)q->result.wrong);
	printf("  %llu messages in %llu packets of %.0f bytes (%llu full, %llu old, %llu waited for)\n",
	       (unsigned long long)s->sent, (unsigned long long)s->packets, mean_packet(s), (unsigned long long)s->full,
	       (unsigned long long)s->aged, (unsigned long long)s->urgent);
}

static int write_json(const struct request *q, struct gn_error *e)
{
	const struct gn_net_stats *s = &q->result.stats;
	json_t *sizes = json_array(), *root;
	int rc;

	for (unsigned k = 0; k < sizeof s->size / sizeof *s->size; k++)
		json_array_append_new(sizes, json_integer((json_int_t)s->size[k]));
	root = json_pack("{s:s, s:i, s:s, s:s, s:I, s:I, s:f, s:f, s:I, s:b, s:{s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:o}}",
			 "schema", "grapnel-gups-1", "nodes", (int)q->nodes, "op", q->gups.xors ? "xor" : "inc", "form",
			 form_names[q->form], "table_bytes", (json_int_t)(q->gups.part_words * 8 * q->nodes), "updates",
			 (json_int_t)(q->gups.updates * q->nodes), "seconds", q->result.seconds, "gups", gups_of(q), "wrong",
			 (json_int_t)q->result.wrong, "verified", q->result.wrong == 0, "net", "sent", (json_int_t)s->sent,
			 "passed", (json_int_t)s->passed, "packets", (json_int_t)s->packets, "packet_bytes",
			 (json_int_t)s->packet_bytes, "message_bytes", (json_int_t)s->message_bytes, "mean_packet", mean_packet(s),
			 "full", (json_int_t)s->full, "aged", (json_int_t)s->aged, "urgent", (json_int_t)s->urgent, "stalls",
			 (json_int_t)s->stalls, "buffer_bytes", (json_int_t)s->buffer_bytes, "packet_log2_bytes", sizes);
	if (!root)
		return gn_error_set(e, -GN_ENOMEM, "the report cannot be made as JSON");
	rc = strcmp(q->json, "-") ? json_dump_file(root, q->json, JSON_INDENT(2)) : json_dumpf(root, stdout, JSON_INDENT(2));
	json_decref(root);
	return rc ? gn_error_set(e, -GN_EIO, "%s: cannot be written; see the folder and its free space", q->json) : 0;
}

int tool_gups(int argc, char **argv)
{
	struct gn_error e;
	struct request q;
	int rc;

	memset(&q, 0, sizeof q);
	memset(&e, 0, sizeof e);
	q.net.nodes = 2;
	q.gups.part_words = (16u << 20) / 8;
	q.gups.xors = 1;
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	if (!q.gups.updates)
		q.gups.updates = 4 * q.gups.part_words;
	if (q.form == LANE)
		q.net.packet_bytes = 1;
	if (q.form == LEGAL)
		q.gups.hold = 1024;
	q.net.heap_bytes = q.gups.part_words * 8 + (1u << 20);
	rc = gn_net_run(&q.net, node_main, &q, &e);
	if (rc && !e.code)
		gn_error_set(&e, rc, "a node failed with %s", gn_error_name(rc));
	if (!rc && q.nodes && q.json)
		rc = write_json(&q, &e);
	if (!rc && q.nodes && !(q.json && !strcmp(q.json, "-")))
		print(&q);
	if (!rc && q.result.wrong)
		rc = gn_error_set(&e, -GN_EBADMSG, "%llu words are wrong: this is a bug; please report it",
				  (unsigned long long)q.result.wrong);
	return rc ? tool_fail("gups", &e) : TOOL_OK;
}
