/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slow receiver stops its sender: node 1 takes one message and no other until node 0 has seen that it can
 * send no more. What node 0 has sent until then is bounded by packets that nodes have, not by what MPI keeps
 * for a receiver. Then all messages arrive.
 *
 *   mpi_slow FILE   which does not exist; node 0 makes it, and node 1 waits for it
 */
#include <grapnel/net.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "node_check.h"

enum {
	MESSAGES = 100000,
	/* node 0 has four packets for requests; eight more are open or being applied at node 1, and a mark */
	MOST_PACKETS = 16,
	STILL_LOOKS = 100, /* looks at which no packet has left */
};

static const char *path;
static uint64_t packets_stopped;

static void sleep_ms(long ms)
{
	const struct timespec time = {0, ms * 1000000};

	nanosleep(&time, NULL);
}

static void count(const struct gn_net_incoming *message, void *context)
{
	(void)message;
	while (access(path, F_OK))
		sleep_ms(1);
	++*(uint64_t *)context;
}

/* The thread of node 0 that looks until no packet leaves any more, and then lets node 1 go on. */
static void *look(void *argument)
{
	const struct gn_net *net = (const struct gn_net *)argument;
	struct gn_net_statistics s;
	uint64_t before = 0;
	FILE *file;

	for (int still = 0; still < STILL_LOOKS; before = s.packets) {
		sleep_ms(10);
		gn_net_get_statistics(net, &s);
		still = s.packets && s.packets == before ? still + 1 : 0;
	}
	packets_stopped = before;
	file = fopen(path, "w");
	if (file)
		fclose(file);
	return NULL;
}

static int flood(struct gn_net *net)
{
	const struct gn_net_view *n = gn_net_host(net);
	struct gn_net_statistics s;
	uint64_t before, payload = 5;
	pthread_t looker;
	int rc = 0;

	gn_net_get_statistics(net, &s);
	before = s.packets;
	CHECK_EQUAL(pthread_create(&looker, NULL, look, net), 0);
	for (int k = 0; k < MESSAGES && !rc; k++)
		rc = gn_net_call(n, 1, 0, &payload, sizeof payload);
	pthread_join(looker, NULL);
	CHECK_EQUAL(rc, 0);
	fprintf(stderr, "node 0 stopped after %llu packets\n",
	        (unsigned long long)(packets_stopped - before));
	CHECK(packets_stopped - before <= MOST_PACKETS);
	gn_net_get_statistics(net, &s);
	CHECK(s.packets - before > MOST_PACKETS);
	return 0;
}

static int node(struct gn_net *net, void *unused)
{
	uint64_t counted = 0;

	(void)unused;
	CHECK_EQUAL(gn_net_handler(net, "count", count, &counted, NULL), 0);
	CHECK_EQUAL(gn_net_barrier(gn_net_host(net)), 0);
	if (gn_net_node(net) == 0)
		CHECK_EQUAL(flood(net), 0);
	CHECK_EQUAL(gn_net_barrier(gn_net_host(net)), 0);
	CHECK_EQUAL(counted, gn_net_node(net) == 1 ? MESSAGES : 0);
	return gn_net_barrier(gn_net_host(net));
}

int main(int arguments, char **argument)
{
	struct gn_net_options options;
	struct gn_error error = {0, ""};

	if (arguments != 2)
		return 2;
	path = argument[1];
	memset(&options, 0, sizeof options);
	options.transport = "mpi";
	options.machine.threads = 1;
	options.packet_bytes = 1024; /* MPI sends these at once, whether or not the receiver is ready */
	options.timeout_ns = 1000000000000;
	if (gn_net_run(&options, node, NULL, &error)) {
		fprintf(stderr, "mpi_slow: %s\n", error.text);
		return 1;
	}
	return 0;
}
