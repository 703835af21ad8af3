/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_sort.c - what it costs a node to sort a message from its log into packets, by how many nodes there are
 * and how they stand; one JSON object on stdout. One node of them is made, with all its buffers, and what it
 * sends is thrown away.
 */
#include <net/node.h>
#include <net/sink.h>
#include <string.h>
#include <time.h>

#include "support/engine.h"

enum { REPEATS = 5, MESSAGES = 4 << 20, CHUNK = 32768, HEAP_WORDS = 1 << 20 };

static const struct {
	uint32_t nodes, columns;
} grids[] = {{2, 1},    {16, 1},   {64, 1},    {64, 8},   {256, 1},
             {256, 16}, {1024, 1}, {1024, 32}, {4096, 1}, {4096, 64}};

static struct gn_net *sink_node(uint32_t nodes, uint32_t columns)
{
	struct gn_transport *t = gn__sink_create(0, nodes, 0);
	struct gn_net_options config;
	struct gn_net *net = NULL;
	struct gn_error e = {0, ""};

	bench_must(!t, "no memory");
	memset(&config, 0, sizeof config);
	config.machine.name = "cpu";
	config.machine.threads = 1;
	config.columns = columns;
	config.heap_bytes = 8 * HEAP_WORDS + 65536;
	config.log_bytes = 1 << 20;
	config.packet_bytes = GN_PACKET_BYTES;
	config.flush_ns = 1000000000;
	config.timeout_ns = 1000000000;
	bench_must(gn__node_create(&net, &config, t, &e), e.text);
	return net;
}

/* Of this thread: what else the machine does is no cost of a message. */
static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Nanoseconds of a message, its share of checking and sending packets among them. */
static double sort(struct gn_net *net, uint64_t *word, uint64_t *random)
{
	uint64_t spent = 0;

	for (uint32_t sent = 0; sent < MESSAGES; sent += CHUNK) {
		for (uint32_t k = 0; k < CHUNK; k++) {
			*random = *random * 6364136223846793005ull + 1442695040888963407ull;
			gn_net_inc_u64(gn_net_host(net),
			               1 + (uint32_t)((*random >> 32) * (net->route.nodes - 1) >> 32),
			               &word[*random >> 12 & (HEAP_WORDS - 1)]);
		}
		spent -= clock_ns();
		while (gn__drain(net))
			;
		spent += clock_ns();
	}
	return (double)spent / MESSAGES;
}

static json_t *measure(uint32_t nodes, uint32_t columns)
{
	struct gn_net *net = sink_node(nodes, columns);
	uint64_t *word = (uint64_t *)gn_net_alloc(net, 8 * HEAP_WORDS), random = 1;
	double ns[REPEATS];

	bench_must(!word, "no memory");
	sort(net, word, &random); /* buffers are made */
	for (uint32_t k = 0; k < REPEATS; k++)
		ns[k] = sort(net, word, &random);
	gn__node_destroy(net);
	return json_pack("{s:i, s:i, s:f}", "nodes", (int)nodes, "columns", (int)columns, "sort_ns",
	                 bench_median(ns, REPEATS));
}

int main(int argc, char **argv)
{
	json_t *rows = json_array();

	bench_begin(argc, argv, "");
	for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
		json_array_append_new(rows, measure(grids[g].nodes, grids[g].columns));
	bench_print(json_pack("{s:o}", "rows", rows));
	return 0;
}
