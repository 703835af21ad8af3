/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel store: bytes of stores of every kind. */
#include "store.h"

#include <string.h>

#include "store_move.h"

static const struct tool tools[] = {
    {"read", "read bytes of a store", tool_store_read},
    {"write", "write bytes to a store, over those that it has", tool_store_write},
    {"info", "print what a store is, and what its members are good for", tool_store_info},
    {"verify", "compare the members of a replica, byte for byte", tool_store_verify},
    {"rebuild", "copy a good member of a replica over the others, and check each byte", tool_store_rebuild},
};

static const struct tool_group subcommands = {
    "store",
    "Read and write the bytes of a store, such as stripe:file:/a,file:/b or "
    "replica:state=/s,file:/a,file:/b, "
    "which lie on several files or drives; bring the members of a replica up to date.",
    tools, sizeof tools / sizeof *tools};

int tool_store(int argc, char **argv)
{
	return tool_group_run(&subcommands, argc, argv);
}

/* ---- read, write ---- */

enum { OPT_OFFSET = 512, OPT_BYTES, OPT_RESYNC };

static const struct argp_option read_options[] = {
    {"offset", OPT_OFFSET, "SIZE", 0, "the first byte (default 0)"},
    {"bytes", OPT_BYTES, "SIZE", 0, "how many (default: up to the end)"},
    {"file", 'f', "FILE", 0, "write them to FILE (default: standard output)"},
    {0},
};

static const struct argp_option write_options[] = {
    {"offset", OPT_OFFSET, "SIZE", 0, "the first byte (default 0)"},
    {"file", 'f', "FILE", 0, "write the bytes of FILE (default: those of standard input)"},
    {"overwrite", 'w', NULL, 0, "yes, the bytes that the store has there may be lost; needed"},
    {"resync", OPT_RESYNC, NULL, 0,
     "then put members of a replica back that are out of use: what they missed is copied to them, but not "
     "compared"},
    {0},
};

struct io {
	struct tool_store_request to;
	bool overwrite;
};

static void check_together(const struct io *io, const struct argp_state *state)
{
	if (!io->to.uri)
		argp_error(state, "no store given; give a URI, for example stripe:file:/a,file:/b");
	if (io->to.writes && !io->overwrite)
		argp_error(state, "writing destroys what the store has; give --overwrite if that is meant");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct io *io = (struct io *)state->input;

	switch (key) {
	case OPT_OFFSET: io->to.offset = tool_size(state, "--offset", text, 0); return 0;
	case OPT_BYTES: io->to.bytes = tool_size(state, "--bytes", text, 1); return 0;
	case 'f': io->to.file = text; return 0;
	case 'w': io->overwrite = true; return 0;
	case OPT_RESYNC: io->to.resyncs = true; return 0;
	case ARGP_KEY_ARG: tool_argument(state, &io->to.uri, "URI", text); return 0;
	case ARGP_KEY_END: check_together(io, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp read_argp = {read_options, parse, "URI",
                                      "Read bytes of a store. The store is opened read-only."};
static const struct argp write_argp = {
    write_options, parse, "URI", "Write bytes to a store, and flush. The bytes that were there are lost."};

static int run(const char *subcommand, const struct argp *argp, bool writes, int argc, char **argv)
{
	struct io io;

	memset(&io, 0, sizeof io);
	io.to.subcommand = subcommand;
	io.to.writes = writes;
	argp_parse(argp, argc, argv, 0, NULL, &io);
	return tool_store_move(&io.to);
}

int tool_store_read(int argc, char **argv)
{
	return run("store read", &read_argp, false, argc, argv);
}

int tool_store_write(int argc, char **argv)
{
	return run("store write", &write_argp, true, argc, argv);
}
