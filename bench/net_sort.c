/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_sort.c - what it costs a node to sort a message from its log into packets, by how many nodes there are
 * and how they stand; one JSON object on stdout. One node of them is made, with all its buffers, and what it
 * sends is thrown away.
 */
#include <net/node.h>
#include <net/sink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
	struct gn_error error;

	if (!t)
		return NULL;
	memset(&config, 0, sizeof config);
	config.machine.name = "cpu";
	config.machine.threads = 1;
	config.columns = columns;
	config.heap_bytes = 8 * HEAP_WORDS + 65536;
	config.log_bytes = 1 << 20;
	config.packet_bytes = GN_PACKET_BYTES;
	config.flush_ns = 1000000000;
	config.timeout_ns = 1000000000;
	if (gn__node_create(&net, &config, t, &error))
		fprintf(stderr, "bench_net_sort: %s\n", error.text);
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

static int by_size(const void *a, const void *b)
{
	const double d = *(const double *)a - *(const double *)b;

	return d < 0 ? -1 : d > 0;
}

int main(void)
{
	uint64_t random = 1;

	printf("{\"rows\": [");
	for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
		struct gn_net *net = sink_node(grids[g].nodes, grids[g].columns);
		double ns[REPEATS];
		uint64_t *word = net ? (uint64_t *)gn_net_alloc(net, 8 * HEAP_WORDS) : NULL;

		if (!word)
			return 1;
		sort(net, word, &random); /* buffers are made */
		for (uint32_t k = 0; k < REPEATS; k++)
			ns[k] = sort(net, word, &random);
		qsort(ns, REPEATS, sizeof *ns, by_size);
		printf("%s\n {\"nodes\": %u, \"columns\": %u, \"sort_ns\": %.3f}", g ? "," : "",
		       grids[g].nodes, grids[g].columns, ns[REPEATS / 2]);
		gn__node_destroy(net);
	}
	printf("\n]}\n");
	return 0;
}
