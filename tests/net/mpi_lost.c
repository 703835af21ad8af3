/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that is lost: all others hear of it within the time-out, and end.
 *
 *   mpi_lost stop|kill FOLDER   node 1 is stopped, or killed. Each other node that ends as it should leaves a
 *                               file
 */
#include <grapnel/net.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TIMEOUT_MS = 3000, PATIENCE_MS = 4 * TIMEOUT_MS };

static uint32_t own_node, nodes;

static int lose_one(struct gn_net *net, void *signal_number)
{
	const struct gn_net_view *n = gn_net_host(net);
	uint64_t *cell = (uint64_t *)gn_net_alloc(net, 8, NULL), before;
	struct gn_net_fault fault;
	int rc = gn_net_barrier(n);

	own_node = gn_net_node(net);
	nodes = gn_net_nodes(net);
	if (!rc && own_node == 1)
		raise(*(int *)signal_number);
	while (!rc && own_node != 1) { /* node 1 may have been there for a while yet */
		if (own_node == 0)
			rc = gn_net_fetch_add_u64(n, 1, cell, 1, &before); /* one that waits for an answer */
		if (!rc)
			rc = gn_net_put_u64(n, 1, cell, 1); /* and one that does not */
		if (!rc)
			rc = gn_net_quiet(n);
	}
	if (rc != -GN_ETIMEDOUT || gn_net_failure(net, &fault, NULL) != rc || fault.peer != 1) {
		fprintf(stderr, "node %u: %s, not a time-out of node 1\n", own_node, gn_error_name(rc));
		return -GN_EINVAL;
	}
	return rc;
}

static void note(const char *folder)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof path, "%s/%u", folder, own_node);
	file = fopen(path, "w");
	if (file)
		fclose(file);
}

/* Until all others have left their files: the launcher ends all when the first ends. */
static void wait_for_others(const char *folder)
{
	const struct timespec little = {0, 10000000};
	char path[4096];

	for (uint32_t node = 0; node < nodes; node++) {
		snprintf(path, sizeof path, "%s/%u", folder, node);
		for (int tries = 0; node != 1 && access(path, F_OK) && tries < PATIENCE_MS / 10; tries++)
			nanosleep(&little, NULL);
	}
}

int main(int count, char **argument)
{
	int signal_number = count > 1 && !strcmp(argument[1], "kill") ? SIGKILL : SIGSTOP;
	struct gn_net_options options;
	struct gn_error error = {0, ""};
	uint64_t begin = simt_clock_ns();
	int rc;

	if (count != 3)
		return 2;
	memset(&options, 0, sizeof options);
	options.transport = "mpi";
	options.columns = 2;
	options.machine.threads = 1;
	options.timeout_ns = TIMEOUT_MS * 1000000ull;
	rc = gn_net_run(&options, lose_one, &signal_number, &error);
	fprintf(stderr, "node %u ends after %llu ms: %s: %s\n", own_node,
	        (unsigned long long)(simt_clock_ns() - begin) / 1000000, gn_error_name(rc), error.text);
	if (rc == -GN_ETIMEDOUT && strstr(error.text, "node 1"))
		note(argument[2]);
	wait_for_others(argument[2]);
	return rc != 0;
}
