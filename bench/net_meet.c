/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_meet.c - what it takes nodes to ask each other, to meet, and to update each other's words: a word
 * fetched from another node, a quiet after a message to one node and to all, barrier, all-gather, and the
 * updates of grapnel gups. One JSON object on stdout, from node 0.
 *
 *     net_meet [nodes=N] [OPTION=VALUE...]         nodes: threads of this process
 *     mpirun -n N net_meet [OPTION=VALUE...]       nodes: processes
 *
 *     times=N      of each meeting; 0: none (default 50)
 *     updates=N    by each node (default 0: none)
 *     columns=N    of the grid of nodes (default: as the library chooses)
 *     form=combined|message-per-lane
 *     flush=US     after which a packet may leave though it is not full (default 125)
 */
#include <grapnel/net.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gups/kernels.h"
#include "spread/run.h"
#include "support/engine.h"

enum { PART = 8192, MOST_TIMES = 10000, TABLE_LOG2 = 20 };

struct hall {
	struct gn_net *net;
	const struct gn_net_view *view;
	uint64_t *word;
	char *all; /* a part of each node */
	uint32_t node, nodes;
};

/* ---- what is measured, once; a node that has no part in it does nothing ---- */

static int fetch(struct hall *h)
{
	uint64_t value;

	return h->node ? 0 : gn_net_get_u64(h->view, h->nodes - 1, h->word, &value);
}

static int quiet_one(struct hall *h)
{
	const int rc = h->node ? 0 : gn_net_inc_u64(h->view, h->nodes - 1, h->word);

	return rc || h->node ? rc : gn_net_quiet(h->view);
}

static int quiet_all(struct hall *h)
{
	int rc = 0;

	for (uint32_t to = 1; to < h->nodes && !h->node && !rc; to++)
		rc = gn_net_inc_u64(h->view, to, h->word);
	return rc || h->node ? rc : gn_net_quiet(h->view);
}

static int barrier(struct hall *h)
{
	return gn_net_barrier(h->view);
}

static int gather_words(struct hall *h)
{
	return gn_net_all_gather(h->view, h->all, h->word, 8);
}

static int gather_parts(struct hall *h)
{
	return gn_net_all_gather(h->view, h->all, h->all + (uint64_t)PART * h->nodes, PART);
}

static const struct {
	const char *name;
	int (*once)(struct hall *h);
} kinds[] = {{"fetch", fetch},     {"quiet_one", quiet_one},       {"quiet_all", quiet_all},
             {"barrier", barrier}, {"gather_words", gather_words}, {"gather_parts", gather_parts}};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- how often, and how long ---- */

static struct {
	double seconds[KINDS][2];       /* the least, the median */
	double packets[KINDS];          /* of all nodes, for each time */
	double updated, processor;      /* seconds of the updates; of all nodes' processors */
	struct gn_net_statistics stats; /* of all nodes, of the updates */
} result;

static uint32_t nodes_seen, nodes_of_process = 1;

static uint64_t packets_of(const struct hall *h)
{
	struct gn_net_statistics s;

	gn_net_get_statistics(h->net, &s);
	return s.packets;
}

/* All nodes call it. The packets of the barriers around are counted too: they are few beside `times`. */
static int measure(struct hall *h, uint32_t kind, uint32_t times, double *seconds)
{
	uint64_t packets;
	double least = 1e9;
	int rc = gn_net_barrier(h->view);

	packets = 0 - packets_of(h);
	for (uint32_t k = 0; k < times && !rc; k++) {
		seconds[k] = -scope_clock();
		rc = kinds[kind].once(h);
		seconds[k] += scope_clock();
		least = seconds[k] < least ? seconds[k] : least;
	}
	if (!rc)
		rc = gn_net_barrier(h->view);
	packets += packets_of(h);
	if (!rc)
		rc = gn_net_reduce_u64(h->view, GN_ADD, &packets, 1);
	if (h->node)
		return rc;
	result.seconds[kind][0] = least;
	result.seconds[kind][1] = bench_median(seconds, times);
	result.packets[kind] = (double)packets / times;
	return rc;
}

/* ---- updates ---- */

/* Every update has added 1 to a word of some node. */
static int check(const struct hall *h, const struct gups_update_args *a)
{
	uint64_t sum = 0;
	int rc;

	for (uint64_t k = 0; k <= a->part_mask; k++)
		sum += a->table[k];
	rc = gn_net_reduce_u64(h->view, GN_ADD, &sum, 1);
	bench_must(!rc && sum != a->updates * h->nodes, "updates are lost");
	return rc;
}

