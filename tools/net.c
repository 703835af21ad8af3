/* SPDX-License-Identifier: Apache-2.0 */
#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/read.h"
#include "spread/blocks.h"
#include "spread/mix.h"

/* ---- a graph ---- */

static int read_graph(struct tool_net *n, struct gn_error *e)
{
	struct gn_graph_read_options read = {0};
	struct tool_bar bar;
	int rc;

	read.undirected = n->undirected;
	read.simple = n->command->simple;
	read.progress = tool_bar_begin(&bar);
	rc = gn_graph_read(&n->graph, n->path, &read, e);
	tool_bar_end(&bar);
	if (rc)
		return rc;
	if (!n->graph.vertices)
		return gn_error_set(e, -GN_EINVAL,
		                    "%s: the graph has no vertex; give a graph with at least one vertex",
		                    n->path);
	n->got = malloc(8 * n->graph.vertices);
	n->want = n->verify ? malloc(8 * n->graph.vertices) : NULL;
	n->words = n->out ? (uint32_t *)malloc(n->graph.vertices * sizeof *n->words) : NULL;
	if (!n->got || (n->verify && !n->want) || (n->out && !n->words))
		return gn_error_set(e, -GN_ENOMEM, "out of memory for the results of %llu vertices",
		                    (unsigned long long)n->graph.vertices);
	return 0;
}

uint32_t tool_net_least_nodes(const struct tool_net *n)
{
	const char *transport = n->config.transport;

	return transport && !strcmp(transport, "local") ? n->config.nodes : 1;
}

uint32_t tool_net_vertices(struct gn_net *net, const struct tool_net *n, uint32_t *end)
{
	const struct spread_blocks b = spread_blocks_of((uint32_t)n->graph.vertices, gn_net_nodes(net));

	*end = spread_first(&b, gn_net_node(net) + 1);
	return spread_first(&b, gn_net_node(net));
}

uint64_t tool_net_digest(struct gn_net *net, const struct tool_net *n, uint32_t bytes)
{
	uint32_t end, v = tool_net_vertices(net, n, &end);
	uint64_t sum = 0;

	for (; v < end; v++) {
		uint64_t result = 0;

		memcpy(&result, (const char *)n->got + (uint64_t)v * bytes, bytes);
		sum += spread_mix(spread_mix(result) + v);
	}
	return sum;
}

/* ---- the run ---- */

/* Who waited for whom, to node 0. */
static int gather_waits(struct gn_net *net, struct tool_net *n)
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
	memcpy(n->waited_ns, waited, sizeof waited);
	n->waits = nodes;
	return 0;
}

/* What all nodes did becomes one. */
static int gather(struct gn_net *net, struct tool_net *n, struct tool_net_part *part)
{
	uint64_t wrong;
	int rc = gather_waits(net, n);

	if (!rc)
		rc = gn_net_reduce_u64(gn_net_host(net), GN_ADD, (uint64_t *)&part->stats,
		                       sizeof part->stats / 8);
	memcpy(&wrong, &part->wrong, sizeof wrong);
	if (!rc)
		rc = gn_net_reduce_u64(gn_net_host(net), GN_ADD_FLOAT, &wrong, 1);
	if (!rc)
		rc = gn_net_reduce_u64(gn_net_host(net), GN_ADD, &part->digest, 1);
	if (rc || gn_net_node(net))
		return rc;
	memcpy(&n->wrong, &wrong, sizeof wrong);
	n->digest = part->digest;
	n->seconds = part->seconds;
	n->stats = part->stats;
	n->nodes = gn_net_nodes(net);
	return 0;
}

static int run_node(struct gn_net *net, void *argument)
{
	struct tool_net *n = (struct tool_net *)argument;
	struct tool_net_part part;
	struct gn_net_fault fault;
	struct gn_error error = {0, ""};
	int rc;

	memset(&part, 0, sizeof part);
	rc = n->command->node(net, n, &part, &error);
	if (!rc)
		rc = gather(net, n, &part);
	if (!rc && n->out)
		rc = tool_net_gather(net, n);
	if (rc && !error.code)
		gn_net_failure(net, &fault, &error); /* why a wait for the others ended */
	if (rc && error.code)
		fprintf(stderr, "grapnel %s: node %u: %s\n", n->command->name, gn_net_node(net), error.text);
	return rc;
}

