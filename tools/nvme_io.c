/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel nvme read and write: bytes of a namespace, by the host. */
#include <stdio.h>
#include <string.h>

#include "nvme.h"
#include "store_move.h"

enum { OPT_NS = 512, OPT_OFFSET, OPT_BYTES };

static const struct argp_option read_options[] = {
    {"ns", OPT_NS, "N", 0, "namespace (default 1)"},
    {"offset", OPT_OFFSET, "SIZE", 0, "the first byte (default 0)"},
    {"bytes", OPT_BYTES, "SIZE", 0, "how many (default: up to the end)"},
    {"file", 'f', "FILE", 0, "write them to FILE (default: standard output)"},
    {0},
};

static const struct argp_option write_options[] = {
    {"ns", OPT_NS, "N", 0, "namespace (default 1)"},
    {"offset", OPT_OFFSET, "SIZE", 0, "the first byte (default 0)"},
    {"file", 'f', "FILE", 0, "write the bytes of FILE (default: those of standard input)"},
    {"overwrite", 'w', NULL, 0, "yes, the bytes that the namespace has there may be lost; needed"},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct nvme_request *r = (struct nvme_request *)state->input;

	switch (key) {
	case OPT_NS: r->nsid = (uint32_t)tool_number(state, "--ns", text, 1, 0xfffffffe); return 0;
	case OPT_OFFSET: r->offset = tool_size(state, "--offset", text, 0); return 0;
	case OPT_BYTES: r->bytes = tool_size(state, "--bytes", text, 1); return 0;
	case 'f': r->file = text; return 0;
	case 'w': r->overwrite = true; return 0;
	case ARGP_KEY_ARG: tool_argument(state, &r->address, "address", text); return 0;
	case ARGP_KEY_END:
		nvme_need_address(state, r->address);
		if (r->writes && !r->overwrite)
			argp_error(state, "writing destroys what the namespace has; give --overwrite if that "
			                  "is meant");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp read_argp = {read_options, parse, "ADDRESS",
                                      "Read bytes of a namespace of a drive that vfio-pci has."};
static const struct argp write_argp = {write_options, parse, "ADDRESS",
                                       "Write bytes to a namespace of a drive that vfio-pci has, and flush. "
                                       "The bytes that were there are lost."};

static int run(const struct nvme_request *r)
{
	struct tool_store_request to = {0};
	char uri[80];

	snprintf(uri, sizeof uri, "nvme:%.40s?ns=%u", r->address, r->nsid);
	to.subcommand = r->writes ? "nvme write" : "nvme read";
	to.uri = uri;
	to.file = r->file;
	to.offset = r->offset;
	to.bytes = r->bytes;
	to.writes = r->writes;
	return tool_store_move(&to);
}

int tool_nvme_read(int argc, char **argv)
{
	struct nvme_request r;

	memset(&r, 0, sizeof r);
	r.nsid = 1;
	argp_parse(&read_argp, argc, argv, 0, NULL, &r);
	return run(&r);
}

int tool_nvme_write(int argc, char **argv)
{
	struct nvme_request r;

	memset(&r, 0, sizeof r);
	r.nsid = 1;
	r.writes = true;
	argp_parse(&write_argp, argc, argv, 0, NULL, &r);
	return run(&r);
}