/* Of processors: those of this process are those of all nodes, unless each has a process. */
static int add_up(const struct hall *h, double seconds, double processor, struct gn_net_statistics *s)
{
	uint64_t ns = (uint64_t)(1e9 * processor);
	int rc = gn_net_reduce_u64(h->view, GN_ADD, (uint64_t *)s, sizeof *s / 8);

	if (!rc && nodes_of_process == 1)
		rc = gn_net_reduce_u64(h->view, GN_ADD, &ns, 1);
	if (h->node)
		return rc;
	result.updated = seconds;
	result.processor = 1e-9 * (double)ns;
	result.stats = *s;
	return rc;
}

static int update(struct hall *h, uint64_t updates)
{
	struct gups_update_args a;
	struct gn_net_statistics s;
	double seconds, processor;
	int rc;

	memset(&a, 0, sizeof a);
	a.net = gn_net_device(h->net);
	a.table = (uint64_t *)gn_net_alloc(h->net, 8ull << TABLE_LOG2, NULL);
	a.part_log2 = TABLE_LOG2;
	a.part_mask = (1u << TABLE_LOG2) - 1;
	a.updates = updates;
	a.first = updates * h->node;
	rc = a.table ? gn_net_barrier(h->view) : -GN_ENOMEM;
	spread_count_begin(h->net, &s);
	seconds = -scope_clock();
	processor = -1e-9 * bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (!rc)
		rc = spread_launch(h->net, &gups_update_kernel, 1, &a, NULL);
	if (!rc)
		rc = gn_net_barrier(h->view);
	seconds += scope_clock();
	processor += 1e-9 * bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	spread_count_end(h->net, &s);
	rc = rc ? rc : check(h, &a);
	return rc ? rc : add_up(h, seconds, processor, &s);
}

/* ---- a run ---- */

static int run(struct gn_net *net, void *unused)
{
	const uint64_t asked = bench_number("times", 50);
	const uint32_t times = asked < MOST_TIMES ? (uint32_t)asked : (uint32_t)MOST_TIMES;
	const uint64_t updates = bench_number("updates", 0);
	struct hall h = {net, gn_net_host(net), NULL, NULL, gn_net_node(net), gn_net_nodes(net)};
	double *seconds = (double *)malloc(MOST_TIMES * sizeof *seconds);
	int rc = 0;

	(void)unused;
	h.word = (uint64_t *)gn_net_alloc(net, 64, NULL);
	h.all = (char *)gn_net_alloc(net, (uint64_t)PART * (h.nodes + 1), NULL);
	if (!h.word || !h.all || !seconds)
		rc = -GN_ENOMEM;
	if (!h.node)
		nodes_seen = h.nodes;
	for (uint32_t kind = 0; kind < KINDS && !rc && times; kind++)
		rc = measure(&h, kind, times, seconds);
	if (!rc && updates)
		rc = update(&h, updates);
	free(seconds);
	return rc;
}

static json_t *meetings(void)
{
	json_t *rows = json_object();

	for (uint32_t k = 0; k < KINDS && result.seconds[k][0] > 0; k++)
		json_object_set_new(rows, kinds[k].name,
		                    json_pack("{s:f, s:f, s:f}", "least_s", result.seconds[k][0], "median_s",
		                              result.seconds[k][1], "packets", result.packets[k]));
	return rows;
}

static json_t *updates(void)
{
	const struct gn_net_statistics *s = &result.stats;

	return json_pack("{s:f, s:f, s:I, s:I, s:I, s:I}", "seconds", result.updated, "processor_s",
	                 result.processor, "sent", (json_int_t)s->sent, "packets", (json_int_t)s->packets,
	                 "packet_bytes", (json_int_t)s->packet_bytes, "full", (json_int_t)s->full);
}

int main(int argc, char **argv)
{
	static const char *const forms[] = {"combined", "message-per-lane", NULL};
	static const enum gn_net_form form[] = {GN_NET_COMBINED, GN_NET_MESSAGE_PER_LANE};
	struct gn_net_options options;
	struct gn_error e = {0, ""};

	bench_begin(argc, argv, "nodes times updates columns form flush");
	memset(&options, 0, sizeof options);
	if (bench_number("nodes", 0)) {
		options.transport = "local";
		options.nodes = nodes_of_process = (uint32_t)bench_number("nodes", 0);
	}
	options.columns = (uint32_t)bench_number("columns", 0);
	options.flush_ns = 1000 * bench_number("flush", 125);
	options.form = form[bench_text("form", NULL) ? bench_word("form", forms) : 0];
	options.machine.threads = 1;
	options.timeout_ns = 60000000000;
	bench_must(gn_net_run(&options, run, NULL, &e), e.text);
	if (nodes_seen)
		bench_print(json_pack("{s:i, s:i, s:o, s:o}", "nodes", (int)nodes_seen, "part_bytes", PART,
		                      "meetings", meetings(), "updates", updates()));
	return 0;
}