static int run_nodes(struct tool_net *n, struct gn_error *e)
{
	int rc;

	memset(e, 0, sizeof *e);
	rc = gn_net_run(&n->config, run_node, n, e);
	if (rc && !e->code)
		gn_error_set(e, rc, "a node failed with %s", gn_error_name(rc));
	return rc && n->command->explain ? n->command->explain(n, rc, e) : rc;
}

/* ---- the result ---- */

static bool is_right(const struct tool_net *n)
{
	return n->wrong <= (n->command->bound ? n->command->bound(n) : 0);
}

static json_t *report(const struct tool_net *n)
{
	const struct tool_net_command *c = n->command;
	json_t *all = json_pack("{s:o, s:i, s:f}", "schema", json_sprintf("grapnel-%s-1", c->name), "nodes",
	                        (int)n->nodes, "seconds", n->seconds),
	       *own = c->report(n);
	int bad = json_object_update(all, own);

	if (n->path)
		bad |= json_object_set_new(all, tool_net_has_graph(c) ? "graph" : "file",
		                           tool_json_text(n->path));
	if (tool_net_has_graph(c))
		bad |= json_object_set_new(all, "vertices", json_integer((json_int_t)n->graph.vertices)) |
		       json_object_set_new(all, "edges", json_integer((json_int_t)n->graph.edges)) |
		       json_object_set_new(all, "digest",
		                           json_sprintf("%016llx", (unsigned long long)n->digest));
	if (n->verify || !c->verify)
		bad |= json_object_set_new(all, "verified", json_boolean(is_right(n)));
	bad |= json_object_set_new(all, "net", tool_net_json(n, &n->stats));
	json_decref(own);
	if (!bad)
		return all;
	json_decref(all);
	return NULL;
}

static int show(const struct tool_net *n, struct gn_error *e)
{
	int rc = n->out ? tool_net_write(n, e) : 0;

	if (!rc && n->json)
		rc = tool_write_json(report(n), n->json, e);
	if (!rc && !tool_to_stdout(n->json)) {
		printf("%s%s%u nodes, ", n->path ? n->path : "", n->path ? ": " : "", n->nodes);
		n->command->print(n);
		tool_net_print(&n->stats);
	}
	if (rc || is_right(n))
		return rc;
	gn_error_set(e, -GN_EBADMSG, "%.15g %s; this is a bug, please report it", n->wrong,
	             n->command->wrong);
	return n->command->explain ? n->command->explain(n, -GN_EBADMSG, e) : -GN_EBADMSG;
}

static int run(struct tool_net *n, struct gn_error *e)
{
	/* of launched nodes only node 0 writes, and no other may have the folder */
	const bool writes = !tool_net_launched();
	int rc = writes ? tool_can_write(n->out, e) : 0;

	if (!rc && writes)
		rc = tool_can_write(n->json, e);
	if (!rc && tool_net_has_graph(n->command))
		rc = read_graph(n, e);
	if (!rc)
		rc = n->command->prepare(n, e);
	if (!rc)
		rc = run_nodes(n, e);
	return !rc && n->nodes ? show(n, e) : rc;
}

int tool_net_main(const struct tool_net_command *c, size_t bytes, int argc, char **argv)
{
	struct tool_net *n = (struct tool_net *)calloc(1, bytes);
	struct gn_error e = {-GN_ENOMEM, "no memory"};
	int rc;

	if (!n)
		return tool_fail(c->name, &e);
	n->command = c;
	n->undirected = c->simple;
	tool_net_options(n, argc, argv);
	rc = run(n, &e);
	if (c->fini)
		c->fini(n);
	free(n->got);
	free(n->want);
	free(n->words);
	gn_graph_fini(&n->graph);
	free(n);
	return rc ? tool_fail(c->name, &e) : TOOL_OK;
}

/* ---- what the network did ---- */

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

static json_t *waits_json(const struct tool_net *n)
{
	json_t *rows = json_array();

	for (uint32_t from = 0; n && from < n->waits; from++) {
		json_t *row = json_array();

		for (uint32_t to = 0; to < n->waits; to++)
			json_array_append_new(row,
			                      json_real(1e-6 * (double)n->waited_ns[from * n->waits + to]));
		json_array_append_new(rows, row);
	}
	return rows;
}

/* Members of gn_net_statistics by their names, and what they come to. */
json_t *tool_net_json(const struct tool_net *n, const struct gn_net_statistics *s)
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
	              "packet_log2_bytes", sizes_json(s), "waited_ms", waits_json(n));

	json_object_update(counts, means);
	json_decref(means);
	return counts;
}
