/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel serve: lend memory or files of this machine to stores of others. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <store/rdma/address.h>
#include <store/rdma/server.h>

#include "tool.h"

enum { OPT_RDMA = 0x400, OPT_LISTEN, OPT_PORT, OPT_READ_ONLY };

struct request {
	const char *text[GN_SERVER_EXPORTS]; /* NAME=FILE or NAME=memory:SIZE */
	unsigned exports;
	const char *address; /* NULL: all */
	uint64_t port;
	bool read_only;
};

static const struct argp_option options[] = {
    {"rdma", OPT_RDMA, "NAME=WHAT", 0,
     "lend a region by RDMA: NAME=FILE, the bytes of a file, or NAME=memory:SIZE, zeroed memory; may be "
     "given several times"},
    {"listen", OPT_LISTEN, "ADDRESS", 0, "take connections to this address alone (default: to all)"},
    {"port", OPT_PORT, "N", 0, "the port (default 7474)"},
    {"read-only", OPT_READ_ONLY, NULL, 0, "nobody may write to the regions"},
    {0},
};

static void take_export(struct request *r, const char *text, const struct argp_state *state)
{
	if (r->exports == GN_SERVER_EXPORTS)
		argp_error(state, "--rdma is given too often; at most %d regions are lent",
		           GN_SERVER_EXPORTS);
	r->text[r->exports++] = text;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *r = (struct request *)state->input;

	switch (key) {
	case OPT_RDMA: take_export(r, arg, state); return 0;
	case OPT_LISTEN: r->address = arg; return 0;
	case OPT_PORT: r->port = tool_number(state, "--port", arg, 1, 65535); return 0;
	case OPT_READ_ONLY: r->read_only = true; return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: unexpected argument; regions are given by --rdma NAME=FILE", arg);
		return 0;
	case ARGP_KEY_END:
		if (!r->exports)
			argp_error(state,
			           "nothing to lend; give --rdma NAME=FILE or --rdma NAME=memory:SIZE");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options, parse, NULL,
    "Lend memory or files of this machine to Grapnel on others, which open them as rdma://HOST/NAME, until "
    "SIGINT or SIGTERM. A file is read into memory first; what others write is in the file after they have "
    "flushed, and when this command ends. Whoever reaches the port may read and write: lend on a network "
    "that you trust."};

static void say(const char *text)
{
	fprintf(stderr, "grapnel serve: %s\n", text);
}

static int open_exports(struct gn_export *x, const struct request *r, unsigned *opened, struct gn_error *e)
{
	for (unsigned k = 0; k < r->exports; k++) {
		int rc = gn_export_open(&x[k], r->text[k], r->read_only, e);

		if (rc)
			return rc;
		++*opened;
		for (unsigned other = 0; other < k; other++)
			if (!strcmp(x[other].name, x[k].name))
				return gn_error_set(e, -GN_EINVAL,
				                    "two regions have the name %s; give each its own",
				                    x[k].name);
	}
	return 0;
}

static int close_exports(struct gn_export *x, unsigned count, struct gn_error *e)
{
	int rc = 0;

	for (unsigned k = 0; k < count; k++) {
		int code = gn_export_flush(&x[k], e);

		rc = rc ? rc : code;
		gn_export_close(&x[k]);
	}
	return rc;
}

/* A descriptor that can be read once the command is told to end. */
static int open_stop(struct gn_error *e)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? gn_error_set(e, -GN_EIO, "the system gives no descriptor for signals") : fd;
}

static void report(const struct gn_server *server, const struct gn_export *x, const struct request *r)
{
	for (unsigned k = 0; k < r->exports; k++)
		printf("%s: %llu bytes of %s, %s\n", x[k].name, (unsigned long long)x[k].bytes,
		       x[k].path ? x[k].path : "memory", r->read_only ? "read-only" : "to read and write");
	printf("ready: port %llu of %s, through %s\n", (unsigned long long)r->port,
	       r->address ? r->address : "all addresses", gn_server_devices(server));
	fflush(stdout);
}

static int serve(struct gn_export *x, const struct request *r, struct gn_error *e)
{
	struct gn_server *server;
	int stop = open_stop(e), rc;
	char port[8];

	if (stop < 0)
		return stop;
	snprintf(port, sizeof port, "%u", (unsigned)r->port);
	rc = gn_server_open(&server, x, r->exports, r->address, port, say, e);
	if (!rc) {
		report(server, x, r);
		rc = gn_server_run(server, stop, e);
		gn_server_close(server);
	}
	close(stop);
	return rc;
}

int tool_serve(int argc, char **argv)
{
	static struct gn_export x[GN_SERVER_EXPORTS];
	struct request r = {{NULL}, 0, NULL, GN_RDMA_PORT, false};
	struct gn_error e = {0, ""};
	unsigned opened = 0;
	int rc, code;

	argp_parse(&argp, argc, argv, 0, NULL, &r);
	rc = open_exports(x, &r, &opened, &e);
	rc = rc ? rc : serve(x, &r, &e);
	if (rc)
		tool_fail("serve", &e);
	code = close_exports(x, opened, &e);
	if (code)
		tool_fail("serve", &e);
	return rc || code ? TOOL_FAILED : TOOL_OK;
}
